import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import { crc32 } from '../codec/crc32.ts'
import { inflate } from '../codec/member.ts'
import { beginKey, LARGEST_SEGMENT, LAYOUT, type Segment } from '../segment/names.ts'
import { parseYoung, type Young, youngText } from '../segment/young.ts'
import { type Store, StoreError } from '../store.ts'
import type { TextCache } from './texts.ts'

/** The largest object: a segment's text that cannot be compressed, what gzip adds to it, and the comment. */
const LARGEST = LARGEST_SEGMENT + LARGEST_SEGMENT / 64 + 64 * 1024
/** Of how many lives is remembered what their `~` says. */
const REMEMBERED = 2000

/** A life's `~`, as it was read last. */
interface Known extends Young {
  etag: string
  modified: number
}

/** `packed` is its text, if it has just been read. */
interface Read extends Known {
  packed?: Uint8Array
}

/** The young text of lives, which its shipper replaces all the time. */
export class Youngs {
  readonly #home: Store
  readonly #cache: TextCache
  readonly #prefix: string
  readonly #known = new BoundedMap<string, Known>(REMEMBERED)

  constructor(home: Store, cache: TextCache) {
    this.#home = home
    this.#cache = cache
    this.#prefix = cache.addHome()
  }

  /** What `~` says now; null if it is missing. An unchanged one is not sent again. */
  async of(
    log: string,
    life: number,
    signal?: AbortSignal,
  ): Promise<(Segment & { modified: number }) | null> {
    // Up to 8 MiB each, of which a fleet asks for many at once.
    const known = await this.#cache.inflating.run(() => this.#read(beginKey(log, life), signal))
    return (
      known && { start: known.from, end: known.to, crc: known.crc, young: true, modified: known.modified }
    )
  }

  /** The text of a young segment, or null if `~` does not hold it any more: then it is in another segment. */
  async textOf(
    log: string,
    life: number,
    segment: Segment,
    signal?: AbortSignal,
  ): Promise<Uint8Array | null> {
    const key = beginKey(log, life)
    const holds = (known: Known | null | undefined) =>
      known?.from === segment.start && known.to >= segment.end
    let known: Read | null | undefined = this.#known.get(key)
    let text = holds(known) ? this.#cache.get(this.#nameOf(key, known!, 'text')) : undefined
    if (!text) {
      // What is not in memory any more is read anew.
      if (!holds(known) || !this.#cache.get(this.#nameOf(key, known!))) this.#known.delete(key)
      known = await this.#read(key, signal)
      if (!holds(known)) return null
      const { from, to, crc, packed = this.#cache.get(this.#nameOf(key, known!)) } = known!
      if (!packed) return null
      text = await inflate(packed, { length: to - from, crc }).catch((cause) => {
        throw new StoreError('bad-segment', `The object "${key}" does not hold what it says`, { cause })
      })
      this.#cache.set(this.#nameOf(key, known!, 'text'), text)
    }
    const part = text.subarray(0, segment.end - segment.start)
    // It grows at its end. If it does not, it was written anew.
    return part.length === text.length || crc32(part) === segment.crc ? part : null
  }

  async #read(key: string, signal?: AbortSignal): Promise<Read | null> {
    const known = this.#known.get(key)
    try {
      const options = { signal, ifNoneMatch: known?.etag }
      const read = await this.#home.read(key, { offset: 0, length: LARGEST }, options)
      if (!read) return null
      const bytes = new Uint8Array(await new Response(read.body).arrayBuffer())
      const young = parseYoung(bytes)
      if (!young)
        throw new StoreError('bad-segment', `"${key}" is not of layout ${LAYOUT}: ship to a new prefix`)
      const { etag, modified } = read.entry
      const now = { ...young, etag, modified }
      const packed = youngText(bytes)
      this.#known.set(key, now)
      this.#cache.set(this.#nameOf(key, now), packed)
      return { ...now, packed }
    } catch (error) {
      if (known && error instanceof StoreError && error.code === 'unchanged') return known
      throw error
    }
  }

  #nameOf(key: string, { etag }: Known, what = ''): string {
    return `${this.#prefix}${key} ${etag} ${what}`
  }
}
