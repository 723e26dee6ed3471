import * as http from 'node:http'
import * as https from 'node:https'
import { SlicedStream, type Slices } from '../fast.ts'

/** How much of a body may wait for its reader. */
const MAX_WAITING = 1024 * 1024

const agents = {
  'http:': new http.Agent({ keepAlive: true }),
  'https:': new https.Agent({ keepAlive: true }),
}

/**
 * What a store needs of fetch, on Node's own client: its bodies skip the web streams, which take more time than a
 * search does. A far bucket is searched twice as fast (`npm run bench:bucket`). Bodies are not decoded, and redirects
 * not followed.
 */
export function fetchIt(url: string, init: RequestInit): Promise<Response> {
  const { protocol } = new URL(url)
  const { request } = protocol === 'https:' ? https : http
  const options = {
    method: init.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init.headers)),
    agent: agents[protocol as keyof typeof agents],
    ...(init.signal && { signal: init.signal }),
  }
  return new Promise((resolve, reject) => {
    const asked = request(url, options, (answer) => {
      try {
        resolve(responseOf(answer, options.method))
      } catch (error) {
        answer.destroy()
        reject(error)
      }
    })
    asked.on('error', (error) => reject(init.signal?.aborted ? init.signal.reason : error))
    asked.end(init.body ?? undefined)
  })
}

function responseOf(answer: http.IncomingMessage, method: string): Response {
  const status = answer.statusCode!
  const headers = new Headers()
  for (let i = 0; i < answer.rawHeaders.length; i += 2)
    headers.append(answer.rawHeaders[i]!, answer.rawHeaders[i + 1]!)
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 205 && status !== 304
  if (!hasBody) answer.resume()
  return new Response(hasBody ? new SlicedStream(new Arriving(answer)) : null, { status, headers })
}

/** A body as it arrives; it stops reading from the connection while too much waits. */
class Arriving implements Slices {
  readonly #answer: http.IncomingMessage
  readonly #waiting: Uint8Array[] = []
  #size = 0
  #isOver = false
  #error: Error | null = null
  #wake: (() => void) | null = null

  constructor(answer: http.IncomingMessage) {
    this.#answer = answer
    answer.on('data', (bytes: Uint8Array) => {
      this.#waiting.push(bytes)
      this.#size += bytes.length
      if (this.#size >= MAX_WAITING) answer.pause()
      this.#wake?.()
    })
    answer.on('error', (error) => this.#end(error))
    answer.on('close', () => this.#end(answer.complete ? null : new Error('The connection was closed')))
    answer.on('end', () => this.#end(null))
    answer.pause()
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    const slice = this.#waiting.shift()
    if (slice) {
      this.#size -= slice.length
      return slice
    }
    if (this.#error) throw this.#error
    return this.#isOver ? null : this.#more()
  }

  release(): void {}

  cancel(): void {
    this.#answer.destroy()
  }

  async #more(): Promise<Uint8Array | null> {
    const arrived = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#answer.resume()
    await arrived
    this.#wake = null
    return this.next()
  }

  #end(error: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#error = error
    this.#wake?.()
  }
}
