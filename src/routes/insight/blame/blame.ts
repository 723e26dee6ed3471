import { claim, refusePeerRequest } from '../../../core/http/caller.ts'
import { jsonResponse } from '../../../core/http/conditional.ts'
import { bad } from '../../../core/http/params.ts'
import { PROBLEMS, Problem, type ProblemCode } from '../../../core/http/problem.ts'
import type { Query } from '../../../core/query.ts'
import { type Inside, insideClients } from '../../../doors/client/inside.ts'
import { type Client, ProblemError, UnreachableError } from '../../../doors/client.ts'
import type { BlamedKey, ConfigBlame } from '../../../kit/answers.ts'
import type { Clock } from '../../../kit/limits/clock.ts'
import { inTurns } from '../../../kit/limits/yield.ts'
import { ValuesError, valuesIn } from '../config/values.ts'

/** What the route is given of the app that it belongs to. */
export interface BlameService {
  inside: Inside
  isFleet: boolean
  clock: Clock
}

/** Versions that are looked at, and changes whose errors are counted. */
const MOST_VERSIONS = 200
const MOST_COUNTED = 8
const HOUR = 3_600_000
/** What is counted after a change is a rate only if some time has passed. */
const SHORTEST = 60_000

/**
 * `GET /api/v1/config/blame`: each setting with when it last changed, and the errors per hour before and after. At a fleet's
 * own address, of one node, with the nodes that are set otherwise. It is asked from the app itself, with the request's token.
 */
export async function showBlame(request: Request, { node }: Query, service: BlameService): Promise<Response> {
  const { client, nodeClient } = insideClients(request, service.inside)
  const { signal } = request
  if (!service.isFleet) {
    if (request.method === 'HEAD') return jsonResponse(request, '', null)
    claim(request)
    return answer(request, await passed(blameOf(client, service.clock, signal)))
  }
  refusePeerRequest(request)
  if (node?.length !== 1 || /[*?]/.test(node[0]!))
    throw bad('node', 'must be the id of one node, such as db-4; see /api/v1/nodes')
  const [id] = node as [string]
  if (request.method === 'HEAD') return jsonResponse(request, '', null)
  const blame = await passed(nodeClient(id).blame({ signal }))
  const { notes: _, missing: __, ...body } = blame
  return answer(request, await withOthers(body, id, client, signal))
}

const answer = (request: Request, body: ConfigBlame) => jsonResponse(request, JSON.stringify(body), null)

/** A problem of another resource is one of this answer. */
async function passed<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof ProblemError) || !Object.hasOwn(PROBLEMS, error.code)) throw error
    throw new Problem(error.code as ProblemCode, error.message)
  }
}

async function blameOf(client: Client, clock: Clock, signal: AbortSignal): Promise<ConfigBlame> {
  const { config } = await client.config({ signal })
  const { entries, notes } = await client.history({ limit: MOST_VERSIONS, signal })
  const keys = new Map<string, BlamedKey>()
  for (const [key, value] of await valuesNow(config)) keys.set(key, { key, value, changed: null })
  for (const { time, changes } of entries)
    for (const { key, before } of changes) {
      // The newest change comes first. What is not set any more has no value.
      const known = keys.get(key) ?? { key, changed: null }
      if (known.changed !== null) continue
      keys.set(key, { ...known, changed: time, ...(before !== undefined && { before }) })
    }
  const times = [...new Set([...keys.values()].flatMap(({ changed }) => changed ?? []))].sort((a, b) => b - a)
  const counts = new Map<number, NonNullable<BlamedKey['errors']>>()
  let complete = notes.length === 0 && entries.length < MOST_VERSIONS
  complete &&= entries.every(({ error }) => error === undefined)
  for (const time of times.slice(0, MOST_COUNTED)) {
    const errors = await errorsAround(client, time, clock.now(), signal)
    if (errors === null) complete = false
    else {
      complete &&= errors.complete
      counts.set(time, errors.counts)
    }
  }
  const found = [...keys.values()].map((key) => {
    const errors = key.changed === null ? undefined : counts.get(key.changed)
    return errors ? { ...key, errors } : key
  })
  const newest = (a: BlamedKey, b: BlamedKey) => (b.changed ?? 0) - (a.changed ?? 0)
  return { complete, keys: found.sort((a, b) => newest(a, b) || (a.key < b.key ? -1 : 1)) }
}

async function valuesNow(config: string): Promise<ReadonlyMap<string, string>> {
  try {
    return (await inTurns(valuesIn(config))).values
  } catch (error) {
    if (!(error instanceof ValuesError)) throw error
    throw new Problem('config-too-large', 'The configuration has too many keys to be looked at one by one.')
  }
}

/** The errors of all logs per hour, in the hour before a change and in the one after it; null if they cannot be counted. */
async function errorsAround(client: Client, time: number, now: number, signal: AbortSignal) {
  const end = Math.min(time + HOUR, now)
  try {
    const chart = await client.histogram(
      {
        file: ['*'],
        level: 'error',
        since: new Date(time - HOUR).toISOString(),
        until: new Date(Math.max(end, time + 1)).toISOString(),
        step: HOUR,
        origin: time,
      },
      { signal },
    )
    const sum = (isWanted: (at: number) => boolean) =>
      chart.buckets
        .filter((bucket) => isWanted(bucket.time))
        .reduce((all, { counts }) => all + counts.reduce((one, count) => one + count, 0), 0)
    const after = sum((at) => at >= time) / (Math.max(SHORTEST, end - time) / HOUR)
    const counts = { before: sum((at) => at < time), after: Math.round(after) }
    return { counts, complete: chart.complete && chart.missing.length === 0 }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ProblemError || error instanceof UnreachableError) return null
    throw error
  }
}

/** Adds to each key the nodes of the fleet where it has another value. */
async function withOthers(
  { complete, keys }: ConfigBlame,
  id: string,
  client: Client,
  signal: AbortSignal,
): Promise<ConfigBlame> {
  try {
    const compared = await client.compareConfig('*', { signal })
    const differing = new Map(compared.keys.map(({ key, values }) => [key, values]))
    const found = keys.map((key) => {
      const others = differing.get(key.key)?.filter(({ nodes }) => !nodes.includes(id)) ?? []
      return others.length === 0 ? key : { ...key, others }
    })
    return { complete: complete && compared.missing.length === 0, keys: found }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ProblemError || error instanceof UnreachableError) return { complete: false, keys }
    throw error
  }
}
