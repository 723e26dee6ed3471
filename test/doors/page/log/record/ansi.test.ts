import { describe, expect, it } from 'vitest'
import { ansi } from '../../../../../src/doors/page/log/record/ansi.ts'

const ESC = '\u001b'

describe('ansi', () => {
  it.each([
    ['plain text', 'a\tb\nc', 'a\tb\nc', []],
    ['a colour', `${ESC}[31mred${ESC}[0m x`, 'red x', [[0, 3, 'a-fg1']]],
    ['a bright colour with bold', `a${ESC}[1;92mb`, 'ab', [[1, 2, 'a-fg10 a-bold']]],
    ['a background', `${ESC}[44mb${ESC}[49mc`, 'bc', []],
    ['inverse', `${ESC}[7mi${ESC}[27m.`, 'i.', []],
    ['one of 256 that is one of sixteen', `${ESC}[38;5;9mx`, 'x', [[0, 1, 'a-fg9']]],
    ['a true colour', `${ESC}[38;2;1;31;4;31mx`, 'x', [[0, 1, 'a-fg1']]],
    ['moving the cursor', `a${ESC}[2Jb${ESC}[10;20Hc${ESC}[?25ld`, 'abcd', []],
    ['a window title', `${ESC}]0;evil\u0007text`, 'text', []],
    ['a hyperlink', `${ESC}]8;;http://x${ESC}\\label${ESC}]8;;${ESC}\\`, 'label', []],
    ['a device control string', `${ESC}Pq#0${ESC}\\z`, 'z', []],
    ['a two-character escape', `a${ESC}cb${ESC}(Bc`, 'abc', []],
    ['stray controls', 'a\u0000b\rc\u0008d\u007fe\u009bf', 'abcde', []],
    ['an escape that the end cuts', `a${ESC}[31`, 'a', []],
  ] as const)('%s', (_, source, text, spans) => {
    const found = ansi(source)
    expect(found.text).toBe(text)
    expect(found.spans.map(({ from, to, classes }) => [from, to, classes])).toEqual(spans)
  })
})
