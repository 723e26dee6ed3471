import { isTurnOver, yieldToEventLoop } from '../../limits/yield.ts'
import { SlicedStream } from '../../store/fast.ts'
import type { Bytes } from '../../store/store.ts'
import { countLines } from '../format/lines.ts'
import type { Reader } from '../pattern/pattern.ts'
import type { Origin } from '../render/csv.ts'
import { CONTEXT, NdjsonWriter, type RecordOptions } from '../render/ndjson.ts'
import { SEPARATOR } from '../search/range.ts'
import type { MergedRecord } from './merge.ts'
import type { Source } from './source.ts'

/** How the records of a timeline are written. */
export interface MergedWriter {
  /** What comes before the first record. @default nothing */
  head?: Uint8Array
  /** What a record takes of a page: bytes and lines. */
  cost(bytes: Uint8Array, source: Source): { size: number; lines: number }
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
/** Bytes that are read or written before the clock is asked whether others wait. */
const STEP = 16 * 1024
const LF = 10
const encoder = new TextEncoder()

/** Memory that grows as it is written. */
export class Output {
  #bytes = new Uint8Array(64 * 1024)
  length = 0

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes
  }

  /** Goes on in memory that has what was written, up to a length. */
  goOn(bytes: Uint8Array<ArrayBuffer>, length: number): void {
    this.#bytes = bytes
    this.length = length
  }

  constructor(head?: Uint8Array) {
    if (head) this.add(head)
  }

  add(bytes: Uint8Array): void {
    const to = this.length + bytes.length
    if (to > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(to, 2 * this.#bytes.length))
      larger.set(this.#bytes.subarray(0, this.length))
      this.#bytes = larger
    }
    this.#bytes.set(bytes, this.length)
    this.length = to
  }

  /** What was written; it begins anew. */
  take(): Uint8Array<ArrayBuffer> {
    const isLarge = this.length > 2 * SLICE
    const taken = isLarge ? this.#bytes.subarray(0, this.length) : this.#bytes.slice(0, this.length)
    if (isLarge) this.#bytes = new Uint8Array(64 * 1024)
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
  const writersOf = perSource(() => new Map<unknown, RecordWriter>())
  return {
    cost: (bytes) => ({ size: bytes.length, lines: 1 }),
    write({ bytes, source, format, late, around }, out, from) {
      const writers = writersOf(source)
      let writer = writers.get(format)
      if (!writer) {
        writer = new RecordWriter(new NdjsonWriter(format, source.context.zone, options))
        writers.set(format, writer)
      }
      if (from > 0) return writer.writeOn(bytes, out)
      out.add(headOf(source))
      if (late) out.add(LATE)
      if (around?.isMatch === false) out.add(CONTEXT)
      // The record begins where the last comma is, which takes the place of its brace.
      out.length--
      const comma = out.length
      const end = writer.write(bytes, out)
      out.bytes[comma] = COMMA
      return end
    },
  }
}

const COMMA = 0x2c

/**
 * Writes records one by one. Those of a page share memory: a view of each, and of what is written, would take longer than
 * to write it.
 */
class RecordWriter {
  readonly #writer: NdjsonWriter
  #memory: ArrayBufferLike = NOTHING.buffer

  constructor(writer: NdjsonWriter) {
    this.#writer = writer
  }

  /** Writes a record, or its first piece; returns where the next one begins. */
  write(bytes: Uint8Array, out: Output): number {
    const { buffer, byteOffset, length } = bytes
    // The memory of long records is used again, so what was seen of it before does not hold.
    if (length > SLICE) {
      this.#memory = NOTHING.buffer
      this.#writer.read(bytes, 0, length)
    } else {
      if (buffer !== this.#memory) this.#writer.read(new Uint8Array(buffer), 0, 0)
      this.#memory = buffer
      this.#writer.readOn(byteOffset, byteOffset + length)
    }
    return this.writeOn(bytes, out)
  }

  writeOn({ length }: Uint8Array, out: Output): number {
    const writer = this.#writer
    const at = out.length
    writer.into(out.bytes, at)
    writer.write(length, at + SLICE)
    out.goOn(writer.out, writer.written)
    const { left } = writer
    // Each log has a writer, which would hold its last record until the next one.
    if (left === 0 && length > SLICE) writer.read(NOTHING, 0, 0)
    return length - left
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
    cost: (bytes) => ({ size: bytes.length, lines: 1 }),
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
export function mergedBody(
  records: readonly MergedRecord[],
  writer: MergedWriter,
  release: () => void,
): Bytes {
  const length = records.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (length > SLICE) return mergedStream([records], writer, release)
  const out = new Output(writer.head)
  for (const record of records) writeAll(record, writer, out)
  release()
  return out.take()
}

type Pages = Iterable<readonly MergedRecord[]> | AsyncIterable<readonly MergedRecord[]>

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
    release() {},
    cancel() {
      end()
      // A read that is under way takes memory until it ends.
      void slices.return().finally(end)
    },
  })
}

async function* slicesOf(pages: Pages, writer: MergedWriter): AsyncGenerator<Uint8Array, void> {
  const out = new Output(writer.head)
  for await (const records of pages) {
    for (const _ of steps(records, writer, out)) {
      if (out.length < SLICE && !isTurnOver()) continue
      yield out.take()
      await yieldToEventLoop()
    }
    if (out.length > 0) yield out.take()
  }
  if (out.length > 0) yield out.take()
}

/** Writes records, and stops after each step. */
function* steps(records: readonly MergedRecord[], writer: MergedWriter, out: Output): Generator<void> {
  let next = out.length + STEP
  let read = 0
  for (const record of records)
    for (let at = 0; at < record.bytes.length; ) {
      const from = at
      at = writer.write(record, out, at)
      // A row of a table may be much shorter than its record.
      read += at - from
      if (out.length < next && read < STEP) continue
      yield
      next = out.length + STEP
      read = 0
    }
}

function perSource<T>(make: (source: Source) => T): (source: Source) => T {
  const made = new Map<Source, T>()
  return (source) => {
    const known = made.get(source) ?? make(source)
    made.set(source, known)
    return known
  }
}
