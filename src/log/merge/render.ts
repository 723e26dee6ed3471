import { isTurnOver, yieldToEventLoop } from '../../limits/yield.ts'
import { SlicedStream, type Slices } from '../../store/fast.ts'
import type { Bytes } from '../../store/store.ts'
import { countLines } from '../format/lines.ts'
import { NdjsonWriter, type RecordOptions } from '../render/ndjson.ts'
import type { MergedRecord } from './merge.ts'
import type { Source } from './source.ts'

/** How the records of a timeline are written. */
export interface MergedWriter {
  /** What a record takes of a page: bytes and lines. */
  cost(bytes: Uint8Array, source: Source): { size: number; lines: number }
  /** Appends a record. */
  write(record: MergedRecord, out: Output): void
}

/** Bytes per slice that is sent. */
const SLICE = 256 * 1024
const LF = 10
const encoder = new TextEncoder()

/** Memory that grows as it is written. */
export class Output {
  #bytes = new Uint8Array(64 * 1024)
  length = 0

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
    const taken = this.#bytes.slice(0, this.length)
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
    write({ bytes, source }, out) {
      const prefix = prefixOf(source)
      for (let at = 0; at < bytes.length; ) {
        const lf = bytes.indexOf(LF, at)
        const end = lf < 0 ? bytes.length : lf + 1
        out.add(prefix)
        out.add(bytes.subarray(at, end))
        if (lf < 0) out.add(LINE_END)
        at = end
      }
    },
  }
}

const LINE_END = Uint8Array.of(LF)

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
    write({ bytes, source, format, late }, out) {
      const writers = writerOf(source)
      let writer = writers.get(format)
      if (!writer) {
        writer = new NdjsonWriter(format, source.context.zone, options)
        writers.set(format, writer)
      }
      writer.into(scratch)
      writer.read(bytes, 0, bytes.length)
      while (writer.left > 0) writer.write(bytes.length, Number.POSITIVE_INFINITY)
      const json = writer.take()
      if (json.buffer.byteLength <= LARGEST_SCRATCH) scratch = new Uint8Array(json.buffer)
      out.add(headOf(source))
      if (late) out.add(LATE)
      out.add(json.subarray(1))
    },
  }
}

const LATE = encoder.encode('"late":true,')
/** One record is written at a time, so one piece of memory will do. */
let scratch = new Uint8Array(64 * 1024)
const LARGEST_SCRATCH = 1024 * 1024

/** The records in slices. */
export function mergedSlices(
  records: readonly MergedRecord[],
  writer: MergedWriter,
  release: () => void,
): Slices {
  return new MergedSlices(records, writer, release)
}

/** The records as a body. `release` is called when they have been written, or the client disconnects. */
export function mergedBody(
  records: readonly MergedRecord[],
  writer: MergedWriter,
  release: () => void,
): Bytes {
  const length = records.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const slices = new MergedSlices(records, writer, release)
  return length <= SLICE ? slices.all() : new SlicedStream(slices)
}

class MergedSlices implements Slices {
  readonly #records: readonly MergedRecord[]
  readonly #writer: MergedWriter
  readonly #release: () => void
  readonly #out = new Output()
  #next = 0

  constructor(records: readonly MergedRecord[], writer: MergedWriter, release: () => void) {
    this.#records = records
    this.#writer = writer
    this.#release = release
  }

  all(): Uint8Array<ArrayBuffer> {
    for (const record of this.#records) this.#writer.write(record, this.#out)
    this.#release()
    return this.#out.take()
  }

  async next(): Promise<Uint8Array | null> {
    if (this.#next > 0) await yieldToEventLoop()
    while (
      this.#next < this.#records.length &&
      this.#out.length < SLICE &&
      !(this.#out.length > 0 && isTurnOver())
    )
      this.#writer.write(this.#records[this.#next++]!, this.#out)
    if (this.#out.length > 0) return this.#out.take()
    this.#release()
    return null
  }

  release(): void {}

  cancel(): void {
    this.#release()
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
