import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { detectFormat } from '../../../src/log/format/detect.ts'
import { lineEnd } from '../../../src/log/format/lines.ts'
import { SpanReader } from '../../../src/log/seek/spans.ts'
import { parseZone } from '../../../src/log/time.ts'

const FIXTURES = new URL('../format/fixtures/', import.meta.url)
const names = readdirSync(FIXTURES).filter((name) => name.endsWith('.log'))
const MINUTE = 60_000

it.each(names)('a span holds the times of all lines, and little more: %s', (name) => {
  const one = readFileSync(new URL(name, FIXTURES))
  const whole = one.at(-1) === 10 ? one : Buffer.concat([one, Buffer.from('\n')])
  const bytes = new Uint8Array(Buffer.concat(Array(8).fill(whole)))
  const zone = parseZone('Europe/Berlin')!
  const format = detectFormat(whole, undefined, { reference: Date.UTC(2026, 10, 17) })
  const reader = new SpanReader({ format, zone })
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, lineEnd(bytes, from + whole.length, bytes.length) + 1)
    const span = { earliest: Number.POSITIVE_INFINITY, latest: Number.NEGATIVE_INFINITY }
    reader.read(bytes, from, to, span)
    const times: number[] = []
    // Lines that are judged by the ones before them need those.
    for (let at = from; at < to; at = lineEnd(bytes, at, to) + 1) {
      const end = lineEnd(bytes, at, to)
      const time = format.starts(bytes, at, end) ? format.time(bytes, at, end, zone) : Number.NaN
      if (!Number.isNaN(time)) times.push(time)
    }
    const [earliest, latest] = [Math.min(...times), Math.max(...times)]
    if (times.length === 0) expect(span.latest).toBeLessThan(span.earliest)
    else {
      expect(span.earliest).toBeLessThanOrEqual(earliest)
      expect(span.latest).toBeGreaterThanOrEqual(latest)
      expect(span.earliest).toBeGreaterThanOrEqual(earliest - MINUTE)
      expect(span.latest).toBeLessThanOrEqual(latest + MINUTE)
    }
    reader.adapt(span)
    from = to
  }
  reader.release()
})
