import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { detectFormat, PLAIN } from '../../../src/log/format/detect.ts'
import { toJson } from '../../../src/log/render/ndjson.ts'
import { parseZone, UTC } from '../../../src/log/time.ts'
import { toNdjson } from './whole.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const LINE = '2026-11-15 02:10:00.123\tINFO\ta/b.go:12\t[Broker] [Runtime]: started\t{"port":9000, "x":1.50}'
const lindbLines = detectFormat(bytes(LINE))

/** The records, parsed; every line must end in LF. */
function records(input: string | Uint8Array, format = lindbLines, zone = UTC) {
  const all = typeof input === 'string' ? bytes(input) : input
  const text = new TextDecoder().decode(toNdjson(all, 0, all.length, format, zone))
  if (text !== '') expect(text.endsWith('\n')).toBe(true)
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

describe('NdjsonWriter', () => {
  test('a LinDB line, exactly: order of keys, context as it was written', () => {
    const json =
      '{"time":"2026-11-15T02:10:00.123Z","level":"info","source":{"file":"a/b.go","line":12},' +
      '"tags":["Broker","Runtime"],"message":"started","context":{"port":9000, "x":1.50}}\n'
    expect(new TextDecoder().decode(toNdjson(bytes(`${LINE}\n`), 0, LINE.length + 1, lindbLines, UTC))).toBe(
      json,
    )
  })
  test('the zone is applied', () => {
    const berlin = parseZone('Europe/Berlin')!
    const times = records(`${LINE}\n${LINE.replace('2026-11', '2026-07')}\n`, lindbLines, berlin).map(
      ({ time }) => time,
    )
    expect(times).toEqual(['2026-11-15T02:10:00.123+01:00', '2026-07-15T02:10:00.123+02:00'])
  })
  test('continuation lines belong to the record above', () => {
    const found = records(`${LINE}\n  at a\n  at b\n${LINE}\n`)
    expect(found.map(({ message }) => message)).toEqual(['started\n  at a\n  at b', 'started'])
  })
  test('a range inside a buffer, without a last LF', () => {
    const all = bytes(`xxx\n${LINE}\n${LINE}`)
    const out = new TextDecoder().decode(toNdjson(all, 4, all.length, lindbLines, UTC))
    expect(out.trim().split('\n')).toHaveLength(2)
  })
  test('lines before the first record are told raw', () => {
    expect(records(`slow query\n${LINE}\n`)[0]).toEqual({ message: 'slow query', raw: 'slow query' })
  })
  test('nothing is nothing', () => {
    expect(records('')).toEqual([])
  })
  test('PLAIN: each line its raw text', () => {
    expect(records('a\nb\r\n\n', PLAIN)).toEqual([
      { message: 'a', raw: 'a' },
      { message: 'b', raw: 'b' },
      { message: '', raw: '' },
    ])
  })
  test('broken UTF-8 before a line end does not shift the records', () => {
    const input = Buffer.concat([
      bytes(LINE),
      Buffer.from([0xe2, 0x0a]),
      bytes(`${LINE}\n`),
      Buffer.from([0xff, 0x0a]),
    ])
    const found = records(new Uint8Array(input))
    expect(found).toHaveLength(2)
    expect(found[1].message).toBe('started\n\ufffd')
  })
  test('other formats go by their fields', () => {
    const line = '{"msg":"hi","level":30,"time":1794708600123,"n":1}'
    expect(records(`${line}\n`, detectFormat(bytes(line)))).toEqual([
      { time: '2026-11-15T02:10:00.123Z', level: 'info', message: 'hi', context: { n: 1 } },
    ])
  })
})

test('property: the direct way says what the general way says', () => {
  const part = fc.constantFrom(
    'INFO',
    'error',
    'Warn',
    'FOO',
    'a/b.go:12',
    'a.go:x',
    ':1',
    'a::2',
    '[A] [B]: ',
    '[ A][B]:',
    '[A] ',
    '[]: ',
    'text "q" \\',
    '{"a":1}',
    '{"a":\u2028"ü"}',
    '{bad}',
    '{}',
    '{"a":\t{"b":1}}',
    '{"a":1,\t"b":[]}',
    '',
    ' ',
    '\t',
    '\r',
    '\x1b[31m',
    '\n at x',
    '\ud800',
    'é',
    'a:1',
  )
  const stamp = fc.constantFrom(
    '2026-11-15 02:10:00.123',
    '2026-10-25 02:30:00.000',
    '2026-03-29 02:30:59.999',
    '2026-02-30 00:00:00.000',
    '2026-11-15 02:10:61.000',
    '2026-11-15T02:10:00.123',
    '2026/11/15 02:10:00.123',
  )
  const line = fc
    .tuple(stamp, fc.array(part, { maxLength: 7 }))
    .map(([head, parts]) => [head, ...parts].join('\t'))
  const typical = fc
    .tuple(stamp, fc.constantFrom('INFO', 'error'), fc.array(part, { maxLength: 4 }))
    .map(([head, level, parts]) => `${head}\t${level}\ta.go:1\t[A] [B]: ${parts.join('')}\t{"x":1}`)
  const zone = fc.constantFrom(UTC, parseZone('Europe/Berlin')!, parseZone('+05:30')!)
  fc.assert(
    fc.property(fc.oneof(line, typical), zone, fc.constantFrom('', '\n'), (text, where, end) => {
      const whole = new TextDecoder().decode(bytes(text + end))
      expect(records(whole, lindbLines, where)[0]).toEqual(JSON.parse(toJson(whole, lindbLines, where)))
    }),
    { numRuns: 20_000 },
  )
  // Many in one go, where each is told from the next: as if each were told alone.
  fc.assert(
    fc.property(fc.array(fc.oneof(line, typical), { maxLength: 12 }), zone, (texts, where) => {
      const all = bytes(texts.map((text) => `${text}\n`).join(''))
      const lines = new TextDecoder().decode(all).split('\n').slice(0, -1)
      const apart: string[] = []
      for (const text of lines) {
        const start = lindbLines.starts(bytes(text), 0, bytes(text).length)
        if (start || apart.length === 0) apart.push(text)
        else apart.push(`${apart.pop()}\n${text}`)
      }
      expect(records(all, lindbLines, where)).toEqual(
        apart.map((text) => JSON.parse(toJson(text, lindbLines, where))),
      )
    }),
    { numRuns: 3000 },
  )
})

test.each([
  '{"time":"2026-11-15T02:10:00.123Z","level":"info","msg":"hi","n":1.5,"o":{"a":[1, null]},"ok":true}',
  '2026-11-15T02:10:00.123456789Z stdout F {"time":"2026-11-15T02:10:00.123Z","level":"info","msg":"hi"}',
  'ts=2026-11-15T02:10:00.123Z level=info msg="hello \\"you\\"" caller=a.go:12 n=1',
  '10.0.0.1 - - [15/Nov/2026:03:10:00 +0100] "GET /a?- HTTP/1.1" 200 12 "-" "x"',
  '2026-11-15 02:10:00.123 UTC [12] app@shop LOG:  duration: 1.5 ms  a=b',
  '2026-11-15 02:10:00.123 INFO  [main] org.example.App - started port="90 0"',
])('a line that is cut anywhere, where its memory ends: %s', (line) => {
  const format = detectFormat(bytes(`${line}\n`.repeat(3)))
  for (let length = 1; length <= line.length; length++) {
    const part = line.slice(0, length)
    const written = new TextDecoder().decode(toNdjson(bytes(part), 0, length, format, UTC))
    expect(written).toBe(`${toJson(part, format, UTC)}\n`)
  }
})

test('bytes that look like no minute yet are not taken for one', () => {
  const zeros = `${'\0'.repeat(16)}:05.123\tINFO\ta.go:1\thello\n`
  expect(records(zeros, lindbLines, parseZone('+03:15')!)).toEqual([
    { message: zeros.trimEnd(), raw: zeros.trimEnd() },
  ])
})
