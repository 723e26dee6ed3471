import { type ServerEvent, serverEvents } from './client/events.ts'
import type { ByteStream, Fetch, Signal, Url } from './client/web.ts'

export type { ByteStream, Fetch, Signal, Url }

/** Who a node is. */
export interface NodeInfo {
  hostIp: string
  hostName: string
  grpcPort: number
  httpPort: number
  version: string
  /** Milliseconds since the Unix epoch. */
  onlineTime: number
}

/** What `config()` gives: the configuration as TOML with secrets masked, and the node. */
export interface NodeConfig {
  config: string
  node: NodeInfo
  /** With `detail`: the fields of `node` that were set or read, rather than derived from nodestate itself. */
  known?: (keyof NodeInfo)[] | undefined
}

/** A node of a fleet. What is not known is null. */
export interface FleetNode {
  id: string
  node: NodeInfo | null
  /** When it last shipped, ISO 8601. */
  shipped: string | null
  /** Seconds since then. */
  age: number | null
  /** Bytes not shipped yet. */
  lag: number | null
  /** The code of the problem that kept the node from being read. */
  error: string | null
}

/** A log file as the plain list has it. */
export interface LogFile {
  name: string
  /** Bytes. */
  size: number
}

/** A log file as the detailed list has it. */
export interface LogFileDetail extends LogFile {
  /** ISO 8601. */
  modified: string
  kind: string
  /** Time of the first and of the last record, ISO 8601; null where the file has none. */
  first: string | null
  last: string | null
  /** The log that this file is a rotated part of, where the node groups them. */
  log?: string | null | undefined
}

/** The levels, from the least to the gravest. */
export const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const

export type Level = (typeof LEVELS)[number]

/** One record of a log. A continuation (a stack trace) is part of the message, after a line feed. */
export interface LogRecord {
  time?: string | null
  level?: string | null
  source?: { file: string; line?: number | null } | null
  tags?: string[] | null
  message?: string | null
  context?: unknown
  /** The text as it stands in the file, where it did not parse. */
  raw?: string | null
  /** True where the record holds JSON that is too deep, too wide or too long to be parsed; it is part of the message. */
  unparsed?: boolean
  /** The message with its ANSI colours, where it has any and `ansi` was asked for. */
  ansi?: string | null
}

/** Which records of a log: every field narrows it. */
export interface LogQuery {
  file: string
  /** At or after: ISO 8601, the log's own format, or a duration back from now (`15m`). */
  since?: string | undefined
  /** Before. */
  until?: string | undefined
  /** This level and above; `=warn,fatal` for exactly these. */
  level?: string | undefined
  /** Records that contain this text, or all of these. */
  q?: string | readonly string[] | undefined
  /** Records that match this pattern, or all of these. */
  regex?: string | readonly string[] | undefined
  /** Records that contain none of these texts. */
  not?: string | readonly string[] | undefined
  /** Records that match none of these patterns. */
  notregex?: string | readonly string[] | undefined
  /** Records whose field has this value: `shard:17`, `!shard:17` for those where it has not. */
  where?: string | readonly string[] | undefined
  /** The file together with its rotated predecessors. */
  rotated?: boolean | undefined
  /** Records whose message has ANSI colours carry it a second time, with them. */
  ansi?: boolean | undefined
  /** Records carry their text as well, as `raw`. */
  raw?: boolean | undefined
}

/** Which part of the selected records. */
export interface ViewQuery extends LogQuery {
  /** At most so many bytes. */
  size?: number | undefined
  /** At most so many lines. */
  lines?: number | undefined
  /** The first so many lines after `since` or a cursor, or from the start: the counterpart of `lines`. */
  first?: number | undefined
  /** A page older than this cursor. */
  before?: string | undefined
  /** A page newer than this cursor. */
  after?: string | undefined
}

/** One page of a log. */
export interface View<T> {
  /** The text, or the records. */
  content: T
  /** Pass it as `before` for the page before; null at the log's first byte. */
  prev: string | null
  /** Pass it as `after` for what comes after this page. */
  next: string | null
  /** False when the scan's budget ended before the page was full; `prev` goes on from there. */
  complete: boolean
  /** What else the node has to say of the answer, as short words. */
  notes: string[]
}

/** Records over time, by level. */
export interface Histogram {
  /** Milliseconds since the Unix epoch. */
  from: number
  to: number
  step: number
  /** False when not all of the log was counted. */
  complete: boolean
  /** True when the counts were estimated from samples (`estimate`). */
  estimated?: boolean | undefined
  /** The names of the columns of `counts`. */
  levels: string[]
  buckets: { time: number; counts: number[] }[]
}

/** The fields and message patterns of the newest records that the filters choose. */
export interface LogFields {
  /** Records looked at. */
  records: number
  /** True when there are more records than were looked at. */
  sampled: boolean
  fields: { name: string; count: number; values: { value: string; count: number }[] }[]
  patterns: {
    pattern: string
    count: number
    level: string | null
    /** ISO 8601. */
    first: string | null
    last: string | null
  }[]
}

/** What a follow tells: records, what happened to the file, and what happened to the connection. */
export type FollowEvent =
  | { type: 'record'; id: string | null; data: string }
  | { type: 'rotated' | 'truncated' | 'gap'; id: string | null; data: string }
  | { type: 'open' }
  | { type: 'lost'; error: Error; retryIn: number }

/** An answer that is a problem (RFC 9457): `code` is the end of its type, `message` tells what to do. */
export class ProblemError extends Error {
  readonly status: number
  readonly code: string
  readonly title: string
  /** Seconds after which it is known to pass. */
  readonly retryAfter: number | null

  constructor(status: number, code: string, title: string, detail: string, retryAfter: number | null) {
    super(detail)
    this.name = 'ProblemError'
    this.status = status
    this.code = code
    this.title = title
    this.retryAfter = retryAfter
  }
}

/** The node did not answer at all, or its answer was cut. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super('The node does not answer; check that it runs and that the network lets you reach it.', { cause })
    this.name = 'UnreachableError'
  }
}

export interface ClientOptions {
  /** Where the app is mounted, such as `http://127.0.0.1:9000/` or `https://host/nodes/db-4`. */
  base: string | Url
  /** The bearer token, or where to look for it with every request. @default none */
  token?: string | null | (() => string | null) | undefined
  /** @default the global fetch */
  fetch?: Fetch | undefined
}

interface CallOptions {
  signal?: Signal | undefined
}

export interface FollowOptions extends CallOptions {
  /** Go on after this cursor: a record's id, or a view's `next`. Outranks `lines` and `size`. */
  lastId?: string | null | undefined
  /** Data as JSON records (see LogRecord) rather than raw text. @default false */
  json?: boolean | undefined
  /** First pause before a reconnect, in milliseconds; doubles up to 30 s. @default 500 */
  backoff?: number | undefined
  /** A connection with no byte (heartbeats included) for so many milliseconds is taken as lost. @default 60000 */
  silence?: number | undefined
}

/** A stored file's bytes. */
export interface Download {
  name: string
  /** Bytes, where the server told. */
  size: number | null
  body: ByteStream
}

export interface HistogramQuery extends LogQuery {
  buckets?: number | undefined
  /** A picture from a few samples, at once. */
  estimate?: boolean | undefined
}

/** A node's HTTP interface, typed. */
export interface Client {
  config(options?: CallOptions & { detail?: boolean | undefined }): Promise<NodeConfig>
  list(options?: CallOptions): Promise<LogFile[]>
  detail(options?: CallOptions): Promise<LogFileDetail[]>
  /** A page as text, byte for byte as UTF-8 allows. */
  view(query: ViewQuery, options?: CallOptions): Promise<View<string>>
  /** A page as JSON text, one record per line: parse the lines you need. */
  lines(query: ViewQuery, options?: CallOptions): Promise<View<string[]>>
  /** A page as records. */
  records(query: ViewQuery, options?: CallOptions): Promise<View<LogRecord[]>>
  /**
   * The selected tail, then what is appended, until `signal` aborts or the loop is left. A lost connection is
   * resumed after the last record, without end; a problem that will not pass (4xx, 501) is thrown.
   */
  follow(query: ViewQuery, options?: FollowOptions): AsyncGenerator<FollowEvent, void, undefined>
  histogram(query: HistogramQuery, options?: CallOptions): Promise<Histogram>
  fields(query: LogQuery, options?: CallOptions): Promise<LogFields>
  /** The nodes of a fleet; a service that is no fleet answers 404. */
  nodes(options?: CallOptions): Promise<FleetNode[]>
  /** The selected records as a file, oldest first, to the end of the log. */
  export(query: LogQuery, format: 'text' | 'ndjson', options?: CallOptions): Promise<Download>
  download(file: string, options?: CallOptions): Promise<Download>
}

/** A client for the node that answers at `base`; runs wherever there is fetch. */
export function createClient(options: ClientOptions): Client {
  const base = new URL(options.base)
  base.search = ''
  base.hash = ''
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  const send: Fetch = options.fetch ?? ((url, init) => fetch(url, init))

  async function request(
    path: string,
    query: object,
    accept: string,
    signal: AbortSignal | undefined,
    extra: Record<string, string> = {},
  ): Promise<Response> {
    const url = new URL(`api/v1/${path}`, base)
    for (const [name, value] of Object.entries(query)) {
      for (const each of Array.isArray(value) ? value : [value])
        if (each !== undefined && each !== null && each !== '') url.searchParams.append(name, String(each))
    }
    const token = typeof options.token === 'function' ? options.token() : options.token
    const headers: Record<string, string> = { Accept: `${accept}, application/problem+json`, ...extra }
    if (token) headers.Authorization = `Bearer ${token}`
    const response = await reach(send(url, { headers, signal: signal ?? null }), signal)
    if (!response.ok) throw await problemOf(response)
    return response
  }

  async function page(query: ViewQuery, accept: string, extra: object, call: CallOptions | undefined) {
    const response = await request('log/view', { ...query, ...extra }, accept, call?.signal)
    const text = await reach(response.text(), call?.signal)
    const notes = notesOf(response)
    return { text, ...cursors(response), complete: !notes.includes('scan-budget'), notes }
  }

  const client: Client = {
    async config(call) {
      const query = { detail: call?.detail || undefined }
      const response = await request('config', query, 'application/json', call?.signal)
      return (await reach(response.json(), call?.signal)) as NodeConfig
    },
    async list(call) {
      const response = await request('log/list', {}, 'application/json', call?.signal)
      return (await reach(response.json(), call?.signal)) as LogFile[]
    },
    async detail(call) {
      const response = await request('log/list', { detail: true }, 'application/json', call?.signal)
      return (await reach(response.json(), call?.signal)) as LogFileDetail[]
    },
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
    async histogram(query, call) {
      const response = await request('log/histogram', query, 'application/json', call?.signal)
      return (await reach(response.json(), call?.signal)) as Histogram
    },
    async fields(query, call) {
      const response = await request('log/fields', query, 'application/json', call?.signal)
      return (await reach(response.json(), call?.signal)) as LogFields
    },
    async nodes(call) {
      const all: FleetNode[] = []
      for (let after: string | null = ''; after !== null; ) {
        const query = { limit: 1000, after }
        const response: Response = await request('nodes', query, 'application/json', call?.signal)
        all.push(...((await reach(response.json(), call?.signal)) as FleetNode[]))
        const { next } = cursors(response)
        after = next === after ? null : next
      }
      return all
    },
    async export(query, format, call) {
      const params = { ...query, download: true, ...(format === 'ndjson' ? { format } : {}) }
      const accept = format === 'ndjson' ? 'application/x-ndjson' : 'text/plain'
      const response = await request('log/view', params, accept, call?.signal)
      if (notesOf(response).includes('unknown-parameter')) {
        // An older node would answer with the end of the log alone, and look complete.
        await response.body?.cancel()
        throw new ProblemError(501, 'unsupported', 'No export', 'This node cannot export records yet.', null)
      }
      return stored(query.file, response)
    },
    async download(file, call) {
      return stored(
        file,
        await request('log/download', { file }, 'application/octet-stream, */*', call?.signal),
      )
    },
    async *follow(query, call = {}) {
      let lastId = call.lastId ?? null
      const first = call.backoff ?? 500
      let pause = first
      while (!call.signal?.aborted) {
        const attempt = new AbortController()
        const stop = () => attempt.abort(call.signal?.reason)
        call.signal?.addEventListener('abort', stop, { once: true })
        let error: Error
        try {
          const extra: Record<string, string> = lastId === null ? {} : { 'Last-Event-ID': lastId }
          const params = { ...query, follow: true, ...(call.json ? { format: 'ndjson' } : {}) }
          const response = await request('log/view', params, 'text/event-stream', attempt.signal, extra)
          const opened = Date.now()
          yield { type: 'open' }
          for await (const event of watched(response, attempt, call.silence ?? 60_000)) {
            pause = first
            if (event.id !== null) lastId = event.id
            const seen = told(event)
            if (seen !== null) yield seen
          }
          // Some runtimes end a follow after a while, in good order: it goes on as if nothing had happened.
          if (Date.now() - opened > ORDERLY) continue
          error = new Error('The connection was closed.')
        } catch (cause) {
          if (call.signal?.aborted) return
          error = cause instanceof Error ? cause : new Error(String(cause))
          if (error instanceof ProblemError && !passes(error)) throw error
        } finally {
          call.signal?.removeEventListener('abort', stop)
          attempt.abort()
        }
        const asked = error instanceof ProblemError && error.retryAfter !== null ? error.retryAfter * 1000 : 0
        // A little chance, so that the followers of a restarted node do not all come back at once.
        const retryIn = Math.max(asked, pause * (0.75 + Math.random() / 2))
        yield { type: 'lost', error, retryIn }
        await sleep(retryIn, call.signal)
        pause = Math.min(pause * 2, 30_000)
      }
    },
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
  }
}

/** A connection that ends in good order after so many milliseconds was not lost. */
const ORDERLY = 1_000

function told(event: ServerEvent): FollowEvent | null {
  const { id, data } = event
  if (event.event === '') return data === null ? null : { type: 'record', id, data }
  if (event.event === 'rotated' || event.event === 'truncated' || event.event === 'gap') {
    return { type: event.event, id, data: data ?? '' }
  }
  return null
}

function passes(problem: ProblemError): boolean {
  return problem.status === 429 || (problem.status >= 500 && problem.status !== 501)
}

/** The events of one connection; a silent one is aborted, since a dead peer sends no close. */
async function* watched(
  response: Response,
  attempt: AbortController,
  silence: number,
): AsyncGenerator<ServerEvent> {
  if (response.body === null) return
  let timer = setTimeout(() => attempt.abort(), silence)
  const awake = () => {
    clearTimeout(timer)
    timer = setTimeout(() => attempt.abort(), silence)
  }
  try {
    yield* serverEvents(response.body, awake)
  } finally {
    clearTimeout(timer)
  }
}

/** What a failed fetch throws differs by runtime; an abort stays an abort, all else is an unreachable node. */
async function reach<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await promise
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    throw new UnreachableError(cause)
  }
}

async function problemOf(response: Response): Promise<ProblemError> {
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN)
  const retryAfter = Number.isFinite(seconds) ? seconds : null
  const text = await response.text().catch(() => '')
  try {
    const body = JSON.parse(text) as Partial<Record<'type' | 'title' | 'detail', string>>
    const code = String(body.type ?? '')
      .split('/')
      .at(-1)!
    if (body.detail !== undefined) {
      return new ProblemError(response.status, code, body.title ?? code, body.detail, retryAfter)
    }
  } catch {
    // Not ours: a proxy's page. Its text tells a person nothing.
  }
  const title = `The answer was ${response.status}${response.statusText ? ` ${response.statusText}` : ''}`
  const detail = 'Something between here and the node answered in its place; check the proxy.'
  return new ProblemError(response.status, 'foreign', title, detail, retryAfter)
}

/** The cursors that RFC 8288 Link headers carry; a comma inside <> is part of the target. */
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

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
  })
}
