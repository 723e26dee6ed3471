import type { Bytes } from '../../store/store.ts'
import { cutOnError } from './cut.ts'

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
