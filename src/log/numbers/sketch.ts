/** How much larger the upper end of a bin is than its lower end: any two numbers of a bin differ by 1 % at most. */
const LN_GAMMA = Math.log(1.01)
/** More than the bin of the smallest or the largest double is away from that of 1, so that keys keep their sign. */
const OFFSET = 80_000

/** A distribution as JSON. */
export type SketchDump = [min: number, max: number, bins: number[]]

interface Bin {
  count: number
  sum: number
}

/**
 * The distribution of numbers in little memory, as DDSketch (Masson and others, VLDB 2019) keeps it: counts in bins that
 * grow by 1 %. A quantile is the mean of the bin it falls into, so it is within 1 % of the number itself, and exact where
 * a bin holds only one. Sketches of parts add up to that of the whole.
 */
export class Sketch {
  count = 0
  min = Number.POSITIVE_INFINITY
  max = Number.NEGATIVE_INFINITY
  readonly #bins = new Map<number, Bin>()

  /** How many bins it has: the measure of its memory, about 100 bytes each. */
  get bins(): number {
    return this.#bins.size
  }

  /** Takes a finite number. */
  add(number: number): void {
    this.#add(keyOf(number), 1, number)
    this.count++
    this.min = Math.min(this.min, number)
    this.max = Math.max(this.max, number)
  }

  merge(other: Sketch): void {
    for (const [key, { count, sum }] of other.#bins) this.#add(key, count, sum)
    this.count += other.count
    this.min = Math.min(this.min, other.min)
    this.max = Math.max(this.max, other.max)
  }

  /** The smallest number that at least this share of all numbers does not exceed. There must be one. */
  quantile(share: number): number {
    const rank = Math.ceil(share * this.count)
    let below = 0
    for (const [, { count, sum }] of [...this.#bins].sort(([a], [b]) => a - b)) {
      below += count
      if (below >= rank) return Math.min(this.max, Math.max(this.min, rounded(sum / count)))
    }
    return this.max
  }

  /** What another service adds to its own: bins as key, count and sum, one after the other. */
  dump(): SketchDump {
    const bins = [...this.#bins].flatMap(([key, { count, sum }]) => [key, count, sum])
    return [this.min, this.max, bins]
  }

  /** Throws a TypeError if it is not one. */
  static from([min, max, bins]: SketchDump): Sketch {
    const sketch = new Sketch()
    for (let i = 0; i < bins.length; i += 3) {
      const [key, count, sum] = [bins[i]!, bins[i + 1]!, bins[i + 2]!]
      if (!Number.isInteger(key) || !Number.isSafeInteger(count) || count <= 0 || !Number.isFinite(sum))
        throw new TypeError('not a bin')
      if (Math.abs(key) > 2 * OFFSET) throw new TypeError('not the key of a bin')
      sketch.#add(key, count, sum)
      sketch.count += count
    }
    if (sketch.count === 0 || !Number.isFinite(min) || !Number.isFinite(max))
      throw new TypeError('not a distribution')
    sketch.min = min
    sketch.max = max
    return sketch
  }

  #add(key: number, count: number, sum: number): void {
    const bin = this.#bins.get(key)
    if (bin === undefined) this.#bins.set(key, { count, sum })
    else {
      bin.count += count
      bin.sum += sum
    }
  }
}

/** The bin of a number. Keys are in the order of their numbers: negative ones, zero, positive ones. */
function keyOf(number: number): number {
  if (number === 0) return 0
  const key = Math.ceil(Math.log(Math.abs(number)) / LN_GAMMA) + OFFSET
  return number < 0 ? -key : key
}

/** A mean has no more than six digits that mean something. */
function rounded(mean: number): number {
  return Number(mean.toPrecision(6))
}
