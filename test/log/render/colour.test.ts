import { describe, expect, it } from 'vitest'
import { lindbLines } from '../../../src/log/format/lindb/lindb.ts'
import { toJson } from '../../../src/log/render/ndjson.ts'
import { UTC } from '../../../src/log/time.ts'

const HEAD = '2026-11-15 02:10:00.123\tINFO\tx.go:1\t[A]: '

describe('a message with colours', () => {
  it.each([
    ['none', `${HEAD}plain\t{"a":1}\n`, 'plain', undefined],
    ['a word', `${HEAD}a \x1b[31mred\x1b[0m word\t{"a":1}\n`, 'a red word', 'a \x1b[31mred\x1b[0m word'],
    ['at its very start', `${HEAD}\x1b[1;32mgreen\x1b[0m\n`, 'green', '\x1b[1;32mgreen\x1b[0m'],
    ['only elsewhere', `\x1b[2m${HEAD}quiet\n`, 'quiet', undefined],
    ['and other escapes', `${HEAD}\x1b]0;title\x07\x1b[2Jx\x1b[33my\x1b[m\n`, 'xy', 'x\x1b[33my\x1b[m'],
    [
      'with a context before its stack trace',
      `${HEAD}it \x1b[31mbroke\x1b[0m\t{"a":1}\n  at \x1b[36mf\x1b[0m()\n`,
      'it broke\n  at f()',
      'it \x1b[31mbroke\x1b[0m\n  at \x1b[36mf\x1b[0m()',
    ],
  ])('%s', (_, text, message, ansi) => {
    const record = JSON.parse(toJson(text, lindbLines, UTC, { colours: true }))
    expect([record.message, record.ansi]).toEqual([message, ansi])
    expect(JSON.parse(toJson(text, lindbLines, UTC))).not.toHaveProperty('ansi')
  })
})
