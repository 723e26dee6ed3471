import { toProblem } from '../core/http/problem.ts'
import { HOME_LOGS, LARGEST_NODE } from '../core/node/home.ts'
import { nodeFrom, parseNode } from '../core/node/identity.ts'
import type { NodeInfo } from '../kit/answers.ts'
import { type Clock, deadlineSignal } from '../kit/limits/clock.ts'
import { concurrencyLimit } from '../kit/limits/concurrency-limit.ts'
import { HEARTBEAT, SEGMENTS } from '../store/segment/names.ts'
import { type Heartbeat, LARGEST_HEARTBEAT, parseHeartbeat } from '../store/segment/ship-json.ts'
import { type ReadOptions, readText, type Store, type StoredText, StoreError } from '../store/store.ts'

/** Bytes that wait to be shipped, and for how many seconds the oldest of them have. */
export interface Lag {
  bytes: number
  seconds: number
}

export interface LogLag extends Lag {
  name: string
}

/** What a home was found to hold. */
export interface HomeState {
  node: NodeInfo | null
  /** When its shipper last wrote, and how old that was, in ms by the storage's clock. */
  shipped: { at: number; age: number } | null
  /** What is only on the node's disk, in all and by log. `logs` is null if more lag than are remembered. */
  lag: (Lag & { logs: readonly LogLag[] | null }) | null
  /** Errors and warnings by log; null if they are not counted. */
  counts: NonNullable<Heartbeat['counts']> | null
  /** The code of the problem that kept it from being read. */
  error: string | null
  /** Of a node that is a peer: whether it answered, when it last did, and the fields of `node` that were set or read. */
  live?: boolean
  answered?: number | null
  known?: (keyof NodeInfo)[]
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

/** Reads the state of a home, null if it is none, and all of its lags. `spend` is called before each request and may throw NotAsked. */
export function homeReader(store: Store, clock: Clock) {
  const large = concurrencyLimit({ most: 2 })
  const read = async (key: string, largest: number, options: ReadOptions) => {
    const small = await readText(store, key, SMALL, options)
    if (!small || small.text !== null || small.entry.size > largest) return small
    return large.run(() => readText(store, key, largest, options))
  }
  /** The lag of every log of a home, however many lag; null if it is not known. */
  const lags = async (id: string, spend: () => void): Promise<LogLag[] | null> => {
    spend()
    const { signal, done } = deadlineSignal(clock, READ_MS)
    const beat = await read(`${id}/${HEARTBEAT}`, LARGEST_HEARTBEAT, { signal }).finally(done)
    const heartbeat = beat?.text ? parseHeartbeat(beat.text) : null
    return heartbeat && lagging(heartbeat)
  }
  const state = async (id: string, last: HomeState | null | undefined, spend: () => void) => {
    const { signal, done } = deadlineSignal(clock, READ_MS)
    const get = (name: string, largest: number) => {
      spend()
      const key = `${id}/${name}`
      const ifNoneMatch = last?.bad?.key === key ? last.bad.etag : undefined
      return read(key, largest, { signal, ifNoneMatch })
    }
    try {
      const beat = await get(HEARTBEAT, LARGEST_HEARTBEAT)
      const shipped = beat && shippedState(beat, clock.now())
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
    } finally {
      done()
    }
  }
  return { state, lags }
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

/** The sum of lags, and the longest wait. */
export function sumOf(lags: readonly Lag[]): Lag {
  const sum = { bytes: 0, seconds: 0 }
  for (const { bytes, seconds } of lags) {
    sum.bytes += bytes
    sum.seconds = Math.max(sum.seconds, seconds)
  }
  return sum
}

function lagOf(heartbeat: Heartbeat): HomeState['lag'] {
  const logs = lagging(heartbeat)
  const isSmall = logs.length <= MOST_LAGGING && logs.every(({ name }) => name.length <= LONGEST_NAME)
  return { ...sumOf(logs), logs: isSmall ? logs : null }
}

function lagging({ logs }: Heartbeat): LogLag[] {
  return Object.entries(logs)
    .map(([name, { lagBytes, lagSeconds }]) => ({ name, bytes: lagBytes, seconds: lagSeconds }))
    .filter(({ bytes, seconds }) => bytes > 0 || seconds > 0)
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
