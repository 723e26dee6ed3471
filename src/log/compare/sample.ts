import { isTurnOver, yieldToEventLoop } from '../../limits/yield.ts'
import { readFields } from '../fields/fields.ts'
import { LEVELS, type LineFormat } from '../format/detect.ts'
import { COLUMNS } from '../histogram/chart.ts'
import { histogramOf } from '../histogram/histogram.ts'
import { levelsFrom, type Selection } from '../selection.ts'
import type { ViewContext } from '../view/context.ts'
import type { ViewRequest } from '../view/request.ts'
import { viewOf } from '../view/view.ts'

/** A log that is compared: on a fleet, with its node. */
export interface ComparedLog {
  name: string
  file: string
  node: string | null
  rotated: boolean
  /** How its text is written. */
  charset?: ViewRequest['charset']
  context: ViewContext
}

/** From a moment to before another, in ms since the epoch. */
export interface Period {
  from: number
  to: number
}

/** A record as it is compared; it stands for `weight` records. */
export interface SampledRecord {
  log: ComparedLog
  level: string | null
  message: string
  fields: [name: string, value: string][]
  weight: number
}

/** What a log holds in a period: exact counts, and records. */
export interface Sample {
  log: ComparedLog
  /** By level, and by part of the period: all records, counted. */
  levels: number[]
  parts: number[]
  records: SampledRecord[]
  /** Whether the records are all of them. */
  isWhole: boolean
  /** False if a budget ran out, or an archive ends early: not all records were counted. */
  complete: boolean
  notes: ReadonlySet<string>
}

/** Records that are read of all logs of one side, and bytes of one log at a time. */
const RECORDS = 10_000
const BYTES = 8 * 1024 * 1024
/** A longer period is sampled in this many parts. */
const PARTS = 8
/** The least that is read of a log, and of a part of it. */
const FEWEST = 250
/** The longest value of a field that is compared, and how many fields a record may have. */
const LONGEST_VALUE = 200
const FIELDS = 100

const WARN = LEVELS.indexOf('warn')

/** What is read of a log: of which period, in which slot, and for how many logs. */
export interface Sampling {
  selection: Selection
  period: Period
  /** How many logs share the records. */
  logs: number
  signal?: AbortSignal | undefined
}

/**
 * Counts the records of a log in a period, and reads them. Of too many, it reads the newest of each part of the period,
 * and of all warnings and above as many again: these are rare, and tell the most.
 */
export async function sampleLog(log: ComparedLog, sampling: Sampling): Promise<Sample> {
  const { period, logs, signal } = sampling
  const { from, to } = period
  const selection = sampling.selection.with({ since: from, until: to })
  const step = Math.max(1, Math.ceil((to - from) / PARTS))
  const { file, rotated, charset, context } = log
  const counting = { file, rotated, charset, selection, buckets: PARTS, step, origin: from, range: period }
  const chart = (await histogramOf(context, counting, () => false, signal))!
  const sums = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)
  const levels = COLUMNS.map((_, i) => sums(chart.buckets.map(({ counts }) => counts[i]!)))
  const parts = Array.from({ length: PARTS }, (_, i) => sums(chart.buckets[i]?.counts ?? []))
  const reading = new SampleReader(log, selection, signal)
  const most = Math.max(FEWEST, Math.floor(RECORDS / logs))
  const total = sums(parts)
  if (total > 0 && total <= most) await reading.take({ most, stands: total })
  else if (total > most) {
    const severe = sums(levels.slice(WARN, LEVELS.length))
    const each = Math.max(FEWEST, Math.floor(most / PARTS))
    // Levels may be filtered already; then everything is read in parts.
    const splits = severe > 0 && severe < total && selection.levels === null
    for (const [i, count] of parts.entries()) {
      if (count === 0) continue
      const within = { since: from + i * step, until: Math.min(to, from + (i + 1) * step) }
      const others =
        sums(chart.buckets[i]!.counts) - sums(chart.buckets[i]!.counts.slice(WARN, LEVELS.length))
      await reading.take({ ...within, most: each, stands: splits ? others : count, mild: splits })
    }
    if (splits) await reading.take({ most, stands: severe, levels: levelsFrom(WARN) })
  }
  const { records, notes, isCut } = reading
  for (const note of chart.notes ?? []) notes.add(note)
  const isWhole = records.length === total
  return { log, levels, parts, records, isWhole, complete: chart.complete && !isCut, notes }
}

/** Which records are read: at most so many of those that they stand for. */
interface Drawn {
  since?: number
  until?: number
  levels?: number
  most: number
  stands: number
  /** Whether warnings and above are left out. @default false */
  mild?: boolean
}

class SampleReader {
  readonly records: SampledRecord[] = []
  readonly notes = new Set<string>()
  isCut = false
  readonly #log: ComparedLog
  readonly #selection: Selection
  readonly #signal: AbortSignal | undefined

  constructor(log: ComparedLog, selection: Selection, signal: AbortSignal | undefined) {
    this.#log = log
    this.#selection = selection
    this.#signal = signal
  }

  async take({ most, stands, mild = false, ...conditions }: Drawn): Promise<void> {
    const { file, rotated, charset, context } = this.#log
    const request = {
      file,
      rotated,
      charset,
      cursor: null,
      fit: { size: BYTES, lines: most },
      selection: this.#selection.with(conditions),
      records: true,
      each: true,
    }
    const view = await viewOf(context, request, this.#signal)
    try {
      const taken: SampledRecord[] = []
      for (const piece of view.pieces ?? []) {
        if (isTurnOver()) await yieldToEventLoop()
        const record = this.#read(piece, view.format)
        if (!(mild && isSevere(record))) taken.push(record)
      }
      for (const record of taken) record.weight = Math.max(1, stands / taken.length)
      this.records.push(...taken)
      for (const note of view.notes) {
        if (note === 'scan-budget' || note === 'answer-budget') this.isCut ||= view.pieces?.length === 0
        else this.notes.add(note)
      }
    } finally {
      view.memory?.release()
    }
  }

  #read(piece: Uint8Array, format: LineFormat): SampledRecord {
    const fields: SampledRecord['fields'] = []
    const { message, level = null } = readFields(
      piece,
      { format, zone: this.#log.context.zone },
      (name, value) => {
        if (name !== 'level' && fields.length < FIELDS && value.length <= LONGEST_VALUE)
          fields.push([name, value])
      },
    )
    return { log: this.#log, level, message: message.slice(0, LONGEST_MESSAGE), fields, weight: 1 }
  }
}

/** Longer messages are compared by their beginning. */
const LONGEST_MESSAGE = 2000

const isSevere = ({ level }: SampledRecord) => LEVELS.indexOf(level as (typeof LEVELS)[number]) >= WARN
