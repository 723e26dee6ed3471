import { SharedWork } from '../../../kit/limits/once.ts'
import { LogError } from '../../error.ts'
import { eventOf } from '../../follow/frame.ts'
import type { FollowLimits } from '../../follow/hub.ts'
import { encodeMerged, type MergedCursor } from '../cursor.ts'
import { FollowedTimeline, type MergedFollow } from './timeline.ts'

/** What was sent at once, the place after it, and how many records of each log were sent until then. */
interface Batch {
  bytes: Uint8Array
  place: MergedCursor
  counts: ReadonlyMap<string, number>
}

/** A client: the number of the batch that it takes next, and what it was sent until then. */
interface Reader {
  next: number
  counts: Batch['counts']
}

/** What is kept for a client that reads slowly, and for one that comes to what others have been sent already. */
const KEPT_FOR_SLOW = 8 * 1024 * 1024
const KEPT = 256 * 1024
/** A timeline without followers is kept for a moment, because clients reconnect. */
const LINGER_MS = 2000

/** A shorter fingerprint proves no place: a few bytes may be written again after a file was copied and truncated. */
const PROVEN = 24

const encoder = new TextEncoder()

/** A timeline that is followed once for all its clients: its logs are read, merged and written once. */
export class SharedTimeline {
  readonly timeline: FollowedTimeline
  readonly #limits: FollowLimits
  readonly #left: AbortController
  readonly #readers = new Set<Reader>()
  readonly #waiters = new Set<() => void>()
  #batches: Batch[] = []
  /** The number of the first batch that is kept. */
  #first = 0
  #size = 0
  #failure: unknown = null
  #linger: (() => void) | null = null

  /** Takes over a timeline and what is appended to it. */
  constructor(
    timeline: FollowedTimeline,
    frames: AsyncIterable<Uint8Array>,
    limits: FollowLimits,
    left: AbortController,
  ) {
    this.timeline = timeline
    this.#limits = limits
    this.#left = left
    this.#batches.push(this.#batchOf(new Uint8Array()))
    void this.#run(frames)
  }

  get isOpen(): boolean {
    return this.#failure === null && !this.#left.signal.aborted
  }

  /** The number of the next batch. */
  get next(): number {
    return this.#first + this.#batches.length
  }

  /** The place after the last batch. */
  get place(): MergedCursor {
    return this.#batches.at(-1)!.place
  }

  /** Joins it at the end, or at a batch that is kept. It stays open until all have left. */
  join(next = this.next): Reader {
    const reader = { next, counts: this.#batches[next - 1 - this.#first]!.counts }
    this.#readers.add(reader)
    this.timeline.followers = this.#readers.size
    this.#linger?.()
    return reader
  }

  leave(reader: Reader): void {
    this.#readers.delete(reader)
    this.timeline.followers = this.#readers.size
    if (this.#readers.size > 0) return
    this.#linger = this.#limits.clock.after(LINGER_MS, () => this.#left.abort())
  }

  /** The number of the batch that comes after a place; null if it was never at this place, or long ago. */
  after(place: MergedCursor): number | null {
    const at = this.#batches.findLastIndex((batch) => isSamePlace(batch.place, place))
    return at < 0 ? null : this.#first + at + 1
  }

  /** What is sent from now on. A client that is too slow for it is told what is left out, and goes on at the end. */
  async *read(reader: Reader, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    while (!signal.aborted) {
      const batch = this.#batches[reader.next - this.#first]
      if (reader.next < this.#first) {
        const gaps = this.#gapsSince(reader.counts)
        reader.next = this.next
        reader.counts = this.#batches.at(-1)!.counts
        if (gaps.length > 0) yield gaps
      } else if (batch) {
        reader.next++
        reader.counts = batch.counts
        if (batch.bytes.length > 0) yield batch.bytes
      } else if (this.isOpen) await this.#change(signal)
      else throw this.#failure ?? new LogError('too-busy', 'The logs are no longer followed; follow again.')
    }
  }

  /** Says of each log how many of its records are left out. */
  #gapsSince(before: ReadonlyMap<string, number>): Uint8Array {
    const { place, counts } = this.#batches.at(-1)!
    const id = encodeMerged(place, this.timeline.sources)
    let text = ''
    for (const [file, count] of counts) {
      const records = count - (before.get(file) ?? 0)
      if (records > 0) text += eventOf('gap', id, JSON.stringify({ file, records }))
    }
    return encoder.encode(text)
  }

  async #run(frames: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const bytes of frames) {
        this.#batches.push(this.#batchOf(bytes))
        this.#size += bytes.length
        this.#trim()
        this.#wake()
      }
    } catch (error) {
      this.#failure = error
    } finally {
      this.#left.abort()
      this.timeline.close()
      this.#wake()
    }
  }

  #batchOf(bytes: Uint8Array): Batch {
    const { cursor, sent } = this.timeline
    return { bytes, place: cursor, counts: new Map(sent) }
  }

  /** Forgets what every client was sent, and what a slow one keeps the process from forgetting. */
  #trim(): void {
    let least = this.next
    for (const { next } of this.#readers) least = Math.min(least, next)
    const isTooMuch = () => this.#size > KEPT_FOR_SLOW || (this.#size > KEPT && this.#first < least)
    while (isTooMuch() && this.#batches.length > 1) {
      this.#size -= this.#batches.shift()!.bytes.length
      this.#first++
    }
  }

  async #change(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiters.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiters.add(wake)
      signal.addEventListener('abort', wake)
    })
  }

  #wake(): void {
    for (const wake of [...this.#waiters]) wake()
  }
}

/** The timelines that are followed now, by what tells one from another: who may see what, the logs, filters and format. */
export class SharedTimelines {
  readonly #known = new Map<string, SharedTimeline>()
  readonly #opening = new SharedWork<void>()

  /** The timeline of a key, if it is followed. */
  get(key: string): SharedTimeline | null {
    const known = this.#known.get(key)
    if (known?.isOpen) return known
    this.#known.delete(key)
    return null
  }

  /** The timeline of a key, from the end of its logs on if nobody follows it yet. */
  async open(key: string, follow: MergedFollow, limits: FollowLimits): Promise<SharedTimeline> {
    for (;;) {
      const known = this.get(key)
      if (known) return known
      await this.#opening.run(key, async () => {
        const left = new AbortController()
        const timeline = new FollowedTimeline(follow, limits, left.signal)
        try {
          await timeline.open()
          this.share(key, new SharedTimeline(timeline, timeline.appended(), limits, left))
        } catch (error) {
          timeline.close()
          throw error
        }
      })
    }
  }

  share(key: string, timeline: SharedTimeline): void {
    this.#known.set(key, timeline)
  }
}

/** Whether the places of a cursor can be told from others by the bytes before them. */
export function isProven({ lanes }: MergedCursor): boolean {
  return [...lanes.values()].every(
    ({ place }) => place.kind !== 'place' || place.cursor.print.length >= PROVEN,
  )
}

/** Whether two cursors are at the same place of each log. */
function isSamePlace(one: MergedCursor, other: MergedCursor): boolean {
  if (one.lanes.size !== other.lanes.size || !isProven(one)) return false
  for (const [key, { place }] of one.lanes) {
    const there = other.lanes.get(key)?.place
    if (there?.kind !== place.kind) return false
    // Where a log goes on at a moment, clients are told of a gap.
    if (place.kind !== 'place' || there.kind !== 'place') continue
    const [a, b] = [place.cursor, there.cursor]
    if (a.name !== b.name || a.id !== b.id || a.offset !== b.offset) return false
    if (a.print.hash !== b.print.hash || place.lead !== there.lead) return false
  }
  return true
}
