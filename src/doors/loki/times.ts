import { durationOf } from './logql/amounts.ts'
import { LokiError } from './logql/query.ts'

const MILLI = 1_000_000n
const HOUR = 3_600_000n * MILLI

/** The time range of a request in nanoseconds; by default the last hour. */
export function rangeOf(params: URLSearchParams, now: number): { start: bigint; end: bigint } {
  const end = instantOf(params, 'end') ?? BigInt(now) * MILLI
  const since = params.get('since')
  const start =
    instantOf(params, 'start') ?? end - (since ? BigInt(Math.round(durationOf(since) * 1e6)) : HOUR)
  if (end < start) throw new LokiError('The end is before the start.')
  return { start, end }
}

/** Nanoseconds since the epoch, given as such, as seconds with a fraction, or as RFC 3339. */
export function instantOf(params: URLSearchParams, name: string): bigint | null {
  const text = params.get(name)
  if (text === null || text === '') return null
  if (/^-?\d+$/.test(text)) {
    // Ten digits are seconds, as in Loki.
    const value = BigInt(text)
    return text.replace('-', '').length <= 10 ? value * 1000n * MILLI : value
  }
  if (/^\d+\.\d+(e\+?\d+)?$/i.test(text)) return BigInt(Math.round(Number(text) * 1000)) * MILLI
  const millis = Date.parse(text)
  if (Number.isNaN(millis))
    throw new LokiError(`Cannot use ${name}=${text}: give nanoseconds since the epoch, seconds, or RFC 3339.`)
  const fraction = /\.(\d{4,9})/.exec(text)?.[1]?.padEnd(9, '0').slice(3) ?? '0'
  return BigInt(millis) * MILLI + BigInt(fraction)
}

/** The step of a range query in ms: a duration or seconds; by default chosen to give about 250 points. */
export function stepOf(params: URLSearchParams, { start, end }: { start: bigint; end: bigint }): number {
  const text = params.get('step')
  if (!text) return Math.max(1000, Math.floor(Number((end - start) / MILLI) / 250_000) * 1000)
  const millis = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : durationOf(text)
  if (!(millis >= 1)) throw new LokiError(`Cannot use step=${text}: it must be at least a millisecond.`)
  return millis
}

export function limitOf(params: URLSearchParams): number {
  const text = params.get('limit') || '100'
  const limit = Number(text)
  if (!/^\d+$/.test(text) || limit < 1 || limit > 5000)
    throw new LokiError(`Cannot use limit=${text}: it must be a whole number from 1 to 5000.`)
  return limit
}
