import type { VirtualList } from '../list/list.ts'

/** The selected records, from the first that was clicked to the last. */
export class Selection {
  range: { from: number; to: number } | null = null
  readonly #list: VirtualList

  constructor(list: VirtualList) {
    this.#list = list
  }

  /** The range in order. */
  get bounds(): [number, number] | null {
    if (this.range === null) return null
    const { from, to } = this.range
    return from <= to ? [from, to] : [to, from]
  }

  has(seq: number): boolean {
    const { bounds } = this
    return bounds !== null && seq >= bounds[0] && seq <= bounds[1]
  }

  set(seq: number, extend: boolean): void {
    const before = this.#drawn()
    const from = extend && this.range !== null ? this.range.from : seq
    this.range = { from, to: seq }
    this.#list.refresh([...before, ...this.#drawn()])
  }

  clear(): void {
    const before = this.#drawn()
    this.range = null
    this.#list.refresh(before)
  }

  /** A record came in between. */
  shift(seq: number): void {
    if (this.range === null) return
    const { from, to } = this.range
    this.range = { from: from < seq ? from : from + 1, to: to < seq ? to : to + 1 }
  }

  /** The records were replaced; there is nothing to redraw. */
  forget(): void {
    this.range = null
  }

  /** Only rows in the document are drawn again, and there are never many of them. */
  #drawn(): number[] {
    return this.#list.shown().filter((seq) => this.has(seq))
  }
}
