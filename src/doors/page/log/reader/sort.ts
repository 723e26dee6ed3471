import { quantityOf } from '../../../../log/where/compare.ts'
import { valuesOf } from '../record/fields.ts'
import { type Item, parse } from '../record/record.ts'

/** The column that records are sorted by. */
export interface Sorting {
  field: string
  /** Whether the largest comes first. */
  down: boolean
}

/** Records in order of a field: numbers by their amounts, other values by their text. Those without it come last. */
export function sorted(items: readonly Item[], { field, down }: Sorting): Item[] {
  const keyed = items.flatMap((item) => {
    if (typeof item !== 'string') return []
    const value = valuesOf(parse(item), field)[0] ?? null
    return [{ item, value, amount: value === null ? null : (quantityOf(value)?.amount ?? null) }]
  })
  const sign = down ? -1 : 1
  return keyed
    .sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null)
      if (a.amount !== null && b.amount !== null) return sign * (a.amount - b.amount)
      // Numbers come before words, whatever the order.
      if (a.amount !== null || b.amount !== null) return a.amount === null ? 1 : -1
      return sign * (a.value < b.value ? -1 : a.value > b.value ? 1 : 0)
    })
    .map(({ item }) => item)
}
