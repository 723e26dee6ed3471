import { type Bytes, SlicedStream } from '../store/store.ts'

const bodies = new WeakMap<Response, SlicedStream>()

/** A 200 with bytes of a store as its body. Where they come in slices, an entry can find them by `slicedBodyOf`. */
export function bytesResponse(body: Bytes, headers: Record<string, string>): Response {
  const response = new Response(body, { headers })
  if (body instanceof SlicedStream) bodies.set(response, body)
  return response
}

/** The slices of an answer, for a server that sends them without the machinery of streams. */
export function slicedBodyOf(response: Response): SlicedStream | undefined {
  return bodies.get(response)
}
