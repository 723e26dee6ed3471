import type { Bytes } from '../store/store.ts'
import { cutOnError } from './cut.ts'

const NOTE = 'X-Nodestate-Note'
const streams = new WeakMap<Response, ReadableStream<Uint8Array>>()
const details = new WeakMap<Response, AnswerDetails>()

/** What is known about an answer without reading its headers, which would end a fast path of @hono/node-server. */
export interface AnswerDetails {
  /** Bytes of its body; null for a stream. */
  readonly length: number | null
  notes: string | null
}

/** A response with a store's bytes as its body. A stream that fails cuts the connection on every server. */
export function bytesResponse(
  body: Bytes,
  headers: Record<string, string> | Headers,
  status = 200,
): Response {
  const isStream = body instanceof ReadableStream
  const response = new Response(isStream ? cutOnError(body) : body, { headers, status })
  if (isStream) streams.set(response, body)
  const notes = headers instanceof Headers ? headers.get(NOTE) : (headers[NOTE] ?? null)
  details.set(response, { length: isStream ? null : body.byteLength, notes })
  return response
}

/** A response with a text as its body, or with none. Its bytes are counted only if someone reads the length. */
export function textResponse(text: string | null, headers: Record<string, string>, status = 200): Response {
  const response = new Response(text, { headers, status })
  details.set(response, {
    get length() {
      return text === null ? 0 : new TextEncoder().encode(text).length
    },
    notes: headers[NOTE] ?? null,
  })
  return response
}

/** The length and the notes of an answer. */
export function detailsOf(response: Response): AnswerDetails {
  const known = details.get(response)
  if (known) return known
  const length = response.headers.get('Content-Length')
  return { length: length === null ? null : Number(length), notes: response.headers.get(NOTE) }
}

/** The stream of an answer, for a server that sends it itself. */
export function streamOf(response: Response): ReadableStream<Uint8Array> | undefined {
  return streams.get(response)
}
