import * as http from 'node:http'
import * as https from 'node:https'
import { finished } from 'node:stream'
import { SlicedStream, type Slices } from '../../fast.ts'

const agents = {
  'http:': new http.Agent({ keepAlive: true }),
  'https:': new https.Agent({ keepAlive: true }),
}

/**
 * What a store needs of fetch, on Node's http and https: global fetch takes twice the CPU time for large bodies, more
 * than a search of them (docs/decisions/0010). Bodies are not decoded, and redirects not followed.
 */
export function fetchFromStore(url: string, init: RequestInit): Promise<Response> {
  const { method = 'GET', headers, signal, body } = init
  const { protocol } = new URL(url)
  const { request } = protocol === 'https:' ? https : http
  const options = {
    method,
    headers: Object.fromEntries(new Headers(headers)),
    agent: agents[protocol as keyof typeof agents],
    ...(signal && { signal }),
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (answer) => {
      try {
        resolve(responseOf(answer, method))
      } catch (error) {
        answer.destroy()
        reject(error)
      }
    })
    sent.on('error', (error) => reject(signal?.aborted ? signal.reason : error))
    sent.end(body ?? undefined)
  })
}

function responseOf(answer: http.IncomingMessage, method: string): Response {
  const status = answer.statusCode!
  const headers = new Headers()
  for (let i = 0; i < answer.rawHeaders.length; i += 2)
    headers.append(answer.rawHeaders[i]!, answer.rawHeaders[i + 1]!)
  const isEmpty = method === 'HEAD' || status === 204 || status === 205 || status === 304
  if (isEmpty) answer.resume()
  return new Response(isEmpty ? null : new SlicedStream(new IncomingBody(answer)), { status, headers })
}

/** A body as it arrives. Node stops reading from the connection while nobody asks for more. */
class IncomingBody implements Slices {
  readonly #answer: http.IncomingMessage
  #isOver = false
  #error: unknown = null
  #wake = () => {}

  constructor(answer: http.IncomingMessage) {
    this.#answer = answer
    finished(answer, (error) => {
      this.#isOver = true
      this.#error = error
      this.#wake()
    })
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    const slice = this.#answer.read()
    if (slice !== null) return slice
    if (this.#error) throw this.#error
    return this.#isOver ? null : this.#arrival().then(() => this.next())
  }

  async each(take: (slice: Uint8Array) => void): Promise<void> {
    this.#answer.on('data', (slice: Uint8Array) => {
      try {
        take(slice)
      } catch (error) {
        this.#answer.destroy(error as Error)
      }
    })
    // Not a listener for `readable`: with one, nothing flows.
    if (!this.#isOver)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    if (this.#error) throw this.#error
  }

  release(): void {}

  cancel(): void {
    this.#answer.destroy()
  }

  /** Until something can be read, or the end. */
  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      this.#answer.once('readable', resolve)
    })
  }
}
