import * as net from 'node:net'
import * as tls from 'node:tls'
import { SlicedStream } from '../../fast.ts'
import { Arriving, hasBody } from './arriving.ts'

/** A GET, as it is sent. */
export interface DirectGet {
  url: URL
  headers: Headers
  signal: AbortSignal | null | undefined
}

/** What happens to a connection. */
export interface Life {
  /** It can take another request. */
  free(): void
  /** It is closed. */
  over(): void
  /** The server gave an answer that cannot be read here. */
  unreadable(): void
}

/** What one read may bring. Node's client brings 64 KiB at a time, each in memory of its own. */
const READ = 256 * 1024
const LONGEST_HEAD = 64 * 1024
/** Below what servers allow: Node's closes after 5 seconds. */
const MAX_IDLE_MILLIS = 4_000

/**
 * A connection to a store for large GETs, one at a time. Everything is read into the same memory and handed on from
 * there, so a search leaves no garbage and takes little more than half the CPU time; see docs/decisions/0010. It understands only answers
 * of a known length. For any other, `ask` returns null, and `fetchIt` sends the request through Node's client.
 */
export class Connection {
  readonly #socket: net.Socket
  readonly #life: Life
  /** Whoever waits for the head of an answer. */
  #asker: { resolve(answer: Response | null): void; reject(error: unknown): void } | null = null
  #stopListening = () => {}
  #head = Buffer.alloc(0)
  #body: Arriving | null = null
  /** How many bytes of the body have not arrived yet. */
  #left = 0
  /** Whether the server wants to close it after this answer. */
  #isLast = false
  #isUsed = false
  #isOver = false

  constructor({ protocol, hostname, port }: URL, life: Life) {
    this.#life = life
    const host = hostname.replace(/^\[|\]$/g, '')
    const onread: net.OnReadOpts = {
      buffer: Buffer.allocUnsafeSlow(READ),
      callback: (length, buffer) => {
        this.#receive(buffer.subarray(0, length))
        return true
      },
    }
    const socket =
      protocol === 'https:'
        ? tls.connect({
            host,
            port: Number(port || 443),
            servername: net.isIP(host) ? '' : host,
            ALPNProtocols: ['http/1.1'],
            ...({ onread } as object),
          })
        : net.connect({ host, port: Number(port || 80), onread })
    this.#socket = socket.setNoDelay(true)
    socket.on('error', (error) => this.#end(error))
    socket.on('end', () => this.#end(new Error('The server closed the connection')))
    socket.on('close', () => this.#end())
    socket.on('timeout', () => this.#end(new Error('The connection was idle')))
  }

  /** Sends a request; null if the answer is not one that can be read here. */
  ask({ url, headers, signal }: DirectGet): Promise<Response | null> {
    return new Promise((resolve, reject) => {
      this.#asker = { resolve, reject }
      const leave = () => {
        reject(signal!.reason)
        this.#end(signal!.reason)
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#stopListening = () => signal?.removeEventListener('abort', leave)
      let text = `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: keep-alive\r\n`
      for (const [name, value] of headers) text += `${name}: ${value}\r\n`
      this.#socket.ref().setTimeout(0)
      this.#socket.write(`${text}\r\n`, 'latin1')
    })
  }

  close(): void {
    this.#end()
  }

  #receive(bytes: Uint8Array): void {
    if (this.#body) this.#receiveBody(this.#body, bytes)
    else if (this.#asker) this.#receiveHead(bytes)
    else this.#end(new Error('The server sent what nobody asked for'))
  }

  #receiveHead(bytes: Uint8Array): void {
    this.#head = Buffer.concat([this.#head, bytes])
    const length = this.#head.indexOf('\r\n\r\n')
    if (length < 0 && this.#head.length < LONGEST_HEAD) return
    const { resolve } = this.#asker!
    this.#asker = null
    const head = length < 0 ? null : parseHead(this.#head.toString('latin1', 0, length))
    if (head === null) {
      this.#life.unreadable()
      resolve(null)
      this.#end()
      return
    }
    const rest = this.#head.subarray(length + 4)
    this.#head = Buffer.alloc(0)
    this.#left = head.length
    this.#isLast = head.isLast
    this.#body = new Arriving({
      pause: () => this.#socket.pause(),
      resume: () => this.#socket.resume(),
      destroy: () => this.close(),
    })
    resolve(new Response(hasBody(head.status) ? new SlicedStream(this.#body) : null, head))
    this.#receiveBody(this.#body, rest)
  }

  #receiveBody(body: Arriving, bytes: Uint8Array): void {
    const part = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes
    this.#left -= part.length
    if (part.length > 0) body.push(part, true)
    if (this.#left > 0 || this.#isOver) return
    this.#body = null
    this.#stopListening()
    body.end()
    // Bytes after the end of an answer belong to nothing that was asked for.
    if (this.#isLast || bytes.length > part.length) this.#end()
    else {
      this.#isUsed = true
      this.#socket.resume()
      this.#socket.setTimeout(MAX_IDLE_MILLIS).unref()
      this.#life.free()
    }
  }

  #end(error: unknown = new Error('The connection was closed')): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stopListening()
    // A server may close an idle connection just as it is used again.
    if (this.#isUsed && this.#head.length === 0) this.#asker?.resolve(null)
    else this.#asker?.reject(error)
    this.#body?.end(error ?? new Error('The connection was closed'))
    this.#socket.destroy()
    this.#life.over()
  }
}

const HEADER = /^([!#$%&'*+.^_`|~\w-]+):([\t\x20-\x7e\x80-\xff]*)$/

/** The first lines of an answer. */
interface Head {
  status: number
  headers: Headers
  /** Bytes of the body. */
  length: number
  /** Whether the server closes the connection after it. */
  isLast: boolean
}

/** The head of an answer whose length is known; null for any other. */
function parseHead(text: string): Head | null {
  const [first, ...lines] = text.split('\r\n')
  const status = Number(/^HTTP\/1\.1 ([2-5]\d\d)(?: |$)/.exec(first!)?.[1] ?? 0)
  if (status === 0) return null
  const headers = new Headers()
  for (const line of lines) {
    const match = HEADER.exec(line)
    if (!match) return null
    headers.append(match[1]!, match[2]!)
  }
  const length = hasBody(status) ? (headers.get('Content-Length') ?? '') : '0'
  if (!/^\d{1,15}$/.test(length) || headers.has('Transfer-Encoding')) return null
  const isLast = /\bclose\b/i.test(headers.get('Connection') ?? '')
  return { status, headers, length: Number(length), isLast }
}
