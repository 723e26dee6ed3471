import { asOne } from '../../bytes.ts'
import { Budget } from '../../limits/budget.ts'
import type { LineFormat } from '../format/detect.ts'
import { openPeriod } from '../open.ts'
import type { Source } from '../render/rendered.ts'
import { type Filter, filterOf } from '../search/filter.ts'
import { Forward } from '../search/forward.ts'
import { leaseForReads } from '../search/reading.ts'
import { scanForward } from '../search/scan-forward.ts'
import { seek } from '../seek/seek.ts'
import { checkFormat, formatOf, isEmpty } from '../text/format.ts'
import type { OpenLog } from '../text/open.ts'
import type { Series } from '../text/series.ts'
import { type Note, timeNotes } from '../view/answer.ts'
import { readingOf, type ViewContext } from '../view/context.ts'
import type { ViewRequest } from '../view/request.ts'

/** Every record of a log that a request wants, oldest first. */
export interface Export {
  format: LineFormat
  notes: Note[]
  /** The next records, some at a time; null after the last. It throws rather than end early. */
  next: Source
  /** Releases the search slot. Called at the end, or when the client disconnects before it. */
  close(): void
}

/** A part of a log that is searched as a whole. */
interface Section {
  series: Series
  lo: number
  hi: number
  /** Whether it begins inside a record that was sent in part. @default false */
  splitsRecord?: boolean | undefined
  /** Reads it for all pages. @default each page is read by itself */
  reader?: Forward
}

/** How much is found before it is sent. */
const PAGE = 1024 * 1024

/**
 * Opens an export. Its budget is the log itself: it has no limit of bytes or time, but it uses one search slot,
 * yields between its steps, and ends with its client.
 */
export async function openExport(
  context: ViewContext,
  request: ViewRequest,
  signal?: AbortSignal,
): Promise<Export> {
  const leave = await context.scans.enter(signal, 'long')
  try {
    const budget = new Budget({ signal, now: context.now })
    const log = await openPeriod({ ...context, budget }, request)
    const format = await formatOf(log.series)
    if (!(await isEmpty(log.series))) checkFormat(format, request)
    const planOf = log.beyond && log.at === null ? planOfMembers : planOfFiles
    const plan = await planOf(context, log, { request, format, budget })
    const { notes } = plan
    if (request.since !== null || request.until !== null || request.records)
      notes.push(...timeNotes(format, context.zone))
    const close = () => {
      plan.close?.()
      leave()
    }
    const records = recordsOf(context, plan, budget, close)
    return { format, notes, next: async () => (await records.next()).value, close }
  } catch (error) {
    leave()
    throw error
  }
}

interface Plan {
  sections: Iterable<Section> | AsyncIterable<Section>
  filter: Filter
  notes: Note[]
  close?: () => void
}

interface Wanted {
  request: ViewRequest
  format: LineFormat
  budget: Budget
}

/** A log of files is one section: where the requested times are in it is searched for first. */
async function planOfFiles(
  context: ViewContext,
  { series, at }: OpenLog,
  { request, format, budget }: Wanted,
): Promise<Plan> {
  const border = async (instant: number | null) =>
    instant === null || !format.timed ? null : seek({ ...context, series, format, budget }, instant)
  const [since, until] = await Promise.all([border(request.since), border(request.until)])
  const bottom = since?.from ?? (await series.addresses.floor(Number.NEGATIVE_INFINITY))
  const lo = at === null ? bottom : Math.max(at, bottom)
  const hi = Math.min(until?.to ?? series.end, series.end)
  const reader = new Forward(series, hi, readingOf(context), leaseForReads(context.memory))
  const splitsRecord = request.cursor?.place.splitsRecord
  return {
    sections: [{ series, lo, hi, splitsRecord, reader }],
    filter: filterOf(request, { format, zone: context.zone, since, until }),
    notes: since?.ordered === false || until?.ordered === false ? ['time-order'] : [],
    close: () => reader.end(),
  }
}

/** A joined log is read a group of objects at a time, and the time of every record is checked. */
async function planOfMembers(
  { zone, parallel }: ViewContext,
  { series }: OpenLog,
  { request, format }: Wanted,
): Promise<Plan> {
  const { groupsOf } = await import('../joined/groups.ts')
  const filter = filterOf(request, { format, zone })
  return { sections: groupsOf(series.parts, format, parallel), filter, notes: [] }
}

/** The wanted records of all sections, a page at a time. After the last one, or an error, the export is closed. */
async function* recordsOf(
  context: ViewContext,
  { sections, filter }: Plan,
  budget: Budget,
  close: () => void,
): AsyncGenerator<Uint8Array, null> {
  try {
    for await (const { series, lo, hi, reader, ...section } of sections) {
      let { splitsRecord } = section
      for (let at = lo; at < hi; ) {
        const found = await scanForward({
          series,
          lo: at,
          hi,
          filter,
          fit: { size: PAGE, lines: null },
          countBy: 'records',
          budget,
          splitsRecord,
          reading: readingOf(context),
          reader,
        })
        found.memory?.release()
        if (found.pieces.length > 0) yield asOne(found.pieces)
        at = found.to
        splitsRecord = found.splitsRecord
      }
      const broken = series.brokenIn(lo, hi)
      if (broken) throw broken
    }
    return null
  } finally {
    close()
  }
}
