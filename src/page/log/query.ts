import type { LogQuery } from '../../client.ts'
import type { Look } from '../url.ts'
import { wallAt } from './record.ts'

/** What the look asks of the API. */
export function queryOf(look: Look): LogQuery {
  const file = look.file ?? ''
  const rotated = look.rotated || undefined
  if (look.all) return { file, rotated, ansi: true }
  return {
    file,
    rotated,
    ansi: true,
    since: look.since || undefined,
    until: look.until || undefined,
    level: look.level || undefined,
    q: look.regex ? undefined : look.find || undefined,
    regex: look.regex ? look.find || undefined : undefined,
  }
}

/** Whether the look leaves records out. */
export function isNarrowed(look: Look): boolean {
  return look.find !== '' || look.level !== '' || look.since !== '' || look.until !== ''
}

/** Two moments as the API takes them back: wall time, as the log writes it. */
export function wallRange(from: number, to: number, zone: number): { since: string; until: string } {
  return { since: wallAt(from, zone), until: wallAt(to, zone) }
}
