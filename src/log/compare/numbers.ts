import { type Quantity, quantityOf } from '../where/compare.ts'

/** How many numbers of a field are kept of one side. */
const KEPT = 2000
/** The fewest that say something about how they are distributed. */
const FEWEST = 30
/** How likely a number of one side is to be above one of the other, if they moved. */
const MOVED = 0.7
/** Where a number is far from what is usual. */
const USUAL = 0.95
/** A field whose numbers mostly rise from record to record is a counter, or a time. */
const RISING = 0.8

const SUFFIX: Record<Quantity['kind'], string> = { number: '', duration: 'ms', size: 'B' }

/** The numbers of a field on one side, in the order of the records. */
export class FieldNumbers {
  readonly amounts: number[] = []
  kind: Quantity['kind'] | null = null
  /** How many values there are, and how many of them are numbers of one kind. */
  values = 0
  numbers = 0

  add(value: string): void {
    this.values++
    const quantity = quantityOf(value)
    if (quantity === null || quantity.kind !== (this.kind ?? quantity.kind)) return
    this.kind = quantity.kind
    this.numbers++
    if (this.amounts.length < KEPT) this.amounts.push(quantity.amount)
  }

  get isNumeric(): boolean {
    return this.numbers >= FEWEST && this.numbers >= 0.9 * this.values
  }

  get isCounter(): boolean {
    let up = 0
    let down = 0
    for (let i = 1; i < this.amounts.length; i++) {
      if (this.amounts[i]! > this.amounts[i - 1]!) up++
      else if (this.amounts[i]! < this.amounts[i - 1]!) down++
    }
    return up > RISING * (up + down) || down > RISING * (up + down)
  }
}

/** Numbers that moved: beyond which limit they are unusual in the base, and how many are on each side. */
export interface Moved {
  /** As a condition on the field: `>340ms`. */
  condition: string
  count: number
  base: number
  evidence: number
}

/** Whether the numbers of a field are mostly larger, or smaller, than those of the base; null if not. */
export function movedNumbers(range: FieldNumbers, base: FieldNumbers): Moved | null {
  if (!range.isNumeric || !base.isNumeric || range.kind !== base.kind) return null
  if (range.isCounter || base.isCounter) return null
  const { above, evidence } = rankTest(range.amounts, base.amounts)
  if (Math.max(above, 1 - above) < MOVED) return null
  const isUp = above >= MOVED
  const sorted = base.amounts.toSorted((a, b) => (isUp ? a - b : b - a))
  const limit = sorted[Math.min(sorted.length - 1, Math.floor(USUAL * sorted.length))]!
  const beyond = ({ amounts, numbers }: FieldNumbers) =>
    (amounts.filter((amount) => (isUp ? amount > limit : amount < limit)).length * numbers) / amounts.length
  return {
    condition: `${isUp ? '>' : '<'}${limit}${SUFFIX[base.kind!]}`,
    count: beyond(range),
    base: beyond(base),
    evidence,
  }
}

/** How likely a number of the first is above one of the second, and how surely that is not one half (Mann-Whitney). */
function rankTest(first: readonly number[], second: readonly number[]): { above: number; evidence: number } {
  const [n, m] = [first.length, second.length]
  const all = [...first.map((value) => ({ value, own: 1 })), ...second.map((value) => ({ value, own: 0 }))]
  all.sort((a, b) => a.value - b.value)
  let ranks = 0
  for (let i = 0; i < all.length; ) {
    let end = i
    let own = 0
    for (; end < all.length && all[end]!.value === all[i]!.value; end++) own += all[end]!.own
    // Equal values share their ranks.
    ranks += (own * (i + 1 + end)) / 2
    i = end
  }
  const u = ranks - (n * (n + 1)) / 2
  const deviation = Math.sqrt((n * m * (n + m + 1)) / 12)
  return { above: u / (n * m), evidence: ((u - (n * m) / 2) / deviation) ** 2 }
}
