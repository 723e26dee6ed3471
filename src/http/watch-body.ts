import { SlicedStream, type Slices } from '../store/fast.ts'
import { bytesResponse, detailsOf, streamOf } from './sliced.ts'

/** The same answer; `ended` gets the length of its body, null where unknown, and the reason if it failed. */
export function watchBody(
  response: Response,
  ended: (bytes: number | null, failure: unknown) => void,
): Response {
  const body = streamOf(response)
  if (body === undefined) {
    ended(detailsOf(response).length, null)
    return response
  }
  return bytesResponse(watchedStream(body, ended), response.headers, response.status)
}

/** Called once when a body has ended: how many bytes it had, and why it failed, or null. */
export type BodyEnd = (bytes: number, failure: unknown) => void

/** The same stream, reporting when it ends, fails or is cancelled. */
function watchedStream(body: ReadableStream<Uint8Array>, ended: BodyEnd): ReadableStream<Uint8Array> {
  let bytes = 0
  let over = false
  const end = (failure: unknown) => {
    if (over) return
    over = true
    ended(bytes, failure)
  }
  const count = (piece: Uint8Array) => {
    bytes += piece.length
    return piece
  }
  return body instanceof SlicedStream ? watchedSlices(body, count, end) : watchedPieces(body, count, end)
}

type Count = (piece: Uint8Array) => Uint8Array
type End = (failure: unknown) => void

function watchedSlices(body: Slices, count: Count, end: End): SlicedStream {
  const take = (slice: Uint8Array | null) => {
    if (slice === null) end(null)
    else count(slice)
    return slice
  }
  const fail = (error: unknown): never => {
    end(error)
    throw error
  }
  return new SlicedStream({
    next() {
      try {
        const slice = body.next()
        return slice instanceof Promise ? slice.then(take, fail) : take(slice)
      } catch (error) {
        return fail(error)
      }
    },
    release: (slice) => body.release(slice),
    cancel() {
      end(null)
      body.cancel()
    },
  })
}

function watchedPieces(body: ReadableStream<Uint8Array>, count: Count, end: End): ReadableStream<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reader ??= body.getReader()
        try {
          const { done, value } = await reader.read()
          if (done) {
            end(null)
            controller.close()
          } else controller.enqueue(count(value))
        } catch (error) {
          end(error)
          throw error
        }
      },
      cancel(reason) {
        end(null)
        return (reader ?? body).cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
