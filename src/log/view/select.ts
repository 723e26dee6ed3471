import { type Budget, BudgetError } from '../../kit/limits/budget.ts'
import type { Lease } from '../../kit/limits/memory-budget.ts'
import { type LineFormat, PLAIN } from '../format/detect.ts'
import { BYTES_AT_ONCE } from '../render/body.ts'
import type { FoundAround } from '../search/context/page.ts'
import { type Filter, filterOf, isExact } from '../search/filter.ts'
import { type Found, findPage, type PageOptions } from '../search/page.ts'
import { SEPARATOR, type WalkRange } from '../search/range.ts'
import { wholeBack } from '../search/records.ts'
import { noMemory } from '../search/sink.ts'
import { firstThatFit, lastThatFit } from '../search/span.ts'
import type { Border } from '../seek/seek.ts'
import { type OpenLog, readsForward } from '../text/open.ts'
import type { Series } from '../text/series.ts'
import { type Note, timeNotes, type View } from './answer.ts'
import { readingOf, runInSlot, type ViewContext } from './context.ts'
import type { ViewRequest } from './request.ts'
import type { Borders, Session } from './session.ts'

/** Where the answer is searched for. */
interface ViewPlan extends Borders {
  context: ViewContext
  log: OpenLog
  request: ViewRequest
  budget: Budget
  format: LineFormat
  /** Whether the answer is the first part of [lo, hi) rather than the last. */
  forward: boolean
  lo: number
  hi: number
  /** Nothing below this address was requested; minus infinity without a limit. */
  bottom: number
  /** Nothing above this one was. */
  top: number
  /** Whether every record of [lo, hi) is wanted. */
  all: boolean
  notes: Note[]
}

/** The part of an open log that a request wants. */
export async function select(session: Session, request: ViewRequest): Promise<View> {
  const plan = await planOf(session, request)
  if (plan.lo >= plan.hi) return nothing(plan)
  // If the end of an archive was not reached, it is not known, so there is no tail to return instead.
  if (session.series.isCut && plan.all && !plan.forward) throw new BudgetError()
  if (plan.all && !request.records) return textThatFits(plan)
  return (await allRecords(plan)) ?? search(plan)
}

async function planOf(session: Session, request: ViewRequest): Promise<ViewPlan> {
  const { context, budget } = session
  const { selection, records } = request
  const timed = selection.isPeriod
  const format = !selection.isAll || records ? await session.checkedFormat() : PLAIN
  const after = request.cursor?.direction === 'after'
  const forward = readsForward(request)
  const findBorders = () => session.borders()
  const borders = timed ? await runInSlot(context.scans, budget, findBorders) : NO_BORDERS
  const log = session.open
  const { since, until } = request.collector ? bordersAround(borders, log.at) : borders
  const { series, at } = log
  const bottom =
    after && since ? await bottomAfter(session, since) : (since?.from ?? Number.NEGATIVE_INFINITY)
  const top = Math.min(until?.to ?? series.end, series.end, log.end ?? series.end)
  const lowest = after ? Math.max(at!, bottom) : bottom
  const lo = forward && lowest === Number.NEGATIVE_INFINITY ? await series.addresses.floor(lowest) : lowest
  const hi = after || at === null ? top : Math.min(at, top)
  const notes: Note[] = since?.ordered === false || until?.ordered === false ? ['time-order'] : []
  if (log.certain === false) notes.push('family-order')
  if (request.charset === 'marked' && series.hasInvalidUtf8) notes.push('encoding')
  if (timed || records) notes.push(...timeNotes(format, context.zone))
  const all = !selection.isSearch && isExact(since) && isExact(until)
  return { context, log, request, budget, format, since, until, forward, lo, hi, bottom, top, all, notes }
}

const NO_BORDERS: Borders = { since: null, until: null }

/**
 * Borders that leave out nothing next to a cursor, from which distances are counted. Only files on one side of it are open:
 * if a clock stepped, records next to it were in the period because of records in the others.
 */
function bordersAround({ since, until }: Borders, at: number | null): Borders {
  if (at === null) return { since, until }
  return {
    since: since && { ...since, from: Math.min(since.from, at) },
    until: until && { ...until, to: Math.max(until.to, at) },
  }
}

/**
 * Nothing below this address was requested after a cursor. A file that a rotation cut inside a record begins with lines
 * that have no time: they belong to the record before them, where the cursor comes from, and not to before `since`.
 */
async function bottomAfter(session: Session, since: Border): Promise<number> {
  const { at } = session.open
  if (at === null || at > since.from) return since.from
  const first = await session.border(0)
  if (first!.from < since.from) return since.from
  if (at < since.from) return at
  // Before the cursor, only a header is open: the page before may be in an older file.
  return session.request.rotated ? Number.NEGATIVE_INFINITY : since.from
}

/** The parts of an answer that do not depend on what was found. */
const baseOf = ({ log: { series }, format, notes, bottom }: ViewPlan) => ({
  series,
  format,
  notes,
  ends: [],
  memory: null,
  bottom,
})

async function nothing(plan: ViewPlan): Promise<View> {
  const { series, at } = plan.log
  const here = plan.request.cursor?.direction === 'after' ? at! : await series.addresses.floor(plan.hi)
  const prev = plan.forward && !isStart(plan, here) ? await series.cursor(here) : null
  return { ...baseOf(plan), from: here, to: here, pieces: null, prev, next: await series.cursor(here) }
}

async function textThatFits(plan: ViewPlan): Promise<View> {
  const { lo, hi, forward } = plan
  const { series, at } = plan.log
  const { fit, cursor } = plan.request
  const { from, splitsLine } = forward ? { from: lo } : await lastThatFit(series, lo, hi, fit)
  const to = forward ? await firstThatFit(series, lo, hi, fit) : hi
  // The page before may have to judge records one by one, and could not tell the time of the rest of a line.
  const wasCut = (address: number) => cursor?.place.splitsRecord === true && address === at
  const prev = await cursorBefore(plan, from, splitsLine || wasCut(from))
  const next = await series.cursor(to, wasCut(to))
  return { ...baseOf(plan), from, to, pieces: null, prev, next, memory: leaseToSend(plan, from, to) }
}

/** What an archive takes while its text is being sent: text that is waiting, a read and the decoder. */
const ARCHIVE_SENT = 7 * 1024 * 1024

/** The memory for sending [from, to) beyond a slice: archives take it from the start, long records when they come. */
function leaseToSend({ log: { series }, budget }: ViewPlan, from: number, to: number): Lease | null {
  if (to - from <= BYTES_AT_ONCE || !budget.memory) return null
  const isArchived = [...series.addresses.within(from, to)].some(({ part }) => part.compressed)
  const lease = budget.memory.lease(isArchived ? ARCHIVE_SENT : 0)
  if (lease === null) throw noMemory()
  return lease
}

const sizeOf = ({ request, context }: ViewPlan) => Math.min(request.fit.size, context.limits.answerBytes)

/** A long answer with all records is not scanned: it is read while it is sent. Null if it has to be scanned. */
async function allRecords(plan: ViewPlan): Promise<View | null> {
  const { lo, hi, request, notes } = plan
  const { series } = plan.log
  const size = sizeOf(plan)
  if (!plan.all || plan.forward || request.each || request.fit.lines !== null) return null
  if (hi - lo <= BYTES_AT_ONCE || size <= BYTES_AT_ONCE || request.cursor?.place.splitsRecord) return null
  const whole = await wholeBack(series, [lo, hi], plan.format, size)
  if (!whole) return null
  const { from, complete } = whole
  if (!complete && request.fit.size > size) notes.push('answer-budget')
  const prev = complete && !hasOlder(plan) ? null : await cursorBefore(plan, from)
  const next = await series.cursor(hi)
  return { ...baseOf(plan), from, to: hi, pieces: null, prev, next, memory: leaseToSend(plan, from, hi) }
}

/** Up to this size, a page of all records is read without waiting for a slot. */
const CHEAP_BYTES = 1024 * 1024

/** The records that the filters want. */
async function search(plan: ViewPlan): Promise<View> {
  const { context, request, budget, notes } = plan
  const { series } = plan.log
  const range = rangeOf(plan)
  const page = pageOf(plan, range)
  const run = () => (request.context === undefined ? findPage(range, page) : contextPage(plan, range, page))
  const short = plan.all && request.collector === undefined ? await shortPage(range, page) : null
  const found = short ?? (await runInSlot(context.scans, budget, run))
  const isLimited = found.isOverSize && request.fit.size > context.limits.answerBytes
  if (found.cut || series.isCut) notes.push('scan-budget')
  else if (found.isShort || (!found.complete && isLimited)) notes.push('answer-budget')
  if (series.brokenIn(found.from, found.to)) notes.push('archive-cut')
  const { prev, next } = await pagesAround(plan, found)
  const { from, to, pieces, ends, memory } = found
  const fields = request.selection.matcher?.fields
  if (pieces.length === 0 && fields && (await lacksFields(series, range.filter, fields)))
    notes.push('unknown-field')
  return { ...baseOf(plan), ...aroundOf(found), from, to, pieces, ends, prev, next, memory }
}

/**
 * A page of all records that costs no more than a tail, so that it needs no search slot: 2,000 followers may join at once.
 * Null if more fits into the page.
 */
async function shortPage(range: WalkRange, page: PageOptions): Promise<Found | null> {
  const size = Math.min(page.fit.size, CHEAP_BYTES)
  if (page.fit.lines === null && size < page.fit.size) return null
  const found = await findPage(range, { ...page, fit: { ...page.fit, size } })
  if (!found.isOverSize || size === page.fit.size) return found
  found.memory?.release()
  return null
}

/** The records that the filters want, with those around them. */
async function contextPage(
  { request, log, bottom, top, forward }: ViewPlan,
  range: WalkRange,
  page: PageOptions,
): Promise<FoundAround> {
  const { findAround } = await import('../search/context/page.ts')
  const { older = false, newer = false, beside = false } = log.beyond ?? {}
  const isAfter = request.cursor !== null
  const beyond = {
    older: isAfter && forward ? beside : older,
    newer: isAfter && !forward ? beside : newer,
  }
  const separator = request.records ? 0 : SEPARATOR.length
  return findAround(range, page, { count: request.context!, bottom, top, beyond, separator })
}

const aroundOf = (found: Found | FoundAround) =>
  'distances' in found ? { distances: found.distances, isLacking: found.isLacking } : {}

/** Where records are searched for. */
function rangeOf(plan: ViewPlan): WalkRange {
  const { context, request, budget, lo, hi, forward } = plan
  return {
    series: plan.log.series,
    lo,
    hi,
    forward,
    filter: filterOf(request.selection, { ...plan, zone: context.zone }),
    budget,
    reading: readingOf(context),
    splitsRecord: request.cursor?.place.splitsRecord,
    isStart: plan.log.isStart === true && plan.log.at === (forward ? lo : hi),
    stretch: request.collector?.stretch,
  }
}

/** How many of them are wanted, and in which form. */
function pageOf(plan: ViewPlan, range: WalkRange): PageOptions {
  const { request } = plan
  const { observer, keeps } = request.collector?.begin(range) ?? {}
  return {
    fit: { ...request.fit, size: sizeOf(plan) },
    countBy: request.records ? 'records' : 'lines',
    each: request.each,
    observer: plan.all ? undefined : observer,
    keeps,
  }
}

/** The cursors of the pages before and after. Two adjacent pages agree on whether a record is cut between them. */
async function pagesAround(plan: ViewPlan, found: Found): Promise<Pick<View, 'prev' | 'next'>> {
  const { forward, lo } = plan
  const { series, at } = plan.log
  const isCut = plan.request.cursor?.place.splitsRecord === true
  if (forward)
    return {
      prev: await cursorBefore(plan, lo, isCut && lo === at),
      next: await series.cursor(found.to, found.splitsRecord),
    }
  const isAll = found.complete && !(hasOlder(plan) && series.addresses.isStart(found.from))
  return {
    prev: isAll ? null : await cursorBefore(plan, found.from, found.splitsRecord),
    next: await series.cursor(found.to, isCut && found.to === at),
  }
}

/** The cursor of the page that ends at an address; null if nothing was requested before it, or there is nothing. */
async function cursorBefore(plan: ViewPlan, address: number, splitsRecord = false) {
  const { bottom, log } = plan
  return address <= bottom || isStart(plan, address) ? null : log.series.cursor(address, splitsRecord)
}

/** Whether an address is where all that is wanted begins, not only the part of the log that is open. */
function isStart(plan: ViewPlan, address: number): boolean {
  return !hasOlder(plan) && plan.log.series.addresses.isStart(address)
}

/** Whether a page may go on before what is open. What is open of a joined log reaches back to before `since`. */
function hasOlder({ log, since }: ViewPlan): boolean {
  return log.beyond?.older === true && since === null
}

/** How much of a log's end is searched for a field that no matching record had. */
const FIELD_SAMPLE = 256 * 1024

/** Whether one of the requested fields is missing from every record at the log's end. */
async function lacksFields(series: Series, filter: Filter, fields: readonly string[]): Promise<boolean> {
  const from = await series.addresses.floor(series.end - FIELD_SAMPLE)
  const bytes = await series.read(from, series.end)
  const { hasFields } = await import('../where/where.ts')
  return !hasFields(bytes, filter, fields)
}
