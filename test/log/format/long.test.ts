import { describe, expect, test } from 'vitest'
import { detectFormat } from '../../../src/log/format/detect.ts'
import { UTC } from '../../../src/log/time.ts'
import { hasField } from '../../../src/log/where/where.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const formatOf = (line: string) => detectFormat(bytes(`${line}\n`.repeat(20)))
const LOGFMT = 'time=2026-11-15T00:00:00Z level=warn msg=hello shard=17'
const MIB = 1024 * 1024

function has(line: string, record: string, field: string): boolean {
  const text = bytes(record)
  const reader = { format: formatOf(line), zone: UTC }
  return hasField({ bytes: text, from: 0, to: text.length }, reader, field, () => true)
}

describe('logfmt', () => {
  test('with more than 10,000 pairs stays text, with its time and level', () => {
    const pairs = (count: number) => `${LOGFMT}${' a=b'.repeat(count - 4)}`
    const format = formatOf(LOGFMT)
    expect(format.fields(pairs(10_000), UTC).context).toEqual({ shard: '17', a: 'b' })
    expect(format.fields(pairs(10_001), UTC)).toEqual({
      time: '2026-11-15T00:00:00.000Z',
      level: 'warn',
      message: pairs(10_001),
      unparsed: true,
    })
    expect(has(LOGFMT, pairs(10_000), 'shard')).toBe(true)
    expect(has(LOGFMT, pairs(10_001), 'shard')).toBe(false)
  })
  test.each(['a', 'a\\"', 'é\\"', '\\\\'])('finds the field behind a value of megabytes of %s', (text) => {
    const record = `${LOGFMT} long="${text.repeat((8 * MIB) / bytes(text).length)}" last=1\n`
    expect(has(LOGFMT, record, 'last')).toBe(true)
    expect(has(LOGFMT, record, 'other')).toBe(false)
  })
})

test.each([
  ['postgresql', '2026-11-15 00:00:00.000 UTC [17] LOG:  duration: 12.300 ms  statement: select 1'],
  ['glog', 'I1115 00:00:00.000000   17 a.cc:12] hello shard=17'],
  ['mysql-slow', '# Time: 2026-11-15T00:00:00.000000Z\n# User@Host: a[a] @ b []\nselect 1;'],
])('a record of %s with very many lines keeps them all', (name, head) => {
  const format = formatOf(head)
  expect(format.name).toBe(name)
  for (const count of [9_998, 9_999, 10_000, 10_001, 300_000]) {
    const { message } = format.fields(`${head}${'\nmore'.repeat(count)}`, UTC)
    expect(message.split('\nmore').length - 1).toBe(count)
    expect(message.endsWith('\nmore')).toBe(true)
  }
})

test('the statement of a csvlog keeps its quotes, and what follows the last column is left out', () => {
  const row = (message: string) =>
    `2026-11-15 00:00:00.000 UTC,"u","db",17,"h:1",5f,1,"SELECT",2026-11-15 00:00:00 UTC,3/17,0,LOG,00000,${message},,,,,,,,,"app","client backend",,0`
  const format = formatOf(row('"a"'))
  for (const text of ['', '"', '""', 'a "quoted" word', '"at both ends"'])
    expect(format.fields(row(`"${text.replaceAll('"', '""')}"`), UTC).message).toBe(text)
  expect(format.fields(`${row('"a"')}${','.repeat(MIB)}`, UTC)).toEqual(format.fields(row('"a"'), UTC))
})
