import type { Bytes } from '../store/store.ts'
import { cutOnError } from './cut.ts'

const NOTE = 'X-Nodestate-Note'
const encoder = new TextEncoder()

/** What is known about an answer without reading its headers, which would end a fast path of @hono/node-server. */
export interface AnswerDetails {
  /** Bytes of its body; null for a stream. */
  readonly length: number | null
  readonly notes: string | null
}

/** Details are kept on the response itself, which is cheaper than a WeakMap. */
const DETAILS = Symbol('details')
const STREAM = Symbol('stream')

interface Detailed {
  [DETAILS]?: AnswerDetails
  [STREAM]?: ReadableStream<Uint8Array>
}

/** A response with a store's bytes as its body. A stream that fails cuts the connection on every server. */
export function bytesResponse(
  body: Bytes,
  headers: Record<string, string> | Headers,
  status = 200,
): Response {
  const isStream = body instanceof ReadableStream
  const response: Response & Detailed = new Response(isStream ? cutOnError(body) : body, { headers, status })
  if (isStream) response[STREAM] = body
  const notes = headers instanceof Headers ? headers.get(NOTE) : (headers[NOTE] ?? null)
  response[DETAILS] = { length: isStream ? null : body.byteLength, notes }
  return response
}

/** A response with a text as its body, or with none. Its bytes are counted only if someone reads the length. */
export function textResponse(text: string | null, headers: Record<string, string>, status = 200): Response {
  const response: Response & Detailed = new Response(text, { headers, status })
  response[DETAILS] = new TextDetails(text, headers[NOTE] ?? null)
  return response
}

/** A class, because V8 makes an object with a getter anew for each answer: a microsecond. */
class TextDetails implements AnswerDetails {
  readonly #text: string | null
  readonly notes: string | null

  constructor(text: string | null, notes: string | null) {
    this.#text = text
    this.notes = notes
  }

  get length(): number {
    return this.#text === null ? 0 : encoder.encode(this.#text).length
  }
}

export function detailsOf(response: Response): AnswerDetails {
  const known = (response as Detailed)[DETAILS]
  if (known) return known
  const length = response.headers.get('Content-Length')
  return { length: length === null ? null : Number(length), notes: response.headers.get(NOTE) }
}

/** The stream of an answer, for a server that sends it itself. */
export function streamOf(response: Response): ReadableStream<Uint8Array> | undefined {
  return (response as Detailed)[STREAM]
}
