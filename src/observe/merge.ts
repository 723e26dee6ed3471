import type { MetricFamily } from './registry.ts'

/** The metrics of one process, with its name. */
export interface ProcessMetrics {
  process: string
  families: readonly MetricFamily[]
}

/** The metrics of several processes as those of one service. */
export function mergeMetrics(all: readonly ProcessMetrics[]): MetricFamily[] {
  const merged = new Map<string, { family: MetricFamily; rows: Map<string, number> }>()
  for (const { process, families } of all)
    for (const family of families) {
      const known = merged.get(family.name) ?? { family, rows: new Map() }
      merged.set(family.name, known)
      for (const [series, value] of family.rows) {
        const key = family.across === 'each' ? ofProcess(series, process) : series
        const before = known.rows.get(key)
        known.rows.set(key, before === undefined ? value : join(family, before, value))
      }
    }
  return [...merged.values()].map(({ family, rows }) => ({ ...family, rows: [...rows] }))
}

/** What stays of a process that has ended: counts that others continue. A sum that dropped would look like a restart. */
export function remainsOf(families: readonly MetricFamily[]): MetricFamily[] {
  return families.filter(({ type, across }) => type !== 'gauge' && across === 'sum')
}

function join({ across }: MetricFamily, a: number, b: number): number {
  return across === 'max' ? Math.max(a, b) : a + b
}

/** `a{x="1"}` as the series of one process. Its name needs no escaping. */
function ofProcess(series: string, name: string): string {
  const at = series.indexOf('{')
  if (at < 0) return `${series}{process="${name}"}`
  return `${series.slice(0, at)}{process="${name}",${series.slice(at + 1)}`
}
