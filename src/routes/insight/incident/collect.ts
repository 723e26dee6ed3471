import {
  type Client,
  type CompareQuery,
  type Comparison,
  type ConfigVersion,
  type FleetNode,
  type Histogram,
  type LevelFilter,
  type LogComparison,
  type LogQuery,
  type LogRecord,
  type NodeInfo,
  ProblemError,
  UnreachableError,
} from '../../../doors/client.ts'
import { namedBy } from '../../../log/merge/source.ts'

/** A part of an incident: what was found, or why it could not be. `notes` say what it lacks. */
export type Part<T> = { found: T; notes: string[] } | { problem: string }

/** What is known of one node. */
export interface IncidentNode {
  /** Null where there is only one. */
  id: string | null
  node: NodeInfo | null
  /** Errors and warnings of the last hour, as the fleet counts them. */
  state?: FleetNode
  /** The changes of the configuration from the start of the base to the end of the range, oldest first. */
  changes: Part<ConfigVersion[]>
}

/** Everything that an incident shows. */
export interface Incident {
  query: LogQuery
  comparison: LogComparison & { notes: string[]; missing: { name: string; reason: string }[] }
  chart: Part<Histogram>
  /** The first errors of the range. */
  errors: Part<LogRecord[]>
  /** All records around the first error, or from the start of the range on. */
  excerpt: Part<LogRecord[]>
  nodes: Part<IncidentNode[]>
  /** The settings in which several nodes differ. */
  settings: Part<Comparison> | null
}

export interface Reader {
  client: Client
  nodeClient(id: string): Client
  isFleet: boolean
  now: number
  signal: AbortSignal
}

const MOST_ERRORS = 25
/** Records before the first error, and from it on. */
export const BEFORE = 60
export const AFTER = 240
/** Bytes that a page of records may have. */
const PAGE_BYTES = 384 * 1024
const BUCKETS = 96
/** Nodes whose configurations are read: the others are named. */
const MOST_NODES = 16
const MOST_VERSIONS = 100

/** Collects an incident with the API's own answers, one after the other: each has the budget of a request. */
export async function collect(
  given: CompareQuery,
  comparison: Incident['comparison'],
  reader: Reader,
): Promise<Incident> {
  const { client, signal } = reader
  const { range, base } = comparison
  const { baseSince: _, baseUntil: __, baseNode: ___, ...filters } = given
  const query: LogQuery = { ...filters, since: iso(range.from), until: iso(range.to) }
  const margin = Math.max(60_000, Math.round((range.to - range.from) / 3))
  const around = {
    since: iso(range.from - margin),
    until: iso(Math.min(range.to + margin, Math.max(range.to, reader.now))),
  }
  const chart = await partOf(signal, () =>
    client.histogram({ ...query, ...around, buckets: BUCKETS }, { signal }),
  )
  const errors = await recordsOf(reader, { ...query, level: levelOf(given), first: MOST_ERRORS })
  const moment = 'found' in errors ? (errors.found[0]?.time ?? null) : null
  const excerpt = await excerptOf(reader, { ...query, since: around.since }, moment)
  const nodes = await partOf(signal, () => nodesOf(reader, given, { from: base.from, to: range.to }))
  const ids = 'found' in nodes ? nodes.found.flatMap(({ id }) => id ?? []) : []
  const settings = ids.length > 1 ? await partOf(signal, () => client.compareConfig(ids, { signal })) : null
  return { query, comparison, chart, errors, excerpt, nodes, settings }
}

const iso = (ms: number) => new Date(ms).toISOString()

/** Errors, unless the request itself wants other levels. */
function levelOf({ level }: CompareQuery): LevelFilter {
  const given = [level].flat()[0]
  return given?.startsWith('=') || given === 'fatal' ? given : 'error'
}

async function recordsOf(
  { client, signal }: Reader,
  query: Parameters<Client['records']>[0],
): Promise<Part<LogRecord[]>> {
  return partOf(signal, async () => {
    const { content, notes } = await client.records({ ...query, size: PAGE_BYTES }, { signal })
    return Object.assign(content, { notes })
  })
}

/** The records before a moment of the range, and those from it on. */
async function excerptOf(reader: Reader, query: LogQuery, moment: string | null): Promise<Part<LogRecord[]>> {
  if (moment === null) return recordsOf(reader, { ...query, first: BEFORE + AFTER })
  const older = await recordsOf(reader, { ...query, until: moment, lines: BEFORE })
  const newer = await recordsOf(reader, { ...query, since: moment, first: AFTER })
  if ('problem' in newer) return newer
  if ('problem' in older) return older
  return { found: [...older.found, ...newer.found], notes: [...new Set([...older.notes, ...newer.notes])] }
}

async function nodesOf(
  reader: Reader,
  { node, baseNode: others }: CompareQuery,
  period: { from: number; to: number },
): Promise<IncidentNode[] & { notes: string[] }> {
  const { client, nodeClient, isFleet, signal } = reader
  if (!isFleet) return Object.assign([await nodeOf(client, null, period, signal)], { notes: [] })
  const { entries, notes } = await client.nodes({ signal })
  const named = [node ?? [], others ?? []].flat()
  const isWanted = named.length === 0 ? () => true : namedBy(named)
  const wanted = entries.filter(({ id }) => isWanted(id))
  const found: IncidentNode[] = []
  for (const state of wanted.slice(0, MOST_NODES))
    found.push({ ...(await nodeOf(nodeClient(state.id), state.id, period, signal)), state })
  for (const state of wanted.slice(MOST_NODES)) {
    const changes = { problem: `Only the first ${MOST_NODES} nodes are looked at.` }
    found.push({ id: state.id, node: state.node, state, changes })
  }
  return Object.assign(found, { notes })
}

async function nodeOf(
  client: Client,
  id: string | null,
  { from, to }: { from: number; to: number },
  signal: AbortSignal,
): Promise<IncidentNode> {
  const config = await partOf(signal, () => client.config({ signal }))
  const changes = await partOf(signal, async () => {
    const { entries, notes } = await client.history({ signal, limit: MOST_VERSIONS })
    const found = entries.filter(
      ({ time, changes, error }) => time >= from && time < to && (error || changes.length > 0),
    )
    return Object.assign(found.reverse(), { notes })
  })
  return { id, node: 'found' in config ? config.found.node : null, changes }
}

/** Runs `read`; a problem takes the place of what it would have found. */
async function partOf<T extends object>(signal: AbortSignal, read: () => Promise<T>): Promise<Part<T>> {
  try {
    const found = await read()
    return { found, notes: (found as { notes?: string[] }).notes ?? [] }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ProblemError || error instanceof UnreachableError) return { problem: error.message }
    throw error
  }
}
