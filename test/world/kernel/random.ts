/**
 * Numbers that depend on a seed and a name alone. Each actor, file and store has a stream of its own, so that removing
 * one of them changes nothing for the others.
 */
export class Random {
  readonly #name: string
  #a: number
  #b: number
  #c: number
  #d = 1

  constructor(name: string) {
    this.#name = name
    // FNV-1a, three times with other beginnings: the state of the generator below.
    this.#a = hash(name, 0x811c9dc5)
    this.#b = hash(name, 0x9e3779b9)
    this.#c = hash(name, 0x85ebca6b)
    for (let i = 0; i < 12; i++) this.fraction()
  }

  /** A stream that has nothing in common with this one, however many numbers either has given. */
  split(name: string | number): Random {
    return new Random(`${this.#name}/${name}`)
  }

  /** From 0 up to 1: sfc32. */
  fraction(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#d) | 0
    this.#d = (this.#d + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    return (sum >>> 0) / 2 ** 32
  }

  /** A whole number from 0 up to, and without, a border. */
  below(border: number): number {
    return Math.floor(this.fraction() * border)
  }

  /** A whole number between two, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** Whole numbers between two where small ones are far more likely. */
  small(low: number, high: number): number {
    const part = this.fraction()
    return low + Math.floor((high - low + 1) * part * part * part)
  }

  chance(of: number): boolean {
    return this.fraction() < of
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!
  }

  /** One of the names, as often as their weights say. */
  weighted<N extends string>(weights: Readonly<Record<N, number>>): N {
    const entries = Object.entries(weights) as [N, number][]
    let left = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) {
      left -= weight
      if (left < 0) return name
    }
    return entries.at(-1)![0]
  }
}

function hash(text: string, start: number): number {
  let state = start
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
  return state | 0
}
