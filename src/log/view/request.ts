import type { PageOptions } from '../search/page.ts'
import type { WalkRange } from '../search/range.ts'
import type { Fit } from '../search/span.ts'
import type { Selection } from '../selection.ts'
import type { LogRequest } from '../text/open.ts'

export interface ViewRequest extends LogRequest {
  fit: Fit
  selection: Selection
  /** Whether whole records are wanted, as for JSON, and then `lines` counts them. */
  records: boolean
  /** Whether the first that fit are wanted rather than the last. @default false */
  first?: boolean | undefined
  /** Whether each record is wanted as a separate piece. @default false */
  each?: boolean
  /** Collects more than the page. @default nothing does */
  collector?: Collector
}

/** Collects more of a search than its page: a merged timeline needs the records around each match. */
export interface Collector {
  /** About how many bytes of the log are searched at most; where they end, the page ends, without a note. */
  stretch: number
  /** Called when a search begins, or begins again. */
  begin(range: WalkRange): Pick<PageOptions, 'observer' | 'keeps'>
}

/** A scan ends at a record that does not fit any more: it has to be read with those that do. */
export const ONE_MORE = 2048
