import { asOne } from '../../bytes.ts'
import { Budget } from '../../limits/budget.ts'
import type { LineFormat } from '../format/detect.ts'
import { periodReach } from '../joined/reach.ts'
import type { NextBytes } from '../render/rendered.ts'
import { type Filter, filterOf } from '../search/filter.ts'
import { Forward } from '../search/forward.ts'
import { leaseForReads } from '../search/reading.ts'
import { scanForward } from '../search/scan-forward.ts'
import type { Series } from '../text/series.ts'
import { type Note, timeNotes } from '../view/answer.ts'
import { readingOf, type ViewContext } from '../view/context.ts'
import { crossesGap } from '../view/holes.ts'
import type { ViewRequest } from '../view/request.ts'
import { inSession, type Session, WIDER } from '../view/session.ts'

/** Every record of a log that a request wants, oldest first. */
export interface Export {
  format: LineFormat
  notes: Note[]
  /** The next records, some at a time; null after the last. It throws rather than end early. */
  next: NextBytes
  /** Releases the search slot. Called at the end, or when the client disconnects before it. */
  close(): void
}

/** A part of a log that is searched as a whole. */
interface Section {
  series: Series
  lo: number
  hi: number
  filter: Filter
  /** Whether it begins inside a record that was sent in part. @default false */
  splitsRecord?: boolean | undefined
  /** Reads it for all pages. @default each page is read by itself */
  reader?: Forward
}

/** How much is found before it is sent. */
const PAGE_BYTES = 1024 * 1024

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
    const opening = {
      request,
      reach: periodReach(request.selection),
      openerOf: () => ({ ...context, budget: new Budget({ signal, clock: context.clock }) }),
      // After a cursor, missing bytes are a problem: the pages of a view show on which side of them it is.
      whole: request.cursor !== null,
    }
    const found = await inSession(context, opening, async (session) => {
      if (await session.lacksPeriod()) return WIDER
      const format = await session.checkedFormat()
      const isJoined = session.open.beyond && session.open.at === null
      const plan = await (isJoined ? planOfMembers(session) : planOfFiles(session))
      if (session.open.certain === false) plan.notes.add('family-order')
      return { plan, format, budget: session.budget }
    })
    const { plan, format, budget } = found!
    const notes = [...plan.notes]
    if (request.selection.isPeriod || request.records) notes.push(...timeNotes(format, context.zone))
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

interface ExportPlan {
  sections: Iterable<Section> | AsyncIterable<Section>
  notes: Set<Note>
  close?: () => void
}

/**
 * A log of files is one section, and one more for each hole in it: where the requested times are is searched for first.
 * All bytes are known to exist before anything is sent.
 */
async function planOfFiles(session: Session): Promise<FilesPlan> {
  const { context, request, log } = session
  const format = await session.format()
  const { since, until } = await session.borders()
  const { series, at } = session.open
  const start = await series.addresses.floor(Number.NEGATIVE_INFINITY)
  const bottom = since?.from ?? start
  const lo = request.cursor === null || at === null ? bottom : Math.max(at, bottom)
  const hi = Math.min(until?.to ?? series.end, series.end)
  await series.ensure(lo, hi)
  const plans: FilesPlan[] = []
  for (const older of await log.older()) {
    const part = session.of(older)
    plans.push(await part.cutting(() => planOfFiles(part)))
  }
  const reader = new Forward(series, hi, readingOf(context), leaseForReads(context.memory))
  const splitsRecord = request.cursor?.place.splitsRecord
  const filter = filterOf(request.selection, { format, zone: context.zone, since, until })
  plans.push({
    sections: [{ series, lo, hi, filter, splitsRecord, reader }],
    notes: new Set(since?.ordered === false || until?.ordered === false ? ['time-order'] : []),
    isFromStart: lo <= start,
    isToEnd: hi >= series.end,
    close: () => reader.end(),
  })
  const joined = plans.reduce(besideHole)
  if (log.beginsLate && joined.isFromStart) joined.notes.add('begins-late')
  if (crossesGap({ series, from: lo, to: hi })) joined.notes.add('gap')
  return joined
}

interface FilesPlan extends ExportPlan {
  sections: Section[]
  /** Whether everything from the start of the log, and up to its end, is wanted. */
  isFromStart: boolean
  isToEnd: boolean
  close(): void
}

/** The plans of what is before and after a hole, as one. */
function besideHole(before: FilesPlan, after: FilesPlan): FilesPlan {
  const notes = new Set([...before.notes, ...after.notes])
  if (before.isToEnd && after.isFromStart) notes.add('gap')
  return {
    sections: [...before.sections, ...after.sections],
    notes,
    isFromStart: before.isFromStart,
    isToEnd: after.isToEnd,
    close() {
      before.close()
      after.close()
    },
  }
}

/** A joined log is read a group of objects at a time, and the time of every record is checked. */
async function planOfMembers(session: Session): Promise<ExportPlan> {
  const { zone, parallel } = session.context
  const { groupsOf } = await import('../joined/groups.ts')
  const format = await session.format()
  const filter = filterOf(session.request.selection, { format, zone })
  const groups = groupsOf(session.series.parts, format, parallel)
  return { sections: filtered(groups, filter), notes: new Set() }
}

async function* filtered(
  groups: AsyncIterable<Omit<Section, 'filter'>>,
  filter: Filter,
): AsyncGenerator<Section> {
  for await (const group of groups) yield { ...group, filter }
}

/** The wanted records of all sections, a page at a time. After the last one, or an error, the export is closed. */
async function* recordsOf(
  context: ViewContext,
  { sections }: ExportPlan,
  budget: Budget,
  close: () => void,
): AsyncGenerator<Uint8Array, null> {
  try {
    for await (const { series, lo, hi, filter, reader, ...section } of sections) {
      let { splitsRecord } = section
      for (let at = lo; at < hi; ) {
        const found = await scanForward({
          series,
          lo: at,
          hi,
          filter,
          fit: { size: PAGE_BYTES, lines: null },
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
