import { crc32 } from '../../codec/crc32.ts'
import { lifeFolder, type Segment, segmentName } from '../../segment/names.ts'
import { type Store, StoreError } from '../store.ts'

/** Inflated segments; the most recently used ones are kept in memory. */
export interface SegmentTexts {
  /** The text of a segment, checked against its name; null when the object is gone. */
  read(log: string, life: number, segment: Segment, signal?: AbortSignal): Promise<Uint8Array | null>
}

/** Inflated text in memory. When it is full, the least recently used is dropped. The homes of a fleet share one. */
export class TextCache {
  readonly #most: number
  readonly #texts = new Map<string, Uint8Array>()
  #held = 0
  #homes = 0

  /** `most` is in bytes. */
  constructor(most: number) {
    this.#most = most
  }

  /** A prefix for the keys of another home. */
  addHome(): string {
    return `${this.#homes++} `
  }

  get(key: string): Uint8Array | undefined {
    const text = this.#texts.get(key)
    if (text) {
      this.#texts.delete(key)
      this.#texts.set(key, text)
    }
    return text
  }

  set(key: string, text: Uint8Array): void {
    if (text.length > this.#most || this.#texts.has(key)) return
    this.#texts.set(key, text)
    this.#held += text.length
    for (const [oldest, bytes] of this.#texts) {
      if (this.#held <= this.#most) return
      this.#texts.delete(oldest)
      this.#held -= bytes.length
    }
  }
}

/** How segments are fetched. */
export interface TextOptions {
  /** Where their texts are kept. */
  cache: TextCache
  /** Whether requests may share fetches; a worker's may not. */
  shared: boolean
}

/** Fetches, inflates, checks and keeps segments. */
export function segmentTexts(home: Store, { cache, shared }: TextOptions): SegmentTexts {
  const own = cache.addHome()
  const running = new Map<string, Promise<Uint8Array | null>>()

  const fetchText = async (key: string, segment: Segment, signal?: AbortSignal) => {
    const read = await home.read(key, undefined, { signal })
    if (read === null) return null
    const text = await inflate(key, read.body, segment)
    cache.set(own + key, text)
    return text
  }

  return {
    async read(log, life, segment, signal) {
      const key = lifeFolder(log, life) + segmentName(segment)
      const known = cache.get(own + key)
      if (known) return known
      if (!shared) return fetchText(key, segment, signal)
      let fetching = running.get(key)
      if (!fetching) {
        // Not with the client's signal: another client may be waiting for the same text.
        fetching = fetchText(key, segment).finally(() => running.delete(key))
        running.set(key, fetching)
      }
      return fetching
    },
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
