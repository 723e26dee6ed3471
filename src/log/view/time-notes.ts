import type { LineFormat } from '../format/detect.ts'
import { usesAbbreviation } from '../instant.ts'
import type { Zone } from '../time.ts'

/** What is not certain about the times of a log: the zone, or the date. */
export type TimeNote = 'ambiguous-zone' | 'assumed-date'

/** Notes about the times of an answer. */
export function timeNotes(format: LineFormat, zone: Zone): TimeNote[] {
  const notes: TimeNote[] = []
  if (format.ambiguousZone && !usesAbbreviation(zone, format.ambiguousZone)) notes.push('ambiguous-zone')
  if (format.undated) notes.push('assumed-date')
  return notes
}
