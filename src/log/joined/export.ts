import { type Export, nextRecords, type Running } from '../export/exported.ts'
import { lastStart } from '../format/lines.ts'
import type { Filter } from '../search/filter.ts'
import { Series } from '../text/series.ts'
import type { Text } from '../text/text.ts'
import type { Note } from '../view/answer.ts'
import { readingOf, type ViewContext } from '../view/context.ts'
import { checkFormat, formatOf } from '../view/format.ts'
import { timeNotes } from '../view/time-notes.ts'
import { fetchMembers } from './member.ts'

/** Stored bytes and objects that are open at a time. */
const GROUP_BYTES = 8 * 1024 * 1024
const GROUP = 64
/** How far back the last record of a group is searched for. */
const LAST_RECORD = 1024 * 1024

/**
 * Exports a joined log a group of objects at a time. As one series, its first record would have an address only after
 * all of its objects were read.
 */
export async function exportMembers(
  context: ViewContext,
  { log, request, budget, close }: Running,
): Promise<Omit<Export, 'close'>> {
  const { zone } = context
  const { parts } = log.series
  const format = await formatOf(log.series)
  if (log.series.end > 0 || parts.length > 1) checkFormat(format, request)
  const { since, until, level, levels, matcher } = request
  const filter: Filter = {
    format,
    zone,
    level,
    levels,
    matcher,
    since: since === null ? null : { at: since, below: Number.POSITIVE_INFINITY },
    until: until === null ? null : { at: until, from: Number.NEGATIVE_INFINITY },
  }
  const pieces = found(context, parts, filter, budget)
  const next = async (): Promise<Uint8Array | null> => {
    try {
      const { value, done } = await pieces.next()
      if (done) close()
      return done ? null : value
    } catch (error) {
      close()
      throw error
    }
  }
  const notes: Note[] = since !== null || until !== null || request.records ? timeNotes(format, zone) : []
  return { format, notes, next }
}

/** The wanted records of some texts, in order. */
async function* found(
  context: ViewContext,
  parts: readonly Text[],
  filter: Filter,
  budget: Running['budget'],
): AsyncGenerator<Uint8Array> {
  let first = 0
  let offset = 0
  while (first < parts.length) {
    const group = groupAt(parts, first)
    await fetchMembers(group, context.parallel)
    const series = await Series.open(group)
    const isLast = first + group.length === parts.length
    let lo = (await series.base(0)) + offset
    // The last record may continue in the next group, so it is left to it.
    const hi = isLast ? series.end : await lastRecord(series, lo, filter)
    for (let inside = false; lo < hi; ) {
      const page = await nextRecords({ series, lo, hi, filter, budget, inside, reading: readingOf(context) })
      lo = page.to
      inside = page.inside
      if (page.records) yield page.records
    }
    const broken = series.broken()
    if (broken) throw broken
    if (isLast) return
    const place = hi >= series.end ? null : await series.place(hi)
    const used = place ? group.indexOf(place.part) : group.length
    for (const part of group.slice(0, used)) await part.release?.()
    first += used
    offset = place?.offset ?? 0
  }
}

/** The texts of a group: at least two, because the first may be the rest of the group before it. */
function groupAt(parts: readonly Text[], first: number): Text[] {
  let end = first
  let bytes = 0
  while (end < parts.length && end - first < GROUP && (bytes < GROUP_BYTES || end < first + 2))
    bytes += parts[end++]!.entry.size
  return parts.slice(first, end)
}

/** Where the last record of a series starts; its end if there is none in sight. */
async function lastRecord(series: Series, lo: number, { format }: Filter): Promise<number> {
  const from = Math.max(lo, series.end - LAST_RECORD)
  const bytes = await series.read(from, series.end)
  const at = lastStart(format, bytes, 0, bytes.length)
  return at > 0 ? from + at : series.end
}
