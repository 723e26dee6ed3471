import type { NodeInfo } from '../answers.ts'
import { toProblem } from '../http/problem.ts'
import { concurrencyLimit } from '../limits/concurrency-limit.ts'
import { HOME_LOGS, LARGEST_NODE } from '../node/home.ts'
import { nodeFrom, parseNode } from '../node/identity.ts'
import { HEARTBEAT, SEGMENTS } from '../segment/names.ts'
import { type Heartbeat, LARGEST_HEARTBEAT, parseHeartbeat } from '../segment/ship-json.ts'
import { type ReadOptions, readText, type Store, type StoredText, StoreError } from '../store/store.ts'

/** What a home was found to hold. */
export interface HomeState {
  node: NodeInfo | null
  /** When its shipper last wrote, and how old that was, in ms by the storage's clock. */
  shipped: { at: number; age: number } | null
  /** Bytes that are only on the node's disk, in all and by log. `logs` is null if more lag than are remembered. */
  lag: {
    bytes: number
    /** How long the oldest of them have been waiting. */
    seconds: number
    logs: readonly (readonly [name: string, bytes: number])[] | null
  } | null
  /** Errors and warnings by log; null if they are not counted. */
  counts: NonNullable<Heartbeat['counts']> | null
  /** The code of the problem that kept it from being read. */
  error: string | null
  /** The object that is not valid: it is not read again until it changes. */
  bad?: { key: string; etag: string }
}

const UNKNOWN: HomeState = { node: null, shipped: null, lag: null, counts: null, error: null }

/** Most objects are smaller. Larger ones are read two at a time, so that many together stay within memory. */
const SMALL = 64 * 1024
/** How many lagging logs of a node are remembered, for tokens that may see only some of them. */
const MOST_LAGGING = 100
const LONGEST_NAME = 255
/** How many names of a folder are listed to tell whether it is a home: one page of a bucket. */
const MOST_NAMES = 1000
const READ_MS = 10_000

/** Thrown where a request may ask the store no further: the home's state stays unknown. */
export class NotAsked extends Error {}

/** Counts the requests to the store, of which the LIST was one. Throws NotAsked if there were too many. */
export function callCounter(most = Number.POSITIVE_INFINITY): () => void {
  let left = most - 1
  return () => {
    if (left-- <= 0) throw new NotAsked()
  }
}

/** Reads the state of a home; null if it is none. `spend` is called before each request and may throw NotAsked. */
export function homeReader(store: Store, now: () => number) {
  const large = concurrencyLimit({ most: 2 })
  const read = async (key: string, largest: number, options: ReadOptions) => {
    const small = await readText(store, key, SMALL, options)
    if (!small || small.text !== null || small.entry.size > largest) return small
    return large.run(() => readText(store, key, largest, options))
  }
  return async (id: string, last: HomeState | null | undefined, spend: () => void) => {
    const signal = AbortSignal.timeout(READ_MS)
    const get = (name: string, largest: number) => {
      spend()
      const key = `${id}/${name}`
      const ifNoneMatch = last?.bad?.key === key ? last.bad.etag : undefined
      return read(key, largest, { signal, ifNoneMatch })
    }
    try {
      const beat = await get(HEARTBEAT, LARGEST_HEARTBEAT)
      const shipped = beat && shippedState(beat, now())
      if (shipped?.node || shipped?.error) return shipped
      const file = await get('node.json', LARGEST_NODE)
      if (file) return { ...(shipped ?? UNKNOWN), ...describedState(file) }
      if (shipped) return shipped
      spend()
      return (await isHome(store, id, signal)) ? UNKNOWN : null
    } catch (error) {
      if (error instanceof StoreError && error.code === 'unchanged' && last) return last
      if (error instanceof NotAsked) throw error
      const failure = signal.aborted ? new StoreError('timeout', 'The home did not answer in time') : error
      return { ...UNKNOWN, error: toProblem(failure).code }
    }
  }
}

function shippedState({ entry, text, date }: StoredText, now: number): HomeState {
  const heartbeat = text === null ? null : parseHeartbeat(text)
  if (!heartbeat) return badState(entry)
  const { modified } = entry
  try {
    return {
      node: heartbeat.node && nodeFrom(heartbeat.node),
      shipped: { at: modified, age: Math.max(0, (date ?? now) - modified) },
      lag: lagOf(heartbeat),
      counts: heartbeat.counts ?? null,
      error: null,
    }
  } catch {
    return badState(entry)
  }
}

/** Whether a folder without a description holds anything else of a home. */
async function isHome(store: Store, id: string, signal: AbortSignal): Promise<boolean> {
  const names = new Set([`${id}/config.toml`, `${id}/${HOME_LOGS}/`, `${id}/${SEGMENTS}`])
  const options = { shallow: true, folders: true, limit: MOST_NAMES, signal }
  for await (const { key } of store.list(`${id}/`, options)) if (names.has(key)) return true
  return false
}

function lagOf({ logs }: Heartbeat): HomeState['lag'] {
  const lags = Object.entries(logs).map(([name, { lagBytes }]) => [name, lagBytes] as const)
  const lagging = lags.filter(([, bytes]) => bytes > 0)
  const isSmall = lagging.length <= MOST_LAGGING && lagging.every(([name]) => name.length <= LONGEST_NAME)
  const seconds = Math.max(0, ...Object.values(logs).map(({ lagSeconds }) => lagSeconds))
  const bytes = lagging.reduce((sum, [, bytes]) => sum + bytes, 0)
  return { bytes, seconds, logs: isSmall ? lagging : null }
}

function describedState({ entry, text }: StoredText): Partial<HomeState> {
  try {
    return text === null ? badState(entry) : { node: parseNode(text) }
  } catch {
    return badState(entry)
  }
}

function badState({ key, etag }: { key: string; etag: string }): HomeState {
  return { ...UNKNOWN, error: 'bad-object', bad: { key, etag } }
}
