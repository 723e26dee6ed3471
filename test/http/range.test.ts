import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { attachment, ifRangeHolds, isSatisfiable, parseRange } from '../../src/http/range.ts'
import { clampRange } from '../../src/store/store.ts'

describe('parseRange', () => {
  test.each([
    ['bytes=0-0', { offset: 0, length: 1 }],
    ['bytes=5-9', { offset: 5, length: 5 }],
    ['bytes=5-', { offset: 5 }],
    ['bytes=-1', { suffix: 1 }],
    ['bytes=-0', { suffix: 0 }],
    ['BYTES=1-2', { offset: 1, length: 2 }],
    [' bytes= 1-2 ', { offset: 1, length: 2 }],
    ['bytes=,1-2,', { offset: 1, length: 2 }],
    ['bytes=0-99999999999999999999', { offset: 0, length: Number.MAX_SAFE_INTEGER }],
    [null, null],
    ['', null],
    ['lines=0-5', null],
    ['bytes', null],
    ['bytes=', null],
    ['bytes=-', null],
    ['bytes=5-4', null],
    ['bytes=a-b', null],
    ['bytes=1-2-3', null],
    ['bytes=0x1-2', null],
    ['bytes=+1-2', null],
    ['bytes=1.0-2', null],
    ['bytes=0-1,3-4', null],
    ['bytes 0-1', null],
    ['bytes = 0-1', null],
  ])('%j', (header, expected) => {
    expect(parseRange(header)).toEqual(expected)
  })
  test('property: a range agrees with slice()', () => {
    const bytes = Uint8Array.from({ length: 20 }, (_, i) => i)
    fc.assert(
      fc.property(fc.nat(20), fc.nat(30), fc.nat(30), (size, a, b) => {
        const file = bytes.subarray(0, size)
        const range = parseRange(`bytes=${a}-${b}`)
        if (b < a) {
          expect(range).toBeNull()
          return
        }
        const { offset, length } = clampRange(range!, size)
        expect([...file.subarray(offset, offset + length)]).toEqual([...file.slice(a, b + 1)])
        expect(isSatisfiable(range!, size)).toBe(a < size)
      }),
    )
  })
})

test('isSatisfiable', () => {
  expect(isSatisfiable({ suffix: 0 }, 5)).toBe(false)
  expect(isSatisfiable({ suffix: 9 }, 5)).toBe(true)
  expect(isSatisfiable({ offset: 5 }, 5)).toBe(false)
  expect(isSatisfiable({ offset: 0 }, 0)).toBe(false)
})

test('ifRangeHolds only for the same strong tag', () => {
  expect(ifRangeHolds(null, '"a"')).toBe(true)
  expect(ifRangeHolds('"a"', '"a"')).toBe(true)
  expect(ifRangeHolds('W/"a"', '"a"')).toBe(false)
  expect(ifRangeHolds('"a", "b"', '"a"')).toBe(false)
  expect(ifRangeHolds('Sun, 15 Nov 2026 02:10:00 GMT', '"a"')).toBe(false)
})

describe('attachment', () => {
  test.each([
    ['broker.log', 'attachment; filename="broker.log"'],
    ['a b;c.log', 'attachment; filename="a b;c.log"'],
    ['a"b\\c.log', `attachment; filename="a_b_c.log"; filename*=UTF-8''a%22b%5Cc.log`],
    ['50%.log', `attachment; filename="50_.log"; filename*=UTF-8''50%25.log`],
    ['knoten-ü.log', `attachment; filename="knoten-_.log"; filename*=UTF-8''knoten-%C3%BC.log`],
    [
      'x\r\nSet-Cookie: a=b',
      `attachment; filename="x__Set-Cookie: a=b"; filename*=UTF-8''x%0D%0ASet-Cookie%3A%20a%3Db`,
    ],
    ["it's (1)*😀", `attachment; filename="it's (1)*_"; filename*=UTF-8''it%27s%20%281%29%2A%F0%9F%98%80`],
  ])('%j', (name, header) => {
    expect(attachment(name)).toBe(header)
  })
  test('property: it is always one valid header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (name) => {
        const header = attachment(name)
        expect(header).toMatch(
          /^attachment; filename="[\x20-\x21\x23-\x7e]*"(; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]*)?$/,
        )
        expect(new Headers({ 'Content-Disposition': header }).get('Content-Disposition')).toBe(header)
      }),
    )
  })
})
