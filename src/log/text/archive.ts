import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import { type Budget, BudgetError } from '../../kit/limits/budget.ts'
import { type Compression, claimedLength, TRAILER_BYTES } from '../../store/codec/kind.ts'
import { TextPieces } from '../../store/codec/pieces.ts'
import type { Charset } from '../../store/codec/transcode.ts'
import { type Entry, replaced, StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { type LogFiles, perFiles } from '../files/files.ts'
import { collect } from './bytes.ts'
import { type Fingerprint, fingerprint, PRINT_READ } from './cursor.ts'
import { decompressLog, downloadOf } from './decompress.ts'
import { versionOf } from './kind.ts'
import type { KnownBlocks, Text, TextRead } from './text.ts'

export interface ArchiveLimits {
  /** The most text to decompress from one archive. */
  archiveBytes: number
  /** How much of that text is kept in memory. */
  archiveWindow: number
}

export interface ArchiveSource {
  files: LogFiles
  limits: ArchiveLimits
  budget: Budget
  /**
   * Whether the size that an archive declares may be used before it is verified: a search is then one pass, not two. It
   * is wrong for several members in a row and for damaged archives, so callers that enable it must call `verifySize`.
   * @default false
   */
  trustDeclaredSize?: boolean | undefined
}

/** A file, and how its text is stored; `isCharset` if that is only another way of writing. */
interface TextSource {
  entry: Entry
  kind: Compression | Charset
  isCharset?: boolean
}

/** How much of an archive an answer may hold while it is being sent. */
const MAX_HELD = 4 * 1024 * 1024
/** How much of it a search keeps behind itself: a field is looked for there, and more would be garbage to collect. */
const KEPT_BEHIND = 512 * 1024
/** How many archive sizes are cached: otherwise each page of a rotated log decompresses them again. */
const REMEMBERED = 1000
const sizesOf = perFiles(() => new BoundedMap<string, number>(REMEMBERED))
/** Of how many archives the times of how many blocks of 1 MiB are known: 4 MB in all. */
const TIMED = 32
const MAX_BLOCKS = 1024
const blocksOf = perFiles(() => new BoundedMap<string, KnownBlocks>(TIMED))

/**
 * A compressed file, or one that is not UTF-8, as its text. It has no random access: a read further on continues decompressing, a read back within
 * the window is served from memory, and one before the window starts over from the beginning. So a tail, a page
 * or a scan of what fits the window is one pass, in bounded memory.
 */
export class ArchiveText implements Text {
  readonly name: string
  readonly entry: Entry
  readonly compressed = true
  readonly blocks: KnownBlocks
  /** Why the archive ends early; what comes before is readable. */
  broken: LogError | null = null
  /** Whether the first pass ran out of budget: the text then ends where it was read to. */
  cut = false
  readonly #kind: Compression | Charset
  /** The file as it is stored: its text, however it is read, has an entry of its own. */
  readonly #stored: Entry
  readonly #files: LogFiles
  readonly #limits: ArchiveLimits
  readonly #budget: Budget
  #pass: AsyncGenerator<Uint8Array, void> | null = null
  readonly #pieces = new TextPieces()
  /** The fingerprint of what was read last, when it is dropped: a cursor needs one even after the budget is spent. */
  #seen: Fingerprint | null = null
  #size: number | null = null
  /** The size that the archive's own trailer declares, until a pass has verified it. */
  #declared: number | null = null
  #mayTrust: boolean
  #onward = false

  constructor(
    { entry: stored, kind, isCharset = false }: TextSource,
    { files, limits, budget, trustDeclaredSize = false }: ArchiveSource,
  ) {
    this.#files = files
    this.#mayTrust = trustDeclaredSize && kind === 'gzip'
    this.#kind = kind
    this.#limits = limits
    this.#budget = budget
    const entry = isCharset ? { ...stored, etag: `${stored.etag} ${kind}` } : stored
    this.#stored = stored
    this.name = entry.key
    this.entry = entry
    this.#size = sizesOf(files).get(versionOf(entry)) ?? null
    this.blocks = blocksOf(files).use(versionOf(entry), () => new BoundedMap(MAX_BLOCKS))
  }

  async sequential(): Promise<boolean> {
    return (await this.size()) > this.#limits.archiveWindow
  }

  /** One pass through the archive, which may use half of the budget: the text is searched after that. */
  async size(): Promise<number> {
    if (this.#size === null && this.#mayTrust) await this.#readDeclared()
    if (this.#declared !== null) return this.#declared
    const half = this.#size === null ? this.#budget.half() : null
    while (this.#size === null) {
      if (half && !(await half.step())) {
        if (this.#pieces.to === 0) throw new BudgetError()
        this.cut = true
        this.#size = this.#pieces.to
      } else await this.#advance()
    }
    return this.#size
  }

  async verifySize(): Promise<void> {
    try {
      while (this.#declared !== null) await this.#advance()
    } catch (error) {
      throw error instanceof BudgetError ? wrongSize(this.name) : error
    }
  }

  async reaches(size: number): Promise<boolean> {
    while (this.#pieces.to < size && this.#size === null) await this.#advance()
    return (this.#size ?? this.#pieces.to) >= size
  }

  async read(from: number, to: number, { into, onward = false }: TextRead = {}): Promise<Uint8Array> {
    await this.#reach(from, to, onward ? KEPT_BEHIND : undefined)
    return this.#pieces.copy(from, to, into?.subarray(0, to - from))
  }

  /** Decompresses until [from, to) is in memory, along with `window` bytes before what was decompressed. */
  async #reach(from: number, to: number, window = this.#limits.archiveWindow): Promise<void> {
    if (from < this.#pieces.from) await this.#restart()
    if (this.#onward) this.#pieces.drop(from)
    while (this.#pieces.to < to && this.#hasMore()) await this.#advance(from, window)
    // Nothing may follow the declared end.
    while (to === this.#declared) await this.#advance(from, window)
    if (this.#pieces.to < to) throw new RangeError(`Cannot read "${this.name}" beyond its end`)
  }

  async release(): Promise<void> {
    await this.#restart()
  }

  trim(): void {
    if (this.#pieces.to - this.#pieces.from > this.#limits.archiveWindow)
      this.#pieces.drop(this.#pieces.to - KEPT_BEHIND)
  }

  async onward(from: number): Promise<void> {
    this.#onward = true
    // A slow client would hold all of it meanwhile; decompressing again is faster than sending.
    if (this.#pieces.to - Math.max(this.#pieces.from, from) > MAX_HELD) await this.#restart()
    else this.#pieces.drop(from)
  }

  async head(length: number): Promise<Uint8Array> {
    if (this.#pieces.from > 0) await this.#restart()
    while (this.#pieces.to < length && this.#hasMore()) await this.#advance(0)
    return this.#pieces.copy(0, Math.min(length, this.#pieces.to))
  }

  known(offset: number): Fingerprint | null {
    if (this.#pieces.to === this.#pieces.from) return this.#seen
    const to = offset > this.#pieces.from && offset <= this.#pieces.to ? offset : this.#pieces.to
    const from = Math.max(this.#pieces.from, to - PRINT_READ)
    return fingerprint(this.#pieces.copy(from, to), from)
  }

  /** Reads what the trailer declares. What fits the window takes one pass anyway. */
  async #readDeclared(): Promise<void> {
    this.#mayTrust = false
    const { key, size, etag } = this.entry
    const { archiveWindow, archiveBytes } = this.#limits
    if (size * LIKELY_RATIO < archiveWindow) return
    const { signal } = this.#budget
    signal?.throwIfAborted()
    const range = { offset: size - TRAILER_BYTES, length: TRAILER_BYTES }
    const options = { signal, ifMatch: etag }
    const declared = claimedLength(await collect(await this.#files.read(key, range, options)))
    if (declared > Math.max(size, archiveWindow) && declared <= archiveBytes) this.#declared = declared
  }

  /** Whether this pass has not reached the end. After a restart the size is known, and the end is there. */
  #hasMore(): boolean {
    return this.#size === null || this.#pieces.to < this.#size
  }

  async #restart(): Promise<void> {
    const pass = this.#pass
    this.#giveUp(pass)
    await pass?.return()
  }

  /** Forgets a pass and what it brought: one that has failed would call the place where it failed the end of the text. */
  #giveUp(pass: AsyncGenerator<Uint8Array, void> | null): void {
    if (pass !== this.#pass) return
    this.#seen = this.known(this.#pieces.to)
    this.#pass = null
    this.#pieces.clear()
  }

  /** One more piece of text. The window never drops what is requested. */
  async #advance(asked = Number.POSITIVE_INFINITY, window = this.#limits.archiveWindow): Promise<void> {
    const isOpen = await this.#budget.step()
    // A response that is being sent is paced by the client, so it has no deadline.
    if (!isOpen && !this.#onward) throw new BudgetError()
    this.#pass ??= this.#open()
    const pass = this.#pass
    let piece: Uint8Array | null = null
    try {
      const { done, value } = await pass.next()
      if (!done) piece = value
    } catch (error) {
      if (!(error instanceof LogError && error.code === 'bad-archive') || this.#pieces.to === 0) {
        this.#giveUp(pass)
        throw error
      }
      this.broken = error
    }
    // Another read has ended this pass, or started over: what it says no longer counts.
    if (pass !== this.#pass) return
    if (piece === null) {
      if (this.#declared !== null && this.#declared !== this.#pieces.to) throw wrongSize(this.name)
      this.#declared = null
      this.#size = this.#pieces.to
      this.#pass = null
      if (!this.broken) sizesOf(this.#files).set(versionOf(this.entry), this.#pieces.to)
      return
    }
    this.#pieces.push(piece)
    if (this.#declared !== null && this.#pieces.to > this.#declared) throw wrongSize(this.name)
    if (!this.#onward) this.#budget.unpack(piece.length)
    if (this.#pieces.to > this.#limits.archiveBytes) {
      await this.#restart()
      throw overBudget(this.name, this.#limits.archiveBytes)
    }
    this.#pieces.drop(this.#onward ? asked : Math.min(asked, this.#pieces.to - window))
  }

  #open(): AsyncGenerator<Uint8Array, void> {
    const stored = this.#stored
    const { key: name, size, etag } = stored
    // Many members of a joined log are open at a time.
    const signal = this.#budget.signalFor()
    // A log grows while it is read; what it had stays.
    const isLive = this.entry !== stored && stored.id !== undefined
    const options = isLive ? { signal } : { signal, ifMatch: etag }
    const read = async (from: number, to: number) => {
      const got = await this.#files.read(name, { offset: from, length: to - from }, options)
      if (isLive && (got.entry.id !== stored.id || got.entry.size < size)) throw replaced(name)
      return collect(got)
    }
    return decompressLog({ name, size, read }, this.#kind, signal)
  }
}

/** Logs are seldom compressed to less than a sixteenth. */
const LIKELY_RATIO = 16

/** The error for an archive that may not be as long as it declares: the next attempt does not trust the size. */
function wrongSize(name: string): StoreError {
  return new StoreError('changed', `Cannot read "${name}": its text is not as long as its trailer says`)
}

function overBudget(name: string, most: number): LogError {
  return new LogError(
    'archive-budget',
    `The archive holds more than ${most} bytes of text. ${downloadOf(name)}`,
  )
}
