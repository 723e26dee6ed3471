import { onAbort } from '../../kit/limits/clock.ts'
import type { Lease, MemoryBudget } from '../../kit/limits/memory-budget.ts'
import { SlicedStream, type Slices, slicesOf } from '../../store/fast.ts'
import { replaced, StoreError, type StoreRead } from '../../store/store.ts'
import { collect } from './bytes.ts'
import type { RangeReader } from './tail.ts'

const MIB = 1024 * 1024
/** Bytes of a part: its body takes longer than its round trip. */
const PART = 2 * MIB
/** Bytes handed over at a time. */
const SLICE = 512 * 1024
/** How many parts are read at once at first. With memory for fewer, one connection sends everything. */
const FIRST_WINDOW = 4
/** Parts are read once the client has taken this much; shorter bodies come over one connection. */
const BEGIN = MIB
const SHORTEST = BEGIN + (FIRST_WINDOW + 1) * PART

export interface PartsOptions {
  read: RangeReader
  /** How many parts are read at once, at most. */
  parallel: number
  /** Memory for the parts of all bodies; one body takes up to half of it. */
  memory: MemoryBudget
  signal: AbortSignal
}

/**
 * The same read of an object, over several connections if it is long: a bucket limits the rate of each. A file that
 * grows, which has an id, has another etag after each line, so nothing would prove that its parts are of one version.
 */
export function inParts(got: StoreRead, options: PartsOptions): StoreRead {
  const { entry, length, body, missing } = got
  // One more than are read at once is being sent.
  const most = Math.min(options.parallel, Math.floor(options.memory.total / 2 / PART) - 1)
  const isObject = entry.id === undefined && !entry.appendOnly && !missing && /^"[^"]*"$/.test(entry.etag)
  if (!(body instanceof ReadableStream) || !isObject || length < SHORTEST || most < FIRST_WINDOW) return got
  return { ...got, body: new SlicedStream(new InParts(got, slicesOf(body), most, options)) }
}

/** A body whose first bytes come from the answer that is open, and the others from parts that are read ahead. */
class InParts implements Slices {
  readonly #got: StoreRead
  readonly #first: Slices
  readonly #most: number
  readonly #options: PartsOptions
  readonly #slices: AsyncGenerator<Uint8Array, null>
  readonly #stay: () => void
  #parts: PartsAhead | null = null

  constructor(got: StoreRead, first: Slices, most: number, options: PartsOptions) {
    this.#got = got
    this.#first = first
    this.#most = most
    this.#options = options
    this.#slices = this.#send()
    this.#stay = onAbort(options.signal, () => this.cancel())
  }

  async next(): Promise<Uint8Array | null> {
    try {
      return (await this.#slices.next()).value
    } catch (error) {
      this.cancel()
      throw error
    }
  }

  release(slice: Uint8Array): void {
    if (!this.#parts?.reuse(slice)) this.#first.release(slice)
  }

  cancel(): void {
    this.#stay()
    this.#first.cancel()
    this.#parts?.end()
  }

  async *#send(): AsyncGenerator<Uint8Array, null> {
    const { offset } = this.#got
    let at = offset
    for (let isOpen = true; isOpen; ) {
      if (this.#parts === null && at - offset >= BEGIN) this.#begin(at + PART)
      const slice = await this.#first.next()
      if (slice === null) break
      const left = (this.#parts?.from ?? Number.POSITIVE_INFINITY) - at
      // As long as no part has come, the open answer could still send everything.
      isOpen = slice.length < left || !(await this.#parts!.hasFirst())
      at += slice.length
      yield isOpen ? slice : slice.subarray(0, left)
    }
    this.#first.cancel()
    if (this.#parts && at < this.#parts.from && this.#parts.from < Number.POSITIVE_INFINITY)
      throw new StoreError('unavailable', `The body of "${this.#got.entry.key}" ended early`)
    if (this.#parts) yield* this.#parts.slices()
    this.cancel()
    return null
  }

  #begin(from: number): void {
    this.#parts = new PartsAhead(this.#got, from, this.#most, this.#options)
  }
}

interface PendingPart {
  bytes: Promise<Uint8Array>
  isDone: boolean
}

/**
 * The parts of an object from a place on, in order, as long as it is unchanged; a part that fails after its retries ends
 * them with an error. More are read at once while the client is faster than they are. A stalled client holds as many
 * as were last read at once, and one more.
 */
class PartsAhead {
  /** Where the first begins; infinite if there is none. */
  from: number
  readonly #got: StoreRead
  readonly #most: number
  readonly #options: PartsOptions
  readonly #lease: Lease | null
  readonly #ended = new AbortController()
  #window = FIRST_WINDOW
  #next: number
  #queue: PendingPart[] = []
  #sent: Uint8Array | null = null
  #free: Uint8Array<ArrayBuffer>[] = []
  readonly #own = new WeakSet<ArrayBuffer>()

  constructor(got: StoreRead, from: number, most: number, options: PartsOptions) {
    this.#got = got
    this.#most = most
    this.#options = options
    this.#lease = options.memory.lease((FIRST_WINDOW + 1) * PART)
    this.#lease?.tieTo(this)
    this.from = this.#lease ? from : Number.POSITIVE_INFINITY
    this.#next = this.from
    this.#readOn()
  }

  /** Whether the first part could be read; otherwise, there are none. */
  async hasFirst(): Promise<boolean> {
    try {
      await this.#queue[0]!.bytes
      return true
    } catch {
      this.end()
      this.#queue = []
      this.from = Number.POSITIVE_INFINITY
      return false
    }
  }

  async *slices(): AsyncGenerator<Uint8Array, void> {
    for (let part = this.#queue.shift(); part; part = this.#queue.shift()) {
      if (!part.isDone) this.#widen()
      this.#readOn()
      const bytes = await part.bytes
      this.#sent = bytes
      for (let at = 0; at < bytes.length; at += SLICE) yield bytes.subarray(at, at + SLICE)
    }
  }

  /** Whether a slice was one of a part. They are sent in order: after the last one, the memory of its part is free. */
  reuse({ buffer, byteOffset, length }: Uint8Array): boolean {
    if (buffer !== this.#sent?.buffer) return false
    // A store may return memory of its own.
    const isOwn = this.#own.has(buffer as ArrayBuffer)
    if (isOwn && byteOffset + length === PART) this.#free.push(new Uint8Array(buffer as ArrayBuffer))
    return true
  }

  end(): void {
    this.#ended.abort()
    this.#lease?.release()
  }

  #widen(): void {
    const wanted = Math.min(this.#most, 2 * this.#window)
    while (this.#window < wanted && this.#lease!.grow(PART)) this.#window++
  }

  #readOn(): void {
    const { offset, length } = this.#got
    for (; this.#queue.length < this.#window && this.#next < offset + length; this.#next += PART) {
      const part = {
        bytes: this.#read(this.#next, Math.min(PART, offset + length - this.#next)),
        isDone: false,
      }
      const done = () => {
        part.isDone = true
      }
      part.bytes.then(done, done)
      this.#queue.push(part)
    }
  }

  async #read(offset: number, length: number): Promise<Uint8Array> {
    const { key, etag } = this.#got.entry
    const buffer = this.#free.pop() ?? new Uint8Array(PART)
    this.#own.add(buffer.buffer)
    const got = await this.#options.read({ offset, length }, { signal: this.#ended.signal, ifMatch: etag })
    if (got.entry.etag === etag && got.length === length) return collect(got, buffer)
    if (got.body instanceof ReadableStream) await got.body.cancel()
    throw replaced(key)
  }
}
