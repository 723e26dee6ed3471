import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cut, visible } from '../../../src/log/render/visible.ts'

it.each([
  ['\x1b[31mred\x1b[0m', '\\x1b[31mred\\x1b[0m'],
  ['a\u202eb', 'a\\u{202e}b'],
  ['a\u200bb\ufeffc\u2060', 'a\\u{200b}b\\u{feff}c\\u{2060}'],
  ['a\u{e0041}b', 'a\\u{e0041}b'],
  ['a\u2028b\nc\td\re', 'a\\u{2028}b\\nc\\td\\x0de'],
  ['a\ud800b', 'a\\u{d800}b'],
  ['grüße 😀 日本', 'grüße 😀 日本'],
])('%j is shown as %j', (text, shown) => {
  expect(visible(text)).toBe(shown)
})

it('counts what is cut, and never cuts a character in two', () => {
  expect(cut('x'.repeat(700), 600)).toBe(`${'x'.repeat(600)}[+100 chars]`)
  expect(cut('short', 600)).toBe('short')
  expect(cut('a😀b', 2)).toBe('a[+3 chars]')
  expect(cut('\x1b'.repeat(10), 6)).toBe('\\x1b[+9 chars]')
})

it('property: nothing that is hidden is passed on, and the length is bounded', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 50 }), (text, most) => {
      expect(visible(text)).not.toMatch(
        /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u,
      )
      expect(cut(text, most).length).toBeLessThanOrEqual(most + 20)
      expect(cut(text, most)).not.toMatch(/\p{Cs}/u)
    }),
  )
})
