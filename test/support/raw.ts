import { connect } from 'node:net'

/** What came on a connection until it ended. */
export interface RawAnswer {
  status: number
  /** Names in lower case. */
  headers: Map<string, string>
  /** The content of the body, chunks put together. */
  body: Buffer
  /** Whether a client would take the body for whole: the last chunk came, or all that Content-Length promises. */
  complete: boolean
}

/** Sends a request over a socket and takes all that comes until the server closes the connection or the answer ends. */
export function rawAnswer(port: number, path: string, { host = '127.0.0.1' } = {}): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    const socket = connect(port, host, () => socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`))
    socket.on('data', (part) => {
      parts.push(part)
      if (parse(Buffer.concat(parts)).complete) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(parse(Buffer.concat(parts))))
  })
}

function parse(all: Buffer): RawAnswer {
  const end = all.indexOf('\r\n\r\n')
  const [first = '', ...lines] = all.toString('latin1', 0, Math.max(end, 0)).split('\r\n')
  const headers = new Map(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  const rest = end < 0 ? Buffer.alloc(0) : all.subarray(end + 4)
  const length = headers.get('content-length')
  const status = Number(first.split(' ')[1])
  if (end < 0) return { status, headers, body: rest, complete: false }
  if (length !== undefined)
    return {
      status,
      headers,
      body: rest.subarray(0, Number(length)),
      complete: rest.length >= Number(length),
    }
  return { status, headers, ...unchunked(rest) }
}

function unchunked(raw: Buffer): { body: Buffer; complete: boolean } {
  const pieces: Buffer[] = []
  for (let at = 0; at < raw.length; ) {
    const end = raw.indexOf('\r\n', at)
    if (end < 0) break
    const length = Number.parseInt(raw.toString('latin1', at, end), 16)
    if (length === 0) return { body: Buffer.concat(pieces), complete: true }
    pieces.push(raw.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
  return { body: Buffer.concat(pieces), complete: false }
}
