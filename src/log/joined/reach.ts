import type { LineFormat } from '../format/detect.ts'
import type { Fit } from '../search/span.ts'
import type { Selection } from '../selection.ts'
import { firstTime } from '../text/format.ts'
import { type OpenLog, readsForward } from '../text/open.ts'
import type { Zone } from '../time.ts'

/** How much wider each attempt is than the one before. */
export const WIDER = 8
/** Attempts per log: by then a period is 22 years wide. */
const MAX_ATTEMPTS = 6
/** Around a period: a key has the time when its object was begun or ended, mostly within a quarter of an hour. */
export const MARGIN = 30 * 60_000
/** Of the members in that margin, only those this close to the period are opened at first. */
const NEAR_MS = 2 * 60_000
/** Stored bytes that the first attempt of a search covers. */
const SEARCH_BYTES = 64 * 1024 * 1024
const LEAST_BYTES = 256 * 1024
const HEAD_BYTES = 64 * 1024
/** Estimated bytes per line, and the minimum first read. */
const PER_LINE = 512
const FIRST_READ = 64 * 1024

export interface RequestPeriod {
  since: number | null
  until: number | null
}

/** The parts of a request that decide how far to look. */
interface PageRequest {
  fit: Fit
  selection: Selection
  cursor: { direction: 'before' | 'after' } | null
  first?: boolean | undefined
}

/** How far into a joined log a request looks: its members are found as they are needed. */
export interface SearchWindow {
  /** Bytes that the answer is expected to have. */
  wanted: number
  /** Stored bytes of members to open, from the end or the cursor on. They are read only when needed. */
  bytes: number
  /** The period of the request, and the number of the attempt: the margins around the period grow with it. */
  period: RequestPeriod
  attempt: number
  /** Whether the log is read forward, from its beginning or from the start of the period on. */
  isForward: boolean
}

/** All of a log, whatever its times. */
export const EVERYTHING = periodReach({ since: null, until: null })

/** The first attempt at all of a joined log that a period needs. */
export function periodReach({ since, until }: RequestPeriod): SearchWindow {
  return {
    wanted: 0,
    bytes: Number.POSITIVE_INFINITY,
    period: { since, until },
    attempt: 1,
    isForward: false,
  }
}

/** The first attempt at a page of a joined log. */
export function pageReach(request: PageRequest): SearchWindow {
  const { fit, selection } = request
  const { since, until, isSearch } = selection
  const ofLines = fit.lines === null ? fit.size : Math.max(FIRST_READ, fit.lines * PER_LINE)
  const wanted = Math.min(fit.size, ofLines)
  // Text is never much shorter than the objects that hold it.
  const bytes =
    isSearch || since !== null ? Math.max(WIDER * wanted, SEARCH_BYTES) : Math.max(2 * wanted, LEAST_BYTES)
  const isForward = readsForward(request)
  return { wanted: isSearch ? 0 : wanted, bytes, period: { since, until }, attempt: 1, isForward }
}

/** A wider attempt at what is open; the last one, or the next where keys are wrong, is at all of the log. */
export function widerReach(reach: SearchWindow, { beyond }: OpenLog): SearchWindow {
  const attempt = reach.attempt + 1
  if (attempt > MAX_ATTEMPTS || beyond?.isSkewed)
    return { ...reach, bytes: Number.POSITIVE_INFINITY, period: EVERYTHING.period, attempt }
  return { ...reach, bytes: reach.bytes * WIDER, attempt }
}

/** Times in the keys of members: those to find, and among them (`near`) those to open, with the two next to them. */
export function keyTimes({ period: { since, until }, attempt }: SearchWindow) {
  const widening = WIDER ** (attempt - 1)
  const margin = MARGIN * widening
  const near = NEAR_MS * widening
  return {
    ...(since !== null && { since: since - margin, nearSince: since - near }),
    ...(until !== null && { until: until + margin, nearUntil: until + near }),
  }
}

/** Whether what is open of a joined log may lack some of the page: it must begin before it and end after it. */
export async function lacksPage(
  request: PageRequest,
  log: OpenLog,
  { from, to, format }: { from: number; to: number; format: LineFormat },
  zone: Zone,
): Promise<boolean> {
  const { selection } = request
  const { older, newer, isSkewed } = log.beyond!
  if (isSkewed) return true
  if (readsForward(request)) {
    if (newer && to >= log.series.end) return true
    return request.cursor === null && lacksBeginning(selection, log, format, zone)
  }
  if (await lacksPeriod(selection, log, format, zone)) return true
  return older && !(selection.since !== null && format.timed) && log.series.addresses.isStart(from)
}

/** Whether a joined log goes on in a period beyond the parts that are open. */
export async function lacksPeriod(period: RequestPeriod, log: OpenLog, format: LineFormat, zone: Zone) {
  const { series, beyond } = log
  if (beyond?.isSkewed) return true
  if (period.until !== null && beyond?.newer) {
    const last = firstTime(format, zone, await series.parts.at(-1)!.head(HEAD_BYTES))
    if (!(last >= period.until)) return true
  }
  return lacksBeginning(period, log, format, zone)
}

async function lacksBeginning(
  { since }: RequestPeriod,
  { series, beyond }: OpenLog,
  format: LineFormat,
  zone: Zone,
): Promise<boolean> {
  if (since === null || !beyond?.older || !format.timed) return false
  return !(firstTime(format, zone, await series.parts[0]!.head(HEAD_BYTES)) < since)
}
