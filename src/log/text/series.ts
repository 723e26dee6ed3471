import { BudgetError } from '../../limits/budget.ts'
import type { LogError } from '../error.ts'
import { type Cursor, NO_PRINT, PRINT_READ } from './cursor.ts'
import type { Text } from './text.ts'

/** How many archives keep text at a time: a read may cross from one into the next. */
const WARM = 2

/**
 * Several files as one log, oldest first. An address counts bytes from the start of the last file; older files lie
 * below zero. The size of an older file, which costs a decompression if it is compressed, is needed only by requests
 * that go back to it.
 */
export class Series {
  readonly parts: readonly Text[]
  /** The address after the last byte. */
  readonly end: number
  /** How many older parts are fetched while one is read. */
  readonly #ahead: number
  /** Where each part starts; known from `#known` on. */
  readonly #bases: number[]
  #known: number
  /** The compressed files that keep text in memory, the last one read first. */
  readonly #warm: Text[] = []

  private constructor(parts: readonly Text[], lastSize: number, ahead: number) {
    this.parts = parts
    this.#ahead = ahead
    this.end = lastSize
    this.#bases = new Array(parts.length).fill(0)
    this.#known = parts.length - 1
    this.#resolvePlain()
  }

  /** Opens a series; `ahead` says how many older parts are fetched while one is read. */
  static async open(parts: readonly Text[], ahead = 0): Promise<Series> {
    return new Series(parts, await parts[parts.length - 1]!.size(), ahead)
  }

  /** The address as far back as the log goes: `at`, or the first byte when that is later. */
  async floor(at: number): Promise<number> {
    while (this.#known > 0 && this.#bases[this.#known]! > at) await this.#resolveNext()
    return this.#known === 0 ? Math.max(at, this.#bases[0]!) : at
  }

  /** Where the files begin whose addresses are known without decompressing anything more. */
  get knownStart(): number {
    return this.#bases[this.#known]!
  }

  /** Like `floor`, but null if answering requires decompression. */
  floorNow(at: number): number | null {
    const from = Math.max(at, this.#known === 0 ? this.#bases[0]! : Number.NEGATIVE_INFINITY)
    if (this.#known > 0 && this.#bases[this.#known]! > from) return null
    return this.parts[this.#indexOf(from)]!.compressed ? null : from
  }

  /** How far uncompressed files reach from an address on; null if it is in a compressed one or its place is not known. */
  plainEnd(from: number): number | null {
    if (this.#bases[this.#known]! > from) return null
    let index = this.#indexOf(from)
    if (this.parts[index]!.compressed) return null
    while (index < this.parts.length - 1 && !this.parts[index + 1]!.compressed) index++
    return index === this.parts.length - 1 ? this.end : this.#bases[index + 1]!
  }

  /** The log's first byte. Decompresses what has not been yet. */
  async start(): Promise<number> {
    return this.floor(Number.NEGATIVE_INFINITY)
  }

  /** Whether nothing comes before the address, as far as is known. */
  isStart(address: number): boolean {
    return this.#known === 0 && address <= this.#bases[0]!
  }

  /** Where part `index` starts. */
  async base(index: number): Promise<number> {
    while (this.#known > index) await this.#resolveNext()
    return this.#bases[index]!
  }

  /** The bytes [from, to), across files. */
  async read(from: number, to: number): Promise<Uint8Array> {
    if (to <= from) return new Uint8Array(0)
    await this.floor(from)
    const first = this.#indexOf(from)
    const base = this.#bases[first]!
    await this.#use(this.parts[first]!)
    if (first === this.parts.length - 1 || to <= this.#bases[first + 1]!)
      return this.parts[first]!.read(from - base, to - base)
    const bytes = new Uint8Array(to - from)
    let at = from
    for (let i = first; at < to; i++) {
      const start = this.#bases[i]!
      const end = i === this.parts.length - 1 ? this.end : this.#bases[i + 1]!
      const stop = Math.min(end, to)
      if (stop > at) await this.#use(this.parts[i]!)
      if (stop > at) bytes.set(await this.parts[i]!.read(at - start, stop - start), at - from)
      at = Math.max(at, stop)
    }
    return bytes
  }

  /** Throws MissingBytes unless [from, to) can be read; compressed files are not checked. */
  async ensure(from: number, to: number): Promise<void> {
    for (let i = this.#indexOf(from); i < this.parts.length; i++) {
      const start = this.#bases[i]!
      const end = i === this.parts.length - 1 ? this.end : this.#bases[i + 1]!
      if (start >= to) return
      const [low, high] = [Math.max(from, start), Math.min(to, end)]
      if (low < high) await this.parts[i]!.ensure?.(low - start, high - start)
    }
  }

  /** Where the file of the byte before `address` starts, if it must be read from there on; otherwise null. */
  async sequentialStart(address: number): Promise<number | null> {
    await this.floor(address - 1)
    const index = this.#indexOf(address - 1)
    return (await this.parts[index]!.sequential?.()) ? this.#bases[index]! : null
  }

  /** As `read`, into the caller's memory if possible: within one uncompressed file. */
  async readInto(
    from: number,
    to: number,
    into: Uint8Array<ArrayBuffer>,
    ended?: AbortSignal,
  ): Promise<Uint8Array> {
    const { part, base, end } = await this.#partAt(from)
    return part.readInto && to <= end
      ? part.readInto(from - base, to - base, into, ended)
      : this.read(from, to)
  }

  /** As `read`, for one pass through a file that must be read from its start: into the caller's memory if possible. */
  async readOnward(from: number, to: number, into: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    const { part, base, end } = await this.#partAt(from)
    if (!part.readOnward || to > end || to - from > into.length) return this.read(from, to)
    await this.#use(part)
    return part.readOnward(from - base, to - base, into)
  }

  /** Promises that reads only go forward from an address. */
  async onward(from: number): Promise<void> {
    await this.floor(from)
    for (let i = this.#indexOf(from); i < this.parts.length; i++)
      await this.parts[i]!.onward?.(Math.max(0, from - this.#bases[i]!))
  }

  /** Only the archives that were read last keep text in memory. */
  async #use(part: Text): Promise<void> {
    if (!part.compressed || this.#warm[0] === part) return
    const at = this.#warm.indexOf(part)
    if (at >= 0) this.#warm.splice(at, 1)
    this.#warm.unshift(part)
    if (this.#warm.length > WARM) await this.#warm.pop()!.release?.()
  }

  /** Verifies every size that a file itself declares; throws a StoreError `changed` if one was wrong. */
  async verifySizes(): Promise<void> {
    for (const part of this.parts) await part.verifySize?.()
  }

  /** Why some text is missing at the end of a compressed file that was read, or null. */
  broken(): LogError | null {
    return this.parts.find((part) => part.broken)?.broken ?? null
  }

  /** Whether the first pass through the newest file ran out of budget, so that the log ends there. */
  get isCut(): boolean {
    return this.parts.at(-1)!.cut === true
  }

  /** The file that contains an address, and the offset in it. An address between two files is the start of the newer. */
  async place(address: number): Promise<{ part: Text; offset: number }> {
    await this.floor(address)
    const index = this.#indexOf(address)
    return { part: this.parts[index]!, offset: address - this.#bases[index]! }
  }

  /** The file that contains the byte before an address, and the address's offset in it. */
  async before(address: number): Promise<{ part: Text; offset: number }> {
    const { part, offset } = await this.place(address - 1)
    return { part, offset: offset + 1 }
  }

  /**
   * A cursor for an address, made from bytes that were read before if there are any; otherwise it costs a read.
   */
  async cursor(address: number, splitsRecord = false): Promise<Cursor> {
    let { part, offset } = await this.place(address)
    // An empty file has no bytes to identify it; the end of the file before it is the same place.
    for (
      let i = this.parts.indexOf(part);
      i > 0 && offset === 0 && (await this.parts[i]!.size()) === 0;
      i--
    ) {
      part = this.parts[i - 1]!
      offset = await part.size()
    }
    const size = await part.size()
    let print = part.known(offset)
    if (print === null && size > 0) {
      const to = offset > 0 ? offset : Math.min(PRINT_READ, size)
      await part.read(Math.max(0, to - PRINT_READ), to)
      print = part.known(offset)
    }
    return {
      name: part.name,
      id: part.entry.id ?? null,
      offset: offset + (part.begin ?? 0),
      print: print ?? NO_PRINT,
      splitsRecord,
    }
  }

  /** The file that contains an address, and where it starts and ends. */
  async #partAt(address: number): Promise<{ part: Text; base: number; end: number }> {
    await this.floor(address)
    const index = this.#indexOf(address)
    const end = index === this.parts.length - 1 ? this.end : this.#bases[index + 1]!
    return { part: this.parts[index]!, base: this.#bases[index]!, end }
  }

  #indexOf(address: number): number {
    let index = this.parts.length - 1
    while (index > this.#known && this.#bases[index]! > address) index--
    return index
  }

  async #resolveNext(): Promise<void> {
    const index = this.#known - 1
    for (let i = index; i >= Math.max(0, index - this.#ahead); i--) this.parts[i]!.prepare?.()
    await this.#use(this.parts[index]!)
    const part = this.parts[index]!
    const size = await part.size()
    // Without its size, nothing before it has an address.
    if (part.cut) throw new BudgetError()
    // Another caller may have come this far meanwhile, as the searches for since and until do.
    if (this.#known <= index) return
    this.#bases[index] = this.#bases[index + 1]! - size
    this.#known = index
    this.#resolvePlain()
  }

  /** Sizes of uncompressed files cost nothing. */
  #resolvePlain(): void {
    while (this.#known > 0 && !this.parts[this.#known - 1]!.compressed) {
      const index = this.#known - 1
      this.#bases[index] = this.#bases[this.#known]! - this.parts[index]!.entry.size
      this.#known = index
    }
  }
}
