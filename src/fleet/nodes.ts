import { toProblem } from '../http/problem.ts'
import { BoundedMap } from '../limits/bounded-map.ts'
import { HomeError } from '../node/home.ts'
import { parseNode } from '../node/identity.ts'
import { HEARTBEAT } from '../segment/names.ts'
import { parseHeartbeat } from '../segment/ship-json.ts'
import { byCodePoint, type Store, StoreError } from '../store/store.ts'

/** What is known about a node of a fleet. */
export interface FleetNode {
  id: string
  /** The node object. */
  node: Record<string, unknown> | null
  /** When its shipper last wrote, ISO 8601, and how many seconds ago, by the storage's clock. */
  shipped: string | null
  age: number | null
  /** Bytes that are only on its disk. */
  lag: number | null
  /** The code of the problem that kept it from being read. */
  error: string | null
}

/** What a name must look like to be a node. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const AT_ONCE = 6
const DEADLINE_MS = 5000
const KEPT_MS = 5000

/** Whether a name can be the id of a node; `.` and `..` cannot. */
export function isNodeId(id: string): boolean {
  return ID.test(id)
}

/** Which page of the nodes. */
export interface NodePage {
  after: string
  limit: number
}

/** The nodes of a fleet: one LIST for their names, and one GET for each, kept for five seconds. */
export class FleetNodes {
  readonly #store: Store
  readonly #now: () => number
  readonly #known = new BoundedMap<string, { node: FleetNode | null; until: number }>(10_000)
  #ids: { ids: string[]; until: number } | null = null

  constructor(store: Store, now: () => number = Date.now) {
    this.#store = store
    this.#now = now
  }

  /** A page, by id, and the id that the next one follows; null when there is none. */
  async page({ after, limit }: NodePage): Promise<{ nodes: FleetNode[]; next: string | null }> {
    const start = this.#now()
    const ids = await this.#list(start)
    const behind = ids.filter((id) => id > after)
    const wanted = behind.slice(0, limit)
    const nodes = await this.#ask(wanted, start + DEADLINE_MS)
    return { nodes, next: behind.length > limit ? wanted.at(-1)! : null }
  }

  /** The names that may be nodes, by one LIST. */
  ids(): Promise<string[]> {
    return this.#list(this.#now())
  }

  /** Whether a folder is a node. One that cannot be read counts as one, so that its failure is not hidden. */
  async has(id: string): Promise<boolean> {
    return (await this.#ask([id], this.#now() + DEADLINE_MS)).length > 0
  }

  async #list(now: number): Promise<string[]> {
    if (this.#ids && now < this.#ids.until) return this.#ids.ids
    const ids: string[] = []
    for await (const { key, folder } of this.#store.list('', { shallow: true, folders: true }))
      if (folder && isNodeId(key.slice(0, -1))) ids.push(key.slice(0, -1))
    // A storage lists `a-b/` before `a/`.
    ids.sort(byCodePoint)
    this.#ids = { ids, until: now + KEPT_MS }
    return ids
  }

  async #ask(ids: readonly string[], deadline: number): Promise<FleetNode[]> {
    const found = new Map<string, FleetNode | null>()
    const queue: string[] = []
    for (const id of ids) {
      const known = this.#known.get(id)
      if (known && this.#now() < known.until) found.set(id, known.node)
      else queue.push(id)
    }
    const late = new AbortController()
    const timer = setTimeout(
      () => late.abort(new StoreError('timeout', 'The time is up')),
      deadline - this.#now(),
    )
    const work = async () => {
      while (this.#now() < deadline && !late.signal.aborted) {
        const id = queue.shift()
        if (id === undefined) return
        const node = await this.#read(id, late.signal)
        found.set(id, node)
        // What failed is tried again next time.
        if (node?.error) continue
        this.#known.set(id, { node, until: this.#now() + KEPT_MS })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    clearTimeout(timer)
    const nodes = ids.map((id) => (found.has(id) ? found.get(id)! : unknown(id, 'not-asked')))
    return nodes.filter((node) => node !== null)
  }

  /** One node; null if the folder is not a node's. */
  async #read(id: string, signal: AbortSignal): Promise<FleetNode | null> {
    try {
      const beat = await this.#store.read(`${id}/${HEARTBEAT}`, undefined, { signal })
      if (beat) {
        const heartbeat = parseHeartbeat(await new Response(beat.body).text())
        if (!heartbeat) return unknown(id, 'bad-object')
        const { modified } = beat.entry
        const age = Math.max(0, Math.round(((beat.date ?? this.#now()) - modified) / 1000))
        const lag = Object.values(heartbeat.logs).reduce((sum, { lagBytes }) => sum + lagBytes, 0)
        return { id, node: heartbeat.node, shipped: new Date(modified).toISOString(), age, lag, error: null }
      }
      const file = await this.#store.read(`${id}/node.json`, undefined, { signal })
      if (!file) return null
      return { ...unknown(id, null), node: { ...nodeOf(await new Response(file.body).text()) } }
    } catch (error) {
      return unknown(id, toProblem(signal.aborted ? signal.reason : error).code)
    }
  }
}

function nodeOf(text: string) {
  try {
    return parseNode(text)
  } catch (cause) {
    throw new HomeError('bad-object', 'The node.json of this node is not valid.', { cause })
  }
}

function unknown(id: string, error: string | null): FleetNode {
  return { id, node: null, shipped: null, age: null, lag: null, error }
}
