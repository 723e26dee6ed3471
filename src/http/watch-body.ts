import { slicesOf, streamLike, tapped } from '../store/fast.ts'
import { lengthOf, respond, streamOf } from './sliced.ts'

/** The same answer; `ended` gets the length of its body, null where unknown, and the reason if it failed. */
export function watchBody(response: Response, ended: (bytes: number | null, failure: unknown) => void) {
  const body = streamOf(response)
  if (body === undefined) {
    ended(lengthOf(response), null)
    return response
  }
  return respond(watchedStream(body, ended), response.headers, response.status)
}

/** The same stream, reporting once when it ends, fails or is cancelled. */
function watchedStream(body: ReadableStream<Uint8Array>, ended: (bytes: number, failure: unknown) => void) {
  let bytes = 0
  let isOver = false
  const end = (failure: unknown) => {
    if (!isOver) ended(bytes, failure)
    isOver = true
  }
  const take = (slice: Uint8Array | null) => {
    if (slice === null) end(null)
    else bytes += slice.length
    return slice
  }
  const fail = (error: unknown): never => {
    end(error)
    throw error
  }
  const slices = tapped(slicesOf(body), take, fail)
  const cancel = () => {
    end(null)
    slices.cancel()
  }
  return streamLike(body, { ...slices, cancel })
}
