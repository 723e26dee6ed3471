import { textOf } from './client/body.ts'
import { connect } from './client/connect.ts'
import { follow } from './client/follow.ts'
import { missingOf, notesOf } from './client/missing.ts'
import { reach } from './client/problem.ts'
import type {
  CallOptions,
  Client,
  ClientOptions,
  CompareQuery,
  Completeness,
  ConfigComparison,
  ConfigVersion,
  Download,
  Entries,
  Follow,
  FollowOptions,
  HistogramQuery,
  LevelHistogram,
  ListOptions,
  LogRecord,
  Missing,
  NodeConfig,
  ViewQuery,
} from './client/types.ts'

export { ProblemError, type ProblemFields, UnreachableError } from './client/problem.ts'
export * from './client/types.ts'
export type { ByteStream, Fetch, Signal, Url } from './client/web.ts'

/** A client for the node that answers at `base`; runs wherever there is fetch. */
export function createClient(options: ClientOptions): Client {
  const send = connect(options)

  async function page(query: ViewQuery, accept: string, extra: object, call: CallOptions | undefined) {
    const response = await send({
      path: 'log/view',
      query: { ...query, ...extra },
      accept,
      signal: call?.signal,
    })
    const text = await reach(textOf(response), call?.signal)
    const { notes, missing } = completenessOf(response)
    return {
      text,
      ...cursors(response),
      complete: !notes.includes('scan-budget'),
      notes,
      missing,
      settled: response.headers.get('X-Nodestate-Settled'),
    }
  }

  async function json<T>(path: string, query: object, { signal }: CallOptions = {}) {
    const response = await send({ path, query, signal })
    const body = JSON.parse(await reach(textOf(response), signal)) as T
    return { response, body, ...completenessOf(response) }
  }

  async function whole<T>(path: string, query: object, call?: CallOptions): Promise<T & Completeness> {
    const { body, notes, missing } = await json<T>(path, query, call)
    return { ...body, notes, missing }
  }

  /** A list, with the pages that its answers lead to. */
  async function listed<T>(path: string, query: Paged, call?: CallOptions): Promise<Entries<T>> {
    let entries: T[] | null = null
    const notes = new Set<string>()
    const missing = new Map<string, Missing>()
    const asked = new Set<string>()
    for (let after = query.after ?? ''; ; ) {
      asked.add(after)
      const page = await json<T[]>(path, { ...query, after }, call)
      entries = entries === null ? page.body : entries.concat(page.body)
      for (const each of page.missing) missing.set(each.name, each)
      const { next } = cursors(page.response)
      // A node that leads back to a page would be read for ever.
      const isStuck = next !== null && (asked.has(next) || asked.size >= MOST_PAGES)
      const isLast = next === null || isStuck
      if (isStuck) notes.add('list-cut')
      // What was cut from this answer is in the next.
      for (const note of page.notes) if (isLast || note !== 'list-cut') notes.add(note)
      if (isLast) return { entries, notes: [...notes], missing: [...missing.values()] }
      after = next
    }
  }

  const client: Client = {
    async config(call) {
      const query = { detail: call?.detail || undefined, at: call?.at }
      return (await json<NodeConfig>('config', query, call)).body
    },
    async history(call) {
      const { body, notes, missing } = await json<ConfigVersion[]>(
        'config/history',
        { limit: call?.limit },
        call,
      )
      return { entries: body, notes, missing }
    },
    async compareConfig(node, call) {
      const { body, notes } = await json<ConfigComparison>('config/compare', { node }, call)
      const missing = Object.entries(body.missing ?? {}).map(([name, reason]) => ({ name, reason }))
      return { ...body, notes, missing }
    },
    blame: (call) => whole('config/blame', { node: call?.node }, call),
    list: <T>(call?: ListOptions & { detail?: boolean | undefined }) =>
      listed<T>(
        'log/list',
        { node: call?.node, after: call?.after, ...(call?.detail && { detail: true }) },
        call,
      ),
    tagged: (call) =>
      listed('log/list', { node: call?.node, after: call?.after, prefix: call?.prefix, etag: true }, call),
    async view(query, call) {
      const { text, ...rest } = await page(query, 'text/plain', {}, call)
      return { content: text, ...rest }
    },
    async lines(query, call) {
      const { text, ...rest } = await page(query, 'application/x-ndjson', { format: 'ndjson' }, call)
      const lines = text.split('\n')
      if (lines.at(-1) === '') lines.pop()
      return { content: lines, ...rest }
    },
    async records(query, call) {
      const { content, ...rest } = await client.lines(query, call)
      return { content: content.map((line) => JSON.parse(line) as LogRecord), ...rest }
    },
    async csv({ columns, ...query }, call) {
      const extra = { format: 'csv', columns: columns?.join() }
      const { text, ...rest } = await page(query, 'text/csv', extra, call)
      return { content: text, ...rest }
    },
    histogram: (query: HistogramQuery, call?: CallOptions) =>
      whole<LevelHistogram>('log/histogram', query, call),
    fields: (query, call) => whole('log/fields', query, call),
    groups: (query, call) => whole('log/groups', query, call),
    compareLogs: (query, call) => whole('log/compare', inApi(query), call),
    async incident(query, call) {
      const asked = { path: 'log/incident', query: inApi(query), accept: 'text/html', signal: call?.signal }
      return stored('incident.html', await send(asked))
    },
    nodes: (call) => listed('nodes', { limit: 1000 }, call),
    async export({ columns, ...query }, format, call) {
      const asked = format === 'text' ? {} : { format, columns: columns?.join() }
      const params = { ...query, download: true, ...asked }
      const accept = TYPES[format]
      const response = await send({ path: 'log/view', query: params, accept, signal: call?.signal })
      const name = [query.file].flat().join(' ')
      return stored(format === 'text' ? name : `${name}.${format}`, response)
    },
    async download(file, call) {
      const accept = 'application/octet-stream, */*'
      return stored(file, await send({ path: 'log/download', query: { file }, accept, signal: call?.signal }))
    },
    follow: <T>(query: ViewQuery, call?: FollowOptions) => follow(send, query, call) as Follow<T>,
  }
  return client
}

/** The names of the API's parameters. */
const inApi = ({ baseSince, baseUntil, baseNode, ...query }: CompareQuery) => ({
  ...query,
  'base-since': baseSince,
  'base-until': baseUntil,
  'base-node': baseNode,
})

/** The media types of exports. */
const TYPES = { text: 'text/plain', ndjson: 'application/x-ndjson', csv: 'text/csv' }

/** How many pages of a list are followed. */
const MOST_PAGES = 10_000

/** Which part of a list is asked for. */
interface Paged extends Pick<ListOptions, 'node' | 'after'> {
  detail?: true | undefined
  etag?: true
  prefix?: string | undefined
  limit?: number
}

function completenessOf(response: Response): Completeness {
  return { notes: notesOf(response), missing: missingOf(response) }
}

function stored(name: string, response: Response): Download {
  const length = response.headers.get('Content-Length')
  const encoded = response.headers.has('Content-Encoding')
  return {
    name,
    size: length === null || encoded ? null : Number(length),
    body: response.body ?? new Blob([]).stream(),
    ...completenessOf(response),
  }
}

/** The cursors in RFC 8288 Link headers; a comma inside <> is part of the target. */
function cursors(response: Response): { prev: string | null; next: string | null } {
  const found: { prev: string | null; next: string | null } = { prev: null, next: null }
  for (const [, target, params] of (response.headers.get('Link') ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    const rel = /;\s*rel="?(prev|next)"?/i.exec(params ?? '')?.[1]?.toLowerCase()
    if (rel !== 'prev' && rel !== 'next') continue
    const base = response.url || 'http://localhost/'
    if (!URL.canParse(target!, base)) continue
    const query = new URL(target!, base).searchParams
    found[rel] = query.get(rel === 'prev' ? 'before' : 'after')
  }
  return found
}
