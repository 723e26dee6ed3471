import { soundsCompressed } from '../../codec/kind.ts'
import type { Filter } from '../search/filter.ts'
import type { Witness } from '../search/page.ts'
import type { Keeps } from '../search/sink.ts'
import type { Fit } from '../search/span.ts'
import type { Selection } from '../selection.ts'
import { SAMPLE } from '../text/format.ts'
import type { LogRequest, Prefetch } from '../text/open.ts'
import type { Series } from '../text/series.ts'

export interface ViewRequest extends LogRequest {
  fit: Fit
  selection: Selection
  /** Whether whole records are wanted, as for JSON, and then `lines` counts them. */
  records: boolean
  /** Whether the first that fit are wanted rather than the last. @default false */
  first?: boolean | undefined
  /** Whether each record is wanted as a separate piece. @default false */
  each?: boolean
  /** About how much of the log is searched at most; where that ends, the page ends, without a note. @default all of it */
  stretch?: number
  /** What is told of all records that are searched, if not all of them are wanted. @default nothing */
  witness?: (filter: Filter, forward: boolean) => Witness
  /** What decides whether the bytes of large records are kept. @default they are */
  keeps?: (filter: Filter, series: Series) => Keeps
}

/** Which parts of a file the request will need. */
export function prefetchOf(request: ViewRequest): Prefetch {
  const { lines, size } = request.fit
  const { selection, each } = request
  // Counting lines begins with 64 KiB before the last newline.
  const wanted =
    lines === null ? (each ? size + ONE_MORE : size) : Math.max(64 * 1024 + 1, Math.min(size, lines * 512))
  const isTail = selection.until === null && !selection.isSearch
  return {
    tail: isTail ? Math.min(Math.max(wanted, SAMPLE), LARGEST_TAIL) : SAMPLE,
    head: selection.isAll && !request.records ? 0 : SAMPLE,
  }
}

/** A scan ends at a record that does not fit any more: it has to be read with those that do. */
export const ONE_MORE = 2048

/** The most that is read of a file's end while opening it. */
const LARGEST_TAIL = 256 * 1024

/** Whether the request may involve compressed files. */
export function mayUnpack({ file, rotated, cursor, charset }: LogRequest): boolean {
  if (charset !== undefined && charset !== 'marked') return true
  return rotated || soundsCompressed(file) || (cursor !== null && soundsCompressed(cursor.place.name))
}

/** Whether the newest records that match are wanted: all of the log, up to its end, is then searched. */
export function searchesBack({ cursor, first, selection }: ViewRequest): boolean {
  return cursor === null && !first && selection.isSearch
}
