import { soundsCompressed } from '../../codec/kind.ts'
import { Budget, BudgetError } from '../../limits/budget.ts'
import type { ConcurrencyLimit } from '../../limits/concurrency-limit.ts'
import type { Lease, MemoryBudget } from '../../limits/memory-budget.ts'
import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import type { LogFiles } from '../files/files.ts'
import { detectFormat, type LineFormat, PLAIN } from '../format/detect.ts'
import type { Matcher } from '../pattern/pattern.ts'
import { AT_ONCE } from '../render/body.ts'
import type { Filter } from '../search/filter.ts'
import type { Found, Reading, Scan } from '../search/scan.ts'
import { scanBack, wholeBack } from '../search/scan-back.ts'
import { scanForth } from '../search/scan-forth.ts'
import { type Border, seek } from '../search/seek.ts'
import { type Fit, firstThatFit, lastThatFit } from '../search/span.ts'
import type { ArchiveLimits } from '../text/archive.ts'
import type { Cursor } from '../text/cursor.ts'
import { openAnyLog } from '../text/joined.ts'
import type { Foresight, LogRequest, Opener, OpenLog } from '../text/open.ts'
import type { Series } from '../text/series.ts'
import type { Zone } from '../time.ts'
import { type HoleNote, selectAround } from './holes.ts'
import { firstReach, needsMore, widerReach } from './reach.ts'
import { type TimeNote, timeNotes } from './time-notes.ts'

/** A request for a part of a log. */
export interface ViewRequest extends LogRequest {
  fit: Fit
  /** Ms since the epoch: records at or after, records before. */
  since: number | null
  until: number | null
  /** An index into LEVELS. */
  level: number | null
  /** Only these levels, one bit for each. @default all of them */
  levels?: number | undefined
  matcher: Matcher | null
  /** Whether whole records are wanted, as for JSON, and then `lines` counts them. */
  records: boolean
  /** Whether the first that fit are wanted rather than the last. @default false */
  first?: boolean | undefined
  /** Whether each record is wanted as a separate piece. @default false */
  each?: boolean
}

/** How much a view may cost. */
export interface ViewLimits extends ArchiveLimits {
  /** Bytes and milliseconds of one scan. */
  scanBytes: number
  scanMillis: number
  /** Bytes per read of a scan. */
  scanChunk: number
  /** Whether searches use shared memory, which one runtime reads into faster. @default false */
  sharedMemory?: boolean | undefined
  /** The largest answer that is collected in memory. */
  answerBytes: number
}

/** What a view needs besides the request. */
export interface ViewContext {
  files: LogFiles
  zone: Zone
  limits: ViewLimits
  scans: ConcurrencyLimit
  /** Each archive that is being read keeps its window of text in memory. @default no limit */
  archives?: ConcurrencyLimit
  /** Memory for answers, shared by all requests. @default no limit */
  memory?: MemoryBudget | undefined
  now: () => number
  /** How many reads run in parallel: many if the store is far away. @default 1 */
  parallel?: number
}

/**
 * The notes of an answer: the budget ran out, times are out of order and were checked individually, or bytes are
 * missing.
 */
export type Note =
  | 'scan-budget'
  | 'answer-budget'
  | 'time-order'
  | 'family-order'
  | 'unknown-field'
  | TimeNote
  | HoleNote

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
  /** Nothing below this address was requested; minus infinity without a limit. */
  bottom: number
  /** Where the page before begins; null when there is none. */
  prev: Cursor | null
  /** Where the page after begins. */
  next: Cursor
  notes: Note[]
  /** The memory that the pieces hold, to be released when they are sent. */
  memory: Lease | null
}

/** Selects a part of a log. */
export async function viewOf(
  context: ViewContext,
  request: ViewRequest,
  signal?: AbortSignal,
): Promise<View> {
  return (await viewUnless(context, request, () => false, signal))!
}

/**
 * Selects a part of a log; null when the client already has it: `isKnown` gets the state of the files before anything
 * is scanned. A file that is rotated meanwhile is looked up again.
 */
export async function viewUnless(
  context: ViewContext,
  request: ViewRequest,
  isKnown: (state: string) => boolean,
  signal?: AbortSignal,
): Promise<View | null> {
  const { archives } = context
  const isUnpacking = mayUnpack(request)
  const look = async () => {
    const budget = budgetOf(context, signal)
    const unpacking: Opener['unpacking'] =
      archives && !isUnpacking ? (job) => inPlace(archives, budget, job) : undefined
    for (let reach = firstReach(request); ; reach = widerReach(reach)) {
      const log = await openAnyLog({ ...context, budget, unpacking }, request, foresightOf(request), reach)
      if (isKnown(log.series.parts.map(({ entry }) => entry.etag).join())) return null
      const view = await selectAround(log, request, (log) => select(context, log, request, budget))
      if (!(await needsMore(request, view, context.zone))) return view
      if (!reach.isWidest && !budget.isSpent) continue
      if (!view.notes.includes('scan-budget')) view.notes.push('scan-budget')
      return view
    }
  }
  for (let tries = 0; ; tries++) {
    try {
      return await (archives && isUnpacking ? archives.run(look, signal) : look())
    } catch (error) {
      if (error instanceof BudgetError) throw tooMuchArchive(request.file, error)
      if (tries >= 2 || !(await mayPass(error, context.files, request.file, signal))) throw error
    }
  }
}

/** Whether an address is where the whole log begins, not only the part of it that is open. */
function isLogStart(series: Series, address: number): boolean {
  return !series.older && series.isStart(address)
}

/** The budget of one request. */
export function budgetOf({ limits, memory, now }: ViewContext, signal: AbortSignal | undefined): Budget {
  // Archives are read twice: once for their size, once for their text.
  const unpacked = 2 * Math.max(limits.scanBytes, limits.archiveBytes)
  return new Budget({ bytes: limits.scanBytes, unpacked, millis: limits.scanMillis, signal, memory, now })
}

/** The error when an archive cannot be read within the budget and there is no partial result. */
export function tooMuchArchive(file: string, cause: BudgetError): LogError {
  return new LogError(
    'archive-budget',
    `The archives of this log take longer to read than one request may; download them from /api/v1/log/download?file=${encodeURIComponent(file)} instead.`,
    { cause },
  )
}

/** Whether the request may involve compressed files. */
function mayUnpack({ file, rotated, cursor }: LogRequest): boolean {
  return rotated || soundsCompressed(file) || (cursor !== null && soundsCompressed(cursor.place.name))
}

/** Whether it failed only because files were renamed or removed between the list and the read. */
export async function mayPass(
  error: unknown,
  files: LogFiles,
  file: string,
  signal?: AbortSignal,
): Promise<boolean> {
  if (error instanceof StoreError) return error.code === 'changed'
  if (!(error instanceof LogError && error.code === 'unknown-file')) return false
  return files.stat(file, signal).then(
    () => true,
    () => false,
  )
}

async function select(
  context: ViewContext,
  log: OpenLog,
  request: ViewRequest,
  budget: Budget,
): Promise<View> {
  const { series, at } = log
  const { level, matcher, records } = request
  const timed = request.since !== null || request.until !== null
  const format = timed || level !== null || matcher || records ? await formatOf(series) : PLAIN
  const empty = format === PLAIN && (await isEmpty(series))
  if (!empty) checkFormat(format, request)

  const after = request.cursor?.direction === 'after'
  // A page before a cursor is the last part of what comes before it, even if the first part was requested.
  const forward = after || (request.first === true && request.cursor === null)
  const { files, zone, parallel = 1 } = context
  // The search for times leaves half of the budget to the search for records.
  const timedLog = { files, series, format, zone, parallel, budget: budget.half() }
  const find = async (instant: number | null) => (instant === null ? null : seek(timedLog, instant))
  const findBoth = () => Promise.all([find(request.since), find(request.until)])
  const [since, until] = timed && !empty ? await inPlace(context.scans, budget, findBoth) : [null, null]
  const bottom = since?.from ?? Number.NEGATIVE_INFINITY
  const top = Math.min(until?.to ?? series.end, series.end, log.end ?? series.end)
  const lowest = after ? Math.max(at!, bottom) : bottom
  const lo = forward && lowest === Number.NEGATIVE_INFINITY ? await series.floor(lowest) : lowest
  const hi = after || at === null ? top : Math.min(at, top)
  const notes: Note[] = since?.ordered === false || until?.ordered === false ? ['time-order'] : []
  if (log.certain === false) notes.push('family-order')
  if (timed || records) notes.push(...timeNotes(format, zone))
  const base = { series, format, notes, ends: [], memory: null, bottom }
  if (lo >= hi) {
    const here = after ? at! : await series.floor(hi)
    const prev = forward && !isLogStart(series, here) ? await series.cursor(here) : null
    return { ...base, from: here, to: here, pieces: null, prev, next: await series.cursor(here) }
  }
  const span = level === null && !matcher && !records && isWhole(since) && isWhole(until)
  const cursorOrNull = async (address: number, inside = false) =>
    address <= bottom || isLogStart(series, address) ? null : series.cursor(address, inside)

  // If the end of an archive was not reached, it is not known, so there is no tail to return instead.
  const all = level === null && !matcher && isWhole(since) && isWhole(until)
  if (series.isCut && all && !forward) throw new BudgetError()
  if (span) {
    const from = forward ? lo : await lastThatFit(series, lo, hi, request.fit)
    const to = forward ? await firstThatFit(series, lo, hi, request.fit) : hi
    return { ...base, from, to, pieces: null, prev: await cursorOrNull(from), next: await series.cursor(to) }
  }

  // A long answer with all records is not scanned: it is read while it is sent.
  const size = Math.min(request.fit.size, context.limits.answerBytes)
  if (all && !forward && !request.each && request.fit.lines === null && hi - lo > AT_ONCE && size > AT_ONCE) {
    const whole = request.cursor?.place.inside ? null : await wholeBack(series, [lo, hi], format, size)
    if (whole) {
      const { from, complete } = whole
      if (!complete && request.fit.size > size) notes.push('answer-budget')
      const prev = complete && !series.older ? null : await cursorOrNull(from)
      return { ...base, from, to: hi, pieces: null, prev, next: await series.cursor(hi) }
    }
  }

  const filter = filterOf(request, { format, zone, since, until })
  const scan: Scan = {
    series,
    lo,
    hi,
    filter,
    fit: { ...request.fit, size },
    countBy: records ? 'records' : 'lines',
    budget,
    reading: readingOf(context),
    each: request.each,
    inside: request.cursor?.place.inside ?? false,
  }
  const run = () => (forward ? scanForth(scan) : scanBack(scan))
  // A page of all records costs no more than a tail, so it needs no search slot: 2,000 followers may join at once.
  const isCheap = all && size <= CHEAP
  const found = isCheap ? await run() : await inPlace(context.scans, budget, run)
  if (found.cut || series.isCut) notes.push('scan-budget')
  else if (found.isShort || (!found.complete && request.fit.size > context.limits.answerBytes))
    notes.push('answer-budget')
  // Two adjacent pages agree on whether a record is cut between them.
  const cutBelow = request.cursor?.place.inside === true
  const prev = forward
    ? await cursorOrNull(lo, cutBelow && lo === at)
    : await behind(series, found, cursorOrNull)
  const next = await series.cursor(found.to, forward ? found.inside : cutBelow && found.to === at)
  const { from, to, pieces, ends, memory } = found
  if (pieces.length === 0 && matcher?.fields && (await lacksFields(series, filter, matcher.fields)))
    notes.push('unknown-field')
  return { ...base, from, to, pieces, ends, prev, next, memory }
}

/** Which records a request selects, between the borders found for its times. */
export function filterOf(
  request: Pick<ViewRequest, 'since' | 'until' | 'level' | 'levels' | 'matcher'>,
  { format, zone, since, until }: Borders & { format: LineFormat; zone: Zone },
): Filter {
  const { level, levels, matcher } = request
  return {
    format,
    zone,
    level,
    levels,
    matcher,
    since: since && !isWhole(since) ? { at: request.since!, below: since.to } : null,
    until: until && !isWhole(until) ? { at: request.until!, from: until.from } : null,
  }
}

/** Where the records of a time range begin and end; null if the request has no time. */
export interface Borders {
  since: Border | null
  until: Border | null
}

/** Whether every record on one side of a border is wanted, and none on the other. */
function isWhole(border: Border | null): boolean {
  return border === null || border.from === border.to
}

/** Up to this size, a page of all records is read without waiting for a slot. */
const CHEAP = 1024 * 1024

/** Runs a job when there is a free slot. Waiting time does not count. */
export function inPlace<T>(limit: ConcurrencyLimit, budget: Budget, job: () => Promise<T>): Promise<T> {
  const resume = budget.pause()
  return limit.run(() => {
    resume()
    return job()
  }, budget.signal)
}

/** Where a backward scan continues; null if it saw everything. */
async function behind(
  series: Series,
  found: Found,
  cursor: (address: number, inside: boolean) => Promise<Cursor | null>,
): Promise<Cursor | null> {
  const isAll = found.complete && !(series.older && series.isStart(found.from))
  return isAll ? null : cursor(found.from, found.inside)
}

/** How much of a log's end is searched for a field that no matching record had. */
const FIELD_SAMPLE = 256 * 1024

/** Whether one of the requested fields is missing from every record at the log's end. */
async function lacksFields(series: Series, filter: Filter, fields: readonly string[]): Promise<boolean> {
  const from = await series.floor(series.end - FIELD_SAMPLE)
  const bytes = await series.read(from, series.end)
  const { hasFields } = await import('../where/where.ts')
  return !hasFields(bytes, filter, fields)
}

/** How logs are read. */
export function readingOf({ limits, parallel = 1 }: ViewContext): Reading {
  return { chunk: limits.scanChunk, sharedMemory: limits.sharedMemory ?? false, parallel }
}

/** Which parts of a file the request will need. */
function foresightOf(request: ViewRequest): Foresight {
  const { lines, size } = request.fit
  const { since, until, level, matcher, records } = request
  const needsFormat = since !== null || until !== null || level !== null || matcher !== null || records
  // Counting lines begins with 64 KiB before the last newline.
  const wanted = lines === null ? size : Math.max(64 * 1024 + 1, Math.min(size, lines * 512))
  const isTail = until === null && level === null && matcher === null
  return {
    tail: isTail ? Math.min(Math.max(wanted, SAMPLE), LARGEST_TAIL) : SAMPLE,
    head: needsFormat ? SAMPLE : 0,
  }
}

/** The most that is read of a file's end while opening it. */
const LARGEST_TAIL = 256 * 1024

/** How much of a file's head and tail is read to detect its format. */
const SAMPLE = 16 * 1024

/**
 * The format of a log, judged by the newest file that is not empty. A short file in no known format may be the rest of a
 * record that a rotation cut off, so the file before it decides. In a log that is followed (`live`), times without a
 * year or a date are read relative to now, because the modification time is soon outdated.
 */
export async function formatOf(series: Series, live = false): Promise<LineFormat> {
  for (let i = series.parts.length - 1; i >= 0; i--) {
    const part = series.parts[i]!
    const head = await part.head(SAMPLE)
    if (head.length === 0) continue
    const size = part.compressed ? head.length : part.entry.size
    const tail = size > SAMPLE ? await part.read(Math.max(SAMPLE, size - SAMPLE), size) : undefined
    const format = detectFormat(head, tail, { reference: live ? Date.now : part.entry.modified })
    if (format !== PLAIN || size >= SAMPLE) return format
  }
  return PLAIN
}

/** Throws a LogError if a format cannot answer the request. */
export function checkFormat(format: LineFormat, asked: Pick<ViewRequest, 'since' | 'until' | 'level'>): void {
  if ((asked.since !== null || asked.until !== null) && !format.timed) throw noTime()
  if (asked.level !== null && !format.leveled) throw noLevel()
}

/** Whether a log is empty. */
export async function isEmpty(series: Series): Promise<boolean> {
  return series.end === 0 && (await series.floor(-1)) === 0
}

function noTime(): LogError {
  return new LogError(
    'no-time',
    'The lines of this file have no times that are understood; ask without since and until, by lines, size or q.',
  )
}

function noLevel(): LogError {
  return new LogError(
    'no-level',
    'The lines of this file have no levels that are understood; ask without level, by lines, size or q.',
  )
}
