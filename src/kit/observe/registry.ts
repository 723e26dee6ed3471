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
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  rows(): Row[]
  instrument?: Counter | Histogram
}

/** Makes an empty registry. Names of counters come without `_total`, which is added where a format wants it. */
export function createRegistry(): Registry {
  const families = new Map<string, Family>()
  /** Two apps may share a registry, so each name has one instrument. */
  const once = <I extends Counter | Histogram>(name: string, make: () => Family & { instrument: I }): I => {
    if (!families.get(name)?.instrument) families.set(name, make())
    return families.get(name)!.instrument as I
  }
  const read = (type: 'counter' | 'gauge') => (name: string, help: string, values: Read) => {
    const rows = () => {
      const value = values()
      const samples: readonly Sample[] = typeof value === 'number' ? [{ value }] : (value ?? [])
      const series = type === 'counter' ? `${name}_total` : name
      return samples.map(({ value, labels }): Row => [series + labelsOf(labels), value])
    }
    families.set(name, { help, type, rows })
  }
  return {
    counter: (name, help) => once(name, () => counter(name, help)),
    histogram: (name, help, bounds) => once(name, () => histogram(name, help, bounds)),
    gauge: read('gauge'),
    counted: read('counter'),
    text: (format) => textOf(families, format),
  }
}

/** Metrics in the text of a format. */
function textOf(families: ReadonlyMap<string, Family>, format: MetricFormat): string {
  const open = format === 'openmetrics'
  const parts = [...families].map(([name, { help, type, rows: read }]) => {
    const rows = read()
    if (rows.length === 0) return ''
    // Prometheus's own format names a counter with its ending, OpenMetrics without.
    const title = type === 'counter' && !open ? `${name}_total` : name
    const lines = rows.map(([series, value]) => `${series} ${number(value)}\n`)
    return `# HELP ${title} ${help}\n# TYPE ${title} ${type}\n${lines.join('')}`
  })
  return parts.join('') + (open ? '# EOF\n' : '')
}

/** The series of an instrument: `of` finds the one with these labels, or makes it. */
function seriesBy<S>(make: (labels: Labels) => S) {
  const all = new Map<string, S>()
  const of = (labels: Labels = {}): S => {
    const key = labelsOf(labels)
    const one = all.get(key) ?? make(labels)
    all.set(key, one)
    return one
  }
  return { all, of }
}

function counter(name: string, help: string) {
  const { all, of } = seriesBy(() => ({ value: 0 }))
  const rows = () => [...all].map(([labels, { value }]): Row => [`${name}_total${labels}`, value])
  const adder = (labels?: Labels) => {
    const one = of(labels)
    return (amount = 1) => {
      one.value += amount
    }
  }
  const instrument: Counter = { add: (amount, labels) => adder(labels)(amount), with: adder }
  return { help, type: 'counter' as const, rows, instrument }
}

function histogram(name: string, help: string, bounds: readonly number[]) {
  const { all, of } = seriesBy((labels) => ({ labels, counts: bounds.map(() => 0), sum: 0, count: 0 }))
  const rows = () =>
    [...all].flatMap(([own, { labels, counts, sum, count }]): Row[] => {
      let below = 0
      const bucket = (le: string, value: number): Row => [
        `${name}_bucket${labelsOf({ ...labels, le })}`,
        value,
      ]
      const buckets = bounds.map((bound, i) => {
        below += counts[i]!
        return bucket(bucketEdge(bound), below)
      })
      return [...buckets, bucket('+Inf', count), [`${name}_sum${own}`, sum], [`${name}_count${own}`, count]]
    })
  const observer = (labels?: Labels) => {
    const one = of(labels)
    return (value: number) => {
      const bucket = bounds.findIndex((bound) => value <= bound)
      if (bucket >= 0) one.counts[bucket]!++
      one.sum += value
      one.count++
    }
  }
  const instrument: Histogram = { observe: (value, labels) => observer(labels)(value), with: observer }
  return { help, type: 'histogram' as const, rows, instrument }
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
  return value.replace(/[\\"\n]/g, (letter) => (letter === '\n' ? '\\n' : `\\${letter}`))
}
