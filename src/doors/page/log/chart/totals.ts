import type { Histogram } from '../../../client.ts'
import { levelsOf } from '../record/record.ts'

/** Records by level, as far as they were counted. */
export interface Totals {
  counts: Record<string, number>
  complete: boolean
  /** The question whose records these are. */
  key: string
}

/** What the columns of a chart count: levels, or the logs or nodes that records are from. */
export function namesOf({ levels, files, nodes }: Histogram): string[] {
  return files ?? nodes ?? levels ?? []
}

/** The records of each of them in all buckets. */
export function sumsOf(data: Histogram): number[] {
  return namesOf(data).map((_, index) =>
    data.buckets.reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0),
  )
}

/** Null for a chart that does not count levels. */
export function totalsOf(data: Histogram, key: string): Totals | null {
  const { levels, complete } = data
  if (levels === undefined || namesOf(data) !== levels) return null
  const sums = sumsOf(data)
  return {
    counts: Object.fromEntries(levels.map((name, index) => [name, sums[index]!])),
    complete,
    key,
  }
}

/** How many records a level filter shows: all for '', a level and above, or exactly those of `=warn,error`. */
export function totalAt({ counts }: Totals, level: string): number {
  const names = levelsOf(level) ?? Object.keys(counts)
  return names.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
}
