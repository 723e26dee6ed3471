import type { Bytes } from '../store/store.ts'

const streams = new WeakMap<Response, ReadableStream<Uint8Array>>()

/** An answer with bytes of a store as its body. Where they come as a stream, an entry can find it by `streamOf`. */
export function bytesResponse(body: Bytes, headers: Record<string, string>, status = 200): Response {
  const response = new Response(body, { headers, status })
  if (body instanceof ReadableStream) streams.set(response, body)
  return response
}

/** The stream of an answer, for a server that sends it itself. */
export function streamOf(response: Response): ReadableStream<Uint8Array> | undefined {
  return streams.get(response)
}
