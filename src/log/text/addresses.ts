import { BudgetError } from '../../kit/limits/budget.ts'
import type { Text } from './text.ts'

/**
 * Where the texts of a log lie, oldest first. An address counts bytes from the start of the last text; older ones lie
 * below zero. The size of an older text, which costs a decompression if it is compressed, is needed only by requests
 * that go back to it.
 */
export class Addresses {
  readonly parts: readonly Text[]
  /** The address after the last byte. */
  readonly end: number
  readonly #ahead: number
  readonly #use: (part: Text) => Promise<void>
  /** Where each part starts; known from `#known` on. */
  readonly #bases: number[]
  #known: number

  /** `ahead` says how many older parts are fetched while one is measured; `use` is called before that. */
  constructor(
    parts: readonly Text[],
    lastSize: number,
    { ahead, use }: { ahead: number; use: (part: Text) => Promise<void> },
  ) {
    this.parts = parts
    this.end = lastSize
    this.#ahead = ahead
    this.#use = use
    this.#bases = new Array(parts.length).fill(0)
    this.#known = parts.length - 1
    this.#resolvePlain()
  }

  /** The address as far back as the log goes: `at`, or the first byte when that is later. */
  async floor(at: number): Promise<number> {
    while (this.#known > 0 && this.#bases[this.#known]! > at) await this.#resolveNext()
    return this.#known === 0 ? Math.max(at, this.#bases[0]!) : at
  }

  /** Like `floor`, but null if answering requires decompression. */
  floorNow(at: number): number | null {
    const from = Math.max(at, this.#known === 0 ? this.#bases[0]! : Number.NEGATIVE_INFINITY)
    if (this.#known > 0 && this.#bases[this.#known]! > from) return null
    return this.parts[this.#indexOf(from)]!.compressed ? null : from
  }

  /** Where the texts begin whose addresses are known without decompressing anything more. */
  get knownStart(): number {
    return this.#bases[this.#known]!
  }

  /** Whether nothing comes before the address, as far as is known. */
  isStart(address: number): boolean {
    return this.#known === 0 && address <= this.#bases[0]!
  }

  /** How far uncompressed texts reach from an address on; null if it is in a compressed one or its place is not known. */
  plainEnd(from: number): number | null {
    if (this.#bases[this.#known]! > from) return null
    let index = this.#indexOf(from)
    if (this.parts[index]!.compressed) return null
    while (index < this.parts.length - 1 && !this.parts[index + 1]!.compressed) index++
    return this.#endOf(index)
  }

  async base(index: number): Promise<number> {
    while (this.#known > index) await this.#resolveNext()
    return this.#bases[index]!
  }

  /** The text that holds an address, and where it starts and ends. One between two texts is the start of the newer. */
  async at(address: number) {
    await this.floor(address)
    const index = this.#indexOf(address)
    return { part: this.parts[index]!, base: this.#bases[index]!, end: this.#endOf(index) }
  }

  /** The texts of [from, to), and which of their bytes these are. Where `from` is must be known. */
  *within(from: number, to: number): Generator<{ part: Text; from: number; to: number }> {
    let low = from
    for (let i = this.#indexOf(from); low < to && i < this.parts.length; i++) {
      const base = this.#bases[i]!
      // What lies beyond the last text is left to it, whose read fails.
      const high = i === this.parts.length - 1 ? to : Math.min(to, this.#endOf(i))
      if (low < high) yield { part: this.parts[i]!, from: low - base, to: high - base }
      low = Math.max(low, high)
    }
  }

  /** Where a text ends; far below if that is not known. */
  endOf(part: Text): number {
    const index = this.parts.indexOf(part)
    return index + 1 < this.#known ? Number.NEGATIVE_INFINITY : this.#endOf(index)
  }

  #endOf(index: number): number {
    return index === this.parts.length - 1 ? this.end : this.#bases[index + 1]!
  }

  #indexOf(address: number): number {
    let index = this.parts.length - 1
    while (index > this.#known && this.#bases[index]! > address) index--
    return index
  }

  async #resolveNext(): Promise<void> {
    const index = this.#known - 1
    for (let i = index; i >= Math.max(0, index - this.#ahead); i--) this.parts[i]!.prepare?.()
    const part = this.parts[index]!
    await this.#use(part)
    const size = await part.size()
    // Without its size, nothing before it has an address.
    if (part.cut) throw new BudgetError()
    // Another caller may have come this far meanwhile, as the searches for since and until do.
    if (this.#known <= index) return
    this.#bases[index] = this.#bases[index + 1]! - size
    this.#known = index
    this.#resolvePlain()
  }

  /** Sizes of uncompressed texts cost nothing. */
  #resolvePlain(): void {
    while (this.#known > 0 && !this.parts[this.#known - 1]!.compressed) {
      const index = this.#known - 1
      this.#bases[index] = this.#bases[this.#known]! - this.parts[index]!.entry.size
      this.#known = index
    }
  }
}
