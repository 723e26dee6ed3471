import { each } from '../limits/each.ts'
import { byCodePoint } from '../store/store.ts'
import { type Entry, entriesOf, isSilent } from './entries.ts'
import { isNodeWanted, isWanted, levelsOf } from './labels.ts'
import { matcherOf } from './matcher.ts'
import { countsOf, pointsOf, type Steps } from './metrics.ts'
import { type LogSelection, LokiError, type MetricQuery } from './query.ts'
import type { LokiSource } from './source.ts'

/** Which part of the streams is requested. */
export interface StreamRequest {
  start: bigint
  end: bigint
  limit: number
  forward: boolean
}

/** The labels of a stream. */
export type Labels = Record<string, string>

/** A file that a query may be about. */
export interface LogFile extends LokiSource {
  file: string
  size: number
}

/** How many nodes are listed, or files searched, at the same time. */
const AT_ONCE = 4

/** The files that a selection may be about. */
export async function filesOf(
  sources: readonly LokiSource[],
  selection: LogSelection,
  signal: AbortSignal,
): Promise<LogFile[]> {
  const wanted = sources.filter(({ node }) => isNodeWanted(selection, node))
  const found = new Map<string, LogFile[]>()
  const list = async (source: LokiSource) => {
    const { entries } = await source.context.files.list(signal)
    const files = entries.filter(({ key }) => isWanted(selection, source.node, key))
    const { node, context } = source
    found.set(
      node,
      files.map(({ key, size }) => ({ node, context, file: key, size })),
    )
  }
  await eachInTime(wanted, list, startOf(wanted))
  return wanted.flatMap(({ node }) => found.get(node)!)
}

/** The entries that a query selects, as streams: newest first, or oldest first when it goes forward. */
export async function streamsOf(
  sources: readonly LokiSource[],
  selection: LogSelection,
  request: StreamRequest,
  signal: AbortSignal,
): Promise<{ stream: Labels; values: [string, string][] }[]> {
  const levels = levelsOf(selection)
  const matcher = await matcherOf(selection)
  if (levels.mask === 0 && !levels.none) return []
  let { start, end } = request
  let found: { of: LogFile; entry: Entry }[] = []
  const sign = request.forward ? 1 : -1
  const search = async (of: LogFile) => {
    const query = { ...request, start, end, file: of.file, matcher, levels }
    const entries = await entriesOf(of.context, query, signal).catch(silently)
    found.push(...entries.map((entry) => ({ of, entry })))
    found.sort((a, b) => sign * Number(a.entry.at - b.entry.at))
    found = found.slice(0, request.limit)
    // A full page bounds what the other files can add to it.
    const last = found.length === request.limit ? found.at(-1)!.entry.at : null
    if (last !== null && request.forward) end = last + 1n
    else if (last !== null) start = last
  }
  await eachInTime(await filesOf(sources, selection, signal), search, startOf(sources))
  const streams = new Map<string, { stream: Labels; values: [string, string][] }>()
  for (const { of, entry } of found) {
    const stream = labelsOf(of, entry.level)
    const key = JSON.stringify(stream)
    if (!streams.has(key)) streams.set(key, { stream, values: [] })
    streams.get(key)!.values.push([String(entry.at), entry.line])
  }
  return [...streams.values()]
}

/** Counts over time, as the series of a matrix: each point in ms with its value. */
export async function seriesOf(
  sources: readonly LokiSource[],
  query: MetricQuery,
  steps: Steps,
  signal: AbortSignal,
): Promise<{ metric: Labels; values: [number, number][] }[]> {
  const { selection, by } = query
  const levels = levelsOf(selection)
  const matcher = await matcherOf(selection)
  const points = pointsOf(steps)
  const series = new Map<string, { metric: Labels; values: number[] }>()
  if (points.length === 0) return []
  const count = async (of: LogFile) => {
    const counts = await countsOf(of.context, { file: of.file, query, steps, matcher, levels }, signal).catch(
      (error) => {
        if (isSilent(error)) return null
        throw error
      },
    )
    for (const [level, values] of counts ?? []) {
      const labels = labelsOf(of, level)
      const kept =
        by === null
          ? labels
          : Object.fromEntries(by.filter((name) => labels[name]).map((name) => [name, labels[name]!]))
      const key = JSON.stringify(kept)
      const sum = series.get(key) ?? { metric: kept, values: points.map(() => 0) }
      series.set(key, sum)
      for (const [i, value] of values.entries()) sum.values[i]! += value
    }
  }
  await eachInTime(await filesOf(sources, selection, signal), count, startOf(sources))
  const scale = query.operation === 'rate' ? 1000 / query.range : 1
  // Files are counted in parallel; the order does not depend on which is done first.
  const sorted = [...series].sort(([a], [b]) => byCodePoint(a, b))
  return sorted.map(([, { metric, values }]) => ({
    metric,
    // Loki omits points with a count of zero.
    values: values.flatMap((value, i): [number, number][] =>
      value > 0 ? [[points[i]!, value * scale]] : [],
    ),
  }))
}

export function labelsOf({ node, file }: Pick<LogFile, 'node' | 'file'>, level: string | null): Labels {
  return level === null ? { file, node } : { file, level, node }
}

function silently(error: unknown): Entry[] {
  if (isSilent(error)) return []
  throw error
}

/** When the work must be done: one search's time for all files together. */
function startOf(sources: readonly LokiSource[]): number {
  return Date.now() + (sources[0]?.context.limits.scanMillis ?? 0)
}

/** Works on all nodes or files, a few at a time, until the deadline. */
async function eachInTime<T>(items: readonly T[], work: (item: T) => Promise<void>, deadline: number) {
  await each(items, AT_ONCE, (item) => {
    if (Date.now() > deadline)
      throw new LokiError(
        'The search took more time than one request may; narrow the selector to fewer files.',
        504,
      )
    return work(item)
  })
}
