import type { Histogram } from '../../../client.ts'
import { levelsOf } from '../record/record.ts'

/** Records by level, as far as they were counted. */
export interface Totals {
  counts: Record<string, number>
  complete: boolean
  estimated: boolean
}

/** What the columns of a chart count: levels, or the logs or nodes that records are from. */
export function namesOf({ levels, files, nodes }: Histogram): string[] {
  return files ?? nodes ?? levels ?? []
}

/** Null for a chart that does not count levels. */
export function totalsOf(data: Histogram): Totals | null {
  if (namesOf(data) !== data.levels) return null
  const counts: Record<string, number> = {}
  namesOf(data).forEach((name, index) => {
    counts[name] = data.buckets.reduce((sum, bucket) => sum + (bucket.counts[index] ?? 0), 0)
  })
  return { counts, complete: data.complete, estimated: data.estimated === true }
}

/** How many records a level filter shows: all for '', a level and above, or exactly those of `=warn,error`. */
export function totalAt({ counts }: Totals, level: string): number {
  const names = levelsOf(level) ?? Object.keys(counts)
  return names.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
}
