import { isTurnOver, yieldToEventLoop } from '../../kit/limits/yield.ts'
import { readFields } from '../fields/fields.ts'
import { LEVELS, type LineFormat } from '../format/detect.ts'
import { COLUMNS } from '../histogram/chart.ts'
import { histogramOf } from '../histogram/histogram.ts'
import { mergePage } from '../merge/merge.ts'
import type { LogReader } from '../merge/reader.ts'
import type { Source } from '../merge/source.ts'
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
  /** The log as one of several, and who reads it if that is elsewhere. @default it is read here */
  source?: Source
  reader?: LogReader | undefined
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
  /** The filters as a query, for logs that are read on their own nodes. @default all are read here */
  handedOn?: string | null
  signal?: AbortSignal | undefined
}

/**
 * Counts the records of a log in a period, and reads them. Of too many, it reads the newest of each part of the period,
 * and of all warnings and above as many again: these are rare, and tell the most.
 */
export async function sampleLog(log: ComparedLog, sampling: Sampling): Promise<Sample> {
  const { period, logs } = sampling
  const { from, to } = period
  const selection = sampling.selection.with({ since: from, until: to })
  const step = Math.max(1, Math.ceil((to - from) / PARTS))
  const chart = await countLog(log, { ...sampling, selection }, step)
  const sums = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)
  const levels = COLUMNS.map((_, i) => sums(chart.parts.map((counts) => counts[i]!)))
  const parts = chart.parts.map(sums)
  const reading = new SampleReader(log, { ...sampling, selection })
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
      const others = count - sums(chart.parts[i]!.slice(WARN, LEVELS.length))
      await reading.take({ ...within, most: each, stands: splits ? others : count, mild: splits })
    }
    if (splits) await reading.take({ most, stands: severe, levels: levelsFrom(WARN) })
  }
  const { records, notes, isCut } = reading
  for (const note of chart.notes) notes.add(note)
  const isWhole = records.length === total
  return { log, levels, parts, records, isWhole, complete: chart.complete && !isCut, notes }
}

/** How many records there are in each part of a period, by level: counted on the log's own node, if that can be. */
async function countLog(
  { file, rotated, charset, context, reader }: ComparedLog,
  { selection, period, handedOn = null, signal }: Sampling,
  step: number,
): Promise<{ parts: number[][]; complete: boolean; notes: readonly string[] }> {
  const { from } = period
  const counting = { file, rotated, charset, selection, buckets: PARTS, step, origin: from, range: period }
  const asked = [`file=${encodeURIComponent(file)}&rotated=${rotated}&step=${step}&origin=${from}`]
  const there =
    handedOn === null || !isSaid(period)
      ? null
      : await reader?.count([...asked, ...timesOf(selection), handedOn].filter(Boolean).join('&'), signal)
  const chart = there ?? (await histogramOf(context, counting, () => false, signal))!
  const parts = Array.from({ length: PARTS }, () => COLUMNS.map(() => 0))
  for (const { time, counts } of chart.buckets) {
    const part = parts[Math.min(PARTS - 1, Math.max(0, Math.round((time - from) / step)))]!
    counts.forEach((count, column) => {
      part[column]! += count
    })
  }
  return { parts, complete: chart.complete, notes: chart.notes ?? [] }
}

/** Whether its ends can be said to another node: times in a query are whole milliseconds. */
const isSaid = ({ from, to }: Period) => Number.isInteger(from) && Number.isInteger(to)

function timesOf({ since, until }: Selection): string[] {
  return [`since=${new Date(since!).toISOString()}`, `until=${new Date(until!).toISOString()}`]
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

/** Records that were read, and the memory that they take until they are released. */
interface SampledPage {
  records: Iterable<{ bytes: Uint8Array; format: LineFormat }> & { readonly length: number }
  notes: readonly string[]
  release(): void
}

class SampleReader {
  readonly records: SampledRecord[] = []
  readonly notes = new Set<string>()
  isCut = false
  readonly #log: ComparedLog
  readonly #sampling: Sampling

  constructor(log: ComparedLog, sampling: Sampling) {
    this.#log = log
    this.#sampling = sampling
  }

  async take({ most, stands, mild = false, ...conditions }: Drawn): Promise<void> {
    const selection = this.#sampling.selection.with(conditions)
    const found = (await this.#there(selection, most)) ?? (await this.#here(selection, most))
    try {
      const taken: SampledRecord[] = []
      for (const { bytes, format } of found.records) {
        if (isTurnOver()) await yieldToEventLoop()
        const record = this.#read(bytes, format)
        if (!(mild && isSevere(record))) taken.push(record)
      }
      for (const record of taken) record.weight = Math.max(1, stands / taken.length)
      this.records.push(...taken)
      for (const note of found.notes) {
        if (note === 'scan-budget' || note === 'answer-budget') this.isCut ||= found.records.length === 0
        else this.notes.add(note)
      }
    } finally {
      found.release()
    }
  }

  async #here(selection: Selection, most: number): Promise<SampledPage> {
    const { file, rotated, charset, context } = this.#log
    const what = { file, rotated, charset, cursor: null, selection, records: true, each: true }
    const request = { ...what, fit: { size: BYTES, lines: most } }
    const view = await viewOf(context, request, this.#sampling.signal)
    const records = (view.pieces ?? []).map((bytes) => ({ bytes, format: view.format }))
    return { records, notes: view.notes, release: () => view.memory?.release() }
  }

  /** The newest records as the log's own node finds them; null if it is read here. */
  async #there(selection: Selection, most: number): Promise<SampledPage | null> {
    const { source, charset, context, reader } = this.#log
    const { handedOn = null, period, signal } = this.#sampling
    if (!source || !reader || handedOn === null || !isSaid(period)) return null
    // What is added to the filters of the request is the level, if they do not name one.
    const level = selection.levels === this.#sampling.selection.levels ? '' : `level=${LEVELS[WARN]}`
    const request = {
      selection,
      charset,
      cursor: null,
      fit: { size: BYTES, lines: most },
      elsewhere: {
        readerOf: () => reader,
        filters: [...timesOf(selection), level, handedOn].filter(Boolean).join('&'),
      },
      alone: true,
    }
    return mergePage([{ ...source, context }], request, signal)
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
