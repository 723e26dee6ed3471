import { type BucketOptions, RemoteBucket } from './remote/bucket.ts'
import { folderEntry, pageSize } from './remote/list-pages.ts'
import { begin, type Call, TransientError, withRetries } from './remote/retry.ts'
import {
  type ByteRange,
  checkConditions,
  clampRange,
  type Entry,
  type ListOptions,
  type ReadOptions,
  type Store,
  StoreError,
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
export type R2Options = BucketOptions

/** A bucket behind a Cloudflare R2 binding, with the same semantics as every other store. */
export function r2Store(bucket: R2BucketLike, options: R2Options = {}): Store {
  return new R2Bucket(bucket, options).store()
}

class R2Bucket extends RemoteBucket {
  readonly #bucket: R2BucketLike

  constructor(bucket: R2BucketLike, options: R2Options) {
    super(options)
    this.#bucket = bucket
  }

  protected async head(key: string, call: Call, conditions: ReadOptions): Promise<Entry | null> {
    const object = await this.#ask(call, () => this.#bucket.head(this.root + key))
    if (object === null) return null
    const entry = entryOf(key, object)
    checkConditions(entry, conditions)
    return entry
  }

  protected get(key: string, range: ByteRange | undefined, call: Call, conditions: ReadOptions) {
    const wanted = { ...(range ? { range: bounded(range) } : {}), ...onlyIf(conditions) }
    return withRetries(this.retry, call, async (timer) => {
      let object: R2ObjectLike | null
      try {
        object = await timer.bound(this.#bucket.get(this.root + key, wanted))
      } catch (thrown) {
        if (timer.isLate || range === undefined || !(await this.#holdsNothing(thrown, key, range)))
          return fail(thrown, timer.isLate)
        timer.end()
        return undefined
      }
      if (object === null) {
        timer.end()
        return null
      }
      const entry = entryOf(key, object)
      // The binding refuses with an object that has no body.
      if (!object.body) checkConditions(entry, conditions)
      return this.deliver({ entry, ...clampRange(range, entry.size) }, object.body ?? null, call, timer)
    })
  }

  protected async page(prefix: string, options: ListOptions, cursor: string | null, call: Call) {
    const {
      objects,
      delimitedPrefixes,
      truncated,
      cursor: next,
    } = await this.#ask(call, () =>
      this.#bucket.list({
        prefix,
        limit: pageSize(options),
        ...(options.shallow ? { delimiter: '/' } : {}),
        ...(options.after ? { startAfter: this.root + options.after } : {}),
        ...(cursor !== null ? { cursor } : {}),
      }),
    )
    if (truncated && next === undefined)
      throw new StoreError('unavailable', 'The bucket listed a page without a way to the next')
    const entries = objects.map((object) => entryOf(object.key, object))
    return {
      entries: [...entries, ...(delimitedPrefixes ?? []).map(folderEntry)],
      next: truncated ? next! : null,
    }
  }

  protected resume({ key, etag }: Entry, rest: ByteRange, signal: AbortSignal | undefined) {
    const wanted = { range: rest, ...onlyIf({ ifMatch: etag }) }
    return withRetries(this.retry, begin(this.retry, signal), async (timer) => {
      const object = await timer
        .bound(this.#bucket.get(this.root + key, wanted))
        .catch((thrown) => fail(thrown, timer.isLate))
      if (!object?.body) throw new StoreError('changed', `"${key}" was replaced while it was read`)
      return { body: object.body, timer }
    })
  }

  #ask<T>(call: Call, question: () => Promise<T>): Promise<T> {
    return withRetries(this.retry, call, async (timer) => {
      const answer = await timer.bound(question()).catch((thrown) => fail(thrown, timer.isLate))
      timer.end()
      return answer
    })
  }

  /** Whether a `get` failed because the range is empty. At `offset == size` the binding may fail without saying why. */
  async #holdsNothing(thrown: unknown, key: string, range: ByteRange): Promise<boolean> {
    const code = codeOf(thrown)
    if (code !== UNEXPLAINED) return code === UNSATISFIABLE
    const object = await this.#bucket.head(this.root + key).catch(() => null)
    return object !== null && clampRange(range, object.size).length === 0
  }
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
function fail(thrown: unknown, isLate: boolean): never {
  if (isLate || thrown instanceof StoreError) throw thrown
  const code = codeOf(thrown)
  const said = `The bucket failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`
  if (DENIED.has(code)) throw new StoreError('denied', said, { cause: thrown })
  if (code === NO_SUCH_BUCKET) throw new StoreError('unavailable', said, { cause: thrown })
  throw new TransientError(
    new StoreError(code === TOO_MANY ? 'throttled' : 'unavailable', said, { cause: thrown }),
  )
}

function entryOf(key: string, object: R2ObjectLike): Entry {
  const encoding = object.httpMetadata?.contentEncoding
  return {
    key,
    size: object.size,
    modified: object.uploaded.getTime(),
    etag: object.httpEtag,
    ...(encoding ? { encoding } : {}),
  }
}
