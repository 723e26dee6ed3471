import type { NumberSummary } from '../../kit/answers.ts'
import { type Quantity, quantityIn } from '../where/compare.ts'
import { Sketch, type SketchDump } from './sketch.ts'

type NumberKind = Quantity['kind']

/** Plain numbers, durations and sizes of different values: a field may have all of them, though most have one kind. */
const KINDS = ['number', 'duration', 'size'] as const satisfies readonly NumberKind[]

/** What amounts of a kind are in. */
export const UNITS = { number: null, duration: 'ms', size: 'bytes' } as const satisfies Record<
  NumberKind,
  string | null
>

/** No number is written with more characters. */
const LONGEST_NUMBER = 100

/** Reads the values of a field as numbers, in the unit that its name or the value gives; null for what is none. */
export function numberReader(field: string): (value: string) => Quantity | null {
  const read = quantityIn(field)
  return (value) => {
    if (value.length > LONGEST_NUMBER) return null
    const quantity = read(value)
    return quantity !== null && Number.isFinite(quantity.amount) ? quantity : null
  }
}

/** The same as JSON. */
export type NumbersDump = Partial<Record<NumberKind, SketchDump>>

/** The distributions of numbers, one for each kind. */
export class Numbers {
  readonly #sketches = new Map<NumberKind, Sketch>()

  get bins(): number {
    let bins = 0
    for (const sketch of this.#sketches.values()) bins += sketch.bins
    return bins
  }

  /** Takes a number, and returns how many bins that made. */
  add({ kind, amount }: Quantity): number {
    const sketch = this.#of(kind)
    const before = sketch.bins
    sketch.add(amount)
    return sketch.bins - before
  }

  merge(other: Numbers): void {
    for (const [kind, sketch] of other.#sketches) this.#of(kind).merge(sketch)
  }

  /** As JSON, for another service that adds them to its own. */
  dump(): NumbersDump {
    return Object.fromEntries([...this.#sketches].map(([kind, sketch]) => [kind, sketch.dump()]))
  }

  /** Throws a TypeError if these are none. */
  static from(dump: NumbersDump): Numbers {
    const numbers = new Numbers()
    for (const kind of KINDS) {
      const sketch = dump[kind]
      if (sketch) numbers.#sketches.set(kind, Sketch.from(sketch))
    }
    return numbers
  }

  countOf(kind: NumberKind): number {
    return this.#sketches.get(kind)?.count ?? 0
  }

  /** The numbers of a kind; null if there are none. */
  summaryOf(kind: NumberKind): NumberSummary | null {
    const sketch = this.#sketches.get(kind)
    if (!sketch) return null
    const { count, min, max } = sketch
    return {
      count,
      min: exact(min),
      median: exact(sketch.quantile(0.5)),
      p95: exact(sketch.quantile(0.95)),
      max: exact(max),
      unit: UNITS[kind],
    }
  }

  #of(kind: NumberKind): Sketch {
    const known = this.#sketches.get(kind)
    if (known) return known
    const sketch = new Sketch()
    this.#sketches.set(kind, sketch)
    return sketch
  }
}

/** The most frequent kind among numbers. */
export function mainKind(all: Iterable<Numbers>): NumberKind {
  const counts = new Map<NumberKind, number>()
  for (const numbers of all)
    for (const kind of KINDS) counts.set(kind, (counts.get(kind) ?? 0) + numbers.countOf(kind))
  return KINDS.reduce((best, kind) => ((counts.get(kind) ?? 0) > (counts.get(best) ?? 0) ? kind : best))
}

/** 1.1 s are 1100 ms, not 1100.0000000000002. */
function exact(amount: number): number {
  return Number(amount.toPrecision(15))
}
