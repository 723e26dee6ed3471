import { FlateErrorCode, Gunzip, Inflate } from 'fflate'
import { concat } from '../../kit/bytes.ts'
import { isTurnOver, yieldToEventLoop } from '../../kit/limits/yield.ts'
import { crc32 } from './crc32.ts'
import { broken, chunksOf, type Decoder, type Decoders, type Source, SourceError } from './decoder.ts'

/** Deflate expands at most a thousandfold: 4 KiB give at most 4 MiB of text, which takes a few milliseconds. */
const STEP = 4096
/** How much of the archive is kept. It must contain a member's checksum when the next header is complete. */
const IN_VIEW = 64 * 1024
const CUT = 'it ends early, or a checksum does not match'

/**
 * gzip where there is no zlib: workers at the edge. fflate reads consecutive members, but verifies no checksum and treats
 * garbage after the last member as an error. So the checksum of each member's text is computed here, and a member counts
 * as complete when its checksum follows it. What follows a complete member is another member, or is ignored, as
 * gzip(1) does. (DecompressionStream is no help: it refuses a second member and drops what it has read.)
 */
const gunzip: Decoder = async function* (open) {
  const archive = new Archive()
  for await (const step of stepsOf(open)) {
    const failure = archive.push(step)
    yield* archive.take()
    if (failure) throw failure
    if (archive.done) return
  }
  const failure = archive.end()
  if (failure) throw failure
}

/** A source in small steps, in turns with others. */
async function* stepsOf(open: Source): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunksOf(open))
    for (let from = 0; from < chunk.length; from += STEP) {
      yield chunk.subarray(from, from + STEP)
      if (isTurnOver()) await yieldToEventLoop()
    }
}

/** A gzip archive that is fed step by step. */
class Archive {
  /** Whether all members have been read and what follows is not gzip. */
  done = false
  readonly #stream = new Gunzip((piece) => this.#add(piece))
  #pieces: Uint8Array[] = []
  /** The checksum and the length of the member's text so far. */
  #sum = 0
  #length = 0
  #members = 0
  #bytes = 0
  #recent: Uint8Array = new Uint8Array(0)

  constructor() {
    this.#stream.onmember = () => {
      if (this.#behindMember() === null) throw broken('a checksum does not match')
      this.#sum = 0
      this.#length = 0
      this.#members++
    }
  }

  /** Why it cannot continue after this step, or null. */
  push(step: Uint8Array): Error | null {
    this.#bytes += step.length
    this.#recent = concat([this.#recent.subarray(-IN_VIEW), step])
    try {
      this.#stream.push(step)
      return null
    } catch (error) {
      if ((error as { code?: unknown }).code !== FlateErrorCode.InvalidHeader)
        return error instanceof Error && error.name === 'CodecError'
          ? error
          : broken('its data is damaged', error)
      if (this.#members === 0 && this.#length === 0 && this.#bytes <= step.length && !isGzip(this.#recent))
        return broken('it is not in gzip format')
      return this.end()
    }
  }

  /** Checks the result at the end of the input, or when only non-gzip data follows. */
  end(): Error | null {
    this.done = true
    if (this.#bytes === 0) return null
    const rest = this.#behindMember()
    if (rest === null)
      return broken(this.#length > 0 || isGzip(this.#recent) ? CUT : 'it is not in gzip format')
    return isGzip(rest) ? broken(CUT) : null
  }

  /** The text of the last step. */
  take(): Uint8Array[] {
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }

  #add(piece: Uint8Array): void {
    if (piece.length === 0) return
    this.#sum = crc32(piece, this.#sum)
    this.#length = (this.#length + piece.length) >>> 0
    this.#pieces.push(piece)
  }

  /** The bytes after the checksum and length of the text read so far; null when those are missing. */
  #behindMember(): Uint8Array | null {
    const trailer = new Uint8Array(8)
    const view = new DataView(trailer.buffer)
    view.setUint32(0, this.#sum, true)
    view.setUint32(4, this.#length, true)
    const recent = this.#recent
    for (let at = recent.length - 8; at >= 0; at--)
      if (trailer.every((byte, i) => recent[at + i] === byte)) return recent.subarray(at + 8)
    return null
  }
}

const inflateRaw: Decoder = async function* (open) {
  let pieces: Uint8Array[] = []
  let done = false
  const stream = new Inflate((piece, final) => {
    if (piece.length > 0) pieces.push(piece)
    done ||= final
  })
  try {
    for await (const step of stepsOf(open)) {
      stream.push(step)
      yield* pieces
      pieces = []
    }
    stream.push(new Uint8Array(0), true)
  } catch (error) {
    if (error instanceof SourceError) throw error
    throw broken('its data is damaged or ends early', error)
  }
  yield* pieces
  if (!done) throw broken('it ends early')
}

/** Decoders that need only JavaScript. */
export const decoders: Decoders = { gzip: gunzip, zstd: null, deflate: inflateRaw }

/** The text of a gzip member that has this many bytes; null if it is damaged or longer. */
export async function inflateMember(packed: Uint8Array, length: number): Promise<Uint8Array | null> {
  const text = new Uint8Array(length)
  const body = new Response(packed as Uint8Array<ArrayBuffer>).body!
  const reader = body.pipeThrough(new DecompressionStream('gzip')).getReader()
  try {
    for (let at = 0; ; ) {
      const { done, value } = await reader.read()
      if (done) return text.subarray(0, at)
      if (at + value.length > length) return null
      text.set(value, at)
      at += value.length
    }
  } catch {
    return null
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}
