import { bad } from '../../core/http/params.ts'
import { noteHeader } from '../../core/http/sliced.ts'
import type { Query } from '../../core/query.ts'
import type { LogComparison, LogFinding } from '../../kit/answers.ts'
import { each } from '../../kit/limits/each.ts'
import { type Difference, differences, type Side } from '../../log/compare/findings.ts'
import { type ComparedLog, type Period, type Sample, sampleLog } from '../../log/compare/sample.ts'
import { LogError } from '../../log/error.ts'
import type { LogReader } from '../../log/merge/reader.ts'
import { ELSEWHERE_AT_ONCE, IN_SLOT, type Missing, type Source } from '../../log/merge/source.ts'
import type { Selection } from '../../log/selection.ts'
import { StoreError } from '../../store/store.ts'
import { mergedJson, type Sources, sourceHeaders } from '../merged/route.ts'
import { filterQuery } from '../parameters/query-text.ts'
import { type QueryRoute, readViewRequest } from '../parameters/view-request.ts'
import type { ConfigFindings } from './config.ts'
import { periodsOf } from './periods.ts'
import { viewQuery } from './query.ts'

export interface CompareRoute extends Pick<QueryRoute, 'clock' | 'zone' | 'maxSize'> {
  /** The logs that a request names. `nodes` are those of the base, if it is on other nodes. */
  pick(query: Query, signal: AbortSignal): Promise<Omit<Sources, 'sources'> & { sources: ComparedLog[] }>
  /** The keys of configurations that differ; null without the scope for it. */
  config: ((periods: ConfigPeriods, signal: AbortSignal) => Promise<ConfigFindings>) | null
}

/** Of which nodes the configuration is compared, and in which periods; `base` nodes only if it is on others. */
export interface ConfigPeriods {
  range: Period
  base: Period
  nodes: { range: readonly string[]; base: readonly string[] | null }
}

/** A log of several, as it is compared. */
export function compared(source: Source, reader?: LogReader): ComparedLog {
  const { name, file, node, rotated = true, context } = source
  return { name, file, node, rotated, source, context, reader }
}

/** How many findings an answer has, and how many of each kind before there is room for more. */
const FINDINGS = 12
const MOST_OF = { config: 4, silent: 3, level: 2, pattern: 6, field: 4 } as const
const CONFIG_SCORE = 450
/** How many logs are read at once here. */
const LOGS_AT_ONCE = 2

/** `GET /api/v1/log/compare`: what sets a range of time apart from another one, or nodes from other nodes. */
export async function compareLogs(request: Request, query: Query, route: CompareRoute): Promise<Response> {
  const { signal } = request
  const { range, base, clock } = periodsOf(query, route)
  const plain = { ...query, since: undefined, until: undefined }
  const { selection, charset } = (await readViewRequest(plain, route, true)).asked
  const logs = await logsOf(query, route, signal)
  const written = (log: ComparedLog) => ({ ...log, charset })
  const { sources, others, ...rest } = {
    ...logs,
    sources: logs.sources.map(written),
    others: logs.others?.map(written) ?? null,
  }
  if (request.method === 'HEAD') return mergedJson(request, null, {}, false)
  const leave = await sources[0]!.context.scans.enter(signal, 'long')
  try {
    const sampling = new SideReader(selection, route, { handedOn: filterQuery(query), signal })
    const rangeSide = await sampling.read(sources, range)
    const baseSide = await sampling.read(others ?? sources, base)
    sampling.check(sources.length + (others ?? sources).length)
    const isByNode = others !== null
    const sides = isByNode ? [rangeSide, baseSide] : inBoth(rangeSide, baseSide)
    const [one, other] = [sideOf(sides[0]!, range, isByNode), sideOf(sides[1]!, base, isByNode)]
    const found = differences(one, other, isByNode).map((difference) => ({
      score: difference.score,
      finding: findingOf(difference, sources.length + (others?.length ?? 0) > 1, () =>
        viewQuery(query, { range, base, isByNode }, difference),
      ),
    }))
    const nodes = { range: nodesOf(sources), base: others && nodesOf(others) }
    const configs = await route.config?.({ range, base, nodes }, signal)
    const all = [...(configs?.findings ?? []).map((finding) => ({ score: CONFIG_SCORE, finding })), ...found]
    const complete = sampling.complete && configs?.complete !== false
    const body: LogComparison = {
      range: { ...range, records: recordsOf(one) },
      base: { ...base, records: recordsOf(other) },
      complete,
      findings: chosen(all),
    }
    const notes = [...sampling.notes, route.config === null && 'no-config-scope']
    const missing = [...rest.missing, ...sampling.missing]
    const headers = { ...sourceHeaders({ ...rest, missing }), ...noteHeader(notes) }
    return mergedJson(request, body, headers, !clock && complete)
  } finally {
    leave()
  }
}

/** The logs of the range, and those of other nodes, if the base is on these. */
async function logsOf(query: Query, route: CompareRoute, signal: AbortSignal) {
  const picked = await route.pick(query, signal)
  if (!query['base-node']) return { ...picked, others: null }
  const base = await route.pick({ ...query, node: query['base-node'] }, signal)
  const own = new Set(picked.sources.map(({ node }) => node))
  const others = base.sources.filter(({ node }) => !own.has(node))
  if (others.length === 0)
    throw bad('base-node', 'names no other node that has these logs; name nodes that node does not')
  const named = new Map([...picked.missing, ...base.missing].map((each) => [each.name, each]))
  return { ...picked, missing: [...named.values()], others }
}

/** Reads the logs of both sides, one after the other, until the time for it is over. */
class SideReader {
  readonly notes = new Set<string>()
  readonly missing: Missing[] = []
  complete = true
  readonly #selection: Selection
  readonly #handedOn: string
  readonly #signal: AbortSignal
  readonly #isLate: (log: ComparedLog) => boolean

  constructor(
    selection: Selection,
    { clock }: CompareRoute,
    { handedOn, signal }: { handedOn: string; signal: AbortSignal },
  ) {
    this.#selection = selection
    this.#handedOn = handedOn
    this.#signal = signal
    const start = clock.elapsed()
    this.#isLate = ({ context }) => clock.elapsed() - start > BUDGETS * context.limits.scanMillis
  }

  async read(logs: readonly ComparedLog[], period: Period): Promise<Sample[]> {
    const samples: Sample[] = []
    const sampling = {
      selection: this.#selection,
      period,
      logs: logs.length,
      handedOn: this.#handedOn,
      signal: this.#signal,
    }
    const atOnce = logs.every(({ reader }) => reader) ? ELSEWHERE_AT_ONCE : LOGS_AT_ONCE
    await each(logs, atOnce, async (log) => {
      if (this.#isLate(log)) {
        this.#cut()
        return
      }
      try {
        // The comparison has a slot, in which it unpacks, too.
        const context = { ...log.context, scans: IN_SLOT, archives: IN_SLOT }
        const sample = await sampleLog({ ...log, context }, sampling)
        samples.push({ ...sample, log })
        if (!sample.complete) this.#cut()
        else if (!sample.isWhole) this.notes.add('sampled')
        for (const note of sample.notes) this.notes.add(note)
      } catch (error) {
        this.#signal.throwIfAborted()
        if (!(error instanceof LogError || error instanceof StoreError)) throw error
        if (!this.missing.some(({ name }) => name === log.name)) this.missing.push({ name: log.name, error })
      }
    })
    // Whichever node answers first: an example is of the same log each time.
    return samples.sort((a, b) => logs.indexOf(a.log) - logs.indexOf(b.log))
  }

  /** Throws if no log could be read at all. */
  check(logs: number): void {
    if (this.missing.length > 0 && 2 * this.missing.length >= logs) throw this.missing[0]!.error
  }

  #cut(): void {
    this.complete = false
    this.notes.add('scan-budget')
  }
}

/** For how many times the budget of one search logs are read. */
const BUDGETS = 4

/** The logs that could be read on both sides. */
function inBoth(range: readonly Sample[], base: readonly Sample[]): [Sample[], Sample[]] {
  const within = (samples: readonly Sample[], others: readonly Sample[]) =>
    samples.filter(({ log }) => others.some((other) => other.log.name === log.name))
  return [within(range, base), within(base, range)]
}

function sideOf(samples: readonly Sample[], { from, to }: Period, isByNode: boolean): Side {
  const nodes = isByNode ? new Set(samples.map(({ log }) => log.node)).size : 1
  return { samples, exposure: (to - from) * Math.max(1, nodes) }
}

function nodesOf(logs: readonly ComparedLog[]): string[] {
  return [...new Set(logs.flatMap(({ node }) => (node === null ? [] : [node])))]
}

function recordsOf({ samples }: Side): number {
  return samples.reduce((sum, { parts }) => sum + parts.reduce((all, count) => all + count, 0), 0)
}

function findingOf(difference: Difference, isSeveral: boolean, query: () => string | null): LogFinding {
  const { kind, what, count, base, log, node, example } = difference
  const shown = query()
  return {
    kind,
    what,
    count,
    base,
    ...(node !== null && { node }),
    ...(log && (isSeveral || kind === 'silent') && { file: log.file }),
    ...(example !== undefined && { example }),
    ...(shown !== null && { query: shown }),
  }
}

/** The most telling findings, some of each kind first. */
function chosen(all: readonly { score: number; finding: LogFinding }[]): LogFinding[] {
  const sorted = all.toSorted((a, b) => b.score - a.score)
  const counts: Partial<Record<LogFinding['kind'], number>> = {}
  const isFirst = sorted.map(({ finding: { kind } }) => {
    counts[kind] = (counts[kind] ?? 0) + 1
    return counts[kind] <= MOST_OF[kind]
  })
  const first = sorted.filter((_, i) => isFirst[i]).slice(0, FINDINGS)
  const more = sorted.filter((_, i) => !isFirst[i]).slice(0, FINDINGS - first.length)
  return [...first, ...more].sort((a, b) => b.score - a.score).map(({ finding }) => finding)
}
