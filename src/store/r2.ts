import { checkOptions } from '../kit/checked.ts'
import { BUCKET, type BucketOptions, type PartAnswer, RemoteBucket } from './remote/bucket.ts'
import { folderEntry, pageSize } from './remote/list-pages.ts'
import { type AttemptTimer, TransientError } from './remote/retry.ts'
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
  if (typeof bucket?.get !== 'function')
    throw new TypeError('Cannot use this as a bucket: pass the binding of an R2 bucket, such as env.BUCKET.')
  checkOptions(options, BUCKET, { what: 'r2Store' })
  return new R2Bucket(bucket, options).store()
}

class R2Bucket extends RemoteBucket {
  readonly #bucket: R2BucketLike

  constructor(bucket: R2BucketLike, options: R2Options) {
    super(options)
    this.#bucket = bucket
  }

  protected async head(key: string, conditions: ReadOptions, timer: AttemptTimer): Promise<Entry | null> {
    const object = await answerOf(this.#bucket.head(this.root + key), timer)
    if (object === null) return null
    const entry = entryOf(key, object)
    checkConditions(entry, conditions)
    return entry
  }

  protected async get(
    key: string,
    range: ByteRange | undefined,
    conditions: ReadOptions,
    timer: AttemptTimer,
  ): Promise<PartAnswer | null | undefined> {
    const wanted = { ...(range ? { range: bounded(range) } : {}), ...onlyIf(conditions) }
    let object: R2ObjectLike | null
    try {
      object = await timer.bound(this.#bucket.get(this.root + key, wanted))
    } catch (thrown) {
      if (timer.isLate || range === undefined || !(await this.#holdsNothing(thrown, key, range, timer)))
        return fail(thrown, timer.isLate)
      return undefined
    }
    if (object === null) return null
    const entry = entryOf(key, object)
    // The binding refuses with an object that has no body.
    if (!object.body) checkConditions(entry, conditions)
    return { entry, ...clampRange(range, entry.size), body: object.body ?? null }
  }

  protected async page(prefix: string, options: ListOptions, token: string | null, timer: AttemptTimer) {
    const listing = this.#bucket.list({
      prefix,
      limit: pageSize(options),
      ...(options.shallow ? { delimiter: '/' } : {}),
      ...(options.after ? { startAfter: this.root + options.after } : {}),
      ...(token !== null ? { cursor: token } : {}),
    })
    const { objects, delimitedPrefixes, truncated, cursor } = await answerOf(listing, timer)
    if (truncated && cursor === undefined)
      throw new StoreError('unavailable', 'The bucket listed a page without a way to the next')
    const entries = objects.map((object) => entryOf(object.key, object))
    return {
      entries: [...entries, ...(delimitedPrefixes ?? []).map(folderEntry)],
      next: truncated ? cursor! : null,
    }
  }

  /** Whether a `get` failed because the range is empty. At `offset == size` the binding may fail without saying why. */
  async #holdsNothing(thrown: unknown, key: string, range: ByteRange, timer: AttemptTimer): Promise<boolean> {
    const code = codeOf(thrown)
    if (code !== UNEXPLAINED) return code === UNSATISFIABLE
    const object = await timer.bound(this.#bucket.head(this.root + key)).catch(() => null)
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

function answerOf<T>(answer: Promise<T>, timer: AttemptTimer): Promise<T> {
  return timer.bound(answer).catch((thrown) => fail(thrown, timer.isLate))
}

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
