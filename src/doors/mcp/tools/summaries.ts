import { bad } from '../../../core/http/params.ts'
import { cut } from '../../../log/render/visible.ts'
import type { Histogram, LogFields } from '../../client.ts'
import type { Arguments } from '../arguments.ts'
import { whyEmpty } from '../empty.ts'
import { counted, part, rowsThatFit } from '../text/answer.ts'
import {
  type Call,
  CURSOR,
  FILTERS,
  MAX_CHARS,
  own,
  queryOf,
  rows,
  searched,
  shownTime,
  type Tool,
} from '../tool.ts'

const LONGEST_PATTERN = 300
const LONGEST_EXAMPLE = 300
/** Bars of a chart, unless the call says how wide they are. */
const BUCKETS = 60

export const logPatterns: Tool = {
  name: 'log_patterns',
  title: 'Patterns of messages',
  description:
    'Call this first. It groups the messages of a range by their constant words and counts them: pattern, count, level, first and last time, log, an example; and fields of few values, such as statuses. It shows in a few lines what is in thousands of records.',
  scopes: ['logs'],
  parameters: [
    ...FILTERS,
    own.integer('top', { min: 1, max: 100, default: 20 }, 'How many patterns, the most frequent first.'),
    MAX_CHARS,
  ],
  async run(args, call) {
    const query = queryOf(args, call)
    const found = await call.client.fields(query, call)
    const top = found.patterns.slice(0, args.top as number)
    const rest = found.patterns.slice(top.length).reduce((sum, { count }) => sum + count, 0)
    const others = rest > 0 ? `; ${rest} records have other patterns` : ''
    const head = [
      `${counted(found.records, 'record')} in ${counted(found.patterns.length, 'pattern')}${others}`,
      ...searched(query, call),
    ]
    const isEmpty = found.records === 0 && found.complete
    const lines = isEmpty ? await whyEmpty(query, call) : [...top.map(patternRow), ...valueRows(found)]
    return rowsThatFit({ ...found, head, incomplete: lackOf(found), lines }, 0, args.max_chars as number)
  },
}

/** What the records that were counted are of the range. */
function lackOf({ records, sampled, complete, patterns }: LogFields): string[] {
  const firsts = patterns.flatMap(({ first }) => (first === null ? [] : [first]))
  const earliest = firsts.sort((a, b) => Date.parse(a) - Date.parse(b))[0]
  if (sampled)
    return [
      `Only the newest ${records} records of the range were examined${earliest ? `, back to ${earliest}` : ''}; narrow the range or add filters.`,
    ]
  return complete ? [] : ['A budget ran out before the whole range was examined; narrow it.']
}

function patternRow(found: LogFields['patterns'][number]): string {
  const { pattern, count, level, first, last, example, file, node } = found
  const place = [node, file].filter((name) => name !== undefined).join('/')
  const range = `${first === last ? (first ?? '') : `${first} to ${last}`}${place && `, ${part(place)}`}`
  const shown = example && example !== pattern ? `\n    e.g. ${cut(example, LONGEST_EXAMPLE)}` : ''
  return `${count}× ${part(level ?? '-')} ${cut(pattern, LONGEST_PATTERN)}\n    ${range}${shown}`
}

const MOST_FIELDS = 8
const MOST_VALUES = 10

/** Fields of few values: a pattern says nothing of the 503 among a thousand 204, and its example may be either. */
function valueRows({ fields, records }: LogFields): string[] {
  const isTelling = ({ name, count, values }: LogFields['fields'][number]) =>
    !/^(?:level|source|tag)$/.test(name) &&
    values.length > 1 &&
    values.length < MOST_VALUES &&
    values.reduce((sum, value) => sum + value.count, 0) >= count &&
    count * 100 >= records
  return fields
    .filter(isTelling)
    .sort((a, b) => Number(isStatus(b.name)) - Number(isStatus(a.name)) || a.values.length - b.values.length)
    .slice(0, MOST_FIELDS)
    .map(({ name, values }) => {
      const shown = values.map(({ value, count }) => `${cut(value, 60)} ${count}×`)
      return `values of ${part(name)}: ${shown.join(', ')}`
    })
}

const isStatus = (name: string) => /(?:^|[._-])(?:status|code|result|outcome)(?:_?code)?$/i.test(name)

export const logHistogram: Tool = {
  name: 'log_histogram',
  title: 'Records over time',
  description:
    'How many records there are over time, by level, log or node: when it began, and what is loudest. Times without records are left out.',
  scopes: ['logs'],
  parameters: [...FILTERS, ...rows('histogram', 'step', 'by'), CURSOR, MAX_CHARS],
  async run(args, call) {
    const query = queryOf(args, call)
    const chart = (await call.client.histogram(
      { ...query, step: args.step as string | undefined, by: args.by as 'level', buckets: BUCKETS },
      call,
    )) as Histogram & { notes: string[]; missing: [] }
    const total = chart.buckets.reduce((sum, { counts }) => sum + sumOf(counts), 0)
    const head = [
      `${counted(total, 'record')}; each row is the beginning of ${spanOf(chart.step)} and its counts`,
      ...searched(query, call),
    ]
    const lines = total === 0 && chart.complete ? await whyEmpty(query, call) : chartRows(chart, call)
    const incomplete = chart.complete ? [] : ['A budget ran out; the oldest records are not counted.']
    const from = offsetOf(args)
    return rowsThatFit({ ...chart, head, incomplete, lines }, from, args.max_chars as number)
  },
}

function chartRows(chart: Histogram, call: Call): string[] {
  const columns = chart.levels ?? chart.files ?? chart.nodes ?? []
  return chart.buckets
    .filter(({ counts }) => sumOf(counts) > 0)
    .map(({ time, counts }) => {
      const shown = counts.flatMap((count, i) => (count > 0 ? [`${part(columns[i] ?? '?')} ${count}`] : []))
      return `${shownTime(time, call).replace(/\.000(?=Z|[+-])/, '')}  ${shown.join(', ')}`
    })
}

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)

function spanOf(millis: number): string {
  const units: [number, string][] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'm'],
    [1000, 's'],
  ]
  const [size, unit] = units.find(([size]) => millis % size === 0) ?? [1, 'ms']
  return `${millis / size}${unit}`
}

/** The first row of an answer that goes on from another. Another cursor would begin at the first row, without a word. */
export function offsetOf({ cursor }: Arguments): number {
  if (cursor === undefined) return 0
  if (typeof cursor === 'string' && /^\d{1,9}$/.test(cursor)) return Number(cursor)
  throw bad(
    'cursor',
    'must be the cursor of an earlier answer of this tool; leave it out to begin at the first row',
  )
}
