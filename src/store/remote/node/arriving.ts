import type { Slices } from '../../fast.ts'

/** How much of a body may wait for its reader. */
const MAX_WAITING = 1024 * 1024

/** Where a body comes from. */
export interface Source {
  pause(): void
  resume(): void
  destroy(): void
}

/** Whether an answer to GET has a body, by its status. */
export function hasBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304
}

/** A body as it arrives; nothing more is read from its source while too much waits. */
export class Arriving implements Slices {
  readonly #source: Source
  readonly #waiting: Uint8Array[] = []
  #size = 0
  #isOver = false
  #error: unknown = null
  #wake: (() => void) | null = null
  #take: ((slice: Uint8Array) => void) | null = null

  constructor(source: Source) {
    this.#source = source
  }

  /** Adds what has arrived. `lent` memory is used again after the call: what has to wait is copied. */
  push(bytes: Uint8Array, lent = false): void {
    if (this.#isOver) return
    if (this.#take) this.#give(bytes, this.#take)
    else {
      this.#waiting.push(lent ? new Uint8Array(bytes) : bytes)
      this.#size += bytes.length
      if (this.#size >= MAX_WAITING) this.#source.pause()
      this.#wake?.()
    }
  }

  /** Nothing more will arrive. With an error, the body is not complete. */
  end(error: unknown = null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#error = error
    this.#take = null
    this.#wake?.()
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    const slice = this.#waiting.shift()
    if (slice) {
      this.#size -= slice.length
      return slice
    }
    if (this.#error) throw this.#error
    return this.#isOver ? null : this.#more()
  }

  async each(take: (slice: Uint8Array) => void): Promise<void> {
    try {
      for (const slice of this.#waiting.splice(0)) take(slice)
    } catch (error) {
      this.cancel()
      throw error
    }
    if (!this.#isOver) {
      this.#take = take
      await this.#arrival()
    }
    if (this.#error) throw this.#error
  }

  release(): void {}

  cancel(): void {
    if (this.#isOver) return
    this.end(new Error('Nobody reads the body any more'))
    this.#source.destroy()
  }

  async #more(): Promise<Uint8Array | null> {
    await this.#arrival()
    return this.next()
  }

  /** Until something waits, or the end. */
  async #arrival(): Promise<void> {
    const arrived = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#source.resume()
    await arrived
    this.#wake = null
  }

  #give(slice: Uint8Array, take: (slice: Uint8Array) => void): void {
    try {
      take(slice)
    } catch (error) {
      this.end(error)
      this.#source.destroy()
    }
  }
}
