import type { Scope } from '../../core/access/grant.ts'
import { type Parameter, rowsOf } from '../../core/parameter.ts'
import type { Clock } from '../../kit/limits/clock.ts'
import { parseInstant } from '../../log/instant.ts'
import type { Zone } from '../../log/offset.ts'
import { FLEET_PARAMETERS, PARAMETERS } from '../../routes/parameters/table.ts'
import type { Client, LogQuery } from '../client.ts'
import type { Arguments } from './arguments.ts'
import { part } from './text/answer.ts'

/** One call of a tool. */
export interface Call {
  client: Client
  /** The client of one node of a fleet. */
  nodeClient(id: string): Client
  isFleet: boolean
  clock: Clock
  /** The zone of the logs; null if only the node knows it. */
  zone: Zone | null
  signal: AbortSignal
}

export interface Tool {
  name: string
  title: string
  description: string
  /** It is listed for a token that has one of these. */
  scopes: readonly Scope[]
  /** Only on a fleet. */
  isFleets?: true
  parameters: readonly Parameter[]
  /** The text of the answer, at most `max_chars` characters. */
  run(args: Arguments, call: Call): Promise<string>
}

const OWN = { on: [], role: 'part' } as const

/** A parameter that tools have and the API has not. */
export const own = {
  integer: (name: string, bounds: { min?: number; max: number; default: number }, meaning: string) =>
    ({ name, ...OWN, type: 'integer', ...bounds, value: 'N', meaning, example: '' }) as Parameter,
  text: (name: string, meaning: string, example: string) =>
    ({ name, ...OWN, type: 'text', value: '', meaning, example }) as Parameter,
}

/** The rows of the API's table with these names, as they are for `resource`. */
export function rows(resource: Parameters<typeof rowsOf>[1], ...names: string[]): Parameter[] {
  const all = rowsOf(PARAMETERS, resource)
  return names.map((name) => all.find((row) => row.name === name)!)
}

/** The most bytes of records that are read for an answer, which is much shorter. */
export const MOST_READ = 1024 * 1024

export const MAX_CHARS = own.integer(
  'max_chars',
  { min: 1000, max: 40_000, default: 12_000 },
  'How many characters the answer may have.',
)
export const CURSOR = own.text(
  'cursor',
  'The cursor of an earlier answer, to go on from there. All other arguments stay as they were.',
  '40',
)
const FILE: Parameter = {
  ...rows('view', 'file')[0]!,
  maxLength: 1024,
  meaning: 'Names of logs, or patterns over them; all logs by default.',
  expects: 'a name from list_logs, or a pattern with * and ?, such as broker*',
}
const NODE: Parameter = {
  ...FLEET_PARAMETERS[0],
  meaning: 'Nodes of the fleet, by id or pattern; all nodes by default.',
}

/** Which logs: `file`, and on a fleet `node`. Rows with other names of a call are added by each tool. */
export const SOURCES: readonly Parameter[] = [{ ...FILE, required: undefined } as unknown as Parameter, NODE]
export const NODES: readonly Parameter[] = [NODE]

/** Which records: the filters of the API, of the last hour unless `since` says otherwise. */
export const FILTERS: readonly Parameter[] = [
  ...SOURCES,
  ...rowsOf(PARAMETERS, 'view')
    .filter(({ role }) => role === 'filter')
    .map((row) => (row.name === 'since' ? { ...row, default: '1h' } : row)),
]

/** The filters of a call as the API takes them, times as instants. */
export function queryOf(args: Arguments, call: Call): LogQuery {
  const names = FILTERS.map(({ name }) => name)
  const given = Object.fromEntries(Object.entries(args).filter(([name]) => names.includes(name)))
  const since = instant(args.since, call)
  const until = instant(args.until, call, since)
  return {
    ...given,
    ...sourcesOf(args, call),
    since: textOf(since, call),
    until: textOf(until, call),
  } as LogQuery
}

/** The logs of a call. One log includes its rotated files, as several do. */
export function sourcesOf({ file, node }: Arguments, { isFleet }: Call): Pick<LogQuery, 'file' | 'node'> {
  const files = (file as string[] | undefined) ?? ['*']
  const isOne = files.length === 1 && !/[*?]/.test(files[0]!)
  return {
    file: files,
    ...(isOne && { rotated: true }),
    ...(isFleet && { node: (node as string[] | undefined) ?? ['*'] }),
  }
}

/** A time as an instant, where the zone is known; otherwise the node reads the text. */
export function instant(
  text: unknown,
  { zone, clock }: Call,
  after?: string | number,
): string | number | undefined {
  if (typeof text !== 'string') return undefined
  if (zone === null) return text
  const from = typeof after === 'number' ? after : undefined
  // The API says what is wrong with a time that cannot be read.
  return parseInstant(text, { zone, now: clock.now(), after: from }) ?? text
}

/** An instant as the API takes it. */
export function textOf(at: string | number | undefined, { zone }: Call): string | undefined {
  return typeof at === 'number' ? (zone?.format(at) ?? new Date(at).toISOString()) : at
}

/** An instant for the reader. */
export function shownTime(at: number, { zone }: Call): string {
  return zone?.format(at) ?? new Date(at).toISOString()
}

/** The lines about the range and the logs that every answer about logs begins with. */
export function searched(query: Partial<LogQuery>, { zone, clock }: Call): string[] {
  const { since, until } = query
  const range =
    zone === null
      ? `range: since ${part(since ?? 'the beginning')}, until ${part(until ?? 'now')}, by the clock and in the zone of the node`
      : `range: ${part(since ?? 'beginning of the logs')} to ${part(until ?? `${zone.format(clock.now())} (now)`)}, zone ${zone.name}`
  const nodes = query.node === undefined ? '' : `, nodes: ${part([query.node].flat().join(', '))}`
  return [range, `logs: ${part([query.file].flat().join(', '))}${nodes}${filtersText(query)}`]
}

const FILTER_NAMES = FILTERS.map(({ name }) => name).filter(
  (name) => !['file', 'node', 'since', 'until'].includes(name),
)

/** The filters of a query besides its range, each by itself. */
export function filtersOf(query: Partial<LogQuery>): [name: string, value: string][] {
  const given = query as Readonly<Record<string, string | readonly string[] | undefined>>
  return FILTER_NAMES.flatMap((name) =>
    [given[name] ?? []].flat().map((value): [string, string] => [name, value]),
  )
}

function filtersText(query: Partial<LogQuery>): string {
  const filters = filtersOf(query).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return filters.length === 0 ? '' : `, filters: ${part(filters.join(' '))}`
}
