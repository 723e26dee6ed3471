import type { LogSource } from '../../core/capability.ts'
import { claim } from '../../core/http/caller.ts'
import { COMMON_HEADERS } from '../../core/http/conditional.ts'
import { toProblem } from '../../core/http/problem.ts'
import { respond } from '../../core/http/sliced.ts'
import { type Clock, systemClock } from '../../kit/limits/clock.ts'
import { VERSION } from '../../kit/version.ts'
import { LEVELS } from '../../log/format/detect.ts'
import { textBody } from '../../log/render/body.ts'
import { streamsOf } from './answer.ts'
import { filesOf, type Search } from './files.ts'
import { type Choice, choiceOf, type Labels } from './labels.ts'
import { parseQuery, parseSelector } from './logql/parse.ts'
import { LABELS, type LogSelection, LokiError } from './logql/query.ts'
import { seriesOf } from './metrics.ts'
import { streamLabelsOf } from './series.ts'
import { instantOf, limitOf, rangeOf, stepOf } from './times.ts'

/** What a route needs. */
interface LokiRequest extends Search {
  params: URLSearchParams
  /** When it came, as the clock's `elapsed`. */
  started: number
}

const MILLI = 1_000_000n
/** How many values of a label one answer has. */
const MOST_VALUES = 10_000

const ROUTES: [path: RegExp, answer: (asked: LokiRequest, part: string) => Promise<unknown>][] = [
  [/^query_range$/, queryRange],
  [/^query$/, query],
  [/^labels?$/, async () => success(LABELS)],
  [/^label\/([^/]+)\/values$/, labelValues],
  [/^series$/, series],
  [/^index\/stats$/, indexStats],
  [/^status\/buildinfo$/, async () => buildInfo()],
]

/** Loki's read API: Grafana and logcli read the node's logs without an agent. */
export async function answer(
  request: Request,
  sources: readonly LogSource[],
  clock: Clock = systemClock,
): Promise<Response> {
  const memory = sources[0]?.context.memory
  const held = memory?.lease(0) ?? null
  claim(request)
  const url = new URL(request.url)
  const path = url.pathname.slice(url.pathname.lastIndexOf('/loki/api/v1/') + '/loki/api/v1/'.length)
  try {
    for (const [pattern, route] of ROUTES) {
      const match = pattern.exec(path)
      if (!match) continue
      const asked: LokiRequest = {
        params: url.searchParams,
        sources,
        signal: request.signal,
        read: { lines: 0, bytes: 0 },
        memory: held,
        clock,
        started: clock.elapsed(),
      }
      const found = await route(asked, decoded(match[1] ?? ''))
      return respond(textBody(JSON.stringify(found), memory, clock), {
        'Content-Type': 'application/json',
        ...COMMON_HEADERS,
      })
    }
    throw new LokiError(`nodestate does not answer /loki/api/v1/${path}.`, 404)
  } catch (error) {
    return refusal(error)
  } finally {
    held?.release()
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new LokiError('The name of a label in this path is not percent-encoded UTF-8.')
  }
}

async function queryRange(asked: LokiRequest): Promise<unknown> {
  const { params } = asked
  const query = parseQuery(params.get('query') ?? '')
  const range = rangeOf(params, asked.clock.now())
  if (query.kind === 'log') return streams(asked, query.selection, range)
  const step = stepOf(params, range)
  const steps = { start: Number(range.start / MILLI), end: Number(range.end / MILLI), step }
  const found = await seriesOf(asked, query, steps)
  const matrix = found.map(({ metric, values }) => ({ metric, values: values.map(pointOf) }))
  return result(asked, 'matrix', matrix)
}

async function query(asked: LokiRequest): Promise<unknown> {
  const { params } = asked
  const query = parseQuery(params.get('query') ?? '')
  const at = instantOf(params, 'time') ?? BigInt(asked.clock.now()) * MILLI
  if (query.kind === 'log')
    return streams(asked, query.selection, { start: at - 3_600_000n * MILLI, end: at + 1n })
  const millis = Number(at / MILLI)
  const found = await seriesOf(asked, query, { start: millis, end: millis, step: 1 })
  const vector = found.filter(({ values }) => values.length > 0)
  return result(
    asked,
    'vector',
    vector.map(({ metric, values: [point] }) => ({ metric, value: pointOf(point!) })),
  )
}

/** Seconds, and the value as a text. */
function pointOf([at, value]: [at: number, value: number]): [number, string] {
  return [at / 1000, String(value)]
}

async function streams(asked: LokiRequest, selection: LogSelection, range: { start: bigint; end: bigint }) {
  const { params } = asked
  const direction = (params.get('direction') || 'backward').toLowerCase()
  if (direction !== 'forward' && direction !== 'backward')
    throw new LokiError(`Cannot use direction=${direction}: it must be forward or backward.`)
  if (Number.parseFloat(params.get('interval') ?? '0') > 0)
    throw new LokiError('nodestate does not thin out entries: leave interval out.')
  const part = { ...range, limit: limitOf(params), forward: direction === 'forward' }
  return result(asked, 'streams', await streamsOf(asked, selection, part))
}

async function labelValues(asked: LokiRequest, name: string): Promise<unknown> {
  const choice = selected(asked.params.getAll('query'))
  if (name === 'level') return success(LEVELS.filter((_, i) => choice.levels.has(i)))
  const files = await filesOf(asked, choice)
  const values =
    name === 'file' ? files.map(({ file }) => file) : name === 'node' ? files.map(({ node }) => node) : []
  const sorted = [...new Set(values)].sort()
  const isCut = asked.isCut || sorted.length > MOST_VALUES
  const warning = `There are more values than the ${Math.min(sorted.length, MOST_VALUES)} here; narrow the selector.`
  return success(sorted.slice(0, MOST_VALUES), isCut ? [warning] : [])
}

/** logcli sends `match`, Grafana `match[]`. */
async function series(asked: LokiRequest): Promise<unknown> {
  const selectors = [...asked.params.getAll('match[]'), ...asked.params.getAll('match')]
  const choices = selectors.length > 0 ? selectors.map((text) => selected([text])) : [selected([])]
  const { streams, warnings } = await streamLabelsOf(asked, choices)
  return success(streams, [...warnings, ...cutOf(asked)])
}

/** How much a query would read. Grafana shows it before the query runs; entries are not counted. */
async function indexStats(asked: LokiRequest): Promise<unknown> {
  const files = await filesOf(asked, selected(asked.params.getAll('query')))
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  return { streams: files.length, chunks: files.length, bytes, entries: 0 }
}

function selected([text]: string[]): Choice {
  return choiceOf({ selector: text && text !== '{}' ? parseSelector(text) : [] })
}

/** Clients use the version to decide what they may request; this is the version of the API served here. */
function buildInfo(): unknown {
  return {
    version: `2.8.0+nodestate.${VERSION}`,
    revision: '',
    branch: '',
    buildUser: '',
    buildDate: '',
    goVersion: '',
  }
}

/** With `warnings`, something is missing. */
function success(data: unknown, warnings: string[] = []): unknown {
  return { status: 'success', ...(warnings.length > 0 && { warnings }), data }
}

interface Found {
  stream?: Labels
  metric?: Labels
  value?: unknown
  values?: unknown[]
}

/** With statistics about the records that matched; logcli --stats prints them. */
function result(asked: LokiRequest, resultType: string, found: Found[]): unknown {
  const { started, read, clock } = asked
  const seconds = (clock.elapsed() - started) / 1000
  const summary = {
    execTime: seconds,
    totalLinesProcessed: read.lines,
    totalBytesProcessed: read.bytes,
    linesProcessedPerSecond: Math.round(read.lines / seconds),
    bytesProcessedPerSecond: Math.round(read.bytes / seconds),
    totalEntriesReturned: found.reduce((sum, { values }) => sum + (values?.length ?? 1), 0),
  }
  return success({ resultType, result: found, stats: { summary } }, cutOf(asked))
}

/** What is missing: files beyond those that are listed at once, and the rest of archives that end early. */
function cutOf({ isCut, isBroken }: LokiRequest): string[] {
  const warnings: string[] = []
  if (isBroken) warnings.push('An archive is damaged or ends early; the rest of it is missing.')
  if (isCut) warnings.push('Only the first files of a node were searched: it has too many.')
  return warnings
}

/** Loki's errors are a sentence of text, which its clients show. */
function refusal(error: unknown): Response {
  const headers: Record<string, string> = { 'Content-Type': 'text/plain; charset=utf-8', ...COMMON_HEADERS }
  if (error instanceof LokiError) return respond(`${error.message}\n`, headers, error.status)
  const problem = toProblem(error)
  if (problem.status === 500) throw error
  return respond(`${problem.message}\n`, { ...headers, ...problem.headers }, problem.status)
}
