import { describe, expect, it } from 'vitest'
import { tomlLines } from '../../../../src/doors/page/config/toml.ts'

const SOURCE = `# head
top = 1

## about http
[broker.http]
port = 9000 # the port
name = "a # b"
long = """
[not.a.table]
x = 1
"""

[[peers]]
at = 2026-01-02T03:04:05Z
on = true
`

describe('tomlLines', () => {
  const found = tomlLines(SOURCE)

  it('gives every line back, in order', () => {
    expect(found.map(({ tokens }) => tokens.map(({ text }) => text).join('')).join('\n')).toBe(
      SOURCE.trimEnd(),
    )
  })

  it('knows which setting a line is about, and not inside strings', () => {
    expect(found.flatMap(({ key }) => key ?? [])).toEqual([
      'top',
      'broker.http.port',
      'broker.http.name',
      'broker.http.long',
      'peers.at',
      'peers.on',
    ])
  })

  it('tells keys, strings, numbers, words and comments apart', () => {
    const tokens = (number: number) =>
      found[number - 1]!.tokens.filter(({ kind }) => kind !== 'plain').map(({ kind, text }) => [kind, text])
    expect(tokens(6)).toEqual([
      ['key', 'port'],
      ['number', '9000'],
      ['comment', '# the port'],
    ])
    expect(tokens(7)).toEqual([
      ['key', 'name'],
      ['string', '"a # b"'],
    ])
    expect(tokens(9)).toEqual([['string', '[not.a.table]']])
    expect(tokens(14)).toEqual([
      ['key', 'at'],
      ['number', '2026-01-02T03:04:05Z'],
    ])
    expect(tokens(15)).toEqual([
      ['key', 'on'],
      ['word', 'true'],
    ])
  })
})
