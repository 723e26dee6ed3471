import { EVERY_RECORD } from '../selection.ts'
import type { Cursor } from '../text/cursor.ts'
import { gone } from '../text/open.ts'
import type { Series } from '../text/series.ts'
import type { ViewContext } from '../view/context.ts'
import { viewOf } from '../view/view.ts'
import { keyHash, type LanePlace } from './cursor.ts'
import type { Source } from './source.ts'

/** A place in a file of a log, or in an object of a joined one. */
export async function placeAt({ file, context }: Source, cursor: Cursor, lead: number): Promise<LanePlace> {
  const time = (await context.files.joined?.(file))?.memberOf(cursor.name)?.time
  return { kind: 'place', cursor, lead, ...(time !== undefined && { object: { time } }) }
}

/** A place with the key of its object, which a long cursor does not have. */
export async function keyedPlace(
  place: LanePlace,
  { file, context }: Source,
  signal: AbortSignal | undefined,
): Promise<LanePlace> {
  if (place.kind !== 'place' || place.object?.hash === undefined) return place
  const { time, hash } = place.object
  const log = await context.files.joined?.(file)
  const found = await log?.find({ bytes: Number.POSITIVE_INFINITY, since: time, until: time }, signal)
  const name = found?.members.find(({ entry }) => keyHash(entry.key) === hash)?.entry.key
  if (name === undefined) throw gone()
  return { ...place, cursor: { ...place.cursor, name }, object: { time } }
}

/** A place in a file, whether the log is known to begin there, and how many bytes of it come after. */
interface PlainPlace {
  cursor: Cursor
  isStart: boolean
  left: number
}

/** A place in a file: where what leads to the place ends, or where the log, or its part since a time, begins. */
export async function plainPlace(
  source: Source,
  asked: LanePlace,
  context: ViewContext,
  signal: AbortSignal | undefined,
): Promise<PlainPlace> {
  const { file, rotated = true } = source
  const request = { file, rotated, fit: { size: 0, lines: null }, records: false }
  const place = await keyedPlace(asked, source, signal)
  if (place.kind === 'place') {
    const { cursor, lead } = place
    if (lead === 0) return { cursor, isStart: false, left: 0 }
    const direction = lead > 0 ? ('after' as const) : ('before' as const)
    const at = { place: cursor, direction }
    const view = await viewOf(context, { ...request, selection: EVERY_RECORD, cursor: at }, signal)
    const end = (lead > 0 ? view.from : view.to) + lead
    return { cursor: await view.series.cursor(end), isStart: false, left: view.series.end - end }
  }
  const since = place.kind === 'time' ? place.time : null
  const selection = EVERY_RECORD.with({ since })
  const view = await viewOf(context, { ...request, selection, cursor: null, first: true }, signal)
  const { series } = view
  const from = view.from < series.end ? view.from : await lastLineStart(series)
  return {
    cursor: await series.cursor(from),
    isStart: series.addresses.isStart(from),
    left: series.end - from,
  }
}

/** The longest line that is looked for, and how much is read of it first. */
const LONGEST_LINE = 4 * 1024 * 1024
const LINE_READ = 4096

/** Where the last line begins if it is not complete, because its writer goes on with it; otherwise the end of the log. */
async function lastLineStart(series: Series): Promise<number> {
  const { end } = series
  for (let length = LINE_READ; length <= LONGEST_LINE; length *= 8) {
    const from = await series.addresses.floor(end - length)
    const lf = (await series.read(from, end)).lastIndexOf(10)
    if (lf >= 0 || from > end - length) return from + lf + 1
  }
  return end
}
