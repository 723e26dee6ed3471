import { soundsCompressed } from '../../store/codec/kind.ts'
import type { Charset } from '../../store/codec/transcode.ts'
import { type Entry, MissingBytes, type StoreRead } from '../../store/store.ts'
import { LogError } from '../error.ts'
import type { Zone } from '../time.ts'
import { type ArchiveSource, ArchiveText } from './archive.ts'
import { collect } from './bytes.ts'
import type { Cursor } from './cursor.ts'
import { charsetOf, kindOf } from './kind.ts'
import type { Series } from './series.ts'
import { type Evidence, PlainText, type Text } from './text.ts'

export interface LogRequest {
  file: string
  /** Whether to include the rotated files before it. */
  rotated: boolean
  /** How its text is written; `marked` if a byte order mark says so. @default as UTF-8, whatever it is */
  charset?: Charset | 'marked' | undefined
  /** A place to continue from, older or newer. */
  cursor: { place: Cursor; direction: 'before' | 'after' } | null
  /** How many records around each wanted one are wanted, too. @default only those that are wanted */
  context?: number | undefined
}

/** Whether the first records are wanted, of the log or after a cursor. Before a cursor, the last are, even with `first`. */
export function readsForward({
  cursor,
  first = false,
}: {
  cursor: { direction: 'before' | 'after' } | null
  first?: boolean | undefined
}): boolean {
  return cursor ? cursor.direction === 'after' : first
}

/** What is read while a log is opened, because it is going to be needed: on a bucket that saves round trips. */
export interface Prefetch {
  /** Bytes at the end of the file. */
  tail: number
  /** Bytes at its beginning. */
  head: number
}

/** An open log, and the address of the cursor in it. */
export interface OpenLog {
  series: Series
  at: number | null
  /** Whether a record is known to start there. @default false */
  isStart?: boolean
  /**
   * Set for a joined log, whose parts are objects: whether there are others before or after those that are open, and
   * whether they may hold the requested period, because the dates in keys are not those of the records. `beside` says
   * whether there are others on the side of a cursor that is not read.
   */
  beyond?: { older: boolean; newer: boolean; isSkewed: boolean; beside?: boolean }
  /** False if the order of several files is a guess; absent if there is only one. */
  certain?: boolean
  /** The address at which missing bytes end the log early; absent when nothing is missing. */
  end?: number
}

export interface Opener extends ArchiveSource, Pick<LogRequest, 'charset'> {
  /** The zone of times that do not name one. */
  zone?: Zone | undefined
  /** How many reads run in parallel. @default 1 */
  parallel?: number | undefined
  /** Runs work on archives when there is a free slot. @default at once */
  unpacking?: (<T>(job: () => Promise<T>) => Promise<T>) | undefined
}

/** Opens one file. Its beginning and its end are read in parallel, if they will be needed. */
export async function openFile(opener: Opener, file: string, { tail, head }: Prefetch): Promise<Text> {
  const { files, budget } = opener
  const isGiven = opener.charset !== undefined && opener.charset !== 'marked'
  if (tail === 0 || isGiven || soundsCompressed(file))
    return openText(opener, await files.stat(file, budget.signal))
  const reading = head > 0 ? files.read(file, { offset: 0, length: head }, { signal: budget.signal }) : null
  // If something is wrong, the other read reports it.
  reading?.catch(() => {})
  let isNeeded = false
  try {
    const text = await PlainText.openAt(files, file, { suffix: tail }, budget)
    if ((await text.kind()) !== 'plain') return openText(opener, text.entry)
    if (opener.charset && text.mayBeWide) {
      const charset = await charsetOf(files, text.entry, { signal: budget.signal, isLikely: true })
      if (charset) return new ArchiveText({ entry: text.entry, kind: charset, isCharset: true }, opener)
    }
    isNeeded = text.entry.size > tail
    const got = isNeeded ? await reading?.catch(unlessMissing) : null
    if (got) text.prime(got.entry, await collect(got))
    return text
  } finally {
    if (!isNeeded) reading?.then(discard).catch(() => {})
  }
}

/** A stream that nobody reads would keep its file or its connection open. */
async function discard({ body }: StoreRead): Promise<void> {
  if (body instanceof ReadableStream) await body.cancel()
}

/** Missing bytes are reported when something needs them. */
function unlessMissing(error: unknown): null {
  if (error instanceof MissingBytes) return null
  throw error
}

/** The text of a file, however it is compressed. */
export async function openText(opener: Opener, entry: Entry, evidence?: Evidence): Promise<Text> {
  const kind = await kindOf(opener.files, entry, opener.budget.signal)
  if (kind !== 'plain') return new ArchiveText({ entry, kind }, opener)
  const { files, charset, budget } = opener
  const found = charset === 'marked' ? await charsetOf(files, entry, budget) : charset
  if (found) return new ArchiveText({ entry, kind: found, isCharset: true }, opener)
  return new PlainText(files, entry, budget, evidence)
}

/** Whether a problem says that a place was not found. */
export function isGone(error: unknown): boolean {
  return error instanceof LogError && error.code === 'cursor-gone'
}

export function gone(): LogError {
  return new LogError(
    'cursor-gone',
    'The file that this cursor points into was truncated or is no longer there; start again without a cursor.',
  )
}
