import type { Kernel } from '../kernel/kernel.ts'
import type { Random } from '../kernel/random.ts'
import { answerTo } from './s3.ts'

export interface StoredObject {
  bytes: Uint8Array<ArrayBuffer>
  etag: string
  /** Milliseconds since the Unix epoch, by the bucket's clock. */
  modified: number
}

/**
 * What can go wrong with a request: `500` and `503` before anything happens; `late`: it is answered after the client has
 * given up; `lost`: it is done, and the answer is lost; `cut`: the connection ends inside the body; `slow`: the body
 * takes seconds.
 */
export const BUCKET_FAULTS = ['500', '503', 'late', 'lost', 'cut', 'slow'] as const
export type BucketFault = (typeof BUCKET_FAULTS)[number]

/** Trouble for some time: which part of the requests it hits, and how. */
export interface Trouble {
  kinds: readonly BucketFault[]
  /** From 0 to 1. */
  part: number
  /** Only requests whose address has this text. @default all */
  about?: string
}

/**
 * A bucket behind the S3 protocol, in memory. It sits below `fetch`, so that the product's own retries, timeouts and
 * resumed bodies run on it. A request takes time to arrive and its answer takes time to come back: what it does, it does
 * in between, in one piece.
 */
export class Bucket {
  readonly objects = new Map<string, StoredObject>()
  readonly #kernel: Kernel
  readonly #random: Random
  readonly #streams = new Map<string, Random>()
  /** Troubles that hold now. */
  readonly troubles = new Set<Trouble>()
  /** Keys on a page of a listing. */
  pageSize = 1000
  /** Milliseconds that a request takes, at most, without trouble. */
  slowest = 20
  /** Requests that were sent and not answered, as they are in the history. */
  readonly pending: string[] = []
  /** Bodies that are neither read nor left. */
  readonly bodies: string[] = []
  /** Whether the bucket is there. */
  exists = true

  constructor(kernel: Kernel, random: Random) {
    this.#kernel = kernel
    this.#random = random
  }

  /** Writes an object as another client would: at once. */
  put(key: string, bytes: Uint8Array): void {
    const copy = new Uint8Array(bytes)
    this.objects.set(key, { bytes: copy, etag: `"${digest(copy)}"`, modified: this.now() })
  }

  delete(key: string): void {
    this.objects.delete(key)
  }

  /** The clock of the storage. */
  now(): number {
    return this.#kernel.now()
  }

  /** The `fetch` of one client; `who` is for the history. */
  fetchAs(who: string): (url: string, init: RequestInit) => Promise<Response> {
    return (url, init) => this.#fetch(who, new URL(url), init)
  }

  async #fetch(who: string, url: URL, init: RequestInit): Promise<Response> {
    const method = init.method ?? 'GET'
    const shown = `${method} ${decodeURIComponent(url.pathname.slice(1))}${url.searchParams.has('list-type') ? '?list' : ''}`
    const stream = this.#streamOf(`${who} ${shown}`)
    const fault = this.#faultOf(stream, decodeURIComponent(url.href))
    const signal = init.signal ?? undefined
    const label = `${who} ${shown}`
    const travel = () => 0.05 + this.slowest * 0.5 * stream.fraction() ** 2
    this.pending.push(label)
    try {
      const request = { method, url, headers: new Headers(init.headers), body: bodyOf(init.body) }
      const answered = (async () => {
        // A client that leaves before its request arrives may still have it done: so it is on a network.
        await this.#kernel.call(label, travel(), () => {})
        const isLate = fault === 'late'
        if (isLate && method !== 'PUT') await this.#kernel.call(label, 600_000, () => {})
        const answer =
          fault === '500' || fault === '503'
            ? { status: Number(fault), headers: {}, body: new Uint8Array(0) }
            : answerTo(this, request)
        // What is written is written when it arrives: only the answer is late.
        await this.#kernel.call(label, isLate && method === 'PUT' ? 600_000 : travel(), () => {})
        this.#kernel.note(`${label} → ${answer.status}${fault === null ? '' : ` (${fault})`}`)
        if (fault === 'lost') throw new TypeError('fetch failed: the connection was reset')
        return answer
      })()
      answered.catch(() => {})
      const { status, headers, body } = await leftBy(signal, answered)
      const cutAt = fault === 'cut' && body.length > 0 ? stream.below(body.length) : null
      const pieces = { body, cutAt, pause: fault === 'slow' ? 2_000 : travel(), label, signal }
      const isEmpty = status === 204 || status === 304 || method === 'HEAD'
      return new Response(isEmpty ? null : this.#stream(pieces), {
        status,
        headers: { Date: new Date(this.now()).toUTCString(), ...headers },
      })
    } finally {
      this.pending.splice(this.pending.indexOf(label), 1)
    }
  }

  #stream({ body, cutAt, pause, label, signal }: Pieces): ReadableStream<Uint8Array> {
    let at = 0
    const end = cutAt ?? body.length
    this.bodies.push(label)
    let isOpen = true
    const closed = () => {
      if (isOpen) this.bodies.splice(this.bodies.indexOf(label), 1)
      isOpen = false
    }
    signal?.addEventListener('abort', closed, { once: true })
    return new ReadableStream(
      {
        pull: async (controller) => {
          if (at >= end && cutAt === null) {
            closed()
            return controller.close()
          }
          const piece = body.slice(at, Math.min(end, at + 64 * 1024))
          try {
            await leftBy(
              signal,
              this.#kernel.call(label, pause, () => {}),
            )
          } catch (error) {
            closed()
            return controller.error(error)
          }
          if (at >= end) {
            closed()
            return controller.error(new TypeError('terminated: the connection was cut'))
          }
          at += piece.length
          controller.enqueue(piece)
        },
        cancel: closed,
      },
      { highWaterMark: 0 },
    )
  }

  #faultOf(stream: Random, address: string): BucketFault | null {
    for (const { kinds, part, about = '' } of this.troubles)
      if (address.includes(about) && stream.chance(part)) return stream.pick(kinds)
    return null
  }

  #streamOf(label: string): Random {
    const stream = this.#streams.get(label) ?? this.#random.split(label)
    this.#streams.set(label, stream)
    return stream
  }
}

interface Pieces {
  body: Uint8Array
  cutAt: number | null
  pause: number
  label: string
  signal: AbortSignal | undefined
}

/** Settles as `work` does, or rejects when the client leaves. */
async function leftBy<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work
  signal.throwIfAborted()
  let leave = () => {}
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason)
  })
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([work, left])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

function bodyOf(body: RequestInit['body']): Uint8Array<ArrayBuffer> {
  if (body === null || body === undefined) return new Uint8Array(0)
  if (body instanceof Uint8Array) return new Uint8Array(body)
  throw new TypeError('The bucket takes bytes only')
}

/** A digest of the content, as an S3 etag is: the same bytes have the same one. */
function digest(bytes: Uint8Array): string {
  let [a, b] = [0x811c9dc5, 0x9e3779b9]
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x01000193)
    b = Math.imul(b ^ byte, 0x85ebca6b) ^ (b >>> 13)
  }
  const hex = (value: number) => (value >>> 0).toString(16).padStart(8, '0')
  return `${hex(a)}${hex(b)}${hex(bytes.length)}`
}
