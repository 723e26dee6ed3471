import { connect } from './client/connect.ts'
import { follow } from './client/follow.ts'
import { missingOf } from './client/missing.ts'
import { ProblemError, reach } from './client/problem.ts'
import type {
  CallOptions,
  Client,
  ClientOptions,
  Download,
  FleetNode,
  HistogramQuery,
  LevelHistogram,
  LogRecord,
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
    const text = await reach(response.text(), call?.signal)
    const notes = notesOf(response)
    const complete = !notes.includes('scan-budget')
    return {
      text,
      ...cursors(response),
      complete,
      notes,
      missing: missingOf(response),
      settled: response.headers.get('X-Nodestate-Settled'),
    }
  }

  async function json<T>(path: string, query: object, { signal }: CallOptions = {}): Promise<T> {
    const response = await send({ path, query, signal })
    return (await reach(response.json(), signal)) as T
  }

  const client: Client = {
    config: (call) => json('config', { detail: call?.detail || undefined, at: call?.at }, call),
    history: (call) => json('config/history', { limit: call?.limit }, call),
    compare: (node, call) => json('config/compare', { node }, call),
    list: (call) => json('log/list', { node: call?.node, after: call?.after }, call),
    detail: (call) => json('log/list', { node: call?.node, after: call?.after, detail: true }, call),
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
    histogram: (query: HistogramQuery, call?: CallOptions) =>
      json<LevelHistogram>('log/histogram', query, call),
    fields: (query, call) => json('log/fields', query, call),
    async nodes(call) {
      const all: FleetNode[] = []
      for (let after: string | null = ''; after !== null; ) {
        const query = { limit: 1000, after }
        const response: Response = await send({ path: 'nodes', query, signal: call?.signal })
        all.push(...((await reach(response.json(), call?.signal)) as FleetNode[]))
        const { next } = cursors(response)
        after = next === after ? null : next
      }
      return all
    },
    async export(query, format, call) {
      const params = { ...query, download: true, ...(format === 'ndjson' ? { format } : {}) }
      const accept = format === 'ndjson' ? 'application/x-ndjson' : 'text/plain'
      const response = await send({ path: 'log/view', query: params, accept, signal: call?.signal })
      if (notesOf(response).includes('unknown-parameter')) {
        // An older node answers only with the end of the log, which would look complete.
        await response.body?.cancel()
        throw new ProblemError({
          status: 501,
          code: 'unsupported',
          title: 'No export',
          detail: 'This node cannot export records yet.',
        })
      }
      return stored([query.file].flat().join(' '), response)
    },
    async download(file, call) {
      const accept = 'application/octet-stream, */*'
      return stored(file, await send({ path: 'log/download', query: { file }, accept, signal: call?.signal }))
    },
    follow: (query, call) => follow(send, query, call),
  }
  return client
}

function notesOf(response: Response): string[] {
  return (response.headers.get('X-Nodestate-Note') ?? '').split(/,\s*/).filter(Boolean)
}

function stored(name: string, response: Response): Download {
  const length = response.headers.get('Content-Length')
  const encoded = response.headers.has('Content-Encoding')
  return {
    name,
    size: length === null || encoded ? null : Number(length),
    body: response.body ?? new Blob([]).stream(),
    missing: missingOf(response),
  }
}

/** The cursors in RFC 8288 Link headers; a comma inside <> is part of the target. */
function cursors(response: Response): { prev: string | null; next: string | null } {
  const found: { prev: string | null; next: string | null } = { prev: null, next: null }
  for (const [, target, params] of (response.headers.get('Link') ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    const rel = /;\s*rel="?(prev|next)"?/i.exec(params ?? '')?.[1]?.toLowerCase()
    if (rel !== 'prev' && rel !== 'next') continue
    const query = new URL(target!, response.url || 'http://localhost/').searchParams
    found[rel] = query.get(rel === 'prev' ? 'before' : 'after')
  }
  return found
}
