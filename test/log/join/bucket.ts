import { gzipSync } from 'node:zlib'
import { s3Store } from '../../../src/store/s3.ts'
import { createApp } from '../../support/app.ts'
import { type S3Server, startS3Server } from '../../support/s3-server.ts'

export const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'
const pad = (value: number, width = 2) => String(value).padStart(width, '0')

/** The keys of an object that each shipper would write at an instant. */
export const KEYS: Record<string, (log: string, time: number, id: number) => string> = {
  Vector: (log, time, id) => {
    const date = new Date(time).toISOString().slice(0, 10)
    return `${log}/date=${date}/${Math.floor(time / 1000)}-${UUID.slice(0, -6)}${pad(id, 6)}.log.gz`
  },
  'Fluent Bit': (log, time, id) => {
    const [, year, month, day, hour, minute, second] = /(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)/.exec(
      new Date(time).toISOString(),
    )!
    return `${log}/${year}/${month}/${day}/${hour}/${minute}/${second}-object${pad(id, 8)}`
  },
  Firehose: (log, time, id) => {
    const text = new Date(time).toISOString()
    const stamp = text.slice(0, 19).replace(/[T:]/g, '-')
    return `${log}/${text.slice(0, 13).replace(/[-T]/g, '/')}/stream-1-${stamp}-${UUID.slice(0, -6)}${pad(id, 6)}`
  },
  Logstash: (log, time, id) => {
    const stamp = new Date(time).toISOString().slice(0, 16).replace(':', '.')
    // Random, as a UUID is, and the same every time.
    const uuid = `${(Math.imul(id + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')}${UUID.slice(8)}`
    return `${log}/ls.s3.${uuid}.${stamp}.tag_x.part0.txt`
  },
}

/** What a stream gives next. */
export async function next(reader: ReadableStreamDefaultReader<string>): Promise<string> {
  const { value, done } = await reader.read()
  if (done) throw new Error('The stream has ended')
  return value
}

/** One line of a log. */
export const lineAt = (time: number, text: string, level = 'info') =>
  `${new Date(time).toISOString().replace('T', ' ').slice(0, 23)}\t${level}\tserver.go:1\t[Broker]: ${text}\n`

/** A bucket of a shipper, with `count` objects, one every `step` ms up to `end`, each of `lines` lines. */
export async function shippedBucket(
  shipper: string,
  {
    count,
    step,
    lines = 1,
    gzip = false,
    end = Date.UTC(2026, 10, 15, 10, 0, 0),
    log = 'app',
  }: BucketOptions,
): Promise<Bucket> {
  const server = await startS3Server()
  const textOf = (i: number) => {
    const time = end - (count - i) * step
    let text = ''
    for (let n = 0; n < lines; n++) {
      const at = time - step + Math.floor(((n + 1) * step) / lines)
      text += lineAt(
        at,
        `object ${pad(i, 5)} line ${pad(n, 3)} ${'x'.repeat(60)}`,
        n % 50 ? 'info ' : 'error',
      )
    }
    return text
  }
  // All objects have the same size, so that a gigabyte of them need not be made.
  const size = textOf(0).length
  for (let i = 0; i < count; i++) {
    const key = KEYS[shipper]!(log, end - (count - i) * step, i)
    if (gzip) server.put(key, gzipSync(textOf(i)))
    else
      server.objects.set(key, {
        size,
        etag: `"${i}"`,
        read: (from, length) => Buffer.from(textOf(i)).subarray(from, from + length),
      })
  }
  const text = (from = 0, to = count) =>
    Array.from({ length: to - from }, (_, i) => textOf(from + i)).join('')
  const chains = new Chains()
  const store = s3Store({ bucket: 'logs', endpoint: server.endpoint, fetch: chains.fetch })
  const app = createApp({ logs: store, config: '', join: true })
  const ask = async (path: string) => {
    chains.reset()
    const response = await app.request(path)
    const body = await response.text()
    return { response, body, ...chains.counts() }
  }
  return { server, ask, app, store, text }
}

interface BucketOptions {
  count: number
  step: number
  lines?: number
  gzip?: boolean
  end?: number
  log?: string
}

export interface Bucket {
  server: S3Server
  /** The text of some objects. */
  text(from?: number, to?: number): string
  app: ReturnType<typeof createApp>
  store: ReturnType<typeof s3Store>
  ask(path: string): Promise<{ response: Response; body: string; requests: number; trips: number }>
}

/**
 * Counts requests, and the longest chain of requests of which each began after the one before had ended. Requests that
 * are under way together end together, so that the chain is the same however long each of them takes.
 */
class Chains {
  #requests = 0
  #longest = 0
  #underWay = 0
  #landed: (() => void)[] = []

  reset(): void {
    this.#requests = 0
    this.#longest = 0
  }

  counts(): { requests: number; trips: number } {
    return { requests: this.#requests, trips: this.#longest }
  }

  fetch = async (url: string, init: RequestInit): Promise<Response> => {
    this.#requests++
    // What ended before this one began is what it may have waited for.
    const depth = this.#longest + 1
    this.#underWay++
    try {
      const response = await fetch(url, init)
      const body = await response.arrayBuffer()
      return new Response(response.status === 304 ? null : body, response)
    } finally {
      this.#underWay--
      await this.#allLanded()
      this.#longest = Math.max(this.#longest, depth)
    }
  }

  #allLanded(): Promise<void> {
    setImmediate(() => {
      if (this.#underWay === 0) for (const end of this.#landed.splice(0)) end()
    })
    return new Promise((resolve) => this.#landed.push(resolve))
  }
}
