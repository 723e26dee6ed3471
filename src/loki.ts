import { COMMON_HEADERS } from './http/conditional.ts'
import { toProblem } from './http/problem.ts'
import { textResponse } from './http/sliced.ts'
import { LEVELS } from './log/format/detect.ts'
import { filesOf, type Labels, labelsOf, seriesOf, streamsOf } from './loki/answer.ts'
import { LABELS, levelsOf, meets } from './loki/labels.ts'
import { parseQuery, parseSelector } from './loki/parse.ts'
import { type LogSelection, LokiError } from './loki/query.ts'
import type { Loki, LokiSource } from './loki/source.ts'
import { instantOf, limitOf, rangeOf, stepOf } from './loki/times.ts'
import { VERSION } from './version.ts'

export type { Loki, LokiSource } from './loki/source.ts'

/** What a route needs. */
interface LokiRequest {
  params: URLSearchParams
  sources: readonly LokiSource[]
  signal: AbortSignal
}

const MILLI = 1_000_000n
const EVERYTHING: LogSelection = { selector: [], lines: [], fields: [] }

const ROUTES: [path: RegExp, answer: (asked: LokiRequest, part: string) => Promise<unknown>][] = [
  [/^query_range$/, queryRange],
  [/^query$/, query],
  [/^labels?$/, async () => success(LABELS)],
  [/^label\/([^/]+)\/values$/, labelValues],
  [/^series$/, series],
  [/^index\/stats$/, indexStats],
  [/^status\/buildinfo$/, async () => buildInfo()],
]

/** Loki's read API, for `createApp({ loki })`: Grafana and logcli read the node's logs without an agent. */
export const loki: Loki = { answer }

async function answer(request: Request, sources: readonly LokiSource[]): Promise<Response> {
  const url = new URL(request.url)
  const path = url.pathname.slice(url.pathname.lastIndexOf('/loki/api/v1/') + '/loki/api/v1/'.length)
  try {
    for (const [pattern, route] of ROUTES) {
      const match = pattern.exec(path)
      if (!match) continue
      const asked = { params: url.searchParams, sources, signal: request.signal }
      const found = await route(asked, decoded(match[1] ?? ''))
      return textResponse(JSON.stringify(found), { 'Content-Type': 'application/json', ...COMMON_HEADERS })
    }
    throw new LokiError(`nodestate does not answer /loki/api/v1/${path}.`, 404)
  } catch (error) {
    return refusal(error)
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new LokiError('The name of a label in this path is not percent-encoded UTF-8.')
  }
}

async function queryRange({ params, sources, signal }: LokiRequest): Promise<unknown> {
  const started = performance.now()
  const asked = parseQuery(params.get('query') ?? '')
  const range = rangeOf(params, Date.now())
  if (asked.kind === 'log') return streams({ params, sources, signal }, asked.selection, range)
  const step = stepOf(params, range)
  const [start, end] = [Number(range.start / MILLI), Number(range.end / MILLI)]
  if (asked.kind === 'scalar')
    return result('matrix', [{ metric: {}, values: [[start / 1000, String(asked.value)]] }], started)
  const found = await seriesOf(sources, asked, { start, end, step }, signal)
  const values = (points: [number, number][]) => points.map(([at, value]) => [at / 1000, String(value)])
  return result(
    'matrix',
    found.map(({ metric, values: points }) => ({ metric, values: values(points) })),
    started,
  )
}

async function query({ params, sources, signal }: LokiRequest): Promise<unknown> {
  const started = performance.now()
  const asked = parseQuery(params.get('query') ?? '')
  const at = instantOf(params, 'time') ?? BigInt(Date.now()) * MILLI
  const millis = Number(at / MILLI)
  if (asked.kind === 'scalar')
    return result('vector', [{ metric: {}, value: [millis / 1000, String(asked.value)] }], started)
  if (asked.kind === 'log')
    return streams({ params, sources, signal }, asked.selection, {
      start: at - 3_600_000n * MILLI,
      end: at + 1n,
    })
  const found = await seriesOf(sources, asked, { start: millis, end: millis, step: 1 }, signal)
  const last = found.filter(({ values }) => values.length > 0)
  return result(
    'vector',
    last.map(({ metric, values }) => ({ metric, value: [values[0]![0] / 1000, String(values[0]![1])] })),
    started,
  )
}

async function streams(
  { params, sources, signal }: LokiRequest,
  selection: LogSelection,
  range: { start: bigint; end: bigint },
): Promise<unknown> {
  const started = performance.now()
  const direction = (params.get('direction') || 'backward').toLowerCase()
  if (direction !== 'forward' && direction !== 'backward')
    throw new LokiError(`Cannot use direction=${direction}: it must be forward or backward.`)
  const asked = { ...range, limit: limitOf(params), forward: direction === 'forward' }
  return result('streams', await streamsOf(sources, selection, asked, signal), started)
}

async function labelValues({ params, sources, signal }: LokiRequest, name: string): Promise<unknown> {
  const selection = selectionOf(params.getAll('query'))
  if (name === 'level') return success(LEVELS.filter((level) => meets(selection.selector, 'level', level)))
  const files = await filesOf(sources, selection, signal)
  const values =
    name === 'file' ? files.map(({ file }) => file) : name === 'node' ? files.map(({ node }) => node) : []
  return success([...new Set(values)].sort())
}

/** logcli sends `match`, Grafana `match[]`. */
async function series({ params, sources, signal }: LokiRequest): Promise<unknown> {
  const selectors = [...params.getAll('match[]'), ...params.getAll('match')]
  const found = new Map<string, Labels>()
  for (const selection of selectors.length > 0
    ? selectors.map((text) => selectionOf([text]))
    : [EVERYTHING]) {
    const { mask } = levelsOf(selection)
    for (const of of await filesOf(sources, selection, signal))
      for (const [i, level] of LEVELS.entries())
        if (mask & (1 << i)) {
          const labels = labelsOf(of, level)
          found.set(JSON.stringify(labels), labels)
        }
  }
  return success([...found.values()])
}

/** How much a query would read. Grafana shows it before the query runs; entries are not counted. */
async function indexStats({ params, sources, signal }: LokiRequest): Promise<unknown> {
  const files = await filesOf(sources, selectionOf(params.getAll('query')), signal)
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  return { streams: files.length, chunks: files.length, bytes, entries: 0 }
}

function selectionOf([text]: string[]): LogSelection {
  return text && text !== '{}' ? { ...EVERYTHING, selector: parseSelector(text) } : EVERYTHING
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

function success(data: unknown): unknown {
  return { status: 'success', data }
}

interface Found {
  stream?: Labels
  metric?: Labels
  value?: unknown
  values?: unknown[]
}

/** With the statistics that were measured; logcli --stats prints them. */
function result(resultType: string, found: Found[], started: number): unknown {
  const totalEntriesReturned = found.reduce((sum, { values }) => sum + (values?.length ?? 1), 0)
  const summary = { execTime: (performance.now() - started) / 1000, totalEntriesReturned }
  return success({ resultType, result: found, stats: { summary } })
}

/** Loki's errors are a sentence of text, which its clients show. */
function refusal(error: unknown): Response {
  const headers: Record<string, string> = { 'Content-Type': 'text/plain; charset=utf-8', ...COMMON_HEADERS }
  if (error instanceof LokiError) return textResponse(`${error.message}\n`, headers, error.status)
  const problem = toProblem(error)
  if (problem.status === 500) throw error
  return textResponse(`${problem.message}\n`, { ...headers, ...problem.headers }, problem.status)
}
