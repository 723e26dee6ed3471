import { asOne } from '../../kit/bytes.ts'
import type { Budget } from '../../kit/limits/budget.ts'
import { isCrowded, SliceMemory } from '../../kit/limits/slice-memory.ts'
import { looksCompressed } from '../../store/codec/kind.ts'
import { type ByteRange, type Entry, replaced, StoreError } from '../../store/store.ts'
import type { LogError } from '../error.ts'
import type { LogFiles } from '../files/files.ts'
import { collect } from './bytes.ts'
import { type Cursor, type Fingerprint, fingerprint, hashBytes, PRINT_READ, wholePrint } from './cursor.ts'
import { type Kind, kindOfBytes } from './kind.ts'

/** How a part of a text is read. */
export interface TextRead {
  /** The caller's memory, for a store that can use it; only a few of the bytes are then remembered. */
  into?: Uint8Array<ArrayBuffer> | undefined
  /** Ends the read when it is no longer needed. */
  ended?: AbortSignal | undefined
  /** Whether it is part of a pass from the start to the end, so that only a little is kept. @default false */
  onward?: boolean
}

/** One log file as text that can be read anywhere. A compressed file is the text it holds. */
export interface Text {
  readonly name: string
  /** The file as it was when it was opened. */
  readonly entry: Entry
  readonly compressed: boolean
  /** Why a compressed file ends early, once that is known. */
  readonly broken?: LogError | null
  /** Whether the first pass through a compressed file ran out of budget, so that its text ends there. */
  readonly cut?: boolean
  /** Whether what was read of it last is no UTF-8. */
  readonly hasInvalidUtf8?: boolean
  /** Whether it must be read from its start: a read back would start over. */
  sequential?(): Promise<boolean>
  /** Bytes of text. For a compressed file this takes one pass through all of it. */
  size(): Promise<number>
  /** Verifies a size that the file itself declares; throws a StoreError `changed` if it was wrong. */
  verifySize?(): Promise<void>
  /** Whether the text has at least `size` bytes: a compressed file is read no further than that. */
  reaches(size: number): Promise<boolean>
  /** Exactly the bytes [from, to), which must be inside the text; anything else is an error. */
  read(from: number, to: number, options?: TextRead): Promise<Uint8Array>
  /** The first bytes, at most `length`: cheap for compressed files too. */
  head(length: number): Promise<Uint8Array>
  /** Begins to fetch it, because it will be read soon. */
  prepare?(): void
  /** Drops the text that is kept in memory; later reads are still correct, but cost more. */
  release?(): Promise<void>
  /** Drops most of the text that is kept in memory, because other logs are read before this one is read on. */
  trim?(): void
  /** Promises that reads only go forward from here, so that nothing before needs to be kept. */
  onward?(from: number): Promise<void>
  /** To be called once everything after `onward` was sent, or will not be: what was kept for that no longer counts. */
  sent?(): void
  /** A fingerprint of bytes that were read already, near `offset` where possible; null when nothing was read. */
  known(offset: number): Fingerprint | null
  /** Throws MissingBytes unless [from, to) can be read. Absent where bytes cannot be missing. */
  ensure?(from: number, to: number): Promise<void>
  /** What is known about the times of this version, for a text that can only be read from its start. */
  readonly blocks?: KnownBlocks
  /** Where in the file this text starts, if what comes before it is missing. @default 0 */
  readonly begin?: number
}

/** Whole records of a text, by where they start: where they end, and their earliest and latest time. */
export type KnownBlocks = Map<number, { to: number } & TimeSpan>

/** The earliest and the latest time of some records; the infinities, crossed, if none has a time. */
export interface TimeSpan {
  earliest: number
  latest: number
}

/** A text, its size, and its last bytes, which prove a place at its end. */
export type TextEnd = Awaited<ReturnType<typeof textEnd>>

export async function textEnd(text: Text) {
  const size = await text.size()
  return { text, size, seen: (await text.read(Math.max(0, size - PRINT_READ), size)).slice() }
}

/** Whether a text has the place of a cursor, and before it the bytes of its fingerprint. */
export async function holds(text: Text, { offset, print }: Pick<Cursor, 'offset' | 'print'>) {
  const end = print.offset + print.length
  if (!(await text.reaches(Math.max(offset, end)))) return false
  // An empty fingerprint says nothing.
  return print.length === 0 || hashBytes(await text.read(print.offset, end), 0, print.length) === print.hash
}

/** How much of what was read is kept for the next reads: the newest block whatever its size, and some older ones. */
const MAX_KEPT = 4 * 1024 * 1024
/** What is kept of that while other logs are read: 32 of them would otherwise keep 128 MiB. */
const KEPT_AT_REST = 256 * 1024
const MAX_BLOCKS = 48

/** How many of the last bytes show whether a text is UTF-16, and whether it is no UTF-8. */
const WIDE_SAMPLE = 64
const ODD_SAMPLE = 16 * 1024

const NOTHING = new Uint8Array(0)

/** A part of the text that is kept, so that neighbouring reads cost one call of the store. */
interface KeptBlock {
  offset: number
  bytes: Uint8Array
}

/** Proves that a file is still the one that was listed, until some of it has been read. Inodes are reused, so the id is not enough. */
export interface Evidence {
  /** What it begins with. */
  begin?: Fingerprint | undefined
  /** The state of the directory before the list. */
  revision?: string | null | undefined
}

/**
 * An uncompressed file, pinned to what it was when it was opened. A live file grows all the time, and its etag
 * changes with it. Bytes below the size first seen stay valid; the identity, the size and bytes seen before prove
 * that. If they do not, it is a StoreError `changed`, never wrong bytes.
 */
export class PlainText implements Text {
  readonly name: string
  readonly entry: Entry
  readonly compressed = false
  readonly #files: LogFiles
  readonly #budget: Budget
  readonly #evidence: Evidence
  #etag: string
  #judged = false
  /** The latest reads, newest first. */
  #blocks: KeptBlock[] = []
  #seen: KeptBlock | null = null
  /** Set while the text is being sent: what the kept blocks take of the memory for that. */
  #sending: SliceMemory | null = null

  constructor(files: LogFiles, entry: Entry, budget: Budget, evidence: Evidence = {}) {
    this.#files = files
    this.#budget = budget
    this.#evidence = evidence
    this.name = entry.key
    this.entry = entry
    this.#etag = entry.etag
  }

  /** Opens a file by reading a part of it: one store call returns the entry and the bytes. */
  static async openAt(files: LogFiles, name: string, range: ByteRange, budget: Budget): Promise<PlainText> {
    const got = await files.read(name, range, { signal: budget.signalFor() })
    const text = new PlainText(files, got.entry, budget)
    const bytes = await collect(got)
    text.#remember({ offset: got.offset, bytes })
    return text
  }

  async size(): Promise<number> {
    return this.entry.size
  }

  async reaches(size: number): Promise<boolean> {
    return this.entry.size >= size
  }

  async read(from: number, to: number, { into, ended }: TextRead = {}): Promise<Uint8Array> {
    if (to <= from) return new Uint8Array(0)
    const kept = this.#kept(from, to)
    // A copy: callers may write into what they get.
    if (kept && into) into.set(kept)
    if (kept) return into?.subarray(0, kept.length) ?? kept
    // On a disk, one read costs less than joining what is kept to it.
    if (into || this.#files.isNear) return this.#readNew(from, to, into, ended)
    const first = this.#keptFrom(from, to)
    const start = from + first.length
    const last = this.#keptTo(start, to)
    const end = to - last.length
    const between = start < end ? await this.#readNew(start, end, undefined, ended) : NOTHING
    return asOne([first, between, last].filter(({ length }) => length > 0))
  }

  async #readNew(from: number, to: number, into?: Uint8Array<ArrayBuffer>, ended?: AbortSignal) {
    const bytes = await this.#fetch(from, to, into, ended)
    if (into || this.#sending) this.#see({ offset: from, bytes })
    else this.#remember({ offset: from, bytes })
    await this.#judge()
    return bytes
  }

  /** What was read for the answer would otherwise stay in memory until a slow client has taken all of it. */
  async onward(): Promise<void> {
    const kept = this.#blocks.reduce((sum, { bytes }) => sum + bytes.length, 0)
    this.#sending ??= new SliceMemory()
    // On a disk, reading again is cheaper than keeping.
    if (this.#files.isNear || isCrowded(kept)) this.#blocks = []
    else this.#sending.hold(kept)
  }

  sent(): void {
    this.#sending?.release()
  }

  trim(): void {
    let size = 0
    this.#blocks = this.#blocks.filter(({ bytes }) => {
      size += bytes.buffer.byteLength
      return size <= KEPT_AT_REST
    })
  }

  async ensure(from: number, to: number): Promise<void> {
    if (!this.entry.appendOnly) return
    const options = { signal: this.#budget.signal, ifMatch: this.entry.etag }
    const got = await this.#files.read(this.name, { offset: from, length: to - from }, options)
    // A large part is a stream that has not started: only the name was checked.
    if (got.body instanceof ReadableStream) await got.body.cancel()
    else this.#remember({ offset: from, bytes: got.body })
  }

  /** Takes the beginning of the file as known, if it is of the version that was opened. */
  prime(entry: Entry, bytes: Uint8Array): void {
    if (entry.etag === this.entry.etag && entry.id === this.entry.id) this.#remember({ offset: 0, bytes })
  }

  async head(length: number): Promise<Uint8Array> {
    return this.read(0, Math.min(length, this.entry.size))
  }

  known(offset: number): Fingerprint | null {
    const isNear = ({ offset: start, bytes }: KeptBlock) => offset > start && offset <= start + bytes.length
    const block = this.#blocks.find(isNear) ?? this.#blocks[0] ?? this.#seen
    if (!block) return null
    const inside = offset - block.offset
    const to = inside > 0 && inside <= block.bytes.length ? inside : block.bytes.length
    return fingerprint(block.bytes, block.offset, 0, to)
  }

  /** Bytes that were read before; null if they were not. */
  #kept(from: number, to: number): Uint8Array | null {
    for (const { offset, bytes } of this.#blocks)
      if (from >= offset && to <= offset + bytes.length) return bytes.subarray(from - offset, to - offset)
    return null
  }

  /** What is kept of [from, to) without a gap, from its start on. */
  #keptFrom(from: number, to: number): Uint8Array {
    const pieces: Uint8Array[] = []
    let at = from
    const isNext = ({ offset, bytes }: KeptBlock) => offset <= at && at < offset + bytes.length
    for (let block = this.#blocks.find(isNext); block && at < to; block = this.#blocks.find(isNext)) {
      const piece = block.bytes.subarray(at - block.offset, to - block.offset)
      pieces.push(piece)
      at += piece.length
    }
    return asOne(pieces)
  }

  /** What is kept of [from, to) without a gap, up to its end. */
  #keptTo(from: number, to: number): Uint8Array {
    const pieces: Uint8Array[] = []
    let at = to
    const isNext = ({ offset, bytes }: KeptBlock) => offset < at && at <= offset + bytes.length
    for (let block = this.#blocks.find(isNext); block && at > from; block = this.#blocks.find(isNext)) {
      const piece = block.bytes.subarray(Math.max(0, from - block.offset), at - block.offset)
      pieces.unshift(piece)
      at -= piece.length
    }
    return asOne(pieces)
  }

  #remember(block: KeptBlock): void {
    if (block.bytes.length === 0) return
    let size = block.bytes.length
    const older = this.#blocks.filter(({ bytes }, i) => {
      size += bytes.length
      return i < MAX_BLOCKS && size <= MAX_KEPT
    })
    this.#blocks = [block, ...older]
    this.#see(block)
  }

  #see(block: KeptBlock): void {
    // A copy of the last bytes: the block itself may be large, and is replaced by the next read.
    const keep = Math.min(PRINT_READ, block.bytes.length)
    this.#seen = {
      offset: block.offset + block.bytes.length - keep,
      bytes: block.bytes.slice(block.bytes.length - keep),
    }
  }

  /** What the file is, judged by the last bytes read: an archive's name may not show it. */
  async kind(): Promise<Kind> {
    this.#judged = true
    const bytes = this.#blocks[0]?.bytes ?? this.#seen?.bytes ?? new Uint8Array(0)
    return kindOfBytes(this.#files, this.entry, bytes, this.#budget.signal)
  }

  /** Whether the last bytes read have NULs between others, as UTF-16 has. */
  get mayBeWide(): boolean {
    const bytes = this.#blocks[0]?.bytes ?? this.#seen?.bytes ?? new Uint8Array(0)
    const end = bytes.subarray(-WIDE_SAMPLE)
    return end.includes(0) && end.some((byte) => byte !== 0)
  }

  /** Whether the last bytes read are no UTF-8. */
  get hasInvalidUtf8(): boolean {
    const bytes = this.#blocks[0]?.bytes ?? this.#seen?.bytes ?? new Uint8Array(0)
    return looksCompressed(bytes.subarray(-ODD_SAMPLE))
  }

  /** The first bytes that are read must be text; a file that turns out to be compressed is opened again as that. */
  async #judge(): Promise<void> {
    if (this.#judged) return
    const kind = await this.kind()
    if (kind !== 'plain')
      throw new StoreError('changed', `Cannot read "${this.name}" as text: it is compressed with ${kind}`)
  }

  async #fetch(from: number, to: number, into?: Uint8Array<ArrayBuffer>, ended?: AbortSignal) {
    const signal = this.#files.isNear ? this.#budget.signal : this.#budget.signalFor(ended)
    // A directory's reads are too short to be interrupted, so an abort is checked between them.
    signal?.throwIfAborted()
    const got = await this.#files.read(
      this.name,
      { offset: from, length: to - from },
      // An append-only file needs no check of its size.
      { signal, buffer: into, ...(this.entry.appendOnly && { ifMatch: this.entry.etag }) },
    )
    const bytes = await collect(got, into)
    if (!this.#isSame(got.entry) || bytes.length !== to - from) throw replaced(this.name)
    if (got.entry.etag !== this.#etag) {
      if (!this.#seen && (got.entry.id === undefined || this.#mayBeAnother())) throw replaced(this.name)
      const print = this.#seen ? wholePrint(this.#seen.bytes, this.#seen.offset) : this.#evidence.begin
      if (print) {
        // Read after the bytes: if what was seen first is still there now, nothing before them was truncated either.
        const { offset, length, hash } = print
        const again = await this.#files.read(this.name, { offset, length }, { signal })
        const now = await collect(again)
        const isStill = now.length === length && hashBytes(now, 0, length) === hash
        if (!this.#isSame(again.entry) || !isStill) throw replaced(this.name)
      }
      this.#etag = got.entry.etag
    }
    return bytes
  }

  #isSame(entry: Entry): boolean {
    return entry.id === this.entry.id && entry.size >= this.entry.size
  }

  /** Whether another file may have taken its name and its identity. That changes the directory; growth does not. */
  #mayBeAnother(): boolean {
    const { revision = null } = this.#evidence
    return revision !== null && this.#files.revision?.() !== revision
  }
}
