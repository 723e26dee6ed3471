import fc from 'fast-check'
import { expect, test } from 'vitest'
import { detectFormat, type LineFormat } from '../../../src/log/format/detect.ts'
import { toJson } from '../../../src/log/render/ndjson.ts'
import { parseZone, UTC, type Zone } from '../../../src/log/time.ts'
import {
  copyName,
  copyPlain,
  copyText,
  digitsEnd,
  lastDigits,
  plainEnd,
  putTemplate,
  template,
  viewOf,
} from '../../../src/log/write/bytes/words.ts'
import { recordsIn, toNdjson } from './whole.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const decode = (all: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(all)
const lindbLines = detectFormat(bytes('2026-11-15 02:10:00.123\tINFO\ta/b.go:12\tstarted'))

/** The plain way: each record a string, then an object, then JSON. Contexts may also stand there as they were written. */
function plainly(all: Uint8Array, format: LineFormat, zone: Zone): string[][] {
  return recordsIn(all, format).map((record) => {
    const text = decode(record)
    const json = toJson(text, format, zone)
    const { context, ...others } = JSON.parse(json)
    if (context === undefined) return [json]
    const written = text.slice(text.lastIndexOf('\t{') + 1)
    return [json, `${JSON.stringify(others).slice(0, -1)},"context":${written}}`]
  })
}

function agrees(all: Uint8Array, from: number, to: number, zone: Zone) {
  const lines = decode(toNdjson(all, from, to, lindbLines, zone)).split('\n')
  expect(lines.pop()).toBe('')
  const expected = plainly(all.slice(from, to), lindbLines, zone)
  expect(lines.length).toBe(expected.length)
  for (const [i, line] of lines.entries())
    if (!expected[i]!.includes(line)) expect(line).toBe(expected[i]!.at(-1))
}

const often = <T>(...values: T[]) => fc.constantFrom(...values)
const stamp = fc.oneof(
  {
    weight: 6,
    arbitrary: often('2026-11-15 02:10:00.123', '2026-11-15 02:10:59.999', '2026-11-15 02:11:07.001'),
  },
  often(
    '2026-11-15 02:10:60.000',
    '2026-11-15 02:10:0:.123',
    '2026-11-15 02:10:00.12a',
    '2026-02-30 00:00:00.000',
  ),
  often(
    '2026-10-25 02:30:00.000',
    '2026-03-29 02:30:59.999',
    '2026-11-15T02:10:00.123',
    '1850-01-01 00:00:00.000',
  ),
)
const level = fc.oneof(
  { weight: 6, arbitrary: often('INFO', 'WARN', 'ERROR', 'DEBUG', 'info', 'Fatal') },
  often('INFOX', 'INF', 'notice', '', ' INFO', '[INFO]', 'debug1', 'FOO'),
)
const source = fc.oneof(
  {
    weight: 6,
    arbitrary: often('query/executor.go:12', 'a.go:0', 'a"b\\.go:99', 'a:1', 'b:1234', 'c:12345'),
  },
  often(
    'a.go:01',
    'a.go:',
    ':1',
    '1:2',
    '1234',
    '12345',
    'a::2',
    ' a.go:3',
    'a.go:123456789',
    'a.go:1234567890',
    'é.go:4',
    '',
  ),
)
const tags = often(
  ...['[Broker] [Query]: ', '[A]: ', '[A][B]:', '[A B]: ', '[ A ]: ', '[A ] [B]:', '[]: ', '[A] []: ', ''],
  ...[
    '[A]  [B] : x',
    '[A] ',
    '[A',
    '[A"q\\]: ',
    '[é]: ',
    '[\u3000日] [A]: ',
    '[A\t]: ',
    '  [A]: ',
    '[A]',
    '[A]x: ',
    '[\x01]: ',
    ': ',
  ],
)
const message = often(
  ...[
    'request 7123 handled by worker 17',
    '',
    ' ',
    'a "quoted" \\ one',
    'tab\there',
    '\t\t',
    'é \u2028',
    '日本 😀\u3000',
    'ß=\u00e9 k="日\u00a0本"',
    '\x00',
  ],
  ...[
    '\x1b[31mred\x1b[0m',
    '\r',
    'x'.repeat(70),
    '"""\\\\',
    '\x7f',
    'a\t{',
    'a\t{}b',
    '{"a":1}',
    'a\x1fb',
    '[A]: ',
  ],
)
const context = fc.oneof(
  fc.json({ maxDepth: 3 }).map((json) => `\t{"v":${json}}`),
  often(
    ...[
      '',
      '\t{"ms":12,"node":"10.0.1.2","ok":true}',
      '\t{}',
      '\t{"a":1.50}',
      '\t{"a":"\\u00e9\\/"}',
      '\t{"a":"\\x"}',
    ],
    ...[
      '\t{"a":1,}',
      '\t{"a":\t1}',
      '\t{ "a" : 1 , "b" : [ ] }',
      '\t{"a":01}',
      '\t{"a":-0.5e+3}',
      '\t{"a":tru}',
    ],
    ...[
      '\t{"a":1}\t{"b":2}',
      '\t{"a":1} ',
      '\t{"a":1}\r',
      '\t{"a":"\t"}',
      '\t{"2":1,"1":2}',
      '\t[1]',
      '\t{"a":"x',
    ],
    ...[99, 100, 101].map((deep) => `\t{"a":${'['.repeat(deep)}${']'.repeat(deep)}}`),
  ),
)
const more = often('', '', '', '', '', '', '\n at x', '\n\tat y\t{"a":1}', '\n', '\nplain', '\r')
const record = fc
  .tuple(stamp, level, source, tags, message, context, more)
  .map(([a, b, c, d, e, f, g]) => `${a}\t${b}\t${c}\t${d}${e}${f}${g}`)
const zone = often(UTC, parseZone('Europe/Berlin')!, parseZone('+05:30')!)
/** Some bytes replaced: by whatever, or by what means something. */
const damage = fc.array(
  fc.tuple(
    fc.nat(),
    fc.oneof(fc.nat(255), often(0, 9, 10, 13, 31, 32, 34, 44, 48, 58, 91, 92, 93, 123, 125, 128, 195)),
  ),
  { maxLength: 3 },
)

test('property: JSON byte by byte as the plain way makes it, whatever the bytes', () => {
  fc.assert(
    fc.property(
      fc.array(record, { maxLength: 7 }),
      damage,
      fc.boolean(),
      fc.nat(8),
      often('', ' ', 'x', '\n', '"}', ' {"a":1}\n', '\t{"a":1}'),
      zone,
      (records, damaged, ended, before, after, where) => {
        const text = bytes(records.join('\n') + (ended && records.length > 0 ? '\n' : ''))
        for (const [at, byte] of damaged) if (text.length > 0) text[at % text.length] = byte
        // In the middle of other bytes, at any alignment: none of them may matter.
        const all = new Uint8Array(Buffer.concat([Buffer.alloc(before, 'A'), text, bytes(after)]))
        agrees(all, before, before + text.length, where)
      },
    ),
    { numRuns: 8000, seed: 20261115 },
  )
})

test.each([15, 16, 17, 40])('lines of about %i KiB', (kib) => {
  const line = (length: number, fill: string) => {
    const head = '2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A]: '
    return `${head}${fill.repeat(length).slice(0, length - head.length - 10)}\t{"x":1.50}`
  }
  for (const fill of ['x', '"', `${'y'.repeat(99)}\t`])
    for (let length = kib * 1024 - 3; length <= kib * 1024 + 3; length++) {
      const all = bytes(`${line(50, 'a')}\n${line(length, fill)}\n${line(50, 'b')}\n`)
      agrees(all, 0, all.length, UTC)
      expect(decode(toNdjson(all, 0, all.length, lindbLines, UTC)).match(/"x":1\.50/g)?.length).toBe(3)
    }
})

test('property: words find and copy what single bytes do', () => {
  const isPlain = (byte: number) => byte >= 0x20 && byte < 0x80 && byte !== 0x22 && byte !== 0x5c
  const isCharacter = (all: Uint8Array) =>
    all[0]! >= 0x80 && [...decode(all)].length === 1 && Buffer.compare(bytes(decode(all)), all) === 0
  /** How many bytes at `at` are one plain character, 0 if none are. */
  const plainAt = (all: Uint8Array, at: number, to: number) =>
    at < to && isPlain(all[at]!)
      ? 1
      : ([2, 3, 4].find((length) => at + length <= to && isCharacter(all.subarray(at, at + length))) ?? 0)
  const byte = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) }, fc.nat(255))
  const wide = fc.array(often('é', '日', '😀', 'a', 'bcdefg', '"'), { maxLength: 12 })
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 30 }),
      fc.array(byte, { maxLength: 30 }),
      wide,
      fc.nat(8),
      (a, b, c, at) => {
        for (const all of [a, Uint8Array.from(b), bytes(c.join(''))])
          for (let from = 0; from <= all.length; from++) {
            const to = all.length - (at % (all.length - from + 1))
            let end = from
            while (plainAt(all, end, to) > 0) end += plainAt(all, end, to)
            const found = all.findIndex((one, i) => i >= from && !isPlain(one))
            const wordEnd = found < 0 || found > to ? to : found
            const out = new Uint8Array(at + all.length + 8)
            expect(plainEnd(viewOf(all), from, to)).toBe(end)
            expect(copyPlain({ view: viewOf(all), out: viewOf(out) }, from, to, at)).toBe(end)
            expect(Buffer.compare(out.subarray(at, at + end - from), all.subarray(from, end))).toBe(0)
            const name = copyName({ view: viewOf(all), out: viewOf(out) }, from, to, at)
            const bracket = all.indexOf(0x5d, from)
            const nameEnd = bracket < 0 || bracket > wordEnd ? wordEnd : bracket
            // It stops at the last whole words before `to` at the latest.
            expect(name).toBe(Math.min(nameEnd, to - ((to - from) % 4)))
            expect(Buffer.compare(out.subarray(at, at + name - from), all.subarray(from, name))).toBe(0)
            const ascii = all.map((one) => one & 0x7f)
            copyText({ view: viewOf(ascii), out: viewOf(out) }, from, to, at)
            expect(Buffer.compare(out.subarray(at, at + to - from), ascii.subarray(from, to))).toBe(0)
          }
      },
    ),
    { numRuns: 500, seed: 20261115 },
  )
})

test('property: words find digits as single bytes do', () => {
  const byte = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0x30, max: 0x39 }) }, fc.nat(255))
  fc.assert(
    fc.property(fc.array(byte, { minLength: 4, maxLength: 14 }), fc.nat(14), (list, at) => {
      const all = Uint8Array.from(list)
      const from = at % all.length
      const text = String.fromCharCode(...all)
      expect(digitsEnd(viewOf(all), from, all.length) - from).toBe(
        /^[0-9]*/.exec(text.slice(from))![0].length,
      )
      expect(lastDigits(viewOf(all), all.length)).toBe(/[0-9]*$/.exec(text.slice(-4))![0].length)
    }),
    { numRuns: 5000, seed: 20261115 },
  )
})

test.each(['', 'a', '","line":', 'exactly8', '},"message":"', '\x7f'.repeat(9)])('template %j', (text) => {
  const out = new Uint8Array(32).fill(0xff)
  expect(putTemplate(template(text), viewOf(out), 3)).toBe(3 + text.length)
  expect(decode(out.subarray(3, 3 + text.length))).toBe(text)
  expect(out.subarray(0, 3)).toEqual(Uint8Array.of(255, 255, 255))
})
