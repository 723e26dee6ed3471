import type { BufferPool } from '../kit/bytes.ts'
import type { Clock } from '../kit/limits/clock.ts'
import type { ConcurrencyLimit } from '../kit/limits/concurrency-limit.ts'
import { timesToShip } from '../log/seek/shipped.ts'
import {
  beginKey,
  type End,
  endKey,
  type How,
  lifeFolder,
  type Segment,
  segmentName,
  TAIL_BYTES,
} from '../store/segment/names.ts'
import { parseYoung, writeYoung, type Young, youngText } from '../store/segment/young.ts'
import type { Bucket } from './bucket.ts'
import { type CutRules, cutAt, dueNow } from './cut.ts'
import { type Claim, readBeginnings } from './files/checksums.ts'
import type { Native } from './files/disk.ts'
import type { FileText } from './files/text.ts'
import { identityOf, type WatchedFile } from './files/watched-files.ts'
import { type Begin, beginsWith, placesOf, recallBegin, recallLife, type Shipped } from './memory.ts'

/** The file is no longer the one that the life was in: it was truncated, or replaced by another. */
export class FileChanged extends Error {
  constructor(name: string) {
    super(`The file ${JSON.stringify(name)} is another one now`)
    this.name = 'FileChanged'
  }
}

/** Another shipper, or a write that was given up, has replaced the `~` of a life: the bucket must be read again. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken'
}

/** Younger text is compressed again with the next flush, and text that a shipper is behind with must not wait. */
const FAST = 1
const SMALL = 6

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
  /** What is in `~`. */
  #begin: Begin | null

  constructor(context: LifeContext, text: FileText, { life, from, size, segments, begins, begin }: Shipped) {
    this.number = life
    this.text = text
    this.#context = context
    this.#begins = begins
    this.#segments = segments
    this.#begin = begin
    const claim = segments.find(({ to }) => to === size) ?? { from: 0, to: 0, crc: 0 }
    this.#at = { from, shipped: size, claim, waiting: null, since: size > from ? begin!.young.since : 0 }
  }

  /**
   * Begins a life with the next free number, counted up from `first`, or down if it is negative. If another shipper has
   * taken the number for the same file, that life is continued.
   */
  static async begin(context: LifeContext, file: WatchedFile, first: number): Promise<Life> {
    const { bucket, native, log } = context
    const { text } = file
    const head = await text.read(0, 1)
    if (head.length === 0 || !(await context.isUntouched(text, 0))) throw new FileChanged(text.name)
    const young = { file: identityOf(file), from: 0, to: 0, crc: 0, since: 0 }
    const bytes = writeYoung(young, await native.gzip(new Uint8Array(0), FAST))
    for (let life = first; ; life += Math.sign(first)) {
      const etag = await bucket.put(beginKey(log, life), bytes, { once: true })
      const none = { life, from: 0, size: 0, segments: [], begins: 0, hasHole: false }
      if (etag !== false) return new Life(context, text, { ...none, begin: { young, etag } })
      if ((await recallBegin(bucket, log, life))?.young.file !== young.file) continue
      const state = await recallLife(bucket, log, life)
      const read = await readBeginnings(text, placesOf(state), native, false)
      if (state.size === 0 || beginsWith(read, state)) return new Life(context, text, state)
    }
  }

  get shipped(): number {
    return this.#at.shipped
  }

  /** As the bucket shows it. */
  get state(): Shipped {
    const { from, shipped: size } = this.#at
    const rest = { segments: this.#segments, begins: this.#begins, hasHole: false, begin: this.#begin }
    return { life: this.number, from, size, ...rest }
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
   * With `closing`, no text stays young. Compresses one segment while another is on its way.
   */
  async ship(everything: () => boolean, closing: boolean): Promise<void> {
    let goal = Number.POSITIVE_INFINITY
    const prepare = async (after: Cursor) => {
      const isAll = everything()
      const size = await this.text.size()
      if (isAll) goal = Math.min(goal, size)
      if (size < after.shipped) throw new FileChanged(this.text.name)
      return this.#context.packing.run(() => this.#prepare(after, Math.min(size, goal), isAll, closing))
    }
    let next = await prepare(this.#at)
    while (next) {
      const both = [this.#send(next), prepare(next)] as const
      const [sent, ahead] = await Promise.allSettled(both)
      if (sent.status === 'rejected') throw sent.reason
      if (ahead.status === 'rejected') throw ahead.reason
      next = ahead.value
    }
    if (this.#at.waiting === null) await this.#clearYoung()
  }

  /** Finishes the life: young text becomes a segment; then the end. */
  async finish(how: How = 'end'): Promise<End> {
    const { bucket, log } = this.#context
    if (this.#at.from < this.shipped) await this.#closeYoung()
    await this.#clearYoung()
    const end = { life: this.number, size: this.shipped, crc: await this.#tailSum(how), how }
    await bucket.put(endKey(log, end), new Uint8Array(0), { once: true })
    return end
  }

  /** Writes the young text as a segment: from the file, or from `~`. Text that neither has any more stays where it is. */
  async #closeYoung(): Promise<void> {
    const { bucket, log, native } = this.#context
    const { from, shipped, claim } = this.#at
    if (claim.from !== from) return
    const text = await this.#matching(claim)
    const packed = text ? await native.gzip(text, SMALL) : await this.#storedYoung(claim)
    if (!packed) return
    const times = text && timesToShip(text)
    const segment = { start: from, end: shipped, crc: claim.crc, ...(times && { times }) }
    await bucket.put(lifeFolder(log, this.number) + segmentName(segment), packed, { once: true })
    this.#at.from = shipped
  }

  async #storedYoung({ from, to, crc }: Claim): Promise<Uint8Array<ArrayBuffer> | null> {
    const { bucket, log } = this.#context
    const found = await bucket.get(beginKey(log, this.number))
    const young = found && parseYoung(found.bytes)
    return young?.from === from && young.to === to && young.crc === crc ? youngText(found!.bytes) : null
  }

  /** Empties `~`, unless it has text that is in no segment. */
  async #clearYoung(): Promise<void> {
    const { young } = this.#begin ?? {}
    const { from } = this.#at
    if (!young || young.from === young.to || young.to > from) return
    const packed = await this.#context.native.gzip(new Uint8Array(0), FAST)
    await this.#putYoung({ file: young.file, from, to: from, crc: 0, since: 0 }, packed)
  }

  /** Replaces `~`, if it is still what this shipper wrote: a write of one that was killed may arrive late. */
  async #putYoung(young: Young, packed: Uint8Array): Promise<void> {
    const { bucket, log } = this.#context
    const key = beginKey(log, this.number)
    const condition = this.#begin ? { ifMatch: this.#begin.etag } : { once: true }
    const etag = await bucket.put(key, writeYoung(young, packed), condition)
    if (etag !== false) this.#begin = { young, etag }
    else {
      // It may have arrived with a try whose answer was lost.
      const there = await recallBegin(bucket, log, this.number)
      if (JSON.stringify(there?.young) !== JSON.stringify(young)) throw new Overtaken()
      this.#begin = there
    }
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

  /** Reads, checks and compresses what is due next; null while nothing is. */
  async #prepare(
    after: Cursor,
    size: number,
    everything: boolean,
    closing: boolean,
  ): Promise<Prepared | null> {
    const { native, rules, clock, buffers } = this.#context
    const { from, shipped } = after
    const isNew = size > shipped
    const waiting = isNew ? (after.waiting ?? clock.elapsed()) : null
    const ageMs = waiting === null ? 0 : clock.elapsed() - waiting
    const youngMs = after.since === 0 ? 0 : Math.abs(clock.now() - after.since)
    const state = { from, shipped, size, ageMs, youngMs, everything, closing }
    const due = dueNow(rules, state)
    if (isNew) this.#at.waiting ??= waiting
    if (due === null) return null
    const buffer = buffers.take(due.to - from)
    try {
      const read = await this.text.read(from, due.to, buffer)
      if (read.length < due.to - from) throw new FileChanged(this.text.name)
      await this.#prove(after, read)
      const end = cutAt(rules, read, state)
      if (end === null) return null
      const bytes = read.subarray(0, end - from)
      const crc = native.crc32(bytes)
      const isBehind = size - end >= rules.segmentBytes
      const packed = await native.gzip(bytes, due.young || isBehind ? FAST : SMALL)
      const times = due.young ? null : timesToShip(bytes)
      const tailFrom = Math.max(0, bytes.length - TAIL_BYTES)
      const claim = due.young
        ? { from, to: end, crc }
        : { from: from + tailFrom, to: end, crc: native.crc32(bytes.subarray(tailFrom)) }
      return {
        from: due.young ? from : end,
        shipped: end,
        claim,
        waiting: size > end ? clock.elapsed() : null,
        since: due.young ? after.since || clock.now() : 0,
        segment: { start: from, end, crc, young: due.young, ...(times && { times }) },
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
      from < shipped && claim.from === from
        ? native.crc32(read.subarray(0, shipped - from)) === claim.crc
        : claim.to === 0 || (await this.#matching(claim)) !== null
    if (!known) throw new FileChanged(this.text.name)
    // Young text is verified against the bytes that were just read; the file must still have them.
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
    const { start: from, end: to, crc, young } = segment
    const file = this.#begin?.young.file ?? ''
    if (young) await this.#putYoung({ file, from, to, crc, since: at.since }, packed)
    else await bucket.put(lifeFolder(log, this.number) + segmentName(segment), packed, { once: true })
    this.#segments = [...this.#segments.filter((other) => other.from !== from), { from, to, crc }]
    onShipped(this.number, to - this.shipped)
    this.#at = at
  }
}

/** Where the next segment continues. */
interface Cursor {
  /** Where it starts: before `shipped` while there is young text. */
  from: number
  /** One past the last byte in the bucket. */
  shipped: number
  /** The last bytes that were shipped: the young text, or up to 64 KiB. */
  claim: Claim
  /** Since when bytes have been waiting, by the clock's `elapsed`. */
  waiting: number | null
  /** When the first young bytes were shipped, by the clock's `now`; 0 without any. */
  since: number
}

interface Prepared extends Cursor {
  segment: Segment
  packed: Uint8Array<ArrayBuffer>
}
