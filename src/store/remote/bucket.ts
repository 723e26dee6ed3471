import { flag, type OptionsOf, text, whole } from '../../kit/checked.ts'
import {
  type ByteRange,
  clampRange,
  type Entry,
  type ListOptions,
  type ReadOptions,
  type Store,
  StoreError,
  type StoreRead,
} from '../store.ts'
import { receive, type TimedBody } from './exact-stream.ts'
import { type ListPage, listPages } from './list-pages.ts'
import {
  type AttemptTimer,
  begin,
  type Call,
  RETRY,
  type Retry,
  type RetryListener,
  retryListeners,
  retryOf,
  withRetries,
} from './retry.ts'

/** How a bucket is read, whatever its service. */
export const BUCKET = {
  ...RETRY,
  /** Only keys below this prefix are visible, and they are returned without it. A trailing slash is added. @default '' */
  prefix: text,
  /** Whether files in folders are shown, with slashes in their names. @default false */
  nested: flag,
  /** Bodies up to this size arrive as one array, so that a retry covers the whole body. @default 1048576 */
  wholeUpTo: whole(0),
}
export type BucketOptions = OptionsOf<typeof BUCKET>

/** The answer for a part of an object. */
export interface PartAnswer extends Pick<StoreRead, 'entry' | 'offset' | 'length' | 'date'> {
  body: TimedBody['body'] | null
}

/** How often a read starts over because the object's size changed between two responses. */
const ROUNDS = 3

/** A bucket as a store: what is common to all services. Each service adds its three requests, which are retried here. */
export abstract class RemoteBucket {
  readonly #retry: Retry
  readonly #nested: boolean | undefined
  readonly #wholeUpTo: number
  readonly #listeners: Set<RetryListener>
  /** The prefix of all keys, with a slash at its end unless it is empty. */
  protected readonly root: string

  constructor(options: BucketOptions) {
    this.#listeners = new Set(options.onRetry ? [options.onRetry] : [])
    const onRetry: RetryListener = (kind) => {
      for (const listener of this.#listeners) listener(kind)
    }
    this.#retry = retryOf({ ...options, onRetry })
    this.#nested = options.nested
    this.#wholeUpTo = options.wholeUpTo ?? 1024 * 1024
    this.root = folder(options.prefix ?? '')
  }

  /** The calls are properties, so that a copy such as `{ ...store, read }` keeps the others. */
  store(): Store {
    const store: Store = {
      nested: this.#nested,
      list: (prefix = '', options = {}) => this.#list(prefix, options),
      stat: async (key, { signal } = {}) =>
        this.isKey(key) ? this.#head(key, begin(this.#retry, signal), {}) : null,
      read: async (key, range, options = {}) => (this.isKey(key) ? this.#read(key, range, options) : null),
    }
    retryListeners.set(store, this.#listeners)
    return store
  }

  /** The entry of an object, under the conditions of a read. */
  protected abstract head(key: string, conditions: ReadOptions, timer: AttemptTimer): Promise<Entry | null>

  /** A range that is not empty; undefined when the service says that it holds nothing. */
  protected abstract get(
    key: string,
    range: ByteRange | undefined,
    conditions: ReadOptions,
    timer: AttemptTimer,
  ): Promise<PartAnswer | null | undefined>

  /** One page of a listing, with the full keys of objects and folders. */
  protected abstract page(
    prefix: string,
    options: ListOptions,
    token: string | null,
    timer: AttemptTimer,
  ): Promise<ListPage>

  #head(key: string, call: Call, conditions: ReadOptions): Promise<Entry | null> {
    return this.#ask(call, (timer) => this.head(key, conditions, timer))
  }

  #get(key: string, range: ByteRange | undefined, call: Call, conditions: ReadOptions) {
    return withRetries(this.#retry, call, async (timer) => {
      const answer = await this.get(key, range, conditions, timer)
      if (answer) return this.#deliver(answer, call, timer)
      timer.end()
      return answer
    })
  }

  #ask<T>(call: Call, request: (timer: AttemptTimer) => Promise<T>): Promise<T> {
    return withRetries(this.#retry, call, async (timer) => {
      const answer = await request(timer)
      timer.end()
      return answer
    })
  }

  async #deliver(answer: PartAnswer, call: Call, timer: AttemptTimer): Promise<StoreRead> {
    const { body, entry, offset, length } = answer
    if (length === 0) {
      await body?.cancel()
      timer.end()
      return { ...answer, body: new Uint8Array(0) }
    }
    if (!body) throw new StoreError('unavailable', `The storage sent no body for "${entry.key}"`)
    const resume = (sent: number) =>
      this.#resume(entry, { offset: offset + sent, length: length - sent }, call.signal)
    const expected = { length, wholeUpTo: this.#wholeUpTo, call, resume }
    return { ...answer, body: await receive(this.#retry, { body, timer }, expected) }
  }

  /** Requests a part of an object, of the version of an entry. */
  #resume({ key, etag }: Entry, rest: ByteRange, signal: AbortSignal | undefined): Promise<TimedBody> {
    return withRetries(this.#retry, begin(this.#retry, signal), async (timer) => {
      const answer = await this.get(key, rest, { ifMatch: etag }, timer)
      if (answer === null) throw new StoreError('changed', `"${key}" was removed while it was read`)
      if (!answer?.body || answer.entry.etag !== etag)
        throw new StoreError('changed', `"${key}" was replaced while it was read`)
      return { body: answer.body, timer }
    })
  }

  /** Keys over 1,024 bytes cannot exist; lone surrogates have no UTF-8. */
  protected isKey(key: string): boolean {
    if (key === '' || key.startsWith('/') || !isText(key)) return false
    return new TextEncoder().encode(this.root + key).length <= 1024
  }

  async *#list(prefix: string, options: ListOptions): AsyncGenerator<Entry, void, undefined> {
    const { root } = this
    if (!isText(root + prefix)) return
    const { shallow = false, folders = false } = options
    const isWanted = ({ key, folder }: Entry) =>
      this.isKey(key) && (folder ? shallow && folders : !shallow || !key.includes('/', prefix.length))
    yield* listPages(this.#retry, options, isWanted, async (token, call) => {
      const { entries, next } = await this.#ask(call, (timer) =>
        this.page(root + prefix, options, token, timer),
      )
      const below = entries.filter(({ key }) => key.startsWith(root))
      return { entries: below.map((entry) => ({ ...entry, key: entry.key.slice(root.length) })), next }
    })
  }

  async #read(key: string, range: ByteRange | undefined, conditions: ReadOptions): Promise<StoreRead | null> {
    const call = begin(this.#retry, conditions.signal)
    for (let round = 0; round < ROUNDS; round++) {
      if (!isEmpty(range)) {
        const read = await this.#get(key, range, call, conditions)
        if (read !== undefined) return read
      }
      // No bytes were requested, or there are none in this range: return the entry alone.
      const entry = await this.#head(key, call, conditions)
      if (entry === null) return null
      const { offset, length } = clampRange(range, entry.size)
      if (length === 0) return { entry, offset, length, body: new Uint8Array(0) }
    }
    throw new StoreError('changed', `Cannot read "${key}": its size keeps changing`)
  }
}

/** Services refuse such a range, or take it for the whole object: `bytes=-0` on Ceph. */
function isEmpty(range: ByteRange | undefined): boolean {
  return range !== undefined && ('suffix' in range ? range.suffix <= 0 : (range.length ?? 1) <= 0)
}

/** A prefix as the beginning of keys: without slashes around it, and with one at its end. */
export function folder(prefix: string): string {
  const trimmed = prefix.replace(/^\/+|\/+$/g, '')
  return trimmed === '' ? '' : `${trimmed}/`
}

function isText(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}
