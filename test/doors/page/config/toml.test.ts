import { describe, expect, it } from 'vitest'
import { sections } from '../../../../src/doors/page/config/toml.ts'

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

describe('sections', () => {
  const found = sections(SOURCE)

  it('gives every line back, in order', () => {
    const lines = found.flatMap((part) => part.lines)
    expect(lines.map((line) => line.number)).toEqual(lines.map((_, index) => index + 1))
    expect(lines.map((line) => line.tokens.map((token) => token.text).join('')).join('\n')).toBe(
      SOURCE.trimEnd(),
    )
  })

  it('cuts at tables, with the comment above them, and not inside strings', () => {
    expect(found.map((part) => part.name)).toEqual([null, 'broker.http', 'peers'])
    expect(found[1]!.lines[0]!.tokens).toEqual([{ kind: 'comment', text: '## about http' }])
  })

  it('tells keys, strings, numbers, words and comments apart', () => {
    const tokens = (number: number) =>
      found
        .flatMap((part) => part.lines)
        .find((line) => line.number === number)!
        .tokens.filter((token) => token.kind !== 'plain')
        .map((token) => [token.kind, token.text])
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
