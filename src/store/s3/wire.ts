import { AwsV4Signer } from 'aws4fetch'
import { fetchFromStore } from '#fetch'
import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import { systemClock } from '../../kit/limits/clock.ts'
import { bytesWithin } from '../remote/exact-stream.ts'
import { type AttemptTimer, TransientError } from '../remote/retry.ts'
import { StoreError } from '../store.ts'
import { Credentials } from './credentials.ts'
import type { S3Options } from './options.ts'
import { elementsIn, textOf } from './xml.ts'

/** A request to a bucket, before it has an address and a signature. */
export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  /** The full key; empty for the bucket itself. */
  key: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Uint8Array<ArrayBuffer>
}

/** How many objects with a Content-Encoding to remember: any other costs one more request. */
const MAX_ENCODINGS = 1000
/** A page of 1,000 keys of 1,024 bytes, each byte escaped, stays below 4 MiB. */
const LONGEST_TEXT = 16 * 1024 * 1024

/** Sends requests to one bucket: address, signature, and which failures are worth a retry. */
export class S3Wire {
  readonly #options: S3Options
  readonly #credentials: Credentials
  readonly #address: string
  readonly #fetch: NonNullable<S3Options['fetch']>
  /** The signing keys, one per day. */
  readonly #signingKeys = new BoundedMap<string, ArrayBuffer>(8)
  /** The objects that were seen with a Content-Encoding, and which. */
  readonly #encodings = new BoundedMap<string, string>(MAX_ENCODINGS)

  constructor(options: S3Options) {
    this.#options = options
    this.#credentials = new Credentials(options)
    this.#address = addressOf(options)
    this.#fetch = options.fetch ?? fetchFromStore
  }

  /** The response, unless it is a temporary failure. */
  async send(request: S3Request, timer: AttemptTimer): Promise<Response> {
    const answer = await this.#sendForStored(request, timer)
    // R2 answers "bad request" to an unsigned request.
    if (answer.status === 400 && !this.#credentials.areGiven)
      throw new StoreError('denied', `The storage wants credentials for "${request.key}"`)
    if (isTransient(answer.status)) throw await answerError(answer, request.key)
    return answer
  }

  /** The Content-Encoding that an object is known to be stored with. */
  encodingOf(key: string): string | undefined {
    return this.#encodings.get(key)
  }

  /** The text of an answer, which must be complete. */
  async text(answer: Response, timer: AttemptTimer): Promise<string> {
    const bytes = await bytesWithin(answer, timer, { longest: LONGEST_TEXT, who: 'storage' })
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    } catch (cause) {
      const error = new StoreError('unavailable', 'The storage sent text that is not UTF-8', { cause })
      throw new TransientError(error)
    }
  }

  /**
   * After a 404: returns when only the object is missing, throws when it is the bucket. A response to HEAD has
   * no body that could say, so the bucket itself is checked: one more request, and only for missing objects.
   */
  async requireBucket(timer: AttemptTimer, answer?: Response): Promise<void> {
    const code = answer ? await errorCode(answer) : null
    if (code === 'NoSuchKey') return
    if (code !== 'NoSuchBucket') {
      const bucket = await this.send({ method: 'HEAD', key: '' }, timer)
      await bucket.body?.cancel()
      if (bucket.status !== 404) return
    }
    throw new StoreError('unavailable', `There is no bucket "${this.#options.bucket}"`)
  }

  /**
   * The answer with the bytes as they are stored. Every runtime's fetch decodes a body that has a Content-Encoding, and
   * fails on a range of one. So such an object is requested again without the header, and from then on directly; so are
   * other objects, because a shipper compresses all of them or none.
   */
  async #sendForStored(request: S3Request, timer: AttemptTimer): Promise<Response> {
    const { method, key, query } = request
    const plain = { ...request, query: { ...query, 'response-content-encoding': 'identity' } }
    if (method === 'GET' && key !== '' && this.#encodings.size > 0 && this.#credentials.areGiven)
      return this.#sendOnce(plain, timer)
    const answer = await this.#sendOnce(request, timer)
    if (key === '' || !answer.ok) return answer
    const encoding = encodingOf(answer)
    if (encoding === null) this.#encodings.delete(key)
    else this.#encodings.set(key, encoding)
    if (encoding === null || method === 'HEAD') return answer
    await answer.body?.cancel()
    // Only a signed request may override headers.
    if (!this.#credentials.areGiven)
      throw new StoreError('unavailable', `"${key}" has a Content-Encoding and needs credentials to be read`)
    const again = await this.#sendOnce(plain, timer)
    if (again.ok && encodingOf(again) !== null)
      throw new StoreError('unavailable', `The storage sends "${key}" only with a Content-Encoding`)
    return again
  }

  async #sendOnce(request: S3Request, timer: AttemptTimer): Promise<Response> {
    const { method, key, query, body } = request
    const url = this.#address + key.split('/').map(percent).join('/') + search(query)
    const signed = await this.#sign(request, url, timer)
    // Without this, the runtime requests gzip, and what it unpacks has neither the length nor the range requested.
    // Not signed: proxies rewrite it on the way.
    signed.set('Accept-Encoding', 'identity')
    // The caller may have left while the request was signed: then it is not sent.
    timer.signal.throwIfAborted()
    const { signal } = timer
    return this.#fetch(url, { method, headers: signed, redirect: 'manual', signal, body: body ?? null })
  }

  async #sign({ method, headers = {} }: S3Request, url: string, timer: AttemptTimer): Promise<Headers> {
    const credentials = await this.#credentials.get(timer)
    if (credentials === null) return new Headers(headers)
    const { accessKeyId, secretAccessKey, sessionToken } = credentials
    const { region, clock = systemClock } = this.#options
    const signer = new AwsV4Signer({
      method,
      url,
      headers,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken ? { sessionToken } : {}),
      service: 's3',
      region: region || 'us-east-1',
      cache: this.#signingKeys,
      datetime: new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    })
    return (await signer.sign()).headers
  }
}

/** What an unsuccessful response means. Consumes its body. */
export async function answerError(answer: Response, key: string): Promise<StoreError | TransientError> {
  const { status } = answer
  const code = await errorCode(answer)
  const said = `The storage answered ${status}${code ? ` ${code}` : ''} for "${key}"`
  if (status === 304) return new StoreError('unchanged', said)
  if (status === 412) return new StoreError('changed', said)
  if (status === 401 || status === 403 || (status === 400 && DENIED.test(code ?? '')))
    return new StoreError('denied', said)
  if (status === 404) return new StoreError('unavailable', said)
  if (status >= 300 && status < 400)
    return new StoreError('unavailable', `${said}: check the region and the endpoint`)
  const retryAfter = waitOf(answer)
  const wait = retryAfter === undefined ? {} : { retryAfter }
  if (status === 429 || THROTTLED.test(code ?? ''))
    return new TransientError(new StoreError('throttled', said, wait))
  const error = new StoreError(status === 504 || status === 408 ? 'timeout' : 'unavailable', said, wait)
  return isTransient(status) || code === 'RequestTimeout' ? new TransientError(error) : error
}

const DENIED = /^(ExpiredToken|InvalidToken|AuthorizationHeaderMalformed)$/
const THROTTLED = /^(SlowDown|TooManyRequests|Throttling|ThrottlingException|RequestLimitExceeded)$/

function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500
}

/** Amazon's error code; null if the body has none. Never throws. */
async function errorCode(answer: Response): Promise<string | null> {
  try {
    const [root] = elementsIn(await answer.text())
    return root?.name === 'Error' ? textOf(elementsIn(root.inside), 'Code') : null
  } catch {
    return null
  }
}

/** Seconds, or a date (RFC 9110, 10.2.3), which counts from the one that the storage sent. */
function waitOf(answer: Response): number | undefined {
  const text = answer.headers.get('Retry-After')
  if (text === null) return undefined
  if (/^\d{1,6}$/.test(text)) return Number(text)
  const sent = Date.parse(answer.headers.get('Date') ?? '')
  const wait = Math.ceil((Date.parse(text) - sent) / 1000)
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}

/** The encoding that a runtime would decode, null if none; `aws-chunked` is not a real encoding. */
function encodingOf(answer: Response): string | null {
  const header = answer.headers.get('Content-Encoding') ?? ''
  const encoding = /\b(gzip|br|deflate|zstd|compress)\b/i.exec(header)?.[1]
  return encoding?.toLowerCase() ?? null
}

/** The bucket's URL, with a slash at its end. */
function addressOf({ bucket, endpoint, region, pathStyle }: S3Options): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/.test(bucket))
    throw new StoreError('unavailable', `"${bucket}" is not the name of a bucket`)
  const domain = region?.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  const place = endpoint || `https://s3.${region || 'us-east-1'}.${domain}`
  if (!URL.canParse(place)) throw new StoreError('unavailable', `The endpoint "${place}" is not an address`)
  const service = new URL(place)
  if (service.protocol !== 'http:' && service.protocol !== 'https:')
    throw new StoreError('unavailable', `The endpoint "${service.href}" is not an http address`)
  // Amazon's wildcard certificate does not cover a name with a dot.
  const inPath = pathStyle ?? (Boolean(endpoint) || !/^[a-z0-9-]{3,63}$/.test(bucket))
  const path = service.pathname.replace(/\/+$/, '')
  return inPath
    ? `${service.origin}${path}/${bucket}/`
    : `${service.protocol}//${bucket}.${service.host}${path}/`
}

function search(query: Record<string, string> | undefined): string {
  const pairs = Object.entries(query ?? {}).map(([name, value]) => `${percent(name)}=${percent(value)}`)
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

/** RFC 3986's unreserved characters stay; the rest is escaped, because a raw `+` is signed as a space. */
function percent(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}
