import { describe, expect, test } from 'vitest'
import { detectFormat, LEVELS, type LineFormat } from '../../../src/log/format/detect.ts'
import { lineEnd } from '../../../src/log/format/lines.ts'
import { type CountedRange, LineCount } from '../../../src/log/histogram/count.ts'
import { takeScanner } from '../../../src/log/scanner/scanner.ts'
import { EVERY_RECORD } from '../../../src/log/selection.ts'
import { parseZone, type Zone } from '../../../src/log/time.ts'
import { linesLike, random, SAMPLES } from './lines.ts'

interface Case {
  format: LineFormat
  zone: Zone
  bytes: Uint8Array
  /** Records outside are told apart by their times. */
  range: { from: number; to: number; step: number }
}

/** How many records there are in each bucket, by level. */
type Counts = Record<string, number>

function rangeOf({
  format,
  zone,
  range: { from, to, step },
}: Case): CountedRange & { counts: Counts; shaped: number } {
  const counts: Counts = {}
  const bucketOf = (time: number) => Math.floor(time / step)
  const self = {
    lo: 0,
    hi: 0,
    filter: { format, zone, selection: EVERY_RECORD, since: null, until: null },
    counts,
    shaped: 0,
    add(time: number, column: number, record: unknown, count = 1) {
      const key = `${time >= from && time < to ? bucketOf(time) : `exactly ${time}`} ${column}`
      counts[key] = (counts[key] ?? 0) + count
      if (record === null) self.shaped += count
    },
    isSpan: (first: number, last: number) => first >= from && last < to && bucketOf(first) === bucketOf(last),
  }
  return self
}

/** The same, one record after the other. */
function slowly(one: Case): Counts {
  const { format, zone, bytes } = one
  const range = rangeOf(one)
  let time = Number.NaN
  for (let start = 0; start < bytes.length; ) {
    const headEnd = lineEnd(bytes, start, bytes.length)
    let end = headEnd + 1
    while (end < bytes.length && !format.starts(bytes, end, lineEnd(bytes, end, bytes.length)))
      end = lineEnd(bytes, end, bytes.length) + 1
    end = Math.min(end, bytes.length)
    const own = format.time(bytes, start, headEnd, zone)
    if (!Number.isNaN(own)) time = own
    const level = format.level(bytes, start, headEnd, end)
    range.add(time, level < 0 ? LEVELS.length : level, null)
    start = end
  }
  return range.counts
}

function quickly(one: Case): { counts: Counts; shaped: number } {
  const scanner = takeScanner(64 * 1024)!
  const range = rangeOf(one)
  const { bytes } = one
  const count = new LineCount(range, scanner)
  expect(count.count({ bytes, from: 0, to: bytes.length, base: 0 })).toBe(true)
  scanner.release()
  return range
}

const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu'].map((name) => parseZone(name)!)
const STEPS = [1000, 15_000, 30_000, 60_000, 300_000, 3_600_000, 86_400_000]

describe.each(Object.entries(SAMPLES))('a chart of %s', (name, { lines, isShaped }) => {
  const sample = new TextEncoder().encode(`${lines.join('\n')}\n`)
  const format = detectFormat(sample, undefined, { reference: Date.UTC(2026, 10, 17) })

  const isBench = name.endsWith('of the bench')
  const seeds = isShaped && !isBench ? [1, 2, 3, 4, 5, 6] : [1]

  test.each(seeds)('counts what its records say (%i)', (seed) => {
    const any = random(seed * 7919 + name.length)
    for (let round = 0; round < 8; round++) {
      const zone = ZONES[any(ZONES.length)]!
      const bytes = linesLike(lines, any, round % 4)
      const first = format.time(sample, 0, lineEnd(sample, 0, sample.length), zone)
      const range = {
        from: first - any(100_000),
        to: first + any(100_000_000),
        step: STEPS[any(STEPS.length)]!,
      }
      const one = { format, zone, bytes, range }
      const expected = slowly(one)
      expect(quickly(one).counts, `round ${round}`).toEqual(expected)
    }
  })

  // Lines of other formats have no shape, and are read one by one.
  if (!isShaped) return
  test('reads most lines in the scanner', () => {
    const bytes = isBench ? sample : linesLike(lines, random(1), 0)
    const zone = ZONES[0]!
    const range = { from: 0, to: Number.POSITIVE_INFINITY, step: 86_400_000 }
    const { shaped, counts } = quickly({ format, zone, bytes, range })
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
    expect(shaped / all).toBeGreaterThan(0.2)
  })
})

/** A line in which another has a time, wrapped in another hour. */
const WRAPPED: Record<string, (time: string, hour: number) => string> = {
  CRI: (time, hour) => `2026-11-14T0${hour}:10:03.123456789Z stdout F {"time":${time},"level":"info"}`,
  Docker: (time, hour) => {
    const log = `{"time":${time},"level":"info"}\n`
    return JSON.stringify({ log, stream: 'stdout', time: `2026-11-14T0${hour}:10:03.123456789Z` })
  },
}

/** Lines that look like the ones before them, but say something else. */
const OTHER_LINES: Record<string, { lines: string[]; others: string[] }> = {
  'JSON lines that end in a backslash': {
    lines: ['INFO', 'ERROR'].map(
      (level) => `{"ts":"2026-11-14T02:29:03.123Z","msg":"abc","level":"${level}"}`,
    ),
    others: ['{"ts":"2026-11-14T02:29:03.123Z","msg":"abc\\', 'x","level":"ERROR"}'],
  },
  'an access log’s lines that end in a backslash': {
    lines: ['200', '503'].map(
      (status) => `10.0.0.1 - - [14/Nov/2026:02:10:03 +0000] "GET /a HTTP/1.1" ${status} 17 "-" "x"`,
    ),
    others: ['10.0.0.1 - - [14/Nov/2026:02:10:03 +0000] "GET /a\\', ' HTTP/1.1" 503 17 "-" "x"'],
  },
  ...Object.fromEntries(
    [
      '"0000-00-00T00:00:00Z"',
      '"2026-02-30T02:10:03Z"',
      '"2026-11-14T12:60:00Z"',
      '1794621003.',
      '17.94621003.1',
    ].flatMap((time) =>
      Object.entries(WRAPPED).map(([wrapper, wrapped]) => [
        `lines that ${wrapper} wrapped with the time ${time}`,
        {
          lines: ten(() => wrapped('"2026-11-14T02:10:03.123Z"', 2)),
          others: ten((i) => wrapped(time, i)),
        },
      ]),
    ),
  ),
  'lines of syslog with a zone behind a blank': {
    lines: ten((i) => `<134>1 2026-11-14T02:10:0${i} db a - - - x`),
    others: ten((i) => `<134>1 2026-11-14T02:10:0${i} EST a - - - x`),
  },
  'PostgreSQL’s lines with a zone before a number': {
    lines: ten((i) => `2026-11-14 02:10:0${i} 17 LOG:  a`),
    others: ten((i) => `2026-11-14 02:10:0${i} EST 17 LOG:  b`),
  },
  'PostgreSQL’s lines with a zone before the severity': {
    lines: ten((i) => `2026-11-14 02:10:0${i} LOG:  a`),
    others: [
      ...ten((i) => `2026-11-14 02:10:0${i}+0200 LOG:  b`),
      ...ten((i) => `2026-11-14 02:10:0${i} EST LOG:  b`),
    ],
  },
  'PostgreSQL’s lines with a longer zone': {
    lines: ten((i) => `2026-11-14 02:10:0${i}+02 LOG:  a`),
    others: ten((i) => `2026-11-14 02:10:0${i}+0230 LOG:  b`),
  },
  'JSON lines with a second number for the level': {
    lines: ten((i) => `{"time":179462100312${i},"level":50 }`),
    others: ten((i) => `{"time":179462100312${i},"level":50 5}`),
  },
  'JSON lines with a second number for the time': {
    lines: [...ten((i) => `{"level":50,"time":179462100312${i} }`), '{"level":50,"time":1794640000000}'],
    others: ten((i) => `{"level":50,"time":179462100312${i} 5}`),
  },
  'lines with a byte order mark in brackets': {
    lines: ten((i) => `2026-11-14 02:10:0${i} main a request [of b]`),
    others: ten((i) => `2026-11-14 02:10:0${i} main a request [\ufefferror] b`),
  },
}

function ten(lineOf: (i: number) => string): string[] {
  return Array.from({ length: 10 }, (_, i) => lineOf(i))
}

test.each(Object.entries(OTHER_LINES))('a chart tells apart %s', (_, { lines, others }) => {
  const encode = (text: string[]) => new TextEncoder().encode(`${text.join('\n')}\n`)
  const format = detectFormat(encode(lines), undefined, { reference: Date.UTC(2026, 10, 17) })
  const from = Date.UTC(2026, 10, 13)
  for (const step of STEPS) {
    const range = { from, to: from + 3 * 86_400_000, step }
    const one = { format, zone: ZONES[1]!, bytes: encode([...lines, ...others]), range }
    expect(quickly(one).counts, `${format.name} by ${step} ms`).toEqual(slowly(one))
  }
})
