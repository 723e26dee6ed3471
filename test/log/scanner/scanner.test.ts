import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { detectFormat, PLAIN } from '../../../src/log/format/detect.ts'
import { exactFinder, foldedFinder } from '../../../src/log/pattern/literal.ts'
import { regexMatcher, textMatcher } from '../../../src/log/pattern/pattern.ts'
import { takeScanner } from '../../../src/log/scanner/scanner.ts'
import { type Filter, matches } from '../../../src/log/search/filter.ts'
import { UTC } from '../../../src/log/time.ts'
import { selectionOf } from '../context.ts'

const encoder = new TextEncoder()
const bytes = (text: string) => encoder.encode(text)
const scanner = () => takeScanner(64 * 1024)!

/** Start and end of each line with the needle, by strings. */
function naive(text: string, needle: string, folded: boolean): number[] {
  const fold = (part: string) => (folded ? part.toLowerCase() : part)
  const pairs: number[] = []
  let at = 0
  for (const line of text.split(/(?<=\n)/)) {
    if (fold(line).includes(fold(needle))) pairs.push(at, at + line.length)
    at += line.length
  }
  return pairs
}

describe('the loops of a search', () => {
  test('are what scanner.wat says', () => {
    const script = fileURLToPath(new URL('../../../scripts/wasm.mjs', import.meta.url))
    expect(execFileSync(process.execPath, [script, '--check']).toString()).toBe('')
  })

  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'z', ' ', '1'), minLength: 1, maxLength: 40 })
  const line = fc.oneof(
    word,
    fc.constant(''),
    fc.constantFrom('a'.repeat(15), 'b'.repeat(16), 'ab'.repeat(50)),
  )
  const lines = fc.array(line, { maxLength: 40 }).map((all) => all.join('\n'))

  test('property: find the lines that a search of strings finds, wherever the bytes lie', () => {
    const taken = scanner()
    const chunk = taken.chunks[1]
    fc.assert(
      fc.property(lines, word, fc.boolean(), fc.nat(70), fc.nat(40), (text, needle, folded, before, cut) => {
        // What lies around must not count: full of hits and of line breaks.
        const around = `${needle}\n`.repeat(60)
        const found = (folded ? foldedFinder : exactFinder)(bytes(needle)).needle!
        const all = bytes(around.slice(0, before) + text + around.slice(cut))
        const expected = naive(text, needle, folded).map((place) => place + before)
        expect([
          ...taken.linesWith(found, '', { bytes: all, from: before, to: before + text.length })!,
        ]).toEqual(expected)
        chunk.set(all)
        const resident = chunk.subarray(0, all.length)
        expect([
          ...taken.linesWith(found, '', { bytes: resident, from: before, to: before + text.length })!,
        ]).toEqual(expected)
        const packed = taken.gather(resident, expected, 0)!
        const joined = [...packed].map((byte) => String.fromCharCode(byte)).join('')
        expect(joined).toBe(
          expected
            .map((start, i) => (i % 2 ? '' : text.slice(start - before, expected[i + 1]! - before)))
            .join(''),
        )
      }),
      { numRuns: 3000 },
    )
    taken.release()
  })

  test('a letter in any case is that letter alone', () => {
    const taken = scanner()
    const every = Uint8Array.from({ length: 512 }, (_, i) => (i % 2 ? 10 : i / 2))
    const hits = (needle: string) => {
      const pairs = [
        ...taken.linesWith(foldedFinder(bytes(needle)).needle!, '', {
          bytes: every,
          from: 0,
          to: every.length,
        })!,
      ]
      return pairs.filter((_, i) => i % 2 === 0).map((start) => every[start])
    }
    for (let code = 33; code < 127; code++) {
      const char = String.fromCharCode(code)
      const upper = char.toUpperCase().charCodeAt(0)
      const lower = char.toLowerCase().charCodeAt(0)
      expect(hits(char)).toEqual([...new Set([upper, lower])].sort((a, b) => a - b))
    }
    taken.release()
  })

  test('property: a line is sure to be a record when it and the next begin as records do', () => {
    const taken = scanner()
    const head = '00-x 0'
    const isHead = (line: string | undefined) => line === undefined || /^[0-9]{2}-x [0-9]/.test(line)
    const begin = fc.constantFrom(
      '12-x 3',
      '00-x 9',
      '12-x ',
      '1a-x 3',
      '12-y 3',
      '/2-x 3',
      ':2-x 3',
      'x',
      '',
    )
    const records = fc.array(
      fc
        .tuple(begin, fc.constantFrom('', 'q', ' q and more than sixteen bytes'))
        .map((parts) => parts.join('')),
      { minLength: 1, maxLength: 20 },
    )
    const needle = exactFinder(bytes('q')).needle!
    fc.assert(
      fc.property(records, (lines) => {
        const text = lines.map((line) => `${line}\n`)
        const all = bytes(text.join(''))
        const expected: number[] = []
        let at = 0
        // What stands right behind a line that was found, or first of all, counts as sure.
        let behind = true
        for (const [i, line] of text.entries()) {
          const found = line.includes('q')
          const sure = (behind || isHead(line)) && isHead(text[i + 1])
          if (found) expected.push(sure ? at : ~at, at + line.length)
          behind = found
          at += line.length
        }
        expect([...taken.linesWith(needle, head, { bytes: all, from: 0, to: all.length })!]).toEqual(expected)
        const unknown = [...taken.linesWith(needle, undefined, { bytes: all, from: 0, to: all.length })!]
        expect(unknown.map((place) => (place < 0 ? ~place : place))).toEqual(
          expected.map((place) => (place < 0 ? ~place : place)),
        )
      }),
      { numRuns: 2000 },
    )
    taken.release()
  })

  test('all lines of a full chunk fit, however short they are', () => {
    const taken = scanner()
    const full = taken.chunks[0]
    for (let i = 0; i < full.length; i++) full[i] = i % 2 ? 10 : 97
    const pairs = taken.linesWith(exactFinder(bytes('a')).needle!, '', {
      bytes: full,
      from: 0,
      to: full.length,
    })!
    expect(pairs.length).toBe(full.length)
    expect([...pairs.slice(-2)]).toEqual([full.length - 2, full.length])
    // Every second line, so that no two are neighbours.
    const every = [...pairs].filter((_, i) => i % 4 < 2)
    const packed = taken.gather(full, every, 0)!
    expect(packed.length).toBe(full.length / 2)
    expect(packed.every((byte, i) => byte === (i % 2 ? 10 : 97))).toBe(true)
    taken.release()
  })

  test('what is too long is left to the plain search', () => {
    const taken = scanner()
    const long = new Uint8Array(taken.room + 1)
    expect(
      taken.linesWith(exactFinder(bytes('a')).needle!, '', { bytes: long, from: 0, to: long.length }),
    ).toBe(null)
    expect(
      taken.linesWith(exactFinder(new Uint8Array(65)).needle!, '', { bytes: bytes('a'), from: 0, to: 1 }),
    ).toBe(null)
    expect(taken.gather(bytes('abc'), [0, 1], 0)).toBe(null)
    taken.release()
  })

  test('one is used again, and never by two', () => {
    const [a, b, c] = [scanner(), scanner(), scanner()]
    expect(new Set([a, b, c]).size).toBe(3)
    for (const taken of [a, b, c]) taken.release()
    const again = [scanner(), scanner(), scanner()]
    expect(new Set(again).size).toBe(3)
    expect(again.filter((taken) => [a, b, c].includes(taken)).length).toBe(1)
    for (const taken of again) taken.release()
    const large = takeScanner(8 * 1024 * 1024)!
    expect(large.room).toBeGreaterThanOrEqual(8 * 1024 * 1024)
    large.release()
  })
})

describe('with the scanner and without, the same records match', () => {
  const HEAD = '2026-01-0'
  const heads = fc
    .tuple(
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('INFO', 'WARN', 'ERROR'),
      fc.constantFrom('', 'Lost', 'lost 7'),
    )
    .map(([day, level, text]) => `${HEAD}${day} 10:00:00.000\t${level}\ta/b.go:1\t[X] [Y]: ${text} x`)
  const rest = fc.constantFrom(
    '',
    '\tat lost (a.go:7)',
    'lost',
    '  goroutine 1',
    `${HEAD}5 10:00`,
    'é lost é',
  )
  const log = fc
    .array(fc.oneof(heads, rest), { minLength: 1, maxLength: 30 })
    .map((all) => `${all.join('\n')}\n`)
  const format = detectFormat(bytes(`${HEAD}1 10:00:00.000\tINFO\ta/b.go:1\t[X] [Y]: x\n`.repeat(5)))
  const filters = fc.record({
    format: fc.constantFrom(format, PLAIN),
    level: fc.constantFrom(null, 2),
    day: fc.constantFrom(null, 3),
    first: fc.boolean(),
  })

  test.each([
    ['a text in any case', async () => textMatcher('lost')],
    ['a text as it is', async () => textMatcher('Lost')],
    ['a pattern with a literal', () => regexMatcher('lost [0-9]')],
    ['a pattern with two', () => regexMatcher('lost|goroutine')],
  ])('property: %s', async (_what, make) => {
    const matcher = await make()
    const taken = scanner()
    fc.assert(
      fc.property(log, filters, (text, { format, level, day, first }) => {
        const at = day === null ? null : Date.UTC(2026, 0, day)
        const filter: Filter = {
          format,
          zone: UTC,
          selection: selectionOf({ level, matcher }),
          since: at === null ? null : { at, below: Number.POSITIVE_INFINITY },
          until: null,
        }
        const all = bytes(text)
        const chunk = { bytes: all, from: 0, to: all.length, base: 0 }
        const plain = Array.from(matches(chunk, filter, { first }))
        expect(Array.from(matches(chunk, filter, { first, scanner: taken }))).toEqual(plain)
      }),
      { numRuns: 1500 },
    )
    taken.release()
  })
})
