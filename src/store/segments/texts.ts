import { crc32 } from '../../codec/crc32.ts'
import { type ConcurrencyLimit, concurrencyLimit } from '../../limits/concurrency-limit.ts'
import { SharedWork } from '../../limits/once.ts'
import { lifeFolder, type Segment, segmentName } from '../../segment/names.ts'
import { KeptBytes } from '../kept-bytes.ts'
import { type Store, StoreError } from '../store.ts'

const MIB = 1024 * 1024
/** How much inflated text is kept at most. */
const MOST_KEPT = 32 * MIB
/** Memory of the process for each segment that is inflated at a time: six times the largest one. */
const MEMORY_PER_SEGMENT = 192 * MIB

/** Inflated text. The homes of a fleet share one, as they share the memory of the process. */
export class TextCache extends KeptBytes<Uint8Array> {
  /** A search wants up to 16 segments at once, which would be 128 MiB of text. */
  readonly inflating: ConcurrencyLimit
  #homes = 0

  /** `memory` is that of the process, in bytes. */
  constructor(memory = 2048 * MIB) {
    super(Math.min(MOST_KEPT, Math.max(MOST_KEPT / 2, memory / 8 - MOST_KEPT / 2)))
    this.inflating = concurrencyLimit({ most: Math.max(1, Math.floor(memory / MEMORY_PER_SEGMENT)) })
  }

  /** A prefix for the keys of another home. */
  addHome(): string {
    return `${this.#homes++} `
  }
}

/** The text of a segment, checked against its name; null when the object is gone. */
export type SegmentTexts = ReturnType<typeof segmentTexts>

/** Fetches, inflates, checks and keeps the segments of a home. Requests of a worker may not share fetches. */
export function segmentTexts(home: Store, cache: TextCache, shared: boolean) {
  const prefix = cache.addHome()
  const running = new SharedWork<Uint8Array | null>()

  async function fetch(key: string, segment: Segment, signal?: AbortSignal): Promise<Uint8Array | null> {
    const read = await home.read(key, undefined, { signal })
    if (read === null) return null
    const text = await inflate(key, read.body, segment)
    cache.set(prefix + key, text)
    return text
  }
  return async (log: string, life: number, segment: Segment, signal?: AbortSignal) => {
    const key = lifeFolder(log, life) + segmentName(segment)
    const known = cache.get(prefix + key)
    if (known) return known
    if (!shared) return fetch(key, segment, signal)
    // Not with the client's signal: another client may be waiting for the same text.
    return running.run(key, () => cache.inflating.run(() => fetch(key, segment)))
  }
}

/** The text of one gzip member, which must match the segment's name. */
async function inflate(key: string, body: BodyInit, segment: Segment): Promise<Uint8Array> {
  const length = segment.end - segment.start
  const text = new Uint8Array(length)
  const packed = new Response(body).body
  let at = 0
  if (packed) {
    const reader = packed.pipeThrough(new DecompressionStream('gzip')).getReader()
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw cause instanceof StoreError ? cause : bad(key, cause)
      })
      if (done) break
      if (at + value.length > length) {
        await reader.cancel().catch(() => {})
        throw bad(key)
      }
      text.set(value, at)
      at += value.length
    }
  }
  if (at !== length || crc32(text) !== segment.crc) throw bad(key)
  return text
}

function bad(key: string, cause?: unknown): StoreError {
  return new StoreError('bad-segment', `The segment "${key}" does not hold what its name says`, { cause })
}
