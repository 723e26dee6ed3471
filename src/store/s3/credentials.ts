import { type Clock, systemClock } from '../../kit/limits/clock.ts'
import type { AttemptTimer } from '../remote/retry.ts'
import { StoreError } from '../store.ts'
import type { S3Credentials, S3Options } from './options.ts'

/** Credentials are replaced this long before they expire, as the AWS SDKs do. */
const EARLY_MILLIS = 5 * 60_000

/** The credentials of a bucket: given once, or by a function that is called again before they expire. */
export class Credentials {
  readonly #source: (() => Promise<S3Credentials>) | null
  readonly #clock: Clock
  #current: S3Credentials | null = null
  #call: Promise<S3Credentials> | null = null

  constructor({ credentials, accessKeyId, secretAccessKey, sessionToken, clock = systemClock }: S3Options) {
    if (credentials && (accessKeyId || secretAccessKey))
      throw new StoreError('denied', 'Credentials are given twice: as `credentials` and as an access key')
    if (!accessKeyId !== !secretAccessKey)
      throw new StoreError('denied', 'An access key needs its secret: give both, or none for a public bucket')
    this.#source = typeof credentials === 'function' ? credentials : null
    this.#clock = clock
    if (typeof credentials === 'object') this.#current = complete(credentials)
    else if (accessKeyId && secretAccessKey) this.#current = { accessKeyId, secretAccessKey, sessionToken }
  }

  /** Without credentials, requests are not signed. */
  get areGiven(): boolean {
    return this.#source !== null || this.#current !== null
  }

  /** What to sign a request with; null for a public bucket. */
  async get(timer: AttemptTimer): Promise<S3Credentials | null> {
    if (this.#source === null || this.#isFresh()) return this.#current
    const source = this.#source
    // Concurrent requests share one call.
    this.#call ??= (async () => source())()
    const call = this.#call
    try {
      this.#current = complete(await timer.bound(call))
      return this.#current
    } catch (cause) {
      if (timer.signal.aborted || cause instanceof StoreError) throw cause
      throw new StoreError('unavailable', 'The credentials of the storage cannot be obtained', { cause })
    } finally {
      if (this.#call === call) this.#call = null
    }
  }

  #isFresh(): boolean {
    if (this.#current === null) return false
    const { expiration } = this.#current
    return !expiration || expiration.getTime() - this.#clock.now() > EARLY_MILLIS
  }
}

function complete(credentials: S3Credentials): S3Credentials {
  if (credentials?.accessKeyId && credentials.secretAccessKey) return credentials
  throw new StoreError('denied', 'Credentials need an accessKeyId and a secretAccessKey')
}

/** The options that the standard AWS variables set, for `s3Store({ bucket, ...fromEnv(process.env) })`. */
export function fromEnv(
  env: Record<string, string | undefined>,
): Pick<S3Options, 'accessKeyId' | 'secretAccessKey' | 'sessionToken' | 'region' | 'endpoint'> {
  return {
    accessKeyId: env.AWS_ACCESS_KEY_ID || undefined,
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY || undefined,
    sessionToken: env.AWS_SESSION_TOKEN || undefined,
    region: env.AWS_REGION || env.AWS_DEFAULT_REGION || undefined,
    endpoint: env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined,
  }
}
