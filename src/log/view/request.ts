import { soundsCompressed } from '../../codec/kind.ts'
import type { PageOptions } from '../search/page.ts'
import type { WalkRange } from '../search/range.ts'
import type { Fit } from '../search/span.ts'
import type { Selection } from '../selection.ts'
import { SAMPLE } from '../text/format.ts'
import type { LogRequest, Prefetch } from '../text/open.ts'

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
  begin(range: WalkRange): Pick<PageOptions, 'witness' | 'keeps'>
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
