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
const LF = 10
const encoder = new TextEncoder()

/** Memory that grows as it is written. */
export class Output {
  #bytes = new Uint8Array(64 * 1024)
  length = 0

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
  const writerOf = perSource(() => new Map<unknown, NdjsonWriter>())
  return {
    cost: (bytes) => ({ size: bytes.length, lines: 1 }),
    write({ bytes, source, format, late, around }, out, from) {
      const writers = writerOf(source)
      let writer = writers.get(format)
      if (!writer) {
        writer = new NdjsonWriter(format, source.context.zone, options)
        writers.set(format, writer)
      }
      writer.into(scratch)
      if (from === 0) writer.read(bytes, 0, bytes.length)
      writer.write(bytes.length, SLICE)
      const json = writer.take()
      if (json.buffer.byteLength <= LARGEST_SCRATCH) scratch = new Uint8Array(json.buffer)
      if (from === 0) out.add(headOf(source))
      if (from === 0 && late) out.add(LATE)
      if (from === 0 && around?.isMatch === false) out.add(CONTEXT)
      out.add(from === 0 ? json.subarray(1) : json)
      const { left } = writer
      // Each log has a writer, which would hold its last record until the next one.
      if (left === 0 && bytes.length > SLICE) writer.read(NOTHING, 0, 0)
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
/** One record is written at a time, so one piece of memory will do. */
let scratch = new Uint8Array(64 * 1024)
const LARGEST_SCRATCH = 1024 * 1024

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
    for (const record of records)
      for (let at = 0; at < record.bytes.length; ) {
        at = writer.write(record, out, at)
        if (out.length === 0 || (out.length < SLICE && !isTurnOver())) continue
        yield out.take()
        await yieldToEventLoop()
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
