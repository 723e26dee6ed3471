import { type Clock, systemClock } from '../kit/limits/clock.ts'
import { folder } from '../store/remote/bucket.ts'
import { begin, retryOf, TransientError, withRetries } from '../store/remote/retry.ts'
import type { S3Options } from '../store/s3/options.ts'
import { answerError, S3Wire } from '../store/s3/wire.ts'
import { s3Store } from '../store/s3.ts'
import { StoreError } from '../store/store.ts'
import { type Bucket, type PutOptions, UnusableBucket } from './bucket.ts'
import type { Compactor } from './compact.ts'

export interface S3BucketOptions extends S3Options {
  /** Reports each response, for metrics. A status of 0 is a failed connection. */
  onRequest?: ((op: 'get' | 'list' | 'put', status: number) => void) | undefined
  /** The SHA-256 of a body. @default the runtime's own */
  sha256?: ((bytes: Uint8Array<ArrayBuffer>) => Promise<ArrayBuffer>) | undefined
}

/** If the clock is further off than this, requests are signed with the storage's time. */
const SKEW = 60_000

/** An S3 bucket. Signatures follow the storage's Date: a node whose clock is a year off still ships. */
export function s3Bucket(options: S3BucketOptions): Bucket & Compactor & { check(): Promise<void> } {
  const {
    onRequest = () => {},
    sha256 = (bytes) => crypto.subtle.digest('SHA-256', bytes),
    ...wiring
  } = options
  const { clock: own = systemClock } = options
  const fetchFromStore = options.fetch ?? ((url: string, init: RequestInit) => fetch(url, init))
  let offset = 0
  let lastStatus = 0
  const now = () => own.now() + offset
  const clock: Clock = { now, elapsed: () => own.elapsed(), after: (ms, then) => own.after(ms, then) }

  const watched = async (url: string, init: RequestInit): Promise<Response> => {
    const op = init.method === 'PUT' ? 'put' : url.includes('list-type=2') ? 'list' : 'get'
    try {
      const answer = await fetchFromStore(url, init)
      lastStatus = answer.status
      onRequest(op, answer.status)
      const date = Date.parse(answer.headers.get('Date') ?? '')
      if (!Number.isNaN(date) && Math.abs(date - now()) > SKEW) offset = date - own.now()
      return answer
    } catch (error) {
      lastStatus = 0
      onRequest(op, 0)
      throw error
    }
  }
  const wired = { ...wiring, fetch: watched, clock, retries: 0, timeout: 60_000, deadline: 120_000 }
  const store = s3Store(wired)
  const wire = new S3Wire(wired)
  const retry = retryOf(wired)
  const patient = retryOf({ ...wired, retries: options.retries })
  const root = folder(options.prefix ?? '')

  /** Tries again after the first response has set the clock. */
  async function inTime<T>(work: () => Promise<T>): Promise<T> {
    const before = offset
    try {
      return await work()
    } catch (error) {
      if (offset === before) throw error
      return work()
    }
  }

  /**
   * Ceph's radosgw, and services made of it, take the tag of an `If-Match` only without its quotes. A refused write is
   * tried in the other form, which costs a PUT; the form that succeeded is the first one from then on.
   */
  let isBare = false
  async function replace(key: string, body: Uint8Array<ArrayBuffer>, etag: string): Promise<string | false> {
    const tag = (bare: boolean) => (bare ? etag.replaceAll('"', '') : etag)
    const written = await put(key, body, { ifMatch: tag(isBare) })
    if (written !== false) return written
    const other = await put(key, body, { ifMatch: tag(!isBare) })
    if (other !== false) isBare = !isBare
    return other
  }

  async function put(
    key: string,
    body: Uint8Array<ArrayBuffer>,
    { once = false, ifMatch }: PutOptions,
  ): Promise<string | false> {
    const digest = new Uint8Array(await sha256(body))
    const headers: Record<string, string> = {
      // Signed, so that a storage refuses bytes that changed on their way.
      'X-Amz-Content-Sha256': Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join(''),
      'Content-Type': typeOf(key),
      ...(once ? { 'If-None-Match': '*' } : {}),
      ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
    }
    return withRetries(retry, begin(retry, undefined), async (timer) => {
      const answer = await wire.send({ method: 'PUT', key: root + key, headers, body }, timer)
      // 404: there is nothing that could match.
      if (answer.ok || answer.status === 412 || (ifMatch !== undefined && answer.status === 404)) {
        await answer.arrayBuffer()
        timer.end()
        return answer.ok && (answer.headers.get('ETag') ?? '')
      }
      // 409: another writer is at the same key right now.
      const error = await answerError(answer, key)
      throw error instanceof StoreError && answer.status === 409 ? new TransientError(error) : error
    })
  }

  return {
    names: (of, limit) =>
      inTime(async () => {
        const names: string[] = []
        for await (const { key } of store.list(of, { shallow: true, folders: true, limit }))
          names.push(key.slice(of.length))
        return names
      }),
    get: (key, most) =>
      inTime(async () => {
        const read = await store.read(key, most === undefined ? undefined : { offset: 0, length: most })
        if (!read) return null
        const { etag, modified } = read.entry
        const bytes = new Uint8Array(await new Response(read.body).arrayBuffer())
        return { bytes, etag, age: (read.date ?? now()) - modified }
      }),
    put: (key, bytes, { ifMatch, ...options } = {}) =>
      inTime(() => (ifMatch === undefined ? put(key, bytes, options) : replace(key, bytes, ifMatch))),
    remove: (key) =>
      withRetries(patient, begin(patient, undefined), async (timer) => {
        const answer = await wire.send({ method: 'DELETE', key: root + key }, timer)
        if (!answer.ok && answer.status !== 404) throw await answerError(answer, key)
        await answer.arrayBuffer()
        timer.end()
      }),

    /** Throws UnusableBucket if the bucket or the permission is missing; temporary failures are left to the retries. */
    async check() {
      try {
        await inTime(async () => {
          for await (const _ of store.list('', { shallow: true, limit: 1 })) break
        })
      } catch (cause) {
        const name = `s3://${options.bucket}`
        if (lastStatus === 404) throw new UnusableBucket(`There is no bucket ${name}`, { cause })
        if (lastStatus === 301 || lastStatus === 307)
          throw new UnusableBucket(`The bucket ${name} is in another region: set AWS_REGION`, { cause })
        if (lastStatus === 400 || lastStatus === 401 || lastStatus === 403)
          throw new UnusableBucket(`No permission to list ${name}: check the credentials and their policy`, {
            cause,
          })
      }
    },
  }
}

function typeOf(key: string): string {
  if (key.endsWith('.gz') || key.endsWith('/~')) return 'application/gzip'
  if (key.endsWith('.json')) return 'application/json'
  return key.endsWith('.toml') ? 'application/toml' : 'application/octet-stream'
}
