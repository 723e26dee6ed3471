import type { BufferPool } from '../kit/bytes.ts'
import type { Clock } from '../kit/limits/clock.ts'
import type { ConcurrencyLimit } from '../kit/limits/concurrency-limit.ts'
import {
  beginKey,
  beginText,
  type End,
  endKey,
  HEAD_BYTES,
  type How,
  lifeFolder,
  type Segment,
  SMALLEST_SEGMENT,
  segmentName,
  TAIL_BYTES,
} from '../store/segment/names.ts'
import type { Bucket } from './bucket.ts'
import { type CutRules, cutAt, reach } from './cut.ts'
import { type Claim, readBeginnings } from './files/checksums.ts'
import type { Native } from './files/disk.ts'
import type { FileText } from './files/text.ts'
import { identityOf, type WatchedFile } from './files/watched-files.ts'
import { beginsWith, placesOf, recallBegin, recallLife, type Shipped } from './memory.ts'

/** The file is no longer the one that the life was in: it was truncated, or replaced by another. */
export class FileChanged extends Error {
  constructor(name: string) {
    super(`The file ${JSON.stringify(name)} is another one now`)
    this.name = 'FileChanged'
  }
}

export interface LifeContext {
  log: string
  bucket: Bucket
  native: Native
  rules: CutRules
  clock: Clock
  /** Reusable memory for texts: a fresh 8 MiB for each segment would make 50 MB of garbage a second. */
  buffers: BufferPool
  /** Bounds the texts that are in memory at the same time. */
  packing: ConcurrencyLimit
  /** Whether no copy of the file was made since it was compared, so that it is not truncated. Asked after reads. */
  isUntouched(text: FileText, shipped: number): Promise<boolean>
  onShipped(life: number, bytes: number): void
}

export class Life {
  readonly number: number
  text: FileText
  readonly #context: LifeContext
  readonly #begins: number
  #segments: readonly Claim[]
  #at: Cursor
  /** The last segment while it is a part, if its bytes are known. */
  #packed: Uint8Array<ArrayBuffer> | null = null

  constructor(context: LifeContext, text: FileText, { life, from, size, segments, begins }: Shipped) {
    this.number = life
    this.text = text
    this.#context = context
    this.#begins = begins
    this.#segments = segments
    const claim = segments.find(({ to }) => to === size) ?? { from: 0, to: 0, crc: 0 }
    this.#at = { from, shipped: size, claim, waiting: null }
  }

  /**
   * Begins a life with the next free number, counted up from `first`, or down if it is negative. If another shipper has
   * taken the number for the same file, that life is continued; a file with the same first bytes is not enough.
   */
  static async begin(context: LifeContext, file: WatchedFile, first: number): Promise<Life> {
    const { bucket, native, log } = context
    const { text } = file
    const head = await text.read(0, HEAD_BYTES)
    if (head.length === 0 || !(await context.isUntouched(text, 0))) throw new FileChanged(text.name)
    const identity = identityOf(file)
    const begin = beginText({ length: head.length, crc: native.crc32(head), file: identity })
    for (let life = first; ; life += Math.sign(first)) {
      if (await bucket.put(beginKey(log, life), new TextEncoder().encode(begin), { once: true }))
        return new Life(context, text, { life, from: 0, size: 0, segments: [], begins: 0, hasHole: false })
      if ((await recallBegin(bucket, log, life))?.file !== identity) continue
      const state = await recallLife(bucket, log, life)
      const read = await readBeginnings(text, placesOf(state), native, false)
      if (state.size === 0 || beginsWith(read, state)) return new Life(context, text, state)
    }
  }

  get shipped(): number {
    return this.#at.shipped
  }

  /** As the names of its segments in the bucket show it. */
  get state(): Shipped {
    const { from, shipped: size } = this.#at
    return { life: this.number, from, size, segments: this.#segments, begins: this.#begins, hasHole: false }
  }

  /** Notes the bytes that wait. */
  async watch(): Promise<number> {
    const size = await this.text.size()
    if (size < this.shipped) throw new FileChanged(this.text.name)
    if (size > this.shipped) this.#at.waiting ??= this.#context.clock.elapsed()
    return size
  }

  /**
   * Ships what is due; with `everything`, all there is at that moment: a file may grow faster than it can be shipped.
   * Compresses one segment while another is on its way.
   */
  async ship(everything: () => boolean): Promise<void> {
    let goal = Number.POSITIVE_INFINITY
    const prepare = async (after: Cursor) => {
      const isAll = everything()
      const size = await this.text.size()
      if (isAll) goal = Math.min(goal, size)
      if (size < after.shipped) throw new FileChanged(this.text.name)
      return this.#context.packing.run(() => this.#prepare(after, Math.min(size, goal), isAll))
    }
    let next = await prepare(this.#at)
    while (next) {
      const both = [this.#send(next), prepare(next)] as const
      const [sent, ahead] = await Promise.allSettled(both)
      if (sent.status === 'rejected') throw sent.reason
      if (ahead.status === 'rejected') throw ahead.reason
      next = ahead.value
    }
  }

  /** Finishes the life: writes a last part again as a segment, then the end. */
  async finish(how: How = 'end'): Promise<End> {
    const { bucket, log } = this.#context
    if (this.#at.from < this.shipped) await this.#closePart()
    const end = { life: this.number, size: this.shipped, crc: await this.#tailSum(how), how }
    await bucket.put(endKey(log, end), new Uint8Array(0), { once: true })
    return end
  }

  /** Writes the last part again as a segment, if its bytes are still known. */
  async #closePart(): Promise<void> {
    const { bucket, log } = this.#context
    const { from, shipped, claim } = this.#at
    const text = this.#packed ? null : await this.#matching({ from, to: shipped, crc: claim.crc })
    const packed = this.#packed ?? (text && (await this.#context.native.gzip(text)))
    if (!packed) return
    const segment = { start: from, end: shipped, crc: claim.crc, part: false }
    await bucket.put(lifeFolder(log, this.number) + segmentName(segment), packed, { once: true })
    this.#packed = null
    this.#at.from = shipped
  }

  async #tailSum(how: How): Promise<number> {
    const { shipped, claim } = this.#at
    const from = Math.max(0, shipped - TAIL_BYTES)
    // Without the file the sum may be unknown. It only saves a LIST when a file is compared with the life.
    if (how !== 'end') return claim.from === from && claim.to === shipped ? claim.crc : 0
    const tail = await this.text.read(from, shipped)
    if (tail.length !== shipped - from) throw new FileChanged(this.text.name)
    return this.#context.native.crc32(tail)
  }

  /** Reads, checks and compresses the next segment; null while nothing is due. */
  async #prepare(after: Cursor, size: number, everything: boolean): Promise<Prepared | null> {
    const { native, rules, clock, buffers } = this.#context
    if (size <= after.shipped) return null
    const waiting = after.waiting ?? clock.elapsed()
    const state = {
      from: after.from,
      shipped: after.shipped,
      size,
      ageMs: clock.elapsed() - waiting,
      everything,
    }
    const to = reach(rules, state)
    if (to === null) {
      this.#at.waiting ??= waiting
      return null
    }
    const buffer = buffers.take(to - after.from)
    try {
      const read = await this.text.read(after.from, to, buffer)
      if (read.length < to - after.from) throw new FileChanged(this.text.name)
      await this.#prove(after, read)
      const end = cutAt(rules, read, state)
      if (end === null) {
        this.#at.waiting ??= waiting
        return null
      }
      const bytes = read.subarray(0, end - after.from)
      const crc = native.crc32(bytes)
      const part = bytes.length < SMALLEST_SEGMENT
      const packed = await native.gzip(bytes)
      const tailFrom = Math.max(0, bytes.length - TAIL_BYTES)
      const claim = part
        ? { from: after.from, to: end, crc }
        : { from: after.from + tailFrom, to: end, crc: native.crc32(bytes.subarray(tailFrom)) }
      return {
        from: part ? after.from : end,
        shipped: end,
        claim,
        waiting: size > end ? clock.elapsed() : null,
        segment: { start: after.from, end, crc, part },
        packed,
      }
    } finally {
      buffers.give(buffer)
    }
  }

  /** The old bytes must still be there after the new ones are read; otherwise the file was truncated and grew again. */
  async #prove({ from, shipped, claim }: Cursor, read: Uint8Array): Promise<void> {
    const { native } = this.#context
    // An archive has no random access, and was read to its end before.
    if (this.text.compressed) return
    const known =
      from < shipped
        ? native.crc32(read.subarray(0, shipped - from)) === claim.crc
        : claim.to === 0 || (await this.#matching(claim)) !== null
    if (!known) throw new FileChanged(this.text.name)
    // A part is verified against the bytes that were just read; the file must still have them.
    const again = await this.text.read(from, from + Math.min(read.length, 64))
    if (!again.every((byte, i) => byte === read[i]) || again.length < Math.min(read.length, 64))
      throw new FileChanged(this.text.name)
    if ((await this.text.size()) < from + read.length) throw new FileChanged(this.text.name)
    // Logs repeat themselves: after a copy and truncate, the same bytes may be at the same place.
    if (!(await this.#context.isUntouched(this.text, shipped))) throw new FileChanged(this.text.name)
  }

  /** The bytes of a claim; null if the file has others there. */
  async #matching({ from, to, crc }: Claim): Promise<Uint8Array<ArrayBuffer> | null> {
    const bytes = await this.text.read(from, to)
    return bytes.length === to - from && this.#context.native.crc32(bytes) === crc ? bytes : null
  }

  async #send({ segment, packed, ...at }: Prepared): Promise<void> {
    const { bucket, log, onShipped } = this.#context
    const { start, end, crc, part } = segment
    await bucket.put(lifeFolder(log, this.number) + segmentName(segment), packed, { once: true })
    const before = this.#segments.filter(({ from }) => from !== start)
    this.#segments = [...before, { from: start, to: end, crc }]
    this.#packed = part ? packed : null
    onShipped(this.number, end - this.shipped)
    this.#at = at
  }
}

/** Where the next segment continues. */
interface Cursor {
  /** Where it starts: before `shipped` while the last segment is a part. */
  from: number
  /** One past the last byte in the bucket. */
  shipped: number
  /** The last bytes that were shipped: the part, or up to 64 KiB. */
  claim: Claim
  /** Since when bytes have been waiting, by the clock's `elapsed`. */
  waiting: number | null
}

interface Prepared extends Cursor {
  segment: Segment
  packed: Uint8Array<ArrayBuffer>
}
