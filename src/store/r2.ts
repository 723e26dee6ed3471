import { exactStream, receiveAll } from './remote/exact-stream.ts'
import { folderEntry, listPages, pageSize } from './remote/list-pages.ts'
import { begin, type Call, Passing, type RetryOptions, retryOf, withRetries } from './remote/retry.ts'
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

/** The parts of an R2 object used here. */
export interface R2ObjectLike {
  readonly key: string
  readonly size: number
  readonly uploaded: Date
  readonly httpEtag: string
  readonly httpMetadata?: { contentEncoding?: string }
  readonly body?: ReadableStream<Uint8Array>
}

/** The parts of an R2 binding used here, so that Cloudflare's types are not needed. */
export interface R2BucketLike {
  head(key: string): Promise<R2ObjectLike | null>
  get(
    key: string,
    options: {
      range?: { offset: number; length?: number } | { suffix: number }
      onlyIf?: { etagMatches?: string; etagDoesNotMatch?: string }
    },
  ): Promise<R2ObjectLike | null>
  list(options: {
    prefix?: string
    cursor?: string
    limit?: number
    delimiter?: string
    startAfter?: string
  }): Promise<{ objects: R2ObjectLike[]; truncated: boolean; cursor?: string; delimitedPrefixes?: string[] }>
}

/** How to use a bucket. */
export interface R2Options extends RetryOptions {
  /** Only keys below this prefix are visible, and they are returned without it. A trailing slash is added. @default '' */
  prefix?: string | undefined
  /** Bodies up to this size arrive as one array, so that a retry covers the whole body. @default 1048576 */
  wholeUpTo?: number | undefined
}

const ROUNDS = 3

/** A bucket behind a Cloudflare R2 binding, with the same semantics as every other store. */
export function r2Store(bucket: R2BucketLike, options: R2Options = {}): Store {
  const retry = retryOf(options)
  const wholeUpTo = options.wholeUpTo ?? 1024 * 1024
  const root = folder(options.prefix ?? '')

  function ask<T>(call: Call, question: () => Promise<T>): Promise<T> {
    return withRetries(retry, call, async (line) => {
      const answer = await line.bound(question()).catch((thrown) => fail(thrown, line.late))
      line.end()
      return answer
    })
  }

  async function head(key: string, call: Call): Promise<Entry | null> {
    const object = await ask(call, () => bucket.head(root + key))
    return object && entryOf(object, root)
  }

  /** Whether a `get` failed because the range is empty. At `offset == size` the binding may fail without saying why. */
  async function holdsNothing(thrown: unknown, key: string, range: ByteRange): Promise<boolean> {
    const code = codeOf(thrown)
    if (code !== UNEXPLAINED) return code === UNSATISFIABLE
    const object = await bucket.head(root + key).catch(() => null)
    return object !== null && clampRange(range, object.size).length === 0
  }

  /** One `get`; `undefined` when the binding says that the range holds nothing. */
  async function get(
    key: string,
    range: ByteRange | undefined,
    call: Call,
    conditions: ReadOptions,
  ): Promise<StoreRead | null | undefined> {
    const wanted = { ...(range ? { range: bounded(range) } : {}), ...onlyIf(conditions) }
    return withRetries(retry, call, async (line) => {
      let object: R2ObjectLike | null
      try {
        object = await line.bound(bucket.get(root + key, wanted))
      } catch (thrown) {
        if (!line.late && range !== undefined && (await holdsNothing(thrown, key, range))) {
          line.end()
          return undefined
        }
        return fail(thrown, line.late)
      }
      if (object === null) {
        line.end()
        return null
      }
      const entry = entryOf(object, root)
      const { offset, length } = clampRange(range, entry.size)
      if (!object.body) throw refused(entry, conditions)
      if (length === 0) {
        await object.body.cancel()
        line.end()
        return { entry, offset, length, body: new Uint8Array(0) }
      }
      const arriving = { body: object.body, line }
      if (length <= wholeUpTo)
        return { entry, offset, length, body: await receiveAll(retry, call, arriving, length) }
      const resume = (sent: number) => {
        const rest = { offset: offset + sent, length: length - sent }
        const only = { range: rest, ...onlyIf({ ifMatch: entry.etag }) }
        return withRetries(retry, begin(retry, conditions.signal), async (again) => {
          const more = await again
            .bound(bucket.get(root + key, only))
            .catch((thrown) => fail(thrown, again.late))
          if (!more?.body) throw new StoreError('changed', `"${key}" was replaced while it was read`)
          return { body: more.body, line: again }
        })
      }
      return {
        entry,
        offset,
        length,
        body: exactStream(retry, arriving, { length, signal: conditions.signal, resume }),
      }
    })
  }

  return {
    list(prefix = '', options: ListOptions = {}) {
      const { shallow = false, folders = false, after } = options
      return listPages(retry, options, async (cursor, call) => {
        const page = await ask(call, () =>
          bucket.list({
            prefix: root + prefix,
            limit: pageSize(options),
            ...(shallow ? { delimiter: '/' } : {}),
            ...(after ? { startAfter: root + after } : {}),
            ...(cursor !== null ? { cursor } : {}),
          }),
        )
        const entries = page.objects
          .map((object) => entryOf(object, root))
          .filter(({ key }) => !shallow || !key.includes('/', prefix.length))
        if (shallow && folders)
          for (const folder of page.delimitedPrefixes ?? [])
            entries.push(folderEntry(folder.slice(root.length)))
        if (page.truncated && page.cursor === undefined)
          throw new StoreError('unavailable', 'The bucket listed a page without a way to the next')
        return {
          entries: entries.filter(({ key }) => isKey(key, root)),
          next: page.truncated ? page.cursor! : null,
        }
      })
    },

    async stat(key, { signal } = {}) {
      return isKey(key, root) ? head(key, begin(retry, signal)) : null
    },

    async read(key, range, conditions = {}) {
      if (!isKey(key, root)) return null
      const call = begin(retry, conditions.signal)
      for (let round = 0; round < ROUNDS; round++) {
        if (mayHold(range)) {
          const read = await get(key, range, call, conditions)
          if (read !== undefined) return read
        }
        // Beyond the end, or an empty object: the binding throws where S3 answers 416. Return the entry with no bytes.
        const entry = await head(key, call)
        if (entry === null) return null
        if (isRefused(entry, conditions)) throw refused(entry, conditions)
        const { offset, length } = clampRange(range, entry.size)
        if (length === 0) return { entry, offset, length, body: new Uint8Array(0) }
      }
      throw new StoreError('changed', `Cannot read "${key}": its size keeps changing`)
    },
  }
}

/** The binding throws on empty ranges. */
function mayHold(range: ByteRange | undefined): boolean {
  if (range === undefined) return true
  return 'suffix' in range ? range.suffix > 0 : range.length !== 0
}

/** No object is as large as this, and with larger numbers the binding fails without a reason. */
const MAX_OFFSET = 2 ** 46

function bounded(range: ByteRange): ByteRange {
  if ('suffix' in range) return { suffix: Math.min(range.suffix, MAX_OFFSET) }
  const offset = Math.min(range.offset, MAX_OFFSET)
  return range.length === undefined ? { offset } : { offset, length: Math.min(range.length, MAX_OFFSET) }
}

/** The binding compares tags without their quotes. */
function onlyIf({ ifMatch, ifNoneMatch }: ReadOptions) {
  if (ifMatch === undefined && ifNoneMatch === undefined) return {}
  return {
    onlyIf: {
      ...(ifMatch !== undefined ? { etagMatches: bare(ifMatch) } : {}),
      ...(ifNoneMatch !== undefined ? { etagDoesNotMatch: bare(ifNoneMatch) } : {}),
    },
  }
}

function bare(etag: string): string {
  return etag.replace(/^"|"$/g, '')
}

function isRefused(entry: Entry, { ifMatch, ifNoneMatch }: ReadOptions): boolean {
  return (ifMatch !== undefined && ifMatch !== entry.etag) || ifNoneMatch === entry.etag
}

function refused(entry: Entry, { ifMatch }: ReadOptions): StoreError {
  return ifMatch !== undefined && ifMatch !== entry.etag
    ? new StoreError('changed', `Cannot read "${entry.key}": it was replaced`)
    : new StoreError('unchanged', `Did not read "${entry.key}": it is unchanged`)
}

/** Cloudflare puts its error number at the end of the message. */
function codeOf(thrown: unknown): number {
  return Number(/\((\d+)\)\s*$/.exec(thrown instanceof Error ? thrown.message : '')?.[1] ?? UNEXPLAINED)
}

const UNEXPLAINED = 0
const UNSATISFIABLE = 10039
const NO_SUCH_BUCKET = 10006
const DENIED = new Set([10002, 10003, 10035, 10042])
const TOO_MANY = 10058

/** Converts what the binding threw to a StoreError; an unexplained error counts as temporary. */
function fail(thrown: unknown, late: boolean): never {
  if (late || thrown instanceof StoreError) throw thrown
  const code = codeOf(thrown)
  const said = `The bucket failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`
  if (DENIED.has(code)) throw new StoreError('denied', said, { cause: thrown })
  if (code === NO_SUCH_BUCKET) throw new StoreError('unavailable', said, { cause: thrown })
  throw new Passing(new StoreError(code === TOO_MANY ? 'throttled' : 'unavailable', said, { cause: thrown }))
}

function entryOf(object: R2ObjectLike, root: string): Entry {
  const encoding = object.httpMetadata?.contentEncoding
  return {
    key: object.key.slice(root.length),
    size: object.size,
    modified: object.uploaded.getTime(),
    etag: object.httpEtag,
    ...(encoding ? { encoding } : {}),
  }
}

function folder(prefix: string): string {
  const trimmed = prefix.replace(/^\/+|\/+$/g, '')
  return trimmed === '' ? '' : `${trimmed}/`
}

/** Keys over 1,024 bytes cannot exist, and the binding throws on them; lone surrogates have no UTF-8. */
function isKey(key: string, root: string): boolean {
  if (key === '' || key.startsWith('/') || /\p{Surrogate}/u.test(key)) return false
  return new TextEncoder().encode(root + key).length <= 1024
}
