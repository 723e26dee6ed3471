import { asOne } from '../../kit/bytes.ts'
import { isTurnOver, yieldToEventLoop } from '../../kit/limits/yield.ts'
import type { LogError } from '../error.ts'
import { Addresses } from './addresses.ts'
import { type Cursor, isDistinctive, NO_PRINT, PRINT, PRINT_READ } from './cursor.ts'
import type { Text, TextRead } from './text.ts'

/** How many archives keep text at a time: a read may cross from one into the next. */
const WARM_ARCHIVES = 2

/** Several texts that are read as one log, oldest first. */
export class Series {
  readonly addresses: Addresses
  /** The compressed files that keep text in memory, the last one read first. */
  readonly #warm: Text[] = []

  private constructor(parts: readonly Text[], lastSize: number, ahead: number) {
    this.addresses = new Addresses(parts, lastSize, { ahead, use: (part) => this.#use(part) })
  }

  /** Opens a series; `ahead` says how many older parts are fetched while one is read. */
  static async open(parts: readonly Text[], ahead = 0): Promise<Series> {
    return new Series(parts, await parts[parts.length - 1]!.size(), ahead)
  }

  get parts(): readonly Text[] {
    return this.addresses.parts
  }

  get end(): number {
    return this.addresses.end
  }

  /** Why text is missing between two addresses, where a compressed file that was read ends early; or null. */
  brokenIn(from: number, to: number): LogError | null {
    for (const part of this.parts) {
      if (!part.broken) continue
      const end = this.addresses.endOf(part)
      if (end >= from && end <= to) return part.broken
    }
    return null
  }

  /** Whether bytes were lost between two addresses: after the end of a file there. */
  hasGapIn(from: number, to: number): boolean {
    const { parts } = this
    let { end } = this
    for (let i = parts.length - 1; i >= 0; i--) {
      if (parts[i]!.entry.gap && from < end && to >= end) return true
      // Files of a shipped log are not compressed, so where they start is known.
      end -= i === parts.length - 1 ? this.end : parts[i]!.entry.size
      if (end <= from) return false
    }
    return false
  }

  /** Whether what was read of the newest part last is no UTF-8. */
  get hasInvalidUtf8(): boolean {
    return this.parts.at(-1)!.hasInvalidUtf8 === true
  }

  /** Whether the first pass through the newest file ran out of budget, so that the log ends there. */
  get isCut(): boolean {
    return this.parts.at(-1)!.cut === true
  }

  /** The bytes [from, to), across files. Only those of one file are read into the caller's memory. */
  async read(from: number, to: number, options?: TextRead): Promise<Uint8Array> {
    if (to <= from) return new Uint8Array(0)
    await this.addresses.floor(from)
    const parts = [...this.addresses.within(from, to)]
    const isFitting = parts.length === 1 && (options?.into?.length ?? 0) >= to - from
    const pieces: Uint8Array[] = []
    for (const { part, ...bytes } of parts) {
      // A read may cross thousands of small files.
      if (pieces.length > 0 && isTurnOver()) await yieldToEventLoop()
      await this.#use(part)
      pieces.push(await part.read(bytes.from, bytes.to, isFitting ? options : undefined))
    }
    return asOne(pieces)
  }

  /** Where the file of the byte before `address` starts, if it must be read from there on; otherwise null. */
  async sequentialStart(address: number): Promise<number | null> {
    const { part, base } = await this.addresses.at(address - 1)
    return (await part.sequential?.()) ? base : null
  }

  /** Drops most of what is kept in memory, because other logs are read before this one is read on. */
  trim(): void {
    for (const part of this.parts) part.trim?.()
  }

  /** Promises that reads only go forward from an address. */
  async onward(from: number): Promise<void> {
    await this.addresses.floor(from)
    for (const { part, ...bytes } of this.addresses.within(from, Number.POSITIVE_INFINITY))
      await part.onward?.(bytes.from)
  }

  /** To be called once everything after `onward` was sent, or will not be. */
  sent(): void {
    for (const part of this.parts) part.sent?.()
  }

  /** Throws MissingBytes unless [from, to) can be read; compressed files are not checked. */
  async ensure(from: number, to: number): Promise<void> {
    for (const { part, ...bytes } of this.addresses.within(from, to))
      await part.ensure?.(bytes.from, bytes.to)
  }

  /** Verifies every size that a file itself declares; throws a StoreError `changed` if one was wrong. */
  async verifySizes(): Promise<void> {
    for (const part of this.parts) await part.verifySize?.()
  }

  /** A cursor for an address, made from bytes that were read before if there are any; otherwise it costs a read. */
  async cursor(address: number, splitsRecord = false): Promise<Cursor> {
    // What leads to a place may have been deleted since: then the log begins after it.
    const at = await this.addresses.floor(address)
    const located = await this.addresses.at(at)
    let { part } = located
    let offset = at - located.base
    // Without a whole line, a file has too few bytes to identify it; the end of the file before it is the same place.
    for (let i = this.parts.indexOf(part); i > 0 && offset === 0 && !(await isKnownByStart(part)); i--) {
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

  /** Only the archives that were read last keep text in memory. */
  async #use(part: Text): Promise<void> {
    if (!part.compressed || this.#warm[0] === part) return
    const at = this.#warm.indexOf(part)
    if (at >= 0) this.#warm.splice(at, 1)
    this.#warm.unshift(part)
    if (this.#warm.length > WARM_ARCHIVES) await this.#warm.pop()!.release?.()
  }
}

/** Whether a text can be told from others by its identity or its first bytes. Only a short one is read to find out. */
async function isKnownByStart(part: Text): Promise<boolean> {
  const size = await part.size()
  if (size >= PRINT || (size > 0 && part.entry.appendOnly)) return true
  return isDistinctive(await part.read(0, size))
}
