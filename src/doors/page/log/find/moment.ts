import { parseDuration, parseInstant } from '../../../../log/instant.ts'
import { offsetZone } from '../../../../log/offset.ts'
import { span, zoneName } from '../../ui/format.ts'
import { wallAt } from '../record/record.ts'
import type { Clock } from './clock.ts'

/** A range as the address has it: ages as they are, everything else in the log's own wall time. */
export interface TimeRange {
  since: string
  until: string
}

/** A time as people write it, in milliseconds since the epoch, or null: the node's own rules, in a zone. */
export function momentOf(text: string, zone: number, after?: number): number | null {
  return parseInstant(text, { zone: offsetZone(zoneName(zone))!, now: Date.now(), after })
}

/** What the user typed, on the clock that the page shows. */
export function typedMoment(text: string, clock: Clock, after?: number): number | null {
  const near = momentOf(text, clock.at(Date.now()), after)
  return near === null ? null : momentOf(text, clock.at(near), after)
}

/**
 * A range as the user typed it, for the address. An age (`15m`) stays one, so that it moves on; a time of day becomes
 * the date that it means now. Says which of the two is not a time.
 */
export function rangeOf(typed: TimeRange, clock: Clock): TimeRange | { wrong: 'since' | 'until' } {
  const since = typed.since.trim()
  const until = typed.until.trim()
  const from = since === '' ? null : typedMoment(since, clock)
  if (since !== '' && from === null) return { wrong: 'since' }
  const to = until === '' ? null : typedMoment(until, clock, from ?? undefined)
  if (until !== '' && to === null) return { wrong: 'until' }
  return { since: lasting(since, from, clock), until: lasting(until, to, clock) }
}

function lasting(text: string, ms: number | null, clock: Clock): string {
  if (ms === null || isAge(text)) return text
  if (clock.choice === 'log' && /^\d{4}-\d\d-\d\d/.test(text)) return text
  return wallAt(Math.round(ms), clock.log)
}

export function isAge(text: string): boolean {
  return parseDuration(text) !== null
}

/** A time of the address, on the clock that the page shows. */
export function shownMoment(text: string, clock: Clock): string {
  const ms = text === '' || isAge(text) || clock.choice === 'log' ? null : momentOf(text, clock.log)
  return ms === null ? text : clock.wall(ms)
}

/** A range in words: `Last hour`, `01-10 02:41:00 – 02:45:00`. */
export function rangeText(range: TimeRange, clock: Clock): string {
  const [since, until] = [range.since, range.until].map((text) => shownMoment(text, clock)) as [
    string,
    string,
  ]
  if (since === '' && until === '') return 'All time'
  const name = (text: string) =>
    isAge(text)
      ? `${span(parseDuration(text)! / 1000)} ago`
      : text.replace(/^\d{4}-(?=\d\d-\d\d[ T])/, '').replace(/\.\d+$/, '')
  if (until === '') return isAge(since) ? lastText(parseDuration(since)!) : `From ${name(since)}`
  if (since === '') return `Until ${name(until)}`
  const sameDay = /^\d{4}-\d\d-\d\d[ T]/.test(since) && since.slice(0, 10) === until.slice(0, 10)
  return `${name(since)} – ${sameDay ? name(until).slice(6) : name(until)}`
}

function lastText(ms: number): string {
  for (const [size, unit] of [
    [86_400_000, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
    [1_000, 'second'],
  ] as const) {
    const count = ms / size
    if (count === 1) return `Last ${unit}`
    if (count > 1 && (Number.isInteger(count) || unit === 'second'))
      return `Last ${Math.round(count)} ${unit}s`
  }
  return `Last ${ms} ms`
}
