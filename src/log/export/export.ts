import { Budget } from '../../limits/budget.ts'
import { Forward } from '../search/forward.ts'
import { leaseForReads } from '../search/reading.ts'
import { type Border, seek } from '../seek/seek.ts'
import type { Note } from '../view/answer.ts'
import { filterOf } from '../view/borders.ts'
import { readingOf, type ViewContext } from '../view/context.ts'
import { checkFormat, formatOf, isEmpty } from '../view/format.ts'
import { openPeriod } from '../view/period.ts'
import type { ViewRequest } from '../view/request.ts'
import { timeNotes } from '../view/time-notes.ts'
import { type Export, nextRecords, type Running } from './exported.ts'

export type { Export } from './exported.ts'

/**
 * Opens an export. Its budget is the log itself: it has no limit of bytes or time, but it uses one search slot,
 * yields between its steps, and ends with its client.
 */
export async function openExport(
  context: ViewContext,
  request: ViewRequest,
  signal?: AbortSignal,
): Promise<Export> {
  const close = await context.scans.enter(signal)
  try {
    const budget = new Budget({ signal, now: context.now })
    const log = await openPeriod({ ...context, budget }, request)
    if (log.joined && log.at === null) {
      const { exportMembers } = await import('../joined/export.ts')
      return { close, ...(await exportMembers(context, { log, request, budget, close })) }
    }
    return await found(context, { log, request, budget, close })
  } catch (error) {
    close()
    throw error
  }
}

async function found(context: ViewContext, { log, request, budget, close: leave }: Running): Promise<Export> {
  const { series, at } = log
  const { files, zone, parallel = 1 } = context
  const format = await formatOf(series)
  const empty = await isEmpty(series)
  if (!empty) checkFormat(format, request)
  const timed = { files, series, format, zone, parallel, budget }
  const border = async (instant: number | null): Promise<Border | null> =>
    instant === null || empty ? null : seek(timed, instant)
  const [since, until] = await Promise.all([border(request.since), border(request.until)])
  const bottom = since?.from ?? (await series.start())
  let lo = at === null ? bottom : Math.max(at, bottom)
  const hi = Math.min(until?.to ?? series.end, series.end)
  const filter = filterOf(request, { format, zone, since, until })
  let inside = request.cursor?.place.inside ?? false
  const reading = readingOf(context)
  const reader = new Forward(series, hi, reading, leaseForReads(context.memory))
  const close = () => {
    reader.end()
    leave()
  }
  const next = async (): Promise<Uint8Array | null> => {
    try {
      while (lo < hi) {
        const page = await nextRecords({ series, lo, hi, filter, budget, inside, reading, reader })
        lo = page.to
        inside = page.inside
        if (page.records) return page.records
      }
      const broken = series.broken()
      if (broken) throw broken
    } catch (error) {
      close()
      throw error
    }
    close()
    return null
  }
  const notes: Note[] = since?.ordered === false || until?.ordered === false ? ['time-order'] : []
  if (request.since !== null || request.until !== null || request.records)
    notes.push(...timeNotes(format, zone))
  return { format, notes, next, close }
}
