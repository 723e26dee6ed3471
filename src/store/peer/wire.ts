import { fetchFromStore } from '#fetch'
import { any, calling, having, type OptionsOf, text } from '../../kit/checked.ts'
import { type Clock, deadlineSignal, systemClock } from '../../kit/limits/clock.ts'
import { parseShallow } from '../../kit/limits/shallow-json.ts'
import { bytesWithin } from '../remote/exact-stream.ts'
import { type AttemptTimer, TransientError } from '../remote/retry.ts'
import { StoreError } from '../store.ts'
import { Breaker, PROBE_TIMEOUT_MS } from './breaker.ts'
import { HOP } from './hop.ts'

/** Where a peer is, and how to reach it. */
export const PEER = {
  /** `http://db-1:9000`, or with a path: `https://db-2:9000/state`. */
  url: text,
  /** The token that the peer wants; a function is called for every request. @default none */
  token: any<string | (() => string | undefined)>(),
  /** @default the runtime's own */
  fetch: calling<(url: string, init: PeerInit) => Promise<Response>>('answers requests'),
  /** Time and timers. @default the system's */
  clock: having<Clock>('a clock', 'now', 'elapsed'),
}
export type PeerAddress = OptionsOf<typeof PEER> & { url: string }

/**
 * What a runtime's fetch is given. It may ignore how long a connection may take to be made, and that a request goes out
 * again if an idle connection was just closed.
 */
export type PeerInit = RequestInit & { connectMillis?: number; reconnects?: boolean }

/** What was seen of a peer. */
export interface PeerHealth {
  /** Whether the last call was answered; null before the first. */
  up: boolean | null
  /** Milliseconds until the last answer began. */
  millis: number | null
  failures: number
  /** How far its clock is ahead of this one's, in milliseconds, exact to about half a second. */
  offset: number | null
  /** When it was last heard of, by `clock.elapsed`. */
  at: number
}

export interface PeerRequest {
  method?: 'GET' | 'HEAD'
  /** Below the peer's address, with its query: `api/v1/log/list?etag=true`. */
  path: string
  headers?: Record<string, string>
}

const CONNECT_MILLIS = 2000
/** 2,000 names of 255 bytes, most of them escaped, stay below it. */
const LONGEST_TEXT = 4 * 1024 * 1024
const LONGEST_PROBLEM = 16 * 1024

/** Sends requests to one peer: its address, its token, and what its answers show of its health. */
export class PeerWire {
  readonly health: PeerHealth = { up: null, millis: null, failures: 0, offset: null, at: 0 }
  /** The zone of times that do not name one, as the peer said last. */
  zone: string | null = null
  readonly #address: PeerAddress
  readonly #base: string
  readonly #fetch: NonNullable<PeerAddress['fetch']>
  readonly #clock: Clock
  readonly #breaker: Breaker

  constructor(address: PeerAddress) {
    this.#address = address
    this.#base = baseOf(address.url)
    this.#fetch = address.fetch ?? fetchFromStore
    this.#clock = address.clock ?? systemClock
    this.#breaker = new Breaker(this.#clock, () => this.#isBack())
  }

  /** Whether the peer just failed and is left alone. */
  get isDown(): boolean {
    return this.#breaker.isOpen
  }

  /** The answer, whatever its status, unless it is a redirect. Throws a StoreError while the peer is left alone. */
  async send({ method = 'GET', path, headers }: PeerRequest, timer: Attempt): Promise<Response> {
    const end = await this.#breaker.enter()
    const start = this.#clock.elapsed()
    let answer: Response
    try {
      answer = await this.#fetch(this.#base + path, {
        method,
        headers: this.#headers(headers),
        redirect: 'manual',
        signal: timer.signal,
        connectMillis: CONNECT_MILLIS,
        reconnects: true,
      })
    } catch (error) {
      const hasLeft = timer.signal.aborted && !timer.isLate
      end(hasLeft ? 'left' : timer.isLate || isConnectTimeout(error) ? 'late' : 'failed')
      if (!hasLeft) this.#failed()
      throw error
    }
    end('answered')
    this.#heard(answer, start)
    if (answer.status >= 300 && answer.status < 400 && answer.status !== 304) {
      await answer.body?.cancel()
      throw new StoreError('unavailable', 'The peer redirects, which is refused; set its final address')
    }
    if (answer.type === 'opaqueredirect')
      throw new StoreError('unavailable', 'The peer redirects, which is refused; set its final address')
    return answer
  }

  /** An answer of at most `longest` bytes; `grow` is called before some of them are held. */
  bytes(
    answer: Response,
    timer: Attempt,
    longest: number,
    grow: (bytes: number) => void,
  ): Promise<Uint8Array> {
    return bytesWithin(answer, timer, { longest, who: 'peer', grow })
  }

  /** A JSON answer, which may have `longest` bytes. */
  async json(answer: Response, timer: Attempt, longest = LONGEST_TEXT): Promise<unknown> {
    const text = new TextDecoder().decode(await bytesWithin(answer, timer, { longest, who: 'peer' }))
    try {
      return parseShallow(text)
    } catch (cause) {
      throw new StoreError('unavailable', 'The peer sent JSON that is not valid', { cause })
    }
  }

  /** The code of a problem; null if the body is none. */
  async problemOf(answer: Response, timer: Attempt): Promise<string | null> {
    try {
      const { type } = (await this.json(answer, timer, LONGEST_PROBLEM)) as { type?: unknown }
      return typeof type === 'string' ? (/^\/problems\/([a-z-]{1,40})$/.exec(type)?.[1] ?? null) : null
    } catch {
      return null
    }
  }

  /** Where the peer is, for people. */
  get address(): string {
    return this.#base.replace(/\/$/, '')
  }

  /** Asks whether a peer that failed answers again. A proxy in front of one that does not is no answer. */
  async #isBack(): Promise<boolean> {
    const { signal, done } = deadlineSignal(this.#clock, PROBE_TIMEOUT_MS)
    try {
      const request = { headers: this.#headers(), signal, connectMillis: PROBE_TIMEOUT_MS }
      const answer = await this.#fetch(`${this.#base}healthz`, { ...request, redirect: 'manual' })
      await answer.body?.cancel()
      return answer.status < 500
    } finally {
      done()
    }
  }

  #headers(headers: Record<string, string> = {}): Record<string, string> {
    const { token } = this.#address
    const given = typeof token === 'function' ? token() : token
    return {
      Accept: 'application/problem+json, */*',
      // What a runtime unpacks has neither the length nor the range requested.
      'Accept-Encoding': 'identity',
      ...headers,
      [HOP]: '1',
      ...(given && { Authorization: `Bearer ${given}` }),
    }
  }

  #failed(): void {
    this.health.up = false
    this.health.failures++
    this.health.at = this.#clock.elapsed()
  }

  #heard(answer: Response, start: number): void {
    const { health } = this
    const now = this.#clock.elapsed()
    health.up = true
    health.millis = now - start
    health.at = now
    const date = Date.parse(answer.headers.get('Date') ?? '')
    if (!Number.isNaN(date)) health.offset = offsetOf(date, this.#clock.now(), health)
    const zone = answer.headers.get('X-Nodestate-Zone')
    if (zone !== null && /^[\w+:/-]{1,64}$/.test(zone)) this.zone = zone
  }
}

/** An answer that took longer says little about when its date was written. */
const PROMPT_MS = 1000

/** How far a clock is ahead that wrote a date, in whole seconds, while the answer was awaited. */
function offsetOf(date: number, now: number, { millis, offset }: PeerHealth): number {
  const [least, most] = [date - now, date + 1000 - (now - millis!)]
  // On average a date is half a second old, and it was written about halfway.
  if (millis! <= PROMPT_MS) return (least + most) / 2
  // A search of ten seconds must not look like a clock that is five seconds ahead.
  return Math.min(most, Math.max(least, offset ?? 0))
}

/** What bounds a request. */
export type Attempt = Pick<AttemptTimer, 'signal' | 'isLate' | 'bound'>

/** What an unsuccessful answer means. Consumes its body. */
export async function peerError(wire: PeerWire, answer: Response, timer: Attempt): Promise<Error> {
  const { status } = answer
  if (status === 304) return new StoreError('unchanged', 'The peer has the same version')
  if (status === 412) return new StoreError('changed', 'The peer has another version')
  const code = await wire.problemOf(answer, timer)
  const said = `The peer answered ${status}${code ? ` ${code}` : ''}`
  if (status === 401 || status === 403 || code === 'storage-denied')
    return new StoreError('denied', `${said}; check its token`)
  const seconds = /^\d{1,6}$/.exec(answer.headers.get('Retry-After') ?? '')?.[0]
  const wait = seconds === undefined ? {} : { retryAfter: Number(seconds) }
  if (code === 'storage-changed') return new StoreError('changed', said)
  if (code === 'storage-timeout' || status === 504) return new StoreError('timeout', said, wait)
  if (status === 429 || code === 'storage-throttled' || code === 'too-busy')
    return new StoreError('throttled', said, wait)
  const error = new StoreError('unavailable', said, wait)
  // A proxy in front of a peer that is being restarted.
  return status === 502 || (status === 503 && code === null) ? new TransientError(error) : error
}

function isConnectTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ETIMEDOUT'
}

function baseOf(url: string): string {
  const { protocol, origin, pathname, username, search, hash } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new StoreError('unavailable', 'The address of a peer must begin with http:// or https://')
  if (username !== '' || search !== '' || hash !== '')
    throw new StoreError('unavailable', 'The address of a peer has no user, query or fragment')
  return `${origin}${pathname.replace(/\/+$/, '')}/`
}
