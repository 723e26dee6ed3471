import type { LineFormat } from '../format/detect.ts'
import type { Fit } from '../search/span.ts'
import { firstTime } from '../seek/seek.ts'
import type { Series } from '../text/series.ts'
import type { Zone } from '../time.ts'
import type { JoinReach } from './open.ts'

/** How much wider each attempt is than the one before. */
const WIDER = 8
/** Attempts per log: by then a period is 22 years wide. */
const MAX_LOOKS = 6
/**
 * Around a period, by the times in the keys: shippers name an object when they begin or when they end it, mostly within
 * a quarter of an hour.
 */
const MARGIN = 30 * 60_000
/** Of the members in that margin, only those this close to the period are opened at first. */
const NEAR = 2 * 60_000
/** Stored bytes that the first attempt of a search covers. */
const SEARCH = 64 * 1024 * 1024
const LEAST = 256 * 1024
const HEAD = 64 * 1024
/** Of a number of lines it is not known how long they are: how long one may be, and how much is read for them at first. */
const PER_LINE = 512
const FIRST_READ = 64 * 1024

/** The parts of a request that matter here. */
interface Asked {
  fit: Fit
  since: number | null
  until: number | null
  level: number | null
  matcher: unknown
  cursor: { direction: 'before' | 'after' } | null
  first?: boolean | undefined
}

/** How far into a joined log to look, and how many attempts there were. */
export interface ViewReach extends JoinReach {
  look: number
  asked: Period
}

/** The times of a request. */
export interface Period {
  since: number | null
  until: number | null
}

/** The first attempt at a joined log. */
export function firstReach(asked: Asked): ViewReach {
  const { fit, since, until, level, matcher } = asked
  const isSearch = level !== null || matcher !== null
  const ofLines = fit.lines === null ? fit.size : Math.max(FIRST_READ, fit.lines * PER_LINE)
  const wanted = Math.min(fit.size, ofLines)
  // Text is never much shorter than the objects that hold it.
  const bytes = isSearch || since !== null ? Math.max(WIDER * wanted, SEARCH) : Math.max(2 * wanted, LEAST)
  const isForward = readsForward(asked)
  return reachAt({ wanted: isSearch ? 0 : wanted, bytes, look: 1, asked: { since, until }, isForward })
}

/** The first attempt at all of a joined log that a period needs. */
export function periodReach(asked: Period): ViewReach {
  return reachAt({ wanted: 0, bytes: Number.POSITIVE_INFINITY, look: 1, asked })
}

/** A wider attempt. */
export function widerReach({ bytes, look, ...same }: ViewReach): ViewReach {
  return reachAt({ ...same, bytes: bytes * WIDER, look: look + 1 })
}

/** Whether the first records are wanted, of the log or after a cursor. */
function readsForward({ cursor, first }: Asked): boolean {
  return cursor ? cursor.direction === 'after' : first === true
}

function reachAt({ wanted, bytes, look, asked, isForward = false }: Omit<ViewReach, 'isWidest'>): ViewReach {
  const { since, until } = asked
  const widening = WIDER ** (look - 1)
  const margin = MARGIN * widening
  const near = NEAR * widening
  return {
    wanted,
    bytes,
    look,
    asked,
    isForward,
    isWidest: look >= MAX_LOOKS,
    ...(since !== null && { since: since - margin, nearSince: since - near }),
    ...(until !== null && { until: until + margin, nearUntil: until + near }),
  }
}

/** Whether the open part of a joined log may lack some of the answer: it must begin before it and end after it. */
export async function needsMore(
  asked: Asked,
  { series, from, to, format }: { series: Series; from: number; to: number; format: LineFormat },
  zone: Zone,
): Promise<boolean> {
  const { since, cursor } = asked
  if (readsForward(asked)) {
    if (series.newer && to >= series.end) return true
    return cursor === null && lacksBeginning(asked, series, format, zone)
  }
  if (await lacksPeriod(asked, series, format, zone)) return true
  return series.older && !(since !== null && format.timed) && series.isStart(from)
}

/** Whether a joined log goes on in a period beyond the parts that are open. */
export async function lacksPeriod(
  asked: Period,
  series: Series,
  format: LineFormat,
  zone: Zone,
): Promise<boolean> {
  if (await lacksEnd(asked, series, format, zone)) return true
  return lacksBeginning(asked, series, format, zone)
}

async function lacksBeginning(
  { since }: Period,
  { older, parts }: Series,
  format: LineFormat,
  zone: Zone,
): Promise<boolean> {
  if (since === null || !older || !format.timed) return false
  return !(firstTime(format, zone, await parts[0]!.head(HEAD)) < since)
}

async function lacksEnd(
  { until }: Period,
  { newer, parts }: Series,
  format: LineFormat,
  zone: Zone,
): Promise<boolean> {
  if (until === null || !newer) return false
  return !(firstTime(format, zone, await parts.at(-1)!.head(HEAD)) >= until)
}
