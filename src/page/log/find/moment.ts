import { parseInstant } from '../../../log/instant.ts'
import { parseZone, UTC, type Zone } from '../../../log/time.ts'
import { wallAt } from '../record/record.ts'

/** A zone this many minutes east of UTC. */
function fixed(minutes: number): Zone {
  const away = Math.abs(minutes)
  const pad = (value: number) => String(value).padStart(2, '0')
  return parseZone(`${minutes < 0 ? '-' : '+'}${pad(Math.floor(away / 60))}:${pad(away % 60)}`) ?? UTC
}

/** A time as people write it, in milliseconds since the epoch, or null: the node's own rules, in the log's zone. */
export function momentOf(text: string, zone: number, after?: number): number | null {
  return parseInstant(text, { zone: fixed(zone), now: Date.now(), after })
}

/**
 * A range that means the same tomorrow: `15m` and `02:13:30` become the dates that they mean now. What already
 * names a date stays as it was written. Null for a text that is not a time.
 */
export function absoluteRange(
  range: { since: string; until: string },
  zone: number,
): { since: string; until: string } | { wrong: 'since' | 'until' } {
  const since = range.since.trim()
  const until = range.until.trim()
  const from = since === '' ? null : momentOf(since, zone)
  if (since !== '' && from === null) return { wrong: 'since' }
  const to = until === '' ? null : momentOf(until, zone, from ?? undefined)
  if (until !== '' && to === null) return { wrong: 'until' }
  return { since: dated(since, from, zone), until: dated(until, to, zone) }
}

function dated(text: string, ms: number | null, zone: number): string {
  if (ms === null || /^\d{4}-\d\d-\d\d/.test(text)) return text
  return wallAt(Math.round(ms), zone)
}
