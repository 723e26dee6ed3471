import type { Bytes } from '../store/store.ts'
import { cutOnError } from './cut.ts'

const streams = new WeakMap<Response, ReadableStream<Uint8Array>>()

/** A response with a store's bytes as its body. A stream that fails cuts the connection on every server. */
export function bytesResponse(
  body: Bytes,
  headers: Record<string, string> | Headers,
  status = 200,
): Response {
  if (!(body instanceof ReadableStream)) return new Response(body, { headers, status })
  const response = new Response(cutOnError(body), { headers, status })
  streams.set(response, body)
  return response
}

/** The stream of an answer, for a server that sends it itself. */
export function streamOf(response: Response): ReadableStream<Uint8Array> | undefined {
  return streams.get(response)
}
