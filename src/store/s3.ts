import { checkOptions } from '../kit/checked.ts'
import { BoundedMap } from '../kit/limits/bounded-map.ts'
import { type PartAnswer, RemoteBucket } from './remote/bucket.ts'
import { pageSize } from './remote/list-pages.ts'
import { conditional, dateOf, lengthOf, partOf, rangeHeader } from './remote/parts.ts'
import type { AttemptTimer } from './remote/retry.ts'
import { parseList, quoted } from './s3/list.ts'
import { S3, S3_NEEDED, type S3Options } from './s3/options.ts'
import { answerError, S3Wire } from './s3/wire.ts'
import {
  type ByteRange,
  type Entry,
  type ListOptions,
  type ReadOptions,
  type Store,
  StoreError,
} from './store.ts'

export { fromEnv } from './s3/credentials.ts'
export type { S3Credentials, S3Options } from './s3/options.ts'

/**
 * A bucket of any S3-compatible service. A tail is one GET with a suffix range; its entry comes from the same
 * answer. Times are whole seconds, because that is what the headers carry.
 */
export function s3Store(options: S3Options): Store {
  checkOptions(options, { ...S3_NEEDED, ...S3 }, { what: 's3Store', needed: ['bucket'] })
  return new S3Bucket(options).store()
}

/** For how many objects the last size is remembered. */
const MAX_KNOWN = 1000

class S3Bucket extends RemoteBucket {
  readonly #wire: S3Wire
  /** The last entry of an object: the same etag with another size is a contradiction. */
  readonly #known = new BoundedMap<string, Entry>(MAX_KNOWN)

  constructor(options: S3Options) {
    super(options)
    this.#wire = new S3Wire(options)
  }

  protected async head(key: string, conditions: ReadOptions, timer: AttemptTimer): Promise<Entry | null> {
    const headers = conditional(conditions)
    const answer = await this.#wire.send({ method: 'HEAD', key: this.root + key, headers }, timer)
    if (answer.status === 404) {
      await this.#wire.requireBucket(timer)
      return null
    }
    if (answer.status !== 200) throw await answerError(answer, key)
    return this.#checked(entryOf(key, answer, lengthOf(answer)))
  }

  protected async get(
    key: string,
    range: ByteRange | undefined,
    conditions: ReadOptions,
    timer: AttemptTimer,
  ): Promise<PartAnswer | null | undefined> {
    const headers = { ...conditional(conditions), ...rangeHeader(range) }
    const answer = await this.#wire.send({ method: 'GET', key: this.root + key, headers }, timer)
    if (answer.status === 404) {
      await this.#wire.requireBucket(timer, answer)
      return null
    }
    if (answer.status === 416) return void (await answer.body?.cancel())
    if (answer.status !== 200 && answer.status !== 206) throw await answerError(answer, key)
    const { entry, ...part } = partOf(key, range, answer, entryOf)
    if (answer.status === 200 && headers.Range) await this.#requireWhole(entry, timer)
    return { entry: this.#checked(entry), ...part, ...dateOf(answer), body: answer.body }
  }

  protected async page(prefix: string, options: ListOptions, token: string | null, timer: AttemptTimer) {
    const query = listQuery(prefix, options, token)
    if (options.after) query['start-after'] = this.root + options.after
    const answer = await this.#wire.send({ method: 'GET', key: '', query }, timer)
    if (answer.status !== 200) throw await answerError(answer, prefix)
    return parseList(await this.#wire.text(answer, timer))
  }

  /** The URL parser resolves the segments `.` and `..`, escaped or not, which would lead to another object. */
  protected override isKey(key: string): boolean {
    return super.isKey(key) && !key.split('/').some((part) => part === '.' || part === '..')
  }

  /** A 200 to a range is all of the object, or, from a broken service, the range: only HEAD can tell. */
  async #requireWhole({ key, etag, size }: Entry, timer: AttemptTimer): Promise<void> {
    if (this.#known.get(key)?.etag === etag) return
    const answer = await this.#wire.send({ method: 'HEAD', key: this.root + key }, timer)
    const whole = answer.status === 200 ? entryOf(key, answer, lengthOf(answer)) : null
    if (whole?.etag === etag && whole.size !== size) throw contradiction(key)
    if (whole?.etag !== etag) throw new StoreError('changed', `"${key}" was replaced while it was read`)
  }

  /** The entry of an answer, with the encoding that the object is known to have. */
  #checked(entry: Entry): Entry {
    const { key, etag, size } = entry
    const known = this.#known.get(key)
    // What contradicts is not remembered: the next attempt would believe it.
    if (known?.etag === etag && known.size !== size) throw contradiction(key)
    this.#known.set(key, entry)
    const encoding = this.#wire.encodingOf(this.root + key)
    return encoding === undefined ? entry : { ...entry, encoding }
  }
}

function contradiction(key: string): StoreError {
  return new StoreError('unavailable', `The storage gives two sizes for the same version of "${key}"`)
}

function entryOf(key: string, answer: Response, size: number): Entry {
  const etag = answer.headers.get('ETag')
  const modified = Date.parse(answer.headers.get('Last-Modified') ?? '')
  if (!etag || Number.isNaN(modified))
    throw new StoreError('unavailable', `The answer for "${key}" is not one of an object store`)
  return { key, size, modified, etag: quoted(etag) }
}

function listQuery(prefix: string, options: ListOptions, token: string | null): Record<string, string> {
  return {
    'list-type': '2',
    'encoding-type': 'url',
    'max-keys': String(pageSize(options)),
    ...(prefix && { prefix }),
    ...(options.shallow && { delimiter: '/' }),
    ...(token !== null && { 'continuation-token': token }),
  }
}
