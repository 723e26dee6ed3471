import { DURATIONS } from '../../../log/where/compare.ts'
import { LokiError, type Unit } from './query.ts'

const DAY = DURATIONS.d!
/** Milliseconds in a unit, with those that only queries have. */
const MILLIS: Record<string, number> = { ...DURATIONS, w: 7 * DAY, y: 365 * DAY }
const LONGEST = 100 * MILLIS.y!

/** Milliseconds of a duration in a query, such as `5m`, `1h30m` or `-5m`. */
export function millisOf(text: string): number {
  if (!/^-?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d|w|y))+$/.test(text))
    throw new LokiError(`Cannot use the duration ${text}: write it like 5m or 1h30m.`)
  const millis = sumOf(text)
  if (Math.abs(millis) > LONGEST)
    throw new LokiError(`The duration ${text} is too long; at most 100y are allowed.`)
  return millis
}

/** The same where it must be longer than zero. */
export function durationOf(text: string): number {
  const millis = millisOf(text)
  if (!(millis > 0)) throw new LokiError(`The duration ${text} must be longer than zero.`)
  return millis
}

function sumOf(text: string): number {
  let millis = 0
  for (const [, count, unit] of text.matchAll(/([\d.]+)([a-zµμ]+)/g)) millis += Number(count) * MILLIS[unit!]!
  return text.startsWith('-') ? -millis : millis
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i
const GO_DURATION = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
const BYTES = /^(\d+\.?\d*|\.\d+)\s*([kmgtpe]?)(i?)b?$/

/** A label's value as a number, as Go reads it: durations in ms, sizes in bytes. NaN if it is none. */
export function amountOf(text: string, unit: Unit): number {
  if (unit === 'number') return NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) : Number.NaN
  if (unit === 'duration') return GO_DURATION.test(text) ? sumOf(text) : Number.NaN
  const [, digits, letter = '', binary] = BYTES.exec(text.trim().toLowerCase()) ?? []
  // Cut to whole bytes.
  return Math.floor(Number(digits ?? Number.NaN) * (binary ? 1024 : 1000) ** ' kmgtpe'.indexOf(letter || ' '))
}
