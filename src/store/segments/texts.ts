import { type ConcurrencyLimit, concurrencyLimit } from '../../kit/limits/concurrency-limit.ts'
import { SharedWork } from '../../kit/limits/once.ts'
import { inflate } from '../codec/member.ts'
import { KeptBytes } from '../kept-bytes.ts'
import { lifeFolder, type Segment, segmentName } from '../segment/names.ts'
import { type Store, StoreError, type StoreRead } from '../store.ts'

const MIB = 1024 * 1024
/**
 * How much inflated text is kept: a sixteenth of the memory, within these bounds. A chart of a log needs three or four
 * segments of 8 MiB, and a fleet has several logs.
 */
const LEAST_KEPT = 16 * MIB
const MOST_KEPT = 128 * MIB
/** Memory of the process for each segment that is inflated at a time: six times the largest one. */
const MEMORY_PER_SEGMENT = 192 * MIB

/** What gzip adds to a text that cannot be compressed, with its header. */
const LONGEST_WRAPPING = 64 * 1024

/** Inflated text. The homes of a fleet share one, as they share the memory of the process. */
export class TextCache extends KeptBytes<Uint8Array> {
  /** A search wants up to 16 segments at once, which would be 128 MiB of text. */
  readonly inflating: ConcurrencyLimit
  #homes = 0

  /** `memory` is that of the process, in bytes. */
  constructor(memory = 2048 * MIB) {
    super(Math.min(MOST_KEPT, Math.max(LEAST_KEPT, memory / 16)))
    this.inflating = concurrencyLimit({ most: Math.max(1, Math.floor(memory / MEMORY_PER_SEGMENT)) })
  }

  /** A prefix for the keys of another home. */
  addHome(): string {
    return `${this.#homes++} `
  }
}

/** The text of a segment, checked against its name; null when the object is gone. */
export type SegmentTexts = ReturnType<typeof segmentTexts>

/** The texts of segments that are not cut yet. */
interface YoungTexts {
  textOf(log: string, life: number, segment: Segment, signal?: AbortSignal): Promise<Uint8Array | null>
}

/** Fetches, inflates, checks and keeps the segments of a home. Requests of a worker may not share fetches. */
export function segmentTexts(home: Store, youngs: YoungTexts, cache: TextCache, shared: boolean) {
  const prefix = cache.addHome()
  const running = new SharedWork<Uint8Array | null>()

  async function fetch(key: string, segment: Segment, signal?: AbortSignal): Promise<Uint8Array | null> {
    const read = await home.read(key, undefined, { signal })
    if (read === null) return null
    const text = await textOf(key, read, segment)
    cache.set(prefix + key, text)
    return text
  }
  return async (log: string, life: number, segment: Segment, signal?: AbortSignal) => {
    const key = lifeFolder(log, life) + segmentName(segment)
    const known = cache.get(prefix + key)
    if (known) return known
    if (!shared)
      return segment.young ? youngs.textOf(log, life, segment, signal) : fetch(key, segment, signal)
    // Not with the client's signal: another client may be waiting for the same text.
    const read = () => (segment.young ? youngs.textOf(log, life, segment) : fetch(key, segment))
    return running.run(key, () => cache.inflating.run(read))
  }
}

/** The text of one gzip member, which must match the segment's name. */
async function textOf(
  key: string,
  { length: stored, body }: StoreRead,
  segment: Segment,
): Promise<Uint8Array> {
  const { crc } = segment
  const length = segment.end - segment.start
  // An object that is longer than any that holds this text is not read into memory.
  if (stored > length + length / 64 + LONGEST_WRAPPING) {
    if (body instanceof ReadableStream) await body.cancel().catch(() => {})
    throw bad(key)
  }
  const packed = body instanceof Uint8Array ? body : new Uint8Array(await new Response(body).arrayBuffer())
  return inflate(packed, { length, crc }).catch((cause) => {
    throw bad(key, cause)
  })
}

function bad(key: string, cause?: unknown): StoreError {
  return new StoreError('bad-segment', `The segment "${key}" does not hold what its name says`, { cause })
}
