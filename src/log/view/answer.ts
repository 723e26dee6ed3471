import type { Lease } from '../../kit/limits/memory-budget.ts'
import type { LineFormat } from '../format/detect.ts'
import { usesAbbreviation } from '../instant.ts'
import type { Cursor } from '../text/cursor.ts'
import type { Series } from '../text/series.ts'
import type { Zone } from '../time.ts'

/** What is not certain about the times of a log: the zone, or the date. */
export type TimeNote = 'ambiguous-zone' | 'assumed-date'

/** Bytes are missing: between others, or from the beginning on. */
export type HoleNote = 'gap' | 'begins-late'

/**
 * The notes of an answer, such as: the budget ran out, times are out of order and were checked one by one, or bytes are
 * missing.
 */
export type Note =
  | 'scan-budget'
  | 'answer-budget'
  | 'archive-cut'
  | 'time-order'
  | 'family-order'
  | 'unknown-field'
  | 'encoding'
  | TimeNote
  | HoleNote

/** The notes of groups: also that there are more values than memory for them. */
export type GroupsNote = Note | 'groups-cut'

/** What an answer holds, before it is rendered. */
export interface View {
  series: Series
  format: LineFormat
  /** The text, from one address to another. */
  from: number
  to: number
  /** Records, if not all of that text was wanted; otherwise null. */
  pieces: Uint8Array[] | null
  /** Where each of them ends. */
  ends: number[]
  /** With context, of each piece: how many records after a match it is, in the direction of the page; 0 for a match. */
  distances?: number[]
  /** Whether context may be missing that is beyond what is open. @default false */
  isLacking?: boolean
  /** Nothing below this address was requested; minus infinity without a limit. */
  bottom: number
  /** Where the page before begins; null when there is none. */
  prev: Cursor | null
  /** Where the page after begins. */
  next: Cursor
  notes: Note[]
  /** The memory that the answer holds, to be released when it is sent. */
  memory: Lease | null
}

export function timeNotes(format: LineFormat, zone: Zone): TimeNote[] {
  const notes: TimeNote[] = []
  if (format.ambiguousZone && !usesAbbreviation(zone, format.ambiguousZone)) notes.push('ambiguous-zone')
  if (format.undated) notes.push('assumed-date')
  return notes
}
