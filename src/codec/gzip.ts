import { yieldToEventLoop } from '../work/yield.ts'
import { CodecError } from './error.ts'
import { InflateError, inflator } from './inflate.ts'

/** Turns a compressed stream into its text, natively; it errors when the bytes are broken or end early. */
export type Codec = (source: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>

export interface DecompressOptions {
  /** Ends the work, and the read behind it. */
  signal?: AbortSignal | undefined
  /** Zstd where the runtime has it, such as Node's zlib. @default DecompressionStream, where it knows zstd */
  zstd?: Codec | undefined
}

/**
 * The text of compressed bytes, in pieces. Multi-member gzip is one text, checksums are checked, zeros and
 * garbage behind the last member are ignored, as gzip(1) does. A broken or cut archive gives what is readable
 * and then a CodecError `bad-archive`; errors of the source pass through. Memory is bounded by a few hundred KiB, and
 * others have their turn every few milliseconds: 2 MiB of zeros that were compressed are 2 GiB of text.
 */
export async function* decompress(
  source: ReadableStream<Uint8Array>,
  kind: 'gzip' | 'zstd',
  options: DecompressOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = chunksOf(source, options.signal)
  if (kind === 'gzip') yield* gunzip(chunks)
  else yield* unzstd(chunks, options.zstd ?? nativeZstd(), options.signal)
}

async function* gunzip(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let held: Uint8Array = new Uint8Array(0)
  let members = 0
  let ended = false
  let turn = Date.now()
  /** Holds at least `count` bytes, or all there are. */
  const fill = async (count: number) => {
    while (held.length < count && !ended) {
      const { value, done } = await chunks.next()
      if (done) ended = true
      else held = held.length === 0 ? value : joined(held, value)
    }
  }
  try {
    for (;;) {
      await fill(2)
      if (members === 0 && held.length === 0) return
      if (held[0] !== 0x1f || held[1] !== 0x8b) {
        if (members === 0) throw broken('it is not in gzip format')
        // Padding, or garbage that gzip(1) ignores with a warning.
        return
      }
      let header = headerLength(held)
      while (header === null) {
        if (held.length > MAX_HEADER) throw broken('a header is too long')
        const before = held.length
        await fill(before + 1)
        if (held.length === before) throw broken('it ends early')
        header = headerLength(held)
      }
      held = held.subarray(header)
      const stream = inflator()
      const sum = checksum()
      for (;;) {
        await fill(1)
        if (held.length === 0) throw broken('it ends early')
        // Small steps bound what one of them can make: deflate grows by a thousand at most.
        const step = held.subarray(0, STEP)
        held = held.subarray(step.length)
        for (const piece of stream.push(step)) {
          sum.add(piece)
          if (Date.now() - turn >= TURN) {
            await yieldToEventLoop()
            turn = Date.now()
          }
          yield piece
        }
        if (stream.done) break
      }
      held = joined(stream.rest, held)
      await fill(8)
      if (held.length < 8) throw broken('it ends early')
      const view = new DataView(held.buffer, held.byteOffset, 8)
      if (view.getUint32(0, true) !== sum.crc || view.getUint32(4, true) !== sum.size)
        throw broken('a checksum does not fit')
      held = held.subarray(8)
      members++
    }
  } catch (error) {
    throw error instanceof InflateError ? broken('its data is damaged', error) : error
  } finally {
    await chunks.return(undefined)
  }
}

const STEP = 65_536
/** Decompression lets others go first after so many milliseconds. */
const TURN = 8
const MAX_HEADER = 1_048_576

/** The length of a member's header, or null when it is not all there. RFC 1952, 2.3. */
function headerLength(bytes: Uint8Array): number | null {
  if (bytes.length < 10) return null
  const flags = bytes[3]!
  if (bytes[2] !== 8 || (flags & 0xe0) !== 0) throw broken('its header is not known')
  let at = 10
  if (flags & 4) {
    if (at + 2 > bytes.length) return null
    at += 2 + (bytes[at]! | (bytes[at + 1]! << 8))
  }
  for (const flag of [8, 16])
    if (flags & flag) {
      const zero = at < bytes.length ? bytes.indexOf(0, at) : -1
      if (zero < 0) return null
      at = zero + 1
    }
  if (flags & 2) at += 2
  return at <= bytes.length ? at : null
}

async function* unzstd(
  chunks: AsyncGenerator<Uint8Array>,
  codec: Codec,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  let failure: { cause: unknown } | null = null
  let empty = true
  let left = false
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      let next: IteratorResult<Uint8Array, void>
      try {
        next = await chunks.next()
      } catch (cause) {
        failure = { cause }
        throw cause
      }
      // The codec may have given up in the meantime, and then there is nobody to hand it to.
      if (left) return
      if (next.done) return controller.close()
      empty = false
      controller.enqueue(next.value)
    },
    async cancel() {
      left = true
      await chunks.return(undefined)
    },
  })
  try {
    yield* chunksOf(codec(watched), signal)
  } catch (cause) {
    signal?.throwIfAborted()
    const known = failure as { cause: unknown } | null
    if (known) throw known.cause
    if (!empty) throw broken('its data is damaged or ends early', cause)
  } finally {
    await chunks.return(undefined)
  }
}

function nativeZstd(): Codec {
  try {
    // Some runtimes know it already, none of the type libraries does.
    const transform = new DecompressionStream('zstd' as CompressionFormat)
    return (source) => source.pipeThrough(transform as unknown as TransformStream<Uint8Array, Uint8Array>)
  } catch (cause) {
    throw new CodecError(
      'unsupported',
      'This runtime cannot decompress zstd; download the file and decompress it yourself.',
      { cause },
    )
  }
}

async function* chunksOf(
  source: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  const reader = source.getReader()
  let whole = false
  try {
    for (;;) {
      signal?.throwIfAborted()
      const { value, done } = await reader.read()
      if (done) {
        whole = true
        return
      }
      if (value.length > 0) yield value
    }
  } finally {
    // A reader that leaves early must say so, or the file or connection behind stays open.
    if (!whole) await reader.cancel().catch(() => {})
  }
}

function broken(reason: string, cause?: unknown): CodecError {
  return new CodecError('bad-archive', `The archive cannot be read: ${reason}; download it to repair it.`, {
    cause,
  })
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b
  if (b.length === 0) return a
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

// Four tables: four bytes a step, twice as fast as one.
const CRC = new Int32Array(1024)
for (let i = 0; i < 256; i++) {
  let value = i
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  CRC[i] = value
}
for (let i = 256; i < 1024; i++) CRC[i] = (CRC[i - 256]! >>> 8) ^ CRC[CRC[i - 256]! & 255]!

function checksum() {
  let crc = -1
  let size = 0
  return {
    add(bytes: Uint8Array) {
      size = (size + bytes.length) >>> 0
      let value = crc
      let i = 0
      for (const last = bytes.length - 3; i < last; i += 4) {
        value ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)
        value =
          CRC[768 + (value & 255)]! ^
          CRC[512 + ((value >>> 8) & 255)]! ^
          CRC[256 + ((value >>> 16) & 255)]! ^
          CRC[value >>> 24]!
      }
      for (; i < bytes.length; i++) value = (value >>> 8) ^ CRC[(value ^ bytes[i]!) & 255]!
      crc = value
    },
    /** Both as gzip stores them, modulo 2^32. */
    get crc() {
      return ~crc >>> 0
    },
    get size() {
      return size
    },
  }
}
