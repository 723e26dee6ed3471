import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** What Node keeps on a socket: the answer that is being sent on it. */
export type HttpSocket = Socket & { _httpMessage?: ServerResponse | null }

const refused = new WeakSet<Socket>()

/** Invalid HTTP is answered with a problem, after the responses to the valid requests before it. */
export function refuse(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  // More garbage, which the first one has an answer for.
  if (refused.has(socket)) return
  // Nothing can be sent if the handshake failed: `end` would wait for it and hold the connection forever.
  if (!/^(HPE_|ERR_HTTP_)/.test(error.code ?? '')) return void socket.destroy()
  refused.add(socket)
  const answer = socket._httpMessage
  if (answer) return void afterAnswer(answer, socket, error)
  if (!socket.writable) return void socket.destroy()
  const { status, phrase, title, detail } = wordsFor(error.code ?? '')
  const body = `${JSON.stringify({ type: '/problems/bad-request', title, status, detail })}\n`
  socket.end(head(`${status} ${phrase}`, body) + body)
}

/** Pipelined requests are answered in order: Node puts the next one on the socket when one is finished. */
function afterAnswer(answer: ServerResponse, socket: HttpSocket, error: NodeJS.ErrnoException): void {
  answer.once('finish', () => {
    refused.delete(socket)
    refuse(error, socket)
  })
}

/** This is not a proxy. Without a listener Node closes the connection without an answer. */
export function refuseConnect(socket: Duplex): void {
  const detail = 'This service is read-only and not a proxy; use GET or HEAD.'
  const title = 'The method is not allowed'
  const body = `${JSON.stringify({ type: '/problems/method-not-allowed', title, status: 405, detail })}\n`
  socket.on('error', () => {})
  socket.end(head('405 Method Not Allowed', body, 'Allow: GET, HEAD\r\n') + body)
}

function wordsFor(code: string): { status: number; phrase: string; title: string; detail: string } {
  if (code === 'HPE_HEADER_OVERFLOW')
    return {
      status: 431,
      phrase: 'Request Header Fields Too Large',
      title: 'The head is too large',
      detail: 'Send a shorter URL and fewer headers.',
    }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return {
      status: 408,
      phrase: 'Request Timeout',
      title: 'The request took too long',
      detail: 'Send the whole request at once.',
    }
  const detail =
    code === 'HPE_INVALID_URL'
      ? 'Percent-encode what is not plain ASCII in the URL.'
      : 'Send a valid HTTP/1.1 request.'
  return { status: 400, phrase: 'Bad Request', title: 'The request is not valid HTTP', detail }
}

function head(status: string, body: string, more = ''): string {
  return (
    `HTTP/1.1 ${status}\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.length}\r\n${more}` +
    'Cache-Control: private, no-cache\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n'
  )
}
