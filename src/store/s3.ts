import { exactStream, receiveAll } from './remote/exact-stream.ts'
import { listPages, pageSize } from './remote/list-pages.ts'
import { begin, type Call, retryOf, withRetries } from './remote/retry.ts'
import { parseList, quoted } from './s3/list.ts'
import type { S3Options } from './s3/options.ts'
import { answerError, type S3Request, s3Wire } from './s3/wire.ts'
import {
  type ByteRange,
  clampRange,
  type Entry,
  type ListOptions,
  type ReadOptions,
  type Store,
  StoreError,
  type StoreRead,
} from './store.ts'

export type { S3Options } from './s3/options.ts'

/** How often a read starts over because the object's size changed between two responses. */
const ROUNDS = 3

/**
 * A bucket of any S3-compatible service. A tail is one GET with a suffix range; its entry comes from the same
 * answer. Times are whole seconds, because that is what the headers carry.
 */
export function s3Store(options: S3Options): Store {
  const wire = s3Wire(options)
  const retry = retryOf(options)
  const wholeUpTo = options.wholeUpTo ?? 1024 * 1024
  const root = folder(options.prefix ?? '')

  const withEncoding = (entry: Entry): Entry => {
    const encoding = wire.encodingOf(root + entry.key)
    return encoding === undefined ? entry : { ...entry, encoding }
  }

  /** HEAD, with the conditions of a read. */
  async function head(key: string, call: Call, conditions: ReadOptions): Promise<Entry | null> {
    return withRetries(retry, call, async (line) => {
      const answer = await wire.send(
        { method: 'HEAD', key: root + key, headers: conditional(conditions) },
        line,
      )
      if (answer.status === 404) {
        await wire.requireBucket(line)
        line.end()
        return null
      }
      if (answer.status !== 200) throw await answerError(answer, key)
      line.end()
      return withEncoding(entryOf(key, answer, lengthOf(answer)))
    })
  }

  /** GET; `undefined` when the service says that the range is empty. */
  async function get(
    key: string,
    range: ByteRange | undefined,
    call: Call,
    { request, signal }: { request: S3Request; signal: AbortSignal | undefined },
  ): Promise<StoreRead | null | undefined> {
    return withRetries(retry, call, async (line) => {
      const answer = await wire.send(request, line)
      if (answer.status === 404) {
        await wire.requireBucket(line, answer)
        line.end()
        return null
      }
      if (answer.status === 416) {
        await answer.body?.cancel()
        line.end()
        return undefined
      }
      if (answer.status !== 200 && answer.status !== 206) throw await answerError(answer, key)
      const part = partOf(key, range, answer)
      const { offset, length } = part
      const entry = withEncoding(part.entry)
      const date = dateOf(answer)
      if (length === 0 || !answer.body) {
        if (length > 0) throw new StoreError('unavailable', `The storage sent no body for "${key}"`)
        await answer.body?.cancel()
        line.end()
        return { entry, offset, length, body: new Uint8Array(0), ...date }
      }
      const arriving = { body: answer.body, line }
      if (length <= wholeUpTo)
        return { entry, offset, length, body: await receiveAll(retry, call, arriving, length), ...date }
      const resume = async (sent: number) => {
        const rest = { offset: offset + sent, length: length - sent }
        const headers = { Range: rangeHeader(rest)!, 'If-Match': entry.etag }
        return withRetries(retry, begin(retry, signal), async (again) => {
          const more = await wire.send({ ...request, headers }, again)
          if (more.status === 404) throw new StoreError('changed', `"${key}" was removed while it was read`)
          if (more.status !== 206 || !more.body) throw await answerError(more, key)
          const part = partOf(key, rest, more)
          if (part.entry.etag !== entry.etag)
            throw new StoreError('changed', `"${key}" was replaced while it was read`)
          return { body: more.body, line: again }
        })
      }
      return {
        entry,
        offset,
        length,
        body: exactStream(retry, arriving, { length, signal, resume }),
        ...date,
      }
    })
  }

  return {
    async *list(prefix = '', options: ListOptions = {}) {
      if (!isText(root + prefix)) return
      const { shallow = false, folders = false } = options
      const isListed = (entry: Entry) =>
        isKey(entry.key, root) &&
        (entry.folder ? shallow && folders : !shallow || !entry.key.includes('/', prefix.length))
      yield* listPages(retry, options, (token, call) =>
        withRetries(retry, call, async (line) => {
          const answer = await wire.send(listRequest(root, prefix, options, token), line)
          if (answer.status !== 200) throw await answerError(answer, root + prefix)
          const { entries, next } = parseList(await wire.text(answer, line))
          line.end()
          const below = entries.filter(({ key }) => key.startsWith(root))
          return {
            entries: below.map((entry) => ({ ...entry, key: entry.key.slice(root.length) })).filter(isListed),
            next,
          }
        }),
      )
    },

    async stat(key, { signal } = {}) {
      return isKey(key, root) ? head(key, begin(retry, signal), {}) : null
    },

    async read(key, range, conditions = {}) {
      if (!isKey(key, root)) return null
      const call = begin(retry, conditions.signal)
      const header = rangeHeader(range)
      const headers = { ...conditional(conditions), ...(header ? { Range: header } : {}) }
      const request = { method: 'GET' as const, key: root + key, headers }
      for (let round = 0; round < ROUNDS; round++) {
        if (header !== null) {
          const read = await get(key, range, call, { request, signal: conditions.signal })
          if (read !== undefined) return read
        }
        // The range is empty (416), or no bytes were requested: return the entry alone.
        const entry = await head(key, call, conditions)
        if (entry === null) return null
        const { offset, length } = clampRange(range, entry.size)
        if (length === 0) return { entry, offset, length, body: new Uint8Array(0) }
      }
      throw new StoreError('changed', `Cannot read "${key}": its size keeps changing`)
    },
  }
}

/** The header for a range; undefined for all bytes, null for none (`bytes=-0` is the whole object on Ceph). */
function rangeHeader(range: ByteRange | undefined): string | null | undefined {
  if (range === undefined) return undefined
  if ('suffix' in range) return range.suffix > 0 ? `bytes=-${safe(range.suffix)}` : null
  if (range.length === undefined) return range.offset > 0 ? `bytes=${safe(range.offset)}-` : undefined
  return range.length > 0 ? `bytes=${safe(range.offset)}-${safe(range.offset + range.length - 1)}` : null
}

/** A larger number would be printed with an exponent. */
function safe(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER)
}

function conditional(conditions: ReadOptions): Record<string, string> {
  return {
    ...(conditions.ifMatch !== undefined ? { 'If-Match': conditions.ifMatch } : {}),
    ...(conditions.ifNoneMatch !== undefined ? { 'If-None-Match': conditions.ifNoneMatch } : {}),
  }
}

/** Which part of which object a response holds; a part that was not requested is refused. */
function partOf(
  key: string,
  range: ByteRange | undefined,
  answer: Response,
): { entry: Entry; offset: number; length: number } {
  if (answer.status === 200) {
    const entry = entryOf(key, answer, lengthOf(answer))
    const part = clampRange(range, entry.size)
    if (part.length !== entry.size)
      throw new StoreError('unavailable', `The storage ignored the range of "${key}"`)
    return { entry, ...part }
  }
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(answer.headers.get('Content-Range') ?? '')
  if (!match) throw new StoreError('unavailable', `The storage sent a part of "${key}" without its range`)
  const [from, to, size] = match.slice(1).map(Number) as [number, number, number]
  const entry = entryOf(key, answer, size)
  const { offset, length } = clampRange(range, size)
  if (from !== offset || to - from + 1 !== length)
    throw new StoreError('unavailable', `The storage sent another range of "${key}" than asked for`)
  return { entry, offset, length }
}

function entryOf(key: string, answer: Response, size: number): Entry {
  const etag = answer.headers.get('ETag')
  const modified = Date.parse(answer.headers.get('Last-Modified') ?? '')
  if (!etag || Number.isNaN(modified))
    throw new StoreError('unavailable', `The answer for "${key}" is not one of an object store`)
  return { key, size, modified, etag: quoted(etag) }
}

/** The storage's clock, if the response has it. */
function dateOf(answer: Response): { date?: number } {
  const date = Date.parse(answer.headers.get('Date') ?? '')
  return Number.isNaN(date) ? {} : { date }
}

function lengthOf(answer: Response): number {
  const text = answer.headers.get('Content-Length')
  if (text === null || !/^\d+$/.test(text))
    throw new StoreError('unavailable', 'The storage sent an answer without its length')
  return Number(text)
}

function listRequest(root: string, prefix: string, options: ListOptions, token: string | null): S3Request {
  const { shallow, after } = options
  const query: Record<string, string> = {
    'list-type': '2',
    'encoding-type': 'url',
    'max-keys': String(pageSize(options)),
  }
  if (root + prefix) query.prefix = root + prefix
  if (shallow) query.delimiter = '/'
  if (after) query['start-after'] = root + after
  if (token !== null) query['continuation-token'] = token
  return { method: 'GET', key: '', query }
}

function folder(prefix: string): string {
  const trimmed = prefix.replace(/^\/+|\/+$/g, '')
  return trimmed === '' ? '' : `${trimmed}/`
}

/**
 * Whether a key can be requested. The URL parser resolves the segments `.` and `..`, escaped or not, which would lead to
 * another object; keys over 1,024 bytes cannot exist.
 */
function isKey(key: string, root: string): boolean {
  if (key === '' || key.startsWith('/') || !isText(key)) return false
  if (key.split('/').some((part) => part === '.' || part === '..')) return false
  return new TextEncoder().encode(root + key).length <= 1024
}

/** No lone surrogates: they have no UTF-8. */
function isText(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}
