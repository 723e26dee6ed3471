import type { Grant } from '../core/access/grant.ts'
import { claim, refusePeerRequest } from '../core/http/caller.ts'
import { jsonResponse, textTag } from '../core/http/conditional.ts'
import { bad, show } from '../core/http/params.ts'
import { Problem, toProblem } from '../core/http/problem.ts'
import { ConfigError, createConfigReader, maskedText } from '../core/node/config.ts'
import { HomeError, LARGEST_CONFIG } from '../core/node/home.ts'
import type { Query } from '../core/query.ts'
import type { DifferentKey, LogFinding } from '../kit/answers.ts'
import { type Budget, BudgetError } from '../kit/limits/budget.ts'
import { deadlineSignal, inTime } from '../kit/limits/clock.ts'
import { each } from '../kit/limits/each.ts'
import type { Lease } from '../kit/limits/memory-budget.ts'
import { inTurns } from '../kit/limits/yield.ts'
import { suggestion } from '../kit/suggestion.ts'
import { LogError } from '../log/error.ts'
import { includeFilter } from '../log/files/include.ts'
import { budgetOf, runInSlot, type ViewContext } from '../log/view/context.ts'
import type { ConfigPeriods } from '../routes/compare/compare.ts'
import { type ConfigFindings, changedKeys, UNSET } from '../routes/compare/config.ts'
import { Comparison, TooManyDifferences } from '../routes/insight/config/compare.ts'
import { ValuesError, valuesIn } from '../routes/insight/config/values.ts'
import { configHistory } from '../routes/insight/config-history.ts'
import { byCodePoint, readText, type Store, StoreError } from '../store/store.ts'
import type { FleetHome, FleetHomes } from './homes.ts'
import { type FleetNodes, unknownNode } from './nodes.ts'
import { callCounter, NotAsked } from './state.ts'

export interface CompareRoute {
  /** Null where all nodes live. */
  store: Store | null
  nodes: FleetNodes
  homes: FleetHomes
  /** What a comparison may cost. */
  context: ViewContext
  /** Nodes that are read at once. @default 16 */
  atOnce?: number | undefined
  /** Requests to the store that one comparison may make. @default no limit */
  calls?: number | undefined
}

export const MOST_COMPARED = 200

/** `GET /api/v1/config/compare`: the keys that are not the same on all of these nodes. */
export async function compareConfigs(
  request: Request,
  { node: patterns = [] }: Query,
  route: CompareRoute,
  grant: Grant,
): Promise<Response> {
  refusePeerRequest(request)
  if (patterns.length === 0) throw bad('node', 'is missing; it must be an id, or a pattern such as db-*')
  const matches = matchesOf(patterns, await route.nodes.ids(grant))
  const ids = [...new Set(matches.flat())].sort(byCodePoint)
  if (ids.length > MOST_COMPARED)
    throw bad('node', `matches ${ids.length} nodes; compare at most ${MOST_COMPARED} at a time`)
  if (request.method === 'HEAD') return jsonResponse(request, '', null)
  claim(request)
  // All nodes share their limits.
  const { context } = route
  const budget = budgetOf(context, request.signal)
  const { missing, ...compared } = await runInSlot(context.scans, budget, () =>
    compare(ids, { route, budget, most: context.limits.answerBytes }),
  )
  // A folder that is not a home is not a node.
  for (const ids of matches) if (ids.every((id) => missing.get(id) === null)) throw unknownNode()
  const told = [...missing].filter(([, why]) => why !== null).sort(([a], [b]) => byCodePoint(a, b))
  const body = JSON.stringify({
    nodes: compared.nodes,
    missing: Object.fromEntries(told),
    keys: compared.keys,
  })
  // With another budget, the answer may be complete.
  return jsonResponse(request, body, told.some(([, why]) => why === 'budget') ? null : textTag(body))
}

function matchesOf(patterns: readonly string[], ids: readonly string[]): string[][] {
  return patterns.map((pattern) => {
    let matches: string[]
    try {
      matches = ids.filter(includeFilter([pattern]))
    } catch {
      throw bad('node', `is ${show(pattern)}; its braces stand for too many names`)
    }
    if (matches.length > 0) return matches
    throw unknownNode(suggestion(pattern, ids.slice(0, MOST_COMPARED * 10)))
  })
}

/** Why a node is not compared: a code; null if it is not a node. */
type Reason = string | null

/** Compares the configurations of nodes; those that cannot be are in `missing`, with the reason. */
async function compare(
  ids: readonly string[],
  { route, budget, most }: { route: CompareRoute; budget: Budget; most: number },
) {
  const { atOnce = 16 } = route
  const memory = budget.memory ? budget.memory.lease(atOnce * LARGEST_CONFIG) : undefined
  if (memory === null)
    throw new LogError('too-busy', 'Too many answers are being made; try again in a few seconds.')
  const { signal: over, done } = deadlineSignal(budget.clock, budget.millisLeft)
  const spend = callCounter(route.calls)
  const comparison = new Comparison()
  const missing = new Map<string, Reason>()
  try {
    await each(ids, atOnce, async (id) => {
      const reason = await addNode(id, { route, budget, comparison, memory, over, spend })
      if (reason !== undefined) missing.set(id, reason)
    })
    return { nodes: comparison.nodes, missing, keys: await comparison.differences(budget, most) }
  } catch (error) {
    if (!(error instanceof TooManyDifferences)) throw error
    throw new Problem('answer-too-large', 'Too many keys differ for one answer; compare fewer nodes.')
  } finally {
    done()
    memory?.release()
  }
}

interface Reading {
  route: CompareRoute
  budget: Budget
  comparison: Comparison
  memory: Lease | undefined
  over: AbortSignal
  /** Called before each request to the store. Throws NotAsked if there were too many. */
  spend(): void
}

interface StoredConfig {
  /** Null if it is too large. */
  text: string | null
  size: number
}

/** The configuration of a node, from itself if it lives; null if it has none. */
async function configOf(
  { store, homes, nodes }: CompareRoute,
  id: string,
  signal: AbortSignal | undefined,
): Promise<StoredConfig | null> {
  const stored = async () => {
    const read = store && (await readText(store, `${id}/config.toml`, LARGEST_CONFIG, { signal }))
    return read && { text: read.text, size: read.entry.size }
  }
  const live = homes.live(id)
  if (live === undefined) return stored()
  try {
    const text = await live.config()
    return { text, size: text.length }
  } catch (error) {
    if (!(error instanceof StoreError) || !(await nodes.hasHome(id))) throw error
    return stored()
  }
}

/** Reads and adds a node; returns why it cannot be compared. */
async function addNode(
  id: string,
  { route, budget, comparison, memory, over, spend }: Reading,
): Promise<Reason | undefined> {
  if (!(await budget.step())) return 'budget'
  try {
    spend()
    const signal = budget.signalFor(over)
    const reading = Promise.all([route.nodes.state(id, spend), configOf(route, id, signal)])
    if (!(await inTime(budget.clock, budget.millisLeft, reading))) return 'budget'
    const [state, config] = await reading
    if (state === undefined) return 'budget'
    if (config === null) return state && 'no-config'
    const isStored = route.homes.live(id) === undefined
    if (isStored && state?.error?.startsWith('storage-')) return state.error
    if (config.text === null) return 'too-large'
    budget.spend(config.size)
    const values = await inTurns(valuesIn(await maskedText(config.text, budget)))
    return comparison.add({ id, node: state?.node ?? null, values, memory }) ? undefined : 'budget'
  } catch (error) {
    budget.signal?.throwIfAborted()
    if (over.aborted || error instanceof NotAsked || error instanceof BudgetError) return 'budget'
    if (error instanceof ConfigError) return 'not-toml'
    if (error instanceof HomeError) return error.code === 'config-too-large' ? 'too-large' : 'no-config'
    if (error instanceof ValuesError) return error.code
    if (error instanceof StoreError) return toProblem(error).code
    throw error
  }
}

/** How many nodes' versions are read, and how many at once. */
const MOST_NODES = 32
const HISTORIES_AT_ONCE = 4

/** What differs in the configurations: from what they were before, or from those of other nodes. */
export async function fleetConfig(
  route: CompareRoute,
  grant: Grant,
  periods: ConfigPeriods,
  signal: AbortSignal,
): Promise<ConfigFindings> {
  const { nodes } = periods
  if (nodes.base) return betweenNodes(route, grant, { range: nodes.range, base: nodes.base }, signal)
  const findings: LogFinding[] = []
  let complete = nodes.range.length <= MOST_NODES
  await each(nodes.range.slice(0, MOST_NODES), HISTORIES_AT_ONCE, async (id) => {
    const found = await changesOf(id, route, grant, (between) => changedKeys(between, periods, id, signal))
    findings.push(...found.findings)
    complete &&= found.complete
  })
  return { findings, complete }
}

/** What changed in the configuration of a node: by itself if it lives, otherwise by its copy. */
async function changesOf(
  id: string,
  { homes, nodes }: CompareRoute,
  grant: Grant,
  find: (between: ReturnType<typeof configHistory>['between']) => Promise<ConfigFindings>,
): Promise<ConfigFindings> {
  const inHome = (home: FleetHome, context: ViewContext) =>
    find(
      configHistory(
        home.versions,
        createConfigReader(() => home.config()),
        context,
      ).between,
    )
  const live = homes.live(id)
  if (live === undefined) return inHome(homes.home(id), homes.copy(id, grant))
  const found = await homes.context(id, grant).then(
    (context) => inHome(live, context),
    (error) => {
      if (error instanceof StoreError) return { findings: [], complete: false }
      throw error
    },
  )
  if (found.complete || !(await nodes.hasHome(id))) return found
  return inHome(homes.home(id), homes.copy(id, grant))
}

async function betweenNodes(
  route: CompareRoute,
  grant: Grant,
  { range, base }: { range: readonly string[]; base: readonly string[] },
  signal: AbortSignal,
): Promise<ConfigFindings> {
  const ids = [...range, ...base].slice(0, MOST_COMPARED)
  const context = await route.homes.context(ids[0]!, grant)
  const budget = budgetOf(context, signal)
  const { keys, missing } = await compare(ids, { route, budget, most: context.limits.answerBytes })
  const findings = keys.flatMap((key) => (key.expected ? [] : (ownValue(key, range, base) ?? [])))
  const isRead = [...missing.values()].every((why) => why === null || why === 'no-config')
  return { findings, complete: isRead && ids.length === range.length + base.length }
}

/** A key whose most common value on some nodes is not the most common one on the others. */
function ownValue(
  { key, values }: DifferentKey,
  range: readonly string[],
  base: readonly string[],
): LogFinding | null {
  const among = (ids: readonly string[]) =>
    values
      .map(({ value, nodes }) => ({ value, count: nodes.filter((id) => ids.includes(id)).length }))
      .sort((a, b) => b.count - a.count)
  const [own] = among(range)
  const [usual] = among(base)
  if (!own?.count || !usual?.count || own.value === usual.value) return null
  return {
    kind: 'config',
    what: key,
    count: own.count,
    base: among(base).find(({ value }) => value === own.value)?.count ?? 0,
    ...(range.length === 1 && { node: range[0]! }),
    example: `${usual.value ?? UNSET} → ${own.value ?? UNSET}`,
  }
}
