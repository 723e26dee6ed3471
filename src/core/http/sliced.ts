import { yieldToTimers } from '../../kit/limits/yield.ts'
import type { Bytes } from '../../store/store.ts'

const NOTE = 'X-Nodestate-Note'

/**
 * What an answer was made from. It is kept on the response itself, which is cheaper than a WeakMap: reading the headers
 * would end a fast path of @hono/node-server.
 */
const BODY = Symbol('body')
const NOTES = Symbol('notes')

interface Made {
  [BODY]?: Bytes | string | null
  [NOTES]?: string | null
}

/** A response with a text or a store's bytes as its body. A stream that fails cuts the connection on every server. */
export function respond(
  body: Bytes | string | null,
  headers: Record<string, string> | Headers,
  status = 200,
): Response {
  const sent = body instanceof ReadableStream ? cutOnError(body) : body
  const response: Response & Made = new Response(sent, { headers, status })
  response[BODY] = body
  response[NOTES] = headers instanceof Headers ? headers.get(NOTE) : (headers[NOTE] ?? null)
  return response
}

/** The header that says what is special about an answer, if anything is. */
export function noteHeader(notes: Iterable<string | false | null | undefined>): Record<string, string> {
  const given = [...notes].filter(Boolean).join(', ')
  return given === '' ? {} : { [NOTE]: given }
}

export function notesOf(response: Response & Made): string | null {
  const notes = response[NOTES]
  return notes === undefined ? response.headers.get(NOTE) : notes
}

/** Bytes of an answer's body; null if they are not known before it is read. */
export function lengthOf(response: Response & Made): number | null {
  const body = response[BODY]
  if (body === null) return 0
  if (typeof body === 'string') return new TextEncoder().encode(body).length
  if (body instanceof Uint8Array) return body.byteLength
  const length = body ? null : response.headers.get('Content-Length')
  return length === null ? null : Number(length)
}

/** The stream of an answer, for a server that sends it itself. */
export function streamOf(response: Response & Made): ReadableStream<Uint8Array> | undefined {
  const body = response[BODY]
  return body instanceof ReadableStream ? body : undefined
}

/**
 * The same stream, failing in a way that every server turns into a cut connection.
 *
 * A server may read the first chunks before it sends the headers, and mistake an early failure for the end of the body:
 * @hono/node-server waits one timer for that and then sends a well-formed but incomplete response. If the failure comes
 * while it waits for the socket to drain, it writes the error's message into the body. So a failure is reported only in
 * a separate read, two timers after the last chunk: by then the headers and all chunks have been sent, and the server
 * can only destroy the connection.
 */
function cutOnError(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  // Locked by the first read, because our own server sends the stream itself.
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reader ??= body.getReader()
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          await yieldToTimers()
          await yieldToTimers()
          throw error
        }
      },
      cancel: (reason) => (reader ?? body).cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
