import { Budget } from '../../kit/limits/budget.ts'
import type { LineFormat } from '../format/detect.ts'
import { periodReach } from '../joined/reach.ts'
import type { NextBytes } from '../render/rendered.ts'
import { type Filter, filterOf } from '../search/filter.ts'
import { LogWalk, type WalkPart } from '../search/walk.ts'
import type { Series } from '../text/series.ts'
import { type Note, timeNotes } from '../view/answer.ts'
import { readingOf, type ViewContext } from '../view/context.ts'
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
}

/**
 * Opens an export. Its budget is the log itself: it has no limit of bytes or time, but it uses one search slot,
 * yields between its steps, and ends with its client.
 */
export async function openExport(
  context: ViewContext,
  request: ViewRequest,
  signal?: AbortSignal,
): Promise<Export> {
  const { scans, memory, clock } = context
  const leave = await scans.enter(signal, 'long')
  try {
    const opening = {
      request,
      reach: () => periodReach(request.selection),
      openerOf: () => ({ ...context, budget: new Budget({ signal, memory, clock }) }),
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
    const records = recordsOf(context, plan, budget, leave)
    const close = () => {
      leave()
      // Only when the running step has ended: its reads write into memory that is used again.
      void records.return(null)
    }
    return { format, notes, next: async () => (await records.next()).value, close }
  } catch (error) {
    leave()
    throw error
  }
}

interface ExportPlan {
  sections: Iterable<Section> | AsyncIterable<Section>
  notes: Set<Note>
}

/**
 * A log of files is one section, and one more for each hole in it: where the requested times are is searched for first.
 * All bytes are known to exist before anything is sent.
 */
async function planOfFiles(session: Session): Promise<FilesPlan> {
  const { context, request, cut } = session
  const { splitsRecord } = request.cursor?.place ?? {}
  const format = await session.format()
  const { since, until } = await session.borders()
  const { series, at } = session.open
  const start = await series.addresses.floor(Number.NEGATIVE_INFINITY)
  const bottom = Math.max(start, since?.from ?? start)
  const lo = request.cursor === null || at === null ? bottom : Math.max(at, bottom)
  const hi = Math.min(until?.to ?? series.end, series.end)
  await series.ensure(lo, hi)
  const plans: FilesPlan[] = []
  for (const older of (await cut?.older()) ?? []) {
    const part = session.of(older)
    plans.push(await part.cutting(() => planOfFiles(part)))
  }
  const filter = filterOf(request.selection, { format, zone: context.zone, since, until })
  plans.push({
    sections: [{ series, lo, hi, filter, splitsRecord }],
    notes: new Set(since?.ordered === false || until?.ordered === false ? ['time-order'] : []),
    isFromStart: lo <= start,
    isToEnd: hi >= series.end,
  })
  const joined = plans.reduce(besideHole)
  if (cut?.beginsLate && joined.isFromStart) joined.notes.add('begins-late')
  if (series.hasGapIn(lo, hi)) joined.notes.add('gap')
  return joined
}

interface FilesPlan extends ExportPlan {
  sections: Section[]
  /** Whether everything from the start of the log, and up to its end, is wanted. */
  isFromStart: boolean
  isToEnd: boolean
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

/** The wanted records of all sections, some at a time. After the last ones, or an error, `leave` is called. */
async function* recordsOf(
  context: ViewContext,
  { sections }: ExportPlan,
  budget: Budget,
  leave: () => void,
): AsyncGenerator<Uint8Array, null> {
  const reading = readingOf(context)
  try {
    for await (const section of sections) {
      const walk = new LogWalk({ ...section, forward: true, inPieces: true, budget, reading })
      try {
        for (let part = await walk.next(); part && !(part instanceof LogWalk); part = await walk.next()) {
          const records = wantedOf(part, await part.wanted())
          if (records.length > 0) yield records
        }
      } finally {
        await walk.end()
      }
      const { series, lo, hi } = section
      const broken = series.brokenIn(lo, hi)
      if (broken) throw broken
    }
    return null
  } finally {
    leave()
  }
}

/** A copy of the wanted records: the memory of a part is used for the next one while they are being sent. */
function wantedOf({ bytes }: WalkPart, ranges: ArrayLike<number>): Uint8Array {
  let length = 0
  for (let i = 0; i < ranges.length; i += 2) length += ranges[i + 1]! - ranges[i]!
  const records = new Uint8Array(length)
  let at = 0
  for (let i = 0; i < ranges.length; i += 2) {
    records.set(bytes.subarray(ranges[i], ranges[i + 1]), at)
    at += ranges[i + 1]! - ranges[i]!
  }
  return records
}
