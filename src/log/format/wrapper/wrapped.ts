import { lineEnd } from '../../../kit/bytes.ts'
import { UTC, type Zone } from '../../time.ts'
import { type AreNext, decode, type InnerReader, type LineFormat, PLAIN } from '../format.ts'
import type { Piece } from '../shape.ts'

/** A line that wraps one of another format. One object is reused: a scan would create millions. */
export interface Wrapped {
  /** Where the inner line is, without its line end. If it was unescaped, the next one takes its place. */
  bytes: Uint8Array
  from: number
  to: number
  /** Whether the next line continues the same inner line. */
  partial: boolean
  /** Where the wrapper's own time is: a number since the epoch, or a timestamp. */
  timeFrom: number
  timeTo: number
}

/** Lines that wrap others, such as a container runtime's. */
export interface Wrapper {
  name: string
  /** Parses a line; null if it is not wrapped this way. The next call overwrites the result. */
  read(bytes: Uint8Array, from: number, to: number): Wrapped | null
  /** Whether `read` finds a line that the next one continues. */
  isPartial(bytes: Uint8Array, from: number, to: number): boolean
  /** The wrapper's own time. */
  time(bytes: Uint8Array, from: number, to: number, zone: Zone): number
  /** The pieces of the last line that `read` found, around those of the line inside it; null if they are not known. */
  shape?(line: Wrapped, inner: Piece[], bytes: Uint8Array): Piece[] | null
  /** Whether the lines inside it are in the file as they are. */
  readonly isVerbatim?: true
  /** What is in the file where lines inside it hold one of some marks; null if that is not known. */
  marks(inner: readonly RegExp[]): RegExp[] | null
}

const LF = 0x0a
const SHORT = 64

/**
 * Lines of a format inside a wrapper. Times, levels, filters and fields are those of the inner lines; a record begins
 * where an inner one does. If the inner line has no time, the wrapper's is used.
 */
export function wrappedLines(wrapper: Wrapper, inner: LineFormat): LineFormat {
  const reader = (line: Wrapped) => (line.partial && inner.open ? inner.open : inner)
  const begins = (bytes: Uint8Array, from: number, to: number): Wrapped | null => {
    if (continues(wrapper, bytes, from)) return null
    const line = wrapper.read(bytes, from, to)
    return line && reader(line).starts(line.bytes, line.from, line.to) ? line : null
  }
  const timeOf = (line: Wrapped, bytes: Uint8Array, zone: Zone): number => {
    const time = inner.timed ? reader(line).time(line.bytes, line.from, line.to, zone) : Number.NaN
    return Number.isNaN(time) ? wrapper.time(bytes, line.timeFrom, line.timeTo, zone) : time
  }
  const lineAt: InnerReader = (bytes, from, to, isAfterWhole) => {
    const line = !isAfterWhole && continues(wrapper, bytes, from) ? null : wrapper.read(bytes, from, to)
    return line?.partial ? null : line
  }
  return {
    name: inner === PLAIN ? wrapper.name : `${wrapper.name}, ${inner.name}`,
    timed: true,
    leveled: inner.leveled,
    inner,
    ...(inner.undated && { undated: inner.undated }),
    ...(inner.ambiguousZone && { ambiguousZone: inner.ambiguousZone }),
    starts: (bytes, from, to) => begins(bytes, from, to) !== null,
    time(bytes, from, to, zone) {
      const line = begins(bytes, from, to)
      return line ? timeOf(line, bytes, zone) : Number.NaN
    },
    level(bytes, from, to, end = to) {
      const line = begins(bytes, from, to)
      if (!line) return -1
      const level = reader(line).level(line.bytes, line.from, line.to)
      if (end <= to + 1 || (level >= 0 && !line.partial)) return level
      // The level may be in a later part of the line, or in the line below.
      const text = unwrap(wrapper, bytes, from, end)
      return inner.level(text, 0, lineEnd(text, 0, text.length), text.length)
    },
    ...(wrapper.shape && {
      shape(bytes: Uint8Array, from: number, to: number) {
        const line = begins(bytes, from, to)
        if (!line || !inner.timed) return null
        // A time that is none says nothing about those of other lines: theirs are the wrapper's.
        if (Number.isNaN(reader(line).time(line.bytes, line.from, line.to, UTC))) return null
        const pieces = inner.shape?.(line.bytes, line.from, line.to)
        return pieces ? wrapper.shape!(line, pieces, bytes) : null
      },
    }),
    marks: (level) => {
      const own = inner.marks?.(level)
      return own ? wrapper.marks(own) : null
    },
    wrap: wrapper.marks,
    holds(bytes, from, to, find) {
      const line = wrapper.read(bytes, from, to)
      return line !== null && line.bytes === bytes && find(bytes, line.from, line.to) >= 0
    },
    ...(wrapper.isVerbatim && {
      crosses: (bytes: Uint8Array, line: { from: number; end: number; to: number }, areNext: AreNext) =>
        mayCross(wrapper, bytes, line, areNext),
    }),
    unwrap: (bytes, from, to) => unwrap(wrapper, bytes, from, to),
    // The time of lines that have none is the wrapper's.
    ...(inner.timed && { lineAt }),
    fields(text, zone) {
      const bytes = new TextEncoder().encode(text)
      const content = unwrap(wrapper, bytes, 0, bytes.length)
      const { raw, ...fields } = inner.fields(decode(content, 0, content.length), zone)
      if (!wrapper.read(bytes, 0, lineEnd(bytes, 0, bytes.length)))
        return raw === undefined ? fields : { ...fields, raw }
      // The time that filters see: that of a line's first part, or the wrapper's.
      const time = this.time(bytes, 0, lineEnd(bytes, 0, bytes.length), zone)
      return Number.isNaN(time) ? fields : { ...fields, time: zone.format(time) }
    },
  }
}

/** Whether the previous line continues in the one at `from`. */
function continues(wrapper: Wrapper, bytes: Uint8Array, from: number): boolean {
  if (from < 2 || bytes[from - 1] !== LF) return false
  const before = bytes.lastIndexOf(LF, from - 2) + 1
  return wrapper.isPartial(bytes, before, from - 1)
}

/** Whether a text may begin in a line and go on in the next one, which continues it. */
function mayCross(
  wrapper: Wrapper,
  bytes: Uint8Array,
  { from, end, to }: { from: number; end: number; to: number },
  areNext: AreNext,
): boolean {
  const line = wrapper.read(bytes, from, end)
  if (!line?.partial) return false
  const isEmpty = line.from >= line.to
  // Most bytes are in no text, whatever follows them.
  if (!isEmpty && !areNext(bytes[end - 1]!)) return false
  const nextEnd = lineEnd(bytes, end + 1, to)
  const first = wrapper.read(bytes, end + 1, nextEnd)?.from ?? end + 1
  // If a part is empty, or the next one is not in these bytes, only the joined line can tell.
  return isEmpty || first >= nextEnd || areNext(bytes[end - 1]!, bytes[first]!)
}

/** The inner text of whole lines. Lines that are not wrapped stay as they are. */
export function unwrap(wrapper: Wrapper, bytes: Uint8Array, from: number, to: number): Uint8Array {
  let out = new Uint8Array(to - from + 64)
  let length = 0
  const put = (source: Uint8Array, start: number, end: number) => {
    if (length + end - start + 1 > out.length) {
      const larger = new Uint8Array(2 * out.length + end - start)
      larger.set(out.subarray(0, length))
      out = larger
    }
    // For a short line, a view costs more than the copy: a record may have a million of them.
    if (end - start > SHORT) out.set(source.subarray(start, end), length)
    else for (let i = start; i < end; i++) out[length + i - start] = source[i]!
    length += end - start
  }
  for (let at = from; at < to; ) {
    const end = lineEnd(bytes, at, to)
    const line = wrapper.read(bytes, at, end)
    if (line) put(line.bytes, line.from, line.to)
    else put(bytes, at, end)
    if (!line?.partial) out[length++] = LF
    at = end + 1
  }
  return out.subarray(0, length)
}
