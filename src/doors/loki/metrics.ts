import { histogramOf } from '../../log/histogram/histogram.ts'
import { byCodePoint } from '../../store/store.ts'
import {
  deadlineOf,
  eachInTime,
  filesOf,
  type LogFile,
  nullIfSilent,
  reportBroken,
  type Search,
} from './files.ts'
import { choiceOf, type Labels } from './labels.ts'
import { textEnd } from './lines.ts'
import { LokiError, type LokiQuery, type MetricQuery } from './logql/query.ts'
import { type Pipeline, pipelineOf } from './pipeline.ts'

/** Points of time, in ms. */
interface Steps {
  start: number
  end: number
  step: number
}

/** A series of a matrix: each point in ms with its value. */
interface Series {
  metric: Labels
  values: [at: number, value: number][]
}

const MAX_POINTS = 11_000
/** As many series as Loki allows, and 2 MB of values. */
const MAX_SERIES = 500
const MAX_VALUES = 250_000

/** Counts over time, by labels. */
export async function seriesOf(
  search: Search,
  query: Exclude<LokiQuery, { kind: 'log' }>,
  steps: Steps,
): Promise<Series[]> {
  if (query.kind === 'scalar') return [{ metric: {}, values: [[steps.start, query.value]] }]
  const sums = new Sums(query, steps)
  const { sum } = query
  const isCompared = query.selection.stages.some(({ kind }) => kind === 'where')
  // Where nobody looks at a field, Loki does not parse records, and meets no error.
  const isBare = sum !== null && !sum.without && sum.labels.length === 0 && !isCompared
  const selection = isBare ? { ...query.selection, stages: [] } : query.selection
  const pipeline = await pipelineOf(selection, sum && !sum.without ? sum.labels : null)
  const isLate = deadlineOf(search, search.sources)
  const files = await filesOf(search, choiceOf(selection))
  await eachInTime(files, isLate, async (file) => {
    await countIn(file, { sums, pipeline, search }).catch(nullIfSilent)
  })
  return sums.series()
}

async function countIn(
  of: LogFile,
  { sums, pipeline, search }: { sums: Sums; pipeline: Pipeline; search: Search },
): Promise<void> {
  const { signal, read } = search
  // The series of each level, if nothing else makes a difference.
  const known: (Float64Array | undefined)[] = []
  const histogram = await histogramOf(
    of.context,
    {
      file: of.file,
      rotated: false,
      selection: pipeline.filter(of).with(sums.period),
      buckets: 1,
      visit(time, column, { bytes, start, end }, reader) {
        const length = textEnd(bytes, start, end) - start
        read.lines++
        read.bytes += length
        let changes = pipeline.isPlain ? known[column] : undefined
        changes ??= sums.changesOf(pipeline.labels({ bytes, from: start, to: end }, reader, of))
        known[column] = changes
        sums.add(changes, Math.floor(time), length)
      },
    },
    () => false,
    signal,
  )
  reportBroken(search, histogram?.notes)
  if (!histogram?.complete && !histogram?.notes?.includes('archive-cut'))
    throw new LokiError(
      'The count took more than one request may; narrow the time range or the selector.',
      504,
    )
}

/** The values of all series. A record counts at each point whose range it is in, so only the changes are kept. */
class Sums {
  readonly #query: MetricQuery
  readonly #start: number
  readonly #step: number
  readonly #points: number
  readonly #series = new Map<string, { metric: Labels; changes: Float64Array }>()

  constructor(query: MetricQuery, { start, end, step }: Steps) {
    this.#query = query
    this.#start = start
    this.#step = step
    this.#points = Math.floor((end - start) / step) + 1
    if (this.#points > MAX_POINTS)
      throw new LokiError(
        `The step makes ${this.#points} points; at most ${MAX_POINTS} are allowed, so use a longer one.`,
      )
  }

  /** The times of all records that count. A range is open at its start and closed at its end. */
  get period(): { since: number; until: number } {
    const { range, offset } = this.#query
    const last = this.#start + (this.#points - 1) * this.#step
    return {
      since: Math.floor(this.#start - range - offset) + 1,
      until: Math.floor(last - offset) + 1,
    }
  }

  /** The changes of the series that a record with these labels belongs to. */
  changesOf(labels: Labels): Float64Array {
    refuseError(labels)
    const { sum } = this.#query
    const isKept = (name: string) => sum === null || sum.labels.includes(name) !== sum.without
    const metric = Object.fromEntries(
      Object.entries(labels).filter(([name, value]) => value !== '' && isKept(name)),
    )
    const key = JSON.stringify(metric)
    const known = this.#series.get(key)
    if (known) return known.changes
    const count = this.#series.size + 1
    if (count > MAX_SERIES || count * this.#points > MAX_VALUES)
      throw new LokiError(
        `The query makes more than ${count - 1} series of ${this.#points} points; at most ${MAX_SERIES} series and ${MAX_VALUES} values are allowed, so sum by labels with fewer values, or use a longer step.`,
      )
    const changes = new Float64Array(this.#points + 1)
    this.#series.set(key, { metric, changes })
    return changes
  }

  add(changes: Float64Array, time: number, bytes: number): void {
    const { range, offset, operation } = this.#query
    const after = time + offset - this.#start
    const first = Math.max(0, Math.ceil(after / this.#step))
    const end = Math.min(this.#points, Math.ceil((after + range) / this.#step))
    if (first >= end) return
    const amount = operation.startsWith('bytes') ? bytes : 1
    changes[first]! += amount
    changes[end]! -= amount
  }

  /** In an order that does not depend on which file was read first. */
  series(): Series[] {
    const { operation, range } = this.#query
    const seconds = operation.endsWith('rate') ? range / 1000 : 1
    const sorted = [...this.#series].sort(([a], [b]) => byCodePoint(a, b))
    return sorted.map(([, { metric, changes }]) => {
      const values: Series['values'] = []
      let sum = 0
      for (let i = 0; i < this.#points; i++) {
        sum += changes[i]!
        // Loki omits points without a record.
        if (sum > 0) values.push([this.#start + i * this.#step, sum / seconds])
      }
      return { metric, values }
    })
  }
}

/** As in Loki, records that could not be read must be left out by name: otherwise a count would be wrong without a word. */
function refuseError({ __error__: error, __error_details__: _, ...labels }: Labels): void {
  if (!error) return
  throw new LokiError(
    `pipeline error: ${error} in a record of ${JSON.stringify(labels.file ?? '')}; write | __error__="" behind the stage to leave such records out.`,
  )
}
