import type { NodeInfo } from '../kit/answers.ts'
import { type Budget, BudgetError } from '../kit/limits/budget.ts'
import { LogError } from '../log/error.ts'
import { StoreError } from '../store/store.ts'
import { claim } from './http/caller.ts'
import { jsonResponse, textTag } from './http/conditional.ts'
import { Problem } from './http/problem.ts'
import { type Config, ConfigError, type createConfigReader } from './node/config.ts'
import { HomeError } from './node/home.ts'
import { describeNode, knownFields, type NodeFacts } from './node/identity.ts'
import type { Query } from './query.ts'

type ConfigReader = ReturnType<typeof createConfigReader>

export interface ConfigRoute {
  config: ConfigReader
  node: () => Partial<NodeInfo> | Promise<Partial<NodeInfo>>
  facts: NodeFacts
  /** What a request may cost. */
  budget(signal: AbortSignal): Budget
  /** Loaded on first use. */
  history(): Promise<{ at(text: string, signal: AbortSignal): Promise<Required<Shown>> }>
}

/** A configuration, and with `at` when it was first seen, and whether the answer depends on the clock. */
type Shown = Config & { time?: number; clock?: boolean }

/**
 * `GET /api/v1/config`: the configuration as masked TOML, and the node. `detail=true` adds `known`, the fields of the
 * node that nodestate did not have to fill in; `at` selects an earlier version.
 */
export async function showConfig(
  request: Request,
  { detail = false, at }: Query,
  { config, node, facts, budget, history }: ConfigRoute,
): Promise<Response> {
  if (at !== undefined) claim(request)
  const reading = readable<Shown>(async () =>
    at === undefined ? config.read(budget(request.signal)) : (await history()).at(at, request.signal),
  )
  // Awaited below. If both fail, the node's error is reported, whichever came first, so that the answer is predictable.
  reading.catch(() => {})
  const set = await node()
  const { text, data, time, clock = false } = await reading
  const body = JSON.stringify({
    config: text,
    node: describeNode(set, facts, data),
    ...(detail && { known: knownFields(set, data) }),
    ...(time !== undefined && { time }),
  })
  return jsonResponse(request, body, clock ? null : textTag(body))
}

/** Turns the failures of reading a configuration into problems. */
export async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ConfigError) throw new Problem('bad-config', error.message, { cause: error })
    if (error instanceof BudgetError)
      throw new LogError(
        'too-busy',
        'There was no time to mask the configuration; try again in a few seconds.',
      )
    if (error instanceof HomeError || error instanceof Problem || error instanceof LogError) throw error
    if (error instanceof StoreError && error.code !== 'unavailable') throw error
    if (!(error instanceof StoreError) && !isSystemError(error)) {
      const detail = "The node's configuration cannot be read; the service's log says why."
      throw new Problem('bad-config', detail, { cause: error })
    }
    const detail = "The node's configuration cannot be read; check that the file exists and is readable."
    throw new Problem('storage-unavailable', detail, { cause: error })
  }
}

/** Whether the system refused a call, such as to open a file. */
function isSystemError(error: unknown): boolean {
  return /^E[A-Z]+$/.test(String((error as { code?: unknown } | null)?.code))
}
