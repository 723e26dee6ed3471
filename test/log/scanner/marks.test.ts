import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Marks } from '../../../src/log/scanner/marks.ts'
import { takeScanner } from '../../../src/log/scanner/scanner.ts'

const latin1 = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0))
const PATTERNS = [
  /[^d]err[^a-z0-9]/i,
  /"[ef].?"/i,
  /\nE/,
  /l": ?[05-9]/i,
  /[1-3][^0-9]/,
  /\xd0\x9e/,
  /".5[0-9][0-9]/,
  / -1 /,
]

test('property: marks are found where regular expressions find them', () => {
  const scanner = takeScanner(64 * 1024)!
  const piece = fc.oneof(
    fc.constantFrom(
      'err',
      'ERR ',
      'stderr ',
      '"e"',
      '"Fx"',
      '\nE',
      'l": 5',
      'L":6',
      '2,',
      '\xd0\x9e',
      '" 503',
      ' -1 ',
      '\n',
      '\r\n',
      '\0',
      '\xff',
    ),
    fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
      maxLength: 20,
    }),
  )
  const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(
      text,
      fc.subarray(PATTERNS, { minLength: 1 }),
      fc.boolean(),
      (content, patterns, isResident) => {
        const marks = new Marks(patterns)
        const own = latin1(content)
        const chunk = scanner.chunks[0]
        chunk.set(own)
        const bytes = isResident ? chunk.subarray(0, own.length) : own
        const places = [...scanner.marked(marks, { bytes, from: 0, to: own.length })!]
        const found = places.map((at) => marks.lastByte(own, at, own.length)).filter((at) => at >= 0)
        const expected = patterns.flatMap((pattern) => {
          const ends: number[] = []
          for (let at = 0; at < content.length; at++) {
            const match = new RegExp(pattern.source, `${pattern.flags}sy`)
            match.lastIndex = at
            if (match.test(content)) ends.push(match.lastIndex - 1)
          }
          return ends
        })
        // Several marks may be at one place, of which one is told.
        for (const at of found) {
          const isEnd = patterns.some((pattern) =>
            new RegExp(`(?:${pattern.source})$`, `${pattern.flags}s`).test(content.slice(0, at + 1)),
          )
          expect(isEnd, `${JSON.stringify(content)} ${at}`).toBe(true)
        }
        for (const at of expected) expect(found.some((place) => Math.abs(place - at) <= 16)).toBe(true)
      },
    ),
    { numRuns: 300 },
  )
  scanner.release()
})
