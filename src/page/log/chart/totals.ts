import type { Histogram } from '../../../client.ts'

/** Records by level, as far as they were counted. */
export interface Totals {
  counts: Record<string, number>
  complete: boolean
  estimated: boolean
}

export function totalsOf(data: Histogram): Totals {
  const counts: Record<string, number> = {}
  data.levels.forEach((name, index) => {
    counts[name] = data.buckets.reduce((sum, bucket) => sum + (bucket.counts[index] ?? 0), 0)
  })
  return { counts, complete: data.complete, estimated: data.estimated === true }
}
