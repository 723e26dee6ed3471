import type { Span } from '../../store/store.ts'
import { detectFormat } from '../format/detect.ts'
import type { Text, TimeSpan } from '../text/text.ts'
import { parseZone, UTC, type Zone } from '../time.ts'
import { type FileTimes, piecesOf, type TimedPiece } from './pieces.ts'
import { firstRecord, HEAD_BYTES, namesYear } from './print.ts'
import { type ProbeOptions, stretchOf } from './probes.ts'
import { SpanReader } from './spans.ts'

/** The zones furthest from UTC: times that are the same in both name their zone. */
const FURTHEST = ['+14:00', '-14:00'].map((zone) => parseZone(zone)!)
/** Of these, a name does not say how a time is read: that depends on other lines. */
const AMBIGUOUS = /stamped/

/**
 * The times of a text that is shipped: whole lines from the beginning of a line on. Null where a reader could read
 * others: lines without a year, a line that is cut, a format without a simple name.
 */
export function timesToShip(text: Uint8Array): Omit<Span, 'offset' | 'end'> | null {
  if (text.at(-1) !== 10) return null
  const tail = text.subarray(Math.max(HEAD_BYTES, text.length - HEAD_BYTES))
  const format = detectFormat(text.subarray(0, HEAD_BYTES), tail)
  const named = nameOf(format.name)
  if (!format.timed || named === null) return null
  const first = firstRecord(text.subarray(0, HEAD_BYTES), { format, zone: UTC })
  if (!first || !namesYear(first)) return null
  const spanIn = (zone: Zone) => {
    const span: TimeSpan = { earliest: Number.POSITIVE_INFINITY, latest: Number.NEGATIVE_INFINITY }
    const reader = new SpanReader({ format, zone })
    reader.read(text, 0, text.length, span)
    reader.release()
    return span
  }
  const { earliest, latest } = spanIn(UTC)
  if (!(earliest >= 0 && latest < LAST)) return null
  const isZoned = FURTHEST.map(spanIn).every((span) => span.earliest === earliest && span.latest === latest)
  return { format: named, isZoned, first: first.at, earliest, latest }
}

/** The last time that ten digits to the base 36 hold. */
const LAST = 36 ** 10

/** A format's name in the name of an object; null if it cannot be part of one. */
function nameOf(format: string): string | null {
  const name = format.replaceAll(/,? /g, '+')
  return /^[a-z][\w.+-]{0,79}$/.test(name) && !AMBIGUOUS.test(name) ? name : null
}

/**
 * The times of a file as its shipper named them; what is too young for that is read. Null if they are not known, or not
 * those that are asked for; `spent` if the budget ran out.
 */
export async function shippedTimes(part: Text, options: ProbeOptions): Promise<FileTimes | 'spent' | null> {
  const { files, format, zone, budget } = options
  const { entry, name, begin = 0 } = part
  const spans = entry.appendOnly ? await files.spans?.({ key: name, etag: entry.etag }, budget.signal) : null
  const named = nameOf(format.name)
  const size = (spans?.at(-1)?.end ?? 0) - begin
  if (!spans || spans[0]!.offset !== begin || size > entry.size || entry.size - size > LARGEST_REST)
    return null
  if (!spans.every((span) => span.format === named && (span.isZoned || zone.name === UTC.name))) return null
  const pieces: TimedPiece[] = spans.map(({ offset, first, earliest, latest }, i) => ({
    start: i === 0 ? 0 : offset - begin + first,
    earliest,
    latest,
  }))
  const { first } = spans[0]!
  if (size === entry.size) return { pieces, first, isWhole: true }
  const young = await piecesOf(stretchOf([part]), options, size)
  if (young === 'spent') return young
  const head = firstRecord(await part.read(size, Math.min(entry.size, size + HEAD_BYTES)), options)
  const end = await part.read(entry.size - 1, entry.size)
  for (const [i, piece] of young.entries()) {
    if (i > 0) pieces.push(piece)
    else if (head) pieces.push({ ...piece, start: size + head.at })
    else widen(pieces.at(-1)!, piece)
  }
  return { pieces, first, isWhole: end[0] === 10 }
}

/** Text that is not in segments yet is at most this long; if it is longer, the store has not been asked for a while. */
const LARGEST_REST = 16 * 1024 * 1024

function widen(piece: TimedPiece, { earliest, latest }: TimedPiece): void {
  piece.earliest = Math.min(piece.earliest, earliest)
  piece.latest = Math.max(piece.latest, latest)
}
