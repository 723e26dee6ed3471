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
} from '../segment/names.ts'
import type { Bucket } from './bucket.ts'
import { type CutRules, cutAt, reach } from './cut.ts'
import type { Native } from './disk.ts'
import { recallLife, type Unfinished } from './memory.ts'
import { type Claim, type FileText, holds } from './text.ts'

/** The file is no longer the one that the life was in: it was truncated, or replaced by another. */
export class FileChanged extends Error {
  constructor(name: string) {
    super(`The file ${JSON.stringify(name)} is another one now`)
    this.name = 'FileChanged'
  }
}

/** What shipping a life needs. */
export interface LifeContext {
  log: string
  bucket: Bucket
  native: Native
  rules: CutRules
  now(): number
  /** Reusable memory for texts. */
  buffers: { take(size: number): Uint8Array<ArrayBuffer>; give(buffer: Uint8Array<ArrayBuffer>): void }
  onShipped(bytes: number): void
}

/** One life on its way to the bucket. */
export class Life {
  readonly number: number
  text: FileText
  /** One past the last byte in the bucket. */
  shipped: number
  /** What proves that a file is this life. */
  claim: Claim
  readonly #context: LifeContext
  #from: number
  /** Whether the last segment is a part, and its bytes if they are known. */
  #part: boolean
  #packed: Uint8Array<ArrayBuffer> | null = null
  /** The last bytes that were shipped, at most 64 KiB. Null while not all of them are known. */
  #tail: Uint8Array | null
  /** The same before the last segment while it is a part. */
  #tailBefore: Uint8Array | null
  #waiting: number | null = null

  constructor(context: LifeContext, text: FileText, state: Unfinished) {
    this.#context = context
    this.text = text
    this.number = state.life
    this.shipped = state.shipped
    this.claim = state.claim
    this.#from = state.from
    this.#part = state.from < state.shipped
    this.#tail = state.shipped === 0 ? new Uint8Array(0) : null
    this.#tailBefore = state.from === 0 ? new Uint8Array(0) : null
  }

  /**
   * Begins a life with the next free number. If another shipper has taken it, that life is continued if it matches the
   * file: waiting for the other shipper would never end in a crash loop.
   *
   * `isStill` says whether the directory is as it was when the file was chosen. It is asked after the head was read: a
   * file that is copied and truncated in between would begin a life with its new text, and the copy, which is older
   * than that life, would never be shipped.
   */
  static async begin(
    context: LifeContext,
    text: FileText,
    first: number,
    isStill: () => Promise<boolean>,
  ): Promise<Life> {
    const { bucket, native, log } = context
    const head = await text.read(0, HEAD_BYTES)
    if (head.length === 0 || !(await isStill())) throw new FileChanged(text.name)
    const claim = { from: 0, to: head.length, crc: native.crc32(head) }
    const begin = new TextEncoder().encode(beginText({ length: head.length, crc: claim.crc }))
    for (let life = first; ; life++) {
      if (await bucket.put(beginKey(log, life), begin, { once: true }))
        return new Life(context, text, { life, from: 0, shipped: 0, claim })
      const state = await recallLife(bucket, log, life)
      if (await holds(text, state.claim, native)) return new Life(context, text, state)
    }
  }

  /** As the next check would find it in the bucket. */
  get state(): Unfinished {
    return { life: this.number, from: this.#from, shipped: this.shipped, claim: this.claim }
  }

  /** Notes the bytes that wait. */
  async watch(): Promise<number> {
    const size = await this.text.size()
    if (size < this.shipped) throw new FileChanged(this.text.name)
    if (size > this.shipped) this.#waiting ??= this.#context.now()
    return size
  }

  /** Ships what is due; with `everything`, all there is. Compresses one segment while another is on its way. */
  async ship(everything: () => boolean): Promise<void> {
    let next: Prepared | null = await this.#prepare(this.#cursor(), everything())
    while (next) {
      const current: Prepared = next
      const sent = this.#send(current)
      const ahead = this.#prepare(current, everything()).then(
        (prepared) => ({ prepared, error: null }),
        (error: unknown) => ({ prepared: null, error }),
      )
      await sent
      const { prepared, error } = await ahead
      if (error) throw error
      next = prepared
    }
  }

  /** Finishes the life: writes a last part again as a segment, then the end. */
  async finish(how: How = 'end'): Promise<End> {
    const { bucket, log } = this.#context
    if (this.#part) await this.#closePart()
    const end = { life: this.number, size: this.shipped, crc: await this.#tailSum(how), how }
    await bucket.put(endKey(log, end), new Uint8Array(0), { once: true })
    return end
  }

  /** Writes the last part again as a segment, if its bytes are still known. */
  async #closePart(): Promise<void> {
    const { bucket, log } = this.#context
    const packed = this.#packed ?? (await this.#packPart())
    if (!packed) return
    const segment = { start: this.#from, end: this.shipped, crc: this.claim.crc, part: false }
    await bucket.put(lifeFolder(log, this.number) + segmentName(segment), packed, { once: true })
    this.#part = false
    this.#packed = null
    this.#from = this.shipped
  }

  async #packPart(): Promise<Uint8Array<ArrayBuffer> | null> {
    const { native } = this.#context
    const text = await this.text.read(this.#from, this.shipped)
    const isSame = text.length === this.shipped - this.#from && native.crc32(text) === this.claim.crc
    return isSame ? native.gzip(text) : null
  }

  async #tailSum(how: How): Promise<number> {
    const { native } = this.#context
    const from = Math.max(0, this.shipped - TAIL_BYTES)
    if (how === 'end') {
      const tail = await this.text.read(from, this.shipped)
      if (tail.length !== this.shipped - from) throw new FileChanged(this.text.name)
      return native.crc32(tail)
    }
    if (this.#tail) return native.crc32(this.#tail)
    // The file is gone. If the segment is all of the last bytes, its name has their checksum.
    return this.claim.from === from && this.claim.to === this.shipped ? this.claim.crc : 0
  }

  #cursor(): Place {
    return {
      from: this.#from,
      shipped: this.shipped,
      claim: this.claim,
      waiting: this.#waiting,
    }
  }

  /** Reads, checks and compresses the next segment; null while nothing is due. */
  async #prepare(after: Place, everything: boolean): Promise<Prepared | null> {
    const { native, rules, now, buffers } = this.#context
    const size = await this.text.size()
    if (size < after.shipped) throw new FileChanged(this.text.name)
    if (size === after.shipped) return null
    const waiting = after.waiting ?? now()
    const state = { from: after.from, shipped: after.shipped, size, ageMs: now() - waiting, everything }
    const to = reach(rules, state)
    if (to === null) {
      this.#waiting ??= waiting
      return null
    }
    const buffer = buffers.take(to - after.from)
    try {
      const read = await this.text.read(after.from, to, buffer)
      if (read.length < to - after.from) throw new FileChanged(this.text.name)
      await this.#prove(after, read)
      const end = cutAt(rules, read, state)
      if (end === null) {
        this.#waiting ??= waiting
        return null
      }
      const bytes = read.subarray(0, end - after.from)
      const crc = native.crc32(bytes)
      const part = bytes.length < SMALLEST_SEGMENT
      const packed = await native.gzip(bytes)
      const tailFrom = Math.max(0, bytes.length - TAIL_BYTES)
      const tail = bytes.slice(tailFrom)
      const claim = part
        ? { from: after.from, to: end, crc }
        : { from: after.from + tailFrom, to: end, crc: native.crc32(tail) }
      return {
        from: part ? after.from : end,
        shipped: end,
        claim,
        waiting: size > end ? now() : null,
        segment: { start: after.from, end, crc, part },
        before: after.shipped,
        packed,
        tail,
      }
    } finally {
      buffers.give(buffer)
    }
  }

  /** The old bytes must still be there after the new ones are read; otherwise the file was truncated and grew again. */
  async #prove({ from, shipped, claim }: Place, read: Uint8Array): Promise<void> {
    const { native } = this.#context
    const known =
      from < shipped
        ? claim.from === from && claim.to === shipped
          ? native.crc32(read.subarray(0, shipped - from)) === claim.crc
          : await holds(this.text, claim, native)
        : claim.to === 0 || (await holds(this.text, claim, native))
    if (!known) throw new FileChanged(this.text.name)
    // A part is verified against the bytes that were just read; the file must still have them.
    const again = await this.text.read(from, from + Math.min(read.length, 64))
    if (!again.every((byte, i) => byte === read[i]) || again.length < Math.min(read.length, 64))
      throw new FileChanged(this.text.name)
    if ((await this.text.size()) < from + read.length) throw new FileChanged(this.text.name)
  }

  async #send({ segment, packed, tail, before, ...place }: Prepared): Promise<void> {
    const { bucket, log, onShipped } = this.#context
    await bucket.put(lifeFolder(log, this.number) + segmentName(segment), packed, { once: true })
    this.#from = place.from
    this.shipped = place.shipped
    this.claim = place.claim
    this.#waiting = place.waiting
    this.#part = segment.part
    this.#packed = segment.part ? packed : null
    this.#tail = joinTail(this.#tailBefore, tail, segment.end)
    if (!segment.part) this.#tailBefore = this.#tail
    onShipped(segment.end - before)
  }
}

/** Where the next segment continues. */
interface Place {
  from: number
  shipped: number
  claim: Claim
  waiting: number | null
}

interface Prepared extends Place {
  segment: Segment
  /** What was shipped before it. */
  before: number
  packed: Uint8Array<ArrayBuffer>
  tail: Uint8Array
}

/** The last bytes of a life, given those before its last segment; null while fewer are known than an end covers. */
function joinTail(before: Uint8Array | null, tail: Uint8Array, end: number): Uint8Array | null {
  const wanted = Math.min(end, TAIL_BYTES)
  const missing = wanted - tail.length
  if (missing <= 0) return tail.subarray(-missing)
  if (!before || before.length < missing) return null
  const joined = new Uint8Array(wanted)
  joined.set(before.subarray(before.length - missing))
  joined.set(tail, missing)
  return joined
}
