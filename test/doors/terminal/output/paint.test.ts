import { expect, it } from 'vitest'
import { printable, printableJson } from '../../../../src/doors/terminal/output/paint.ts'
import { cleanName } from '../../../../src/doors/terminal/output/records.ts'

const CONTROLS = [
  ...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)),
  ...Array.from({ length: 0x21 }, (_, i) => String.fromCharCode(0x7f + i)),
  ...'\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069',
]

it('printable: shows every control and every bidirectional mark, and keeps tabs and line feeds', () => {
  for (const char of CONTROLS)
    if (!'\t\n'.includes(char)) expect(printable(`a${char}b`), JSON.stringify(char)).not.toContain(char)
  expect(printable('\x1b]0;owned\x07 \x9b31m \u202egpj.exe\r\n\tä€😀')).toBe(
    '^[]0;owned^G \\x9b31m \\u202egpj.exe\n\tä€😀',
  )
})

it('printableJson: escapes the same, and means the same', () => {
  const value = { name: CONTROLS.join('x'), text: 'ä€😀' }
  const json = printableJson(JSON.stringify(value))
  for (const char of CONTROLS) expect(json, JSON.stringify(char)).not.toContain(char)
  expect(JSON.parse(json)).toEqual(value)
})

it('cleanName: is one line on a terminal, and the same bytes in a pipe', () => {
  expect(cleanName('a\nb\t\x1b[2J.log', { terminal: true })).toBe('a^Jb^I^[[2J.log')
  expect(cleanName('a\nb\x1b.log', { terminal: false })).toBe('a\nb\x1b.log')
})
