import { isTurnOver, yieldToEventLoop } from '../../kit/limits/yield.ts'
import { SlicedStream } from '../../store/fast.ts'
import type { Bytes } from '../../store/store.ts'
import type { LineFormat } from '../format/format.ts'
import { countLines } from '../format/lines.ts'
import type { Reader } from '../pattern/pattern.ts'
import type { Origin } from '../render/csv.ts'
import { CONTEXT, NdjsonWriter, type RecordOptions } from '../render/ndjson.ts'
import { buffers } from '../render/rendered.ts'
import { SEPARATOR } from '../search/range.ts'
import type { Zone } from '../time.ts'
import type { MergedRecord, MergedRecords } from './places.ts'
import type { Source } from './source.ts'

/** How the records of a timeline are written. */
export interface MergedWriter {
  /** What comes before the first record. @default nothing */
  head?: Uint8Array
  /** What a record takes of a page: bytes and lines. @default its length, and one line */
  cost?(bytes: Uint8Array, source: Source): { size: number; lines: number }
  /** What stands between two groups of a log's records that do not touch. @default nothing */
  separator?(source: Source): number
  /**
   * Appends a record from a place in it on. A long one is written in pieces: returns where the next piece begins, which
   * is the end of the record when it is through.
   */
  write(record: MergedRecord, out: Output, from: number): number
}

/** Appends a whole record. */
export function writeAll(record: MergedRecord, writer: MergedWriter, out: Output): void {
  for (let at = 0; at < record.bytes.length; ) at = writer.write(record, out, at)
}

/** Bytes per slice that is sent. */
const SLICE = 256 * 1024
/** Bytes of records between two checks of the clock. */
const UNIT = 8 * 1024
const LF = 10
const COMMA = 0x2c
const encoder = new TextEncoder()

/** Memory that grows as it is written. */
export class Output {
  bytes = new Uint8Array(64 * 1024)
  length = 0

  constructor(head?: Uint8Array) {
    if (head) this.add(head)
  }

  add(bytes: Uint8Array): void {
    const to = this.length + bytes.length
    if (to > this.bytes.length) {
      const larger = new Uint8Array(Math.max(to, 2 * this.bytes.length))
      larger.set(this.bytes.subarray(0, this.length))
      this.bytes = larger
    }
    this.bytes.set(bytes, this.length)
    this.length = to
  }

  /** What was written, without a copy; it begins anew in other memory. */
  leave(next: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const taken = this.bytes.subarray(0, this.length)
    this.bytes = next
    this.length = 0
    return taken
  }

  /** What was written; it begins anew. */
  take(): Uint8Array<ArrayBuffer> {
    const isLarge = this.length > 2 * SLICE
    const taken = isLarge ? this.bytes.subarray(0, this.length) : this.bytes.slice(0, this.length)
    if (isLarge) this.bytes = new Uint8Array(64 * 1024)
    this.length = 0
    return taken
  }
}

/** Text: the source, a tab and the line, for each line of a record. */
export function textWriter(): MergedWriter {
  const prefixOf = perSource(({ name }) => encoder.encode(`${visible(name)}\t`))
  return {
    cost(bytes, source) {
      const lines = countLines(bytes, 0, bytes.length)
      const size = bytes.length + lines * prefixOf(source).length + (bytes.at(-1) === LF ? 0 : 1)
      return { size, lines }
    },
    separator: (source) => prefixOf(source).length + BETWEEN.length,
    write({ bytes, source, around }, out, from) {
      const prefix = prefixOf(source)
      if (from === 0 && around?.isApart) {
        out.add(prefix)
        out.add(BETWEEN)
      }
      const piece = bytes.length - from <= SLICE ? bytes : bytes.subarray(0, from + SLICE)
      for (let at = from; at < piece.length; ) {
        const lf = piece.indexOf(LF, at)
        const end = lf < 0 ? piece.length : lf + 1
        if (at === 0 || bytes[at - 1] === LF) out.add(prefix)
        out.add(piece.subarray(at, end))
        at = end
      }
      if (piece.length === bytes.length && bytes.at(-1) !== LF) out.add(LINE_END)
      return piece.length
    },
  }
}

const LINE_END = Uint8Array.of(LF)
const BETWEEN = encoder.encode(SEPARATOR)
const NOTHING = new Uint8Array(0)

/** A name with a tab or a line end would look like a part of the line. */
function visible(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is meant
  return name.replace(/[\x00-\x1f\x7f]/g, (char) => encodeURIComponent(char))
}

/** One JSON object per record, with its `file` and `node`. */
export function ndjsonWriter(options: RecordOptions): MergedWriter {
  const headOf = perSource(({ file, node }) => {
    const named = JSON.stringify(node === null ? { file } : { node, file })
    return encoder.encode(`${named.slice(0, -1)},`)
  })
  const writers = new Map<Zone, Map<LineFormat, NdjsonWriter>>()
  const writerOf = (zone: Zone, format: LineFormat) => {
    const known = writers.get(zone)
    const writer = known?.get(format) ?? new NdjsonWriter(format, zone, options)
    writers.set(zone, (known ?? new Map()).set(format, writer))
    return writer
  }
  return {
    write({ bytes, source, format, late, around }, out, from) {
      const writer = writerOf(source.context.zone, format)
      if (from === 0) {
        writer.read(bytes, 0, bytes.length)
        out.add(headOf(source))
        if (late) out.add(LATE)
        if (around?.isMatch === false) out.add(CONTEXT)
      }
      // A record's brace is written over the comma after its first members, which comes back then.
      const at = from === 0 ? out.length - 1 : out.length
      writer.into(out.bytes, at)
      writer.write(bytes.length, at + SLICE)
      out.bytes = writer.out
      out.length = writer.written
      if (from === 0) out.bytes[at] = COMMA
      const { left } = writer
      // It would hold its last record, and the memory that this took, until the next one.
      if (bytes.length > SLICE) {
        if (left === 0) writer.read(NOTHING, 0, 0)
        writer.into(NOTHING)
      }
      return bytes.length - left
    },
  }
}

/** What makes the rows of a table. */
interface Rows {
  head: Uint8Array
  row(bytes: Uint8Array, reader: Reader, origin: Origin): Uint8Array
}

/** A row for each record, below a header. */
export function csvWriter({ head, row }: Rows): MergedWriter {
  return {
    head,
    write({ bytes, source, format, late }, out) {
      const { file, node, context } = source
      const origin = { file, ...(node !== null && { node }), ...(late && { late: 'true' }) }
      out.add(row(bytes, { format, zone: context.zone }, origin))
      return bytes.length
    },
  }
}

const LATE = encoder.encode('"late":true,')

/** The records as a body. `release` is called when they have been written, or the client disconnects. */
export function mergedBody(records: MergedRecords, writer: MergedWriter, release: () => void): Bytes {
  if (records.bytes > SLICE) return mergedStream([records], writer, release)
  const out = new Output(writer.head)
  for (const record of records) writeAll(record, writer, out)
  release()
  return out.take()
}

type Pages = Iterable<MergedRecords> | AsyncIterable<MergedRecords>

/** Pages of records as a stream. `end` is called when it ends, or the client disconnects. */
export function mergedStream(pages: Pages, writer: MergedWriter, end: () => void): SlicedStream {
  const slices = slicesOf(pages, writer)
  return new SlicedStream({
    async next() {
      try {
        const { value = null } = await slices.next()
        if (value === null) end()
        return value
      } catch (error) {
        end()
        throw error
      }
    },
    release: (slice) => void buffers.give(slice),
    cancel() {
      end()
      // A read that is under way takes memory until it ends.
      void slices.return().finally(end)
    },
  })
}

async function* slicesOf(pages: Pages, writer: MergedWriter): AsyncGenerator<Uint8Array, void> {
  const out = new Output(writer.head)
  let unchecked = 0
  for await (const records of pages) {
    for (let i = 0; i < records.length; i++) {
      const record = records.at(i)!
      for (let at = 0; at < record.bytes.length; ) {
        const next = writer.write(record, out, at)
        unchecked += next - at
        at = next
        if (out.length < SLICE && (unchecked < UNIT || !isTurnOver())) {
          unchecked %= UNIT
          continue
        }
        if (out.length > SLICE / 2) {
          yield out.leave(NOTHING)
          out.bytes = buffers.take()
        } else if (out.length > 0) yield out.take()
        await yieldToEventLoop()
        unchecked = 0
      }
    }
    if (out.length > 0) yield out.take()
  }
  if (out.length > 0) yield out.take()
}

function perSource<T>(make: (source: Source) => T): (source: Source) => T {
  const made = new Map<Source, T>()
  return (source) => {
    const known = made.get(source) ?? make(source)
    made.set(source, known)
    return known
  }
}
