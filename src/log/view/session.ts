import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import { type Budget, BudgetError } from '../../kit/limits/budget.ts'
import { MissingBytes, StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { type LogFiles, perFiles } from '../files/files.ts'
import type { LineFormat } from '../format/detect.ts'
import { lacksPeriod, type SearchWindow, widerReach } from '../joined/reach.ts'
import { openLog } from '../open.ts'
import { type Border, seek } from '../seek/seek.ts'
import type { Selection } from '../selection.ts'
import { checkFormat, formatOf, isEmpty, SAMPLE } from '../text/format.ts'
import { versionOf } from '../text/kind.ts'
import type { LogRequest, Opener, OpenLog, Prefetch } from '../text/open.ts'
import type { Series } from '../text/series.ts'
import type { ViewContext } from './context.ts'
import { CutLog } from './holes.ts'

/** What a session needs to know of a request. */
export type SessionRequest = LogRequest & { selection: Selection }

/** How a log is opened. */
export interface Opening {
  request: SessionRequest
  /** How far the first attempt looks into a log, if that is joined. */
  reach(): SearchWindow
  prefetch?: Prefetch | undefined
  /** What each attempt reads with: a fresh budget, and on the first one perhaps the sizes that archives declare. */
  openerOf(isFirst: boolean): Opener
  /** Whether the client has the answer for files in this state already: then the result is null. @default it has not */
  isKnown?: ((state: string) => boolean) | undefined
  /** Fails where bytes are missing. @default false */
  whole?: boolean | undefined
}

/** Where the records of a period begin and end; null without such a limit. */
export interface Borders {
  since: Border | null
  until: Border | null
}

/**
 * A log that is open for a request. What pages, exports and charts need to know of it is found out once: its format,
 * where times are in it, and which bytes are missing.
 */
export class Session {
  readonly context: ViewContext
  readonly request: SessionRequest
  readonly opener: Opener
  readonly #open: OpenLog
  /** The log without the bytes that are missing; null as long as none were found to be. */
  cut: CutLog | null = null
  #known: { format: LineFormat | null; borders: WeakMap<Series, Map<number, Border>> }

  constructor(context: ViewContext, request: SessionRequest, opener: Opener, log: OpenLog) {
    this.context = context
    this.request = request
    this.opener = opener
    this.#open = log
    this.#known = { format: null, borders: new WeakMap() }
  }

  get open(): OpenLog {
    return this.cut?.open ?? this.#open
  }

  get series(): Series {
    return this.open.series
  }

  get budget(): Budget {
    return this.opener.budget
  }

  /** The same log, or a part of it, with what is known of it. */
  of(open: OpenLog, request = this.request, context = this.context): Session {
    const session = new Session(context, request, this.opener, open)
    session.#known = this.#known
    return session
  }

  /**
   * The format of the log; throws if that cannot answer the request. An empty log can answer anything, and so can a page that
   * begins where the log ends: its newest file may so far contain only a header.
   */
  async checkedFormat(): Promise<LineFormat> {
    const format = await this.format()
    if (format.timed && format.leveled) return format
    const { at, series } = this.open
    const isAtEnd = at === series.end && this.request.cursor?.direction === 'after'
    if (!isAtEnd && !(await isEmpty(series))) checkFormat(format, this.request.selection)
    return format
  }

  /** The format of the log, whatever bytes of it are missing. */
  async format(): Promise<LineFormat> {
    if (this.#known.format) return this.#known.format
    const remembered = formatsOf(this.context.files)
    const version = decidingVersion(this.series)
    const format = (version !== null && remembered.get(version)) || (await this.#detect())
    if (version !== null) remembered.set(version, format)
    this.#known.format = format
    return format
  }

  #detect(): Promise<LineFormat> {
    const sample = this.of({ ...this.open, at: null }, { ...this.request, cursor: null })
    return sample.cutting(() => formatOf(sample.series))
  }

  /** Where the times of the request are. The search for them leaves half of the budget to the search for records. */
  async borders(): Promise<Borders> {
    const { since, until } = this.request.selection
    // One budget for both: what one reads, the other knows.
    const half = this.budget.half()
    const [low, high] = await Promise.all([this.border(since, half), this.border(until, half)])
    return { since: low, until: high }
  }

  /** Where a time is in the log; null without one, or if the log has none. */
  async border(instant: number | null, budget = this.budget.half()): Promise<Border | null> {
    const format = await this.format()
    if (instant === null || !format.timed) return null
    const { series, context } = this
    // The search for it would need the bytes that are missing ahead: every record before them is checked instead.
    if (this.open.end !== undefined) return { from: Number.NEGATIVE_INFINITY, to: series.end, ordered: true }
    const known = this.#known.borders.get(series) ?? new Map<number, Border>()
    this.#known.borders.set(series, known)
    const border = known.get(instant) ?? (await seek({ ...context, series, format, budget }, instant))
    known.set(instant, border)
    return border
  }

  /** Works on the log, and again without what turns out to be missing. */
  async cutting<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        // A log may have any number of holes: time ends the search for them.
        if (!(error instanceof MissingBytes) || !(await this.budget.step())) throw error
        this.cut ??= new CutLog(this.#open, this.request)
        await this.cut.cut(error)
      }
    }
  }

  /** Whether a joined log goes on in the period of the request beyond what is open. */
  async lacksPeriod(): Promise<boolean> {
    const { selection } = this.request
    if (!this.open.beyond || !selection.isPeriod) return false
    return lacksPeriod(selection, this.open, await this.format(), this.context.zone)
  }
}

/** The formats of some files of a node: pages of a log ask for the same one again. */
const formatsOf = perFiles(() => new BoundedMap<string, LineFormat>(16))

/** The version of the file that alone decides what the format of a log is; null if it takes several, or an archive. */
function decidingVersion({ parts }: Series): string | null {
  const { entry, compressed, begin } = parts.at(-1)!
  return compressed || begin !== undefined || entry.size < SAMPLE ? null : versionOf(entry)
}

/** What work on a session returns if more of a joined log must be opened. */
export const WIDER = Symbol('wider')

/**
 * Opens a log and works on it, until that gives a result: a joined log is opened wider as long as the work asks for it,
 * a hole is cut off, and after a rotation everything starts over.
 */
export async function inSession<T>(
  context: ViewContext,
  { request, reach: first, prefetch, openerOf, isKnown, whole = false }: Opening,
  work: (session: Session) => Promise<T | typeof WIDER>,
): Promise<T | null> {
  for (let retries = 0; ; ) {
    const opener = openerOf(retries === 0)
    try {
      for (let reach = first; ; ) {
        const log = await openLog(opener, request, prefetch, reach)
        if (isKnown?.(stateOf(log.series))) return null
        const session = new Session(context, request, opener, log)
        const result = await (whole ? work(session) : session.cutting(() => work(session)))
        if (result !== WIDER) return result
        const wider = widerReach(reach(), session.open)
        reach = () => wider
      }
    } catch (error) {
      const { signal } = opener.budget
      await throwUnlessMoved(error, retries++, { files: context.files, file: request.file, signal })
    }
  }
}

/** How often a log is opened again. */
const RETRIES = 2

/**
 * Throws an error unless another attempt may succeed, because files were renamed or removed between the list and the
 * read. If the budget ran out before there was a partial result, the error says so.
 */
async function throwUnlessMoved(
  error: unknown,
  retries: number,
  { files, file, signal }: { files: LogFiles; file: string; signal: AbortSignal | undefined },
): Promise<void> {
  if (error instanceof BudgetError) throw tooMuchArchive(file, error)
  if (retries >= RETRIES) throw error
  if (error instanceof StoreError && error.code === 'changed') return
  if (!(error instanceof LogError && error.code === 'unknown-file')) throw error
  await files.stat(file, signal).catch(() => {
    throw error
  })
}

/** The state of the files of a log: it changes with each of them. */
export function stateOf({ parts }: Series): string {
  return parts.map(({ entry }) => entry.etag).join()
}

/** The error when an archive cannot be read within the budget and there is no partial result. */
function tooMuchArchive(file: string, cause: BudgetError): LogError {
  return new LogError(
    'archive-budget',
    `The archives of this log take longer to read than one request may; download them from /api/v1/log/download?file=${encodeURIComponent(file)} instead.`,
    { cause },
  )
}
