import { describe, expect, it } from 'vitest'
import { withoutEscapes } from '../../../../../src/doors/page/log/record/ansi.ts'

const ESC = '\u001b'

describe('a text without escapes', () => {
  it.each([
    ['plain text', 'a\tb\nc', 'a\tb\nc'],
    ['colours', `${ESC}[31mred${ESC}[0m x ${ESC}[38;2;1;20;255my`, 'red x y'],
    ['moving the cursor', `a${ESC}[2Jb${ESC}[10;20Hc${ESC}[?25ld`, 'abcd'],
    ['a window title', `${ESC}]0;evil\u0007text`, 'text'],
    ['a hyperlink', `${ESC}]8;;http://x${ESC}\\label${ESC}]8;;${ESC}\\`, 'label'],
    ['a device control string', `${ESC}Pq#0${ESC}\\z`, 'z'],
    ['a two-character escape', `a${ESC}cb${ESC}(Bc`, 'abc'],
    ['stray controls', 'a\u0000b\rc\u0008d\u007fe\u009bf', 'abcde'],
    ['an escape that the end cuts', `a${ESC}[31`, 'a'],
  ])('%s', (_, source, text) => expect(withoutEscapes(source)).toBe(text))
})
