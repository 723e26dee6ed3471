import fc from 'fast-check'
import { expect } from 'vitest'
import type { LineFormat } from '../../../src/log/format/format.ts'
import { toJson } from '../../../src/log/render/ndjson.ts'
import { parseZone, UTC, type Zone } from '../../../src/log/time.ts'
import { recordsIn, toNdjson } from '../render/whole.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const decode = (all: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(all)
export const often = <T>(...values: T[]) => fc.constantFrom(...values)
/** When the logs were last written. */
export const REFERENCE = Date.UTC(2026, 10, 16)

/** The plain way: each record a string, then an object, then JSON. */
function plainly(all: Uint8Array, format: LineFormat, zone: Zone): string[] {
  return recordsIn(all, format).map((record) => toJson(decode(record), format, zone))
}

export const MESSAGES = [
  'request 7123 handled by worker 17',
  '',
  ' two  spaces ',
  'a "quoted" \\ one',
  'tab\there',
  'shard=17 took=3ms, user="a b" path=/x?y=1',
  "name='x' (id=7) [k=v] {a=b}; c=d;",
  'a==b a = b --opt=1 k="x\\"y" k=1 k=2 =x x=',
  'bad=" unclosed and more=1',
  '(x=(1)) y=a(b)) z=;;',
  'pid=5 thread=6 level=7 prefix=8 duration=9 client=a __proto__=x constructor=y',
  'é \u2028 日本',
  'nul \x00 bell \x07',
  '\x1b[31mred\x1b[0m',
  'x'.repeat(70),
  "Access denied for user 'app'@'10.0.0.7' (using password: YES)",
  'duration: 12.345 ms  statement: select a=b from c where d=1',
  'checkpoint complete: wrote 3 buffers; total=0.123 s',
  'elapsed: 1.5 s; shard=1',
  'INFO not a level',
  'took_millis[17], x',
  'C-0x5581: shop/app@10.0.0.7:51234 login',
  'started (kafka.server.KafkaServer)',
  '(a.b)',
  'open() failed, client: 10.0.0.7, request: "GET /x?a=1 HTTP/1.1", host: "h"',
]
const zone = often(UTC, parseZone('Europe/Berlin')!, parseZone('+05:30')!)
/** Some bytes replaced: by whatever, or by what means something. */
const damage = fc.array(
  fc.tuple(
    fc.nat(),
    fc.oneof(
      fc.nat(255),
      often(0, 9, 10, 13, 27, 31, 32, 34, 44, 48, 58, 61, 91, 92, 93, 123, 125, 128, 195),
    ),
  ),
  { maxLength: 3 },
)
/** Characters beyond ASCII, anywhere: letters of two to four bytes, blanks of all sorts, and what folds to ASCII letters. */
const wide = fc.array(
  fc.tuple(
    fc.nat(),
    often(
      'é',
      'ß',
      '日本',
      '😀',
      '\u00a0',
      '\u0085',
      '\u2028',
      '\u3000',
      '\u200b',
      '\ufeff',
      '\u017f',
      '\u212a',
      '\uffff',
    ),
  ),
  { maxLength: 3 },
)
function widened(text: string, inserted: [at: number, characters: string][]): string {
  let all = text
  for (const [at, characters] of inserted) {
    const place = at % (all.length + 1)
    all = all.slice(0, place) + characters + all.slice(place)
  }
  return all
}
const others = often(
  '',
  ' at x',
  '\tat y',
  'plain words',
  '{"level":"warn","time":"2026-11-15T02:10:01Z"}',
  'I1115 02:10:00.123456 1 a.go:1] x',
)

/** Lines of a format, perhaps inside others. */
interface Lines {
  format: LineFormat
  line: fc.Arbitrary<string>
  wrap?: (line: string) => string
}

/** Lines written from bytes to bytes are those that are written by way of their fields, whatever the bytes. */
export function agrees({ format, line: own, wrap = (line) => line }: Lines, numRuns: number): void {
  const widest = fc.tuple(own, wide).map(([text, inserted]) => widened(text, inserted))
  const line = fc.oneof({ weight: 5, arbitrary: own }, { weight: 4, arbitrary: widest }, others)
  const end = often('\n', '\n', '\n', '\n', '\r\n')
  const wrapped = fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false))
  fc.assert(
    fc.property(
      fc.array(fc.tuple(line, end, wrapped), { maxLength: 6 }),
      damage,
      fc.nat(8),
      zone,
      (lines, damaged, before, where) => {
        const all = bytes(
          lines.map(([text, end, isWrapped]) => (isWrapped ? wrap(text) : text) + end).join(''),
        )
        for (const [at, byte] of damaged) if (all.length > 0) all[at % all.length] = byte
        // Behind another line, at any alignment, and before other bytes: none of them may matter.
        const placed = new Uint8Array(before + all.length + 5).fill(0x41)
        if (before > 0) placed[before - 1] = 10
        placed.set(all, before)
        const expected = plainly(all, format, where).map((record) => `${record}\n`)
        expect(decode(toNdjson(placed, before, before + all.length, format, where))).toBe(expected.join(''))
      },
    ),
    { numRuns },
  )
}
