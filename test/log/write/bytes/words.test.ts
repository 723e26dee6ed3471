import { expect, test } from 'vitest'
import { charactersEnd } from '../../../../src/log/format/read/words.ts'
import { bytesIn, viewOf, wideBlank } from '../../../../src/log/write/bytes/words.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function isUtf8(bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes)
    return true
  } catch {
    return false
  }
}

test('UTF-8 is what the platform decodes: all leads and seconds, and the borders of what follows', () => {
  const wrong: number[][] = []
  const lasts = [[], [0x80], [0xbf], [0x7f], [0xc0], [0x80, 0xbf], [0xbf, 0x80], [0x80, 0x7f], [0x80, 0xc2]]
  for (let lead = 0x80; lead < 0x100; lead++)
    for (let second = 0x7f; second < 0x100; second++)
      for (const last of lasts) {
        const bytes = Uint8Array.of(lead, second, ...last)
        const isAll = charactersEnd(viewOf(bytes), 0, bytes.length) === bytes.length
        const isExpected = bytes.every((byte) => byte >= 0x80) && isUtf8(bytes)
        if (isAll !== isExpected) wrong.push([...bytes])
      }
  expect(wrong).toEqual([])
})

test('it ends at ASCII, at broken UTF-8, and at a character that is not all there', () => {
  const ends = (...bytes: number[]) => charactersEnd(viewOf(Uint8Array.from(bytes)), 0, bytes.length)
  expect(ends(0xc3, 0xa9, 0x41)).toBe(2)
  expect(ends(0xc3, 0xa9, 0xff, 0xc3)).toBe(2)
  expect(ends(0xc3, 0xa9, 0xe6, 0x97)).toBe(2)
  expect(ends(0x41)).toBe(0)
})

test('blanks beyond ASCII are those of patterns', () => {
  const wrong: number[] = []
  for (let code = 0x80; code < 0xffff; code++) {
    if (code >= 0xd800 && code < 0xe000) continue
    const bytes = encoder.encode(String.fromCharCode(code))
    const expected = /\s/.test(String.fromCharCode(code)) ? bytes.length : 0
    if (wideBlank(bytes, 0) !== expected) wrong.push(code)
  }
  expect(wrong).toEqual([])
})

test('units of a text and its bytes', () => {
  const text = 'aé日😀\u07ff\u0800\uffff.'
  for (let count = 0; count <= text.length; count++)
    if (!/[\ud800-\udbff]$/.test(text.slice(0, count)))
      expect(bytesIn(text, count)).toBe(encoder.encode(text.slice(0, count)).length)
})
