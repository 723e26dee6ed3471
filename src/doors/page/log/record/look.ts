import type { Clock } from '../find/clock.ts'
import type { Matcher } from './match.ts'
import type { Sources } from './source.ts'

export interface FieldColumn {
  name: string
  chars: number
  /** Whether its values are numbers, which are aligned right. */
  numeric: boolean
  /** Of a request, whose values need no name: what its numbers are in; null for other fields. */
  unit: string | null
}

/** What a row needs to know beside its record. */
export interface RowLook {
  /** What is searched for. */
  marks: readonly Matcher[]
  clock: Clock
  fields: readonly FieldColumn[]
  open: boolean
  selected: boolean
  /** Whether the user requested all of a long record. */
  whole: boolean
  /** Whether the reader jumped to a hit in this record, which must be in what is drawn. */
  reveal: boolean
  /** Whether other records lie between those shown, so that it is worth showing them. */
  around: boolean
  sources: Sources | null
  others: boolean
  /** Whether this is the first record after the moment up to which every source is complete. */
  unsettled: boolean
  /** The day that begins with this record, or null. */
  day: string | null
}
