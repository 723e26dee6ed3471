/** The labels of one time series. */
export type Labels = Readonly<Record<string, string>>

/** Counts up. */
export interface Counter {
  add(amount?: number, labels?: Labels): void
  /** `add` for one series, which need not be looked up by its labels each time. */
  with(labels?: Labels): (amount?: number) => void
}

/** Counts observations by size. */
export interface Histogram {
  observe(value: number, labels?: Labels): void
  /** `observe` for one series, which need not be looked up by its labels each time. */
  with(labels?: Labels): (value: number) => void
}

/** A value that is read at each scrape. */
export type Sample = { value: number; labels?: Labels }

type Read = () => number | readonly Sample[] | null

/** Metrics by name, as text for Prometheus. */
export interface Registry {
  counter(name: string, help: string): Counter
  histogram(name: string, help: string, bounds: readonly number[]): Histogram
  /** `read` is called at each scrape; null leaves the metric out. */
  gauge(name: string, help: string, read: Read): void
  /** A counter kept elsewhere: only its current value is read. */
  counted(name: string, help: string, read: Read): void
  /** The current values. */
  text(format: MetricFormat): string
}

/** Prometheus's text format, or OpenMetrics. */
export type MetricFormat = 'prometheus' | 'openmetrics'

/** A series as it is written, `name{label="value"}`, and its value. */
type Row = [series: string, value: number]

interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  rows(): Row[]
}

/** Makes an empty registry. Names of counters come without `_total`, which is added where a format wants it. */
export function createRegistry(): Registry {
  const families: Family[] = []
  const instruments = new Map<string, Counter | Histogram>()
  /** Two apps may share a registry, so each name has one instrument. */
  const once = <I extends Counter | Histogram>(name: string, make: () => I): I => {
    const known = instruments.get(name) as I | undefined
    if (known) return known
    const made = make()
    instruments.set(name, made)
    return made
  }
  const read = (type: 'counter' | 'gauge') => {
    return (name: string, help: string, values: Read) => {
      const suffix = type === 'counter' ? '_total' : ''
      const rows = () => {
        const value = values()
        if (value === null) return []
        const samples: readonly Sample[] = typeof value === 'number' ? [{ value }] : value
        return samples.map(({ value, labels }): Row => [`${name}${suffix}${labelsOf(labels)}`, value])
      }
      const at = families.findIndex((family) => family.name === name)
      families.splice(at < 0 ? families.length : at, at < 0 ? 0 : 1, { name, help, type, rows })
    }
  }
  return {
    counter: (name, help) => once(name, () => counter(families, name, help)),
    histogram: (name, help, bounds) => once(name, () => histogram(families, name, help, bounds)),
    gauge: read('gauge'),
    counted: read('counter'),
    text: (format) => textOf(families, format),
  }
}

/** Metrics in the text of a format. */
function textOf(families: readonly Family[], format: MetricFormat): string {
  const open = format === 'openmetrics'
  const parts = families.map(({ name, help, type, rows: read }) => {
    const rows = read()
    if (rows.length === 0) return ''
    // Prometheus's own format names a counter with its ending, OpenMetrics without.
    const title = type === 'counter' && !open ? `${name}_total` : name
    const lines = rows.map(([series, value]) => `${series} ${number(value)}\n`)
    return `# HELP ${title} ${help}\n# TYPE ${title} ${type}\n${lines.join('')}`
  })
  return parts.join('') + (open ? '# EOF\n' : '')
}

function counter(families: Family[], name: string, help: string): Counter {
  const series = new Map<string, { value: number }>()
  const rows = () => [...series].map(([labels, { value }]): Row => [`${name}_total${labels}`, value])
  families.push({ name, help, type: 'counter', rows })
  const adder = (labels?: Labels) => {
    const key = labelsOf(labels)
    const one = series.get(key) ?? { value: 0 }
    series.set(key, one)
    return (amount = 1) => {
      one.value += amount
    }
  }
  return { add: (amount, labels) => adder(labels)(amount), with: adder }
}

function histogram(families: Family[], name: string, help: string, bounds: readonly number[]): Histogram {
  const series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>()
  const rows = () =>
    [...series.values()].flatMap(({ labels, counts, sum, count }): Row[] => {
      let below = 0
      const bucket = (le: string, value: number): Row => [
        `${name}_bucket${labelsOf({ ...labels, le })}`,
        value,
      ]
      const buckets = bounds.map((bound, i) => {
        below += counts[i]!
        return bucket(bucketEdge(bound), below)
      })
      const own = labelsOf(labels)
      return [...buckets, bucket('+Inf', count), [`${name}_sum${own}`, sum], [`${name}_count${own}`, count]]
    })
  families.push({ name, help, type: 'histogram', rows })
  const observer = (labels: Labels = {}) => {
    const key = labelsOf(labels)
    const one = series.get(key) ?? { labels, counts: bounds.map(() => 0), sum: 0, count: 0 }
    series.set(key, one)
    return (value: number) => {
      const bucket = bounds.findIndex((bound) => value <= bound)
      if (bucket >= 0) one.counts[bucket]!++
      one.sum += value
      one.count++
    }
  }
  return { observe: (value, labels) => observer(labels)(value), with: observer }
}

/** OpenMetrics requires bucket bounds to look like floats. */
function bucketEdge(bound: number): string {
  return Number.isInteger(bound) ? `${bound}.0` : String(bound)
}

function number(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : '-Inf'
}

function labelsOf(labels: Labels = {}): string {
  let text = ''
  for (const name in labels) text += `${text === '' ? '{' : ','}${name}="${escaped(labels[name]!)}"`
  return text === '' ? '' : `${text}}`
}

function escaped(value: string): string {
  if (!/[\\"\n]/.test(value)) return value
  return value.replace(/[\\"\n]/g, (letter) => (letter === '\n' ? '\\n' : `\\${letter}`))
}
