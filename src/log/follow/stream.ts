import { LogError } from '../error.ts'
import type { FollowLimits } from './hub.ts'

/** What one client follows. */
interface Followable {
  /** What is sent next; null at the end. */
  next(): Promise<{ bytes: Uint8Array } | null>
  /** Ends it: what it holds is released, and `next` is null. */
  end(): void
}

/**
 * The stream of a client that follows one log or several. It counts as a follower until the client leaves, its time is
 * up or it fails. What `open` throws comes before the stream starts.
 */
export async function followStream(
  open: () => Promise<Followable>,
  { followers, duration, clock }: FollowLimits,
  count: { following: number },
  signal: AbortSignal | undefined,
): Promise<ReadableStream<Uint8Array>> {
  if (count.following >= followers)
    throw new LogError('too-busy', 'Too many clients are following logs already; try again later.')
  count.following++
  const followed = await open().catch((error) => {
    count.following--
    throw error
  })
  let isOpen = true
  let cancel = () => {}
  const end = () => {
    if (!isOpen) return
    isOpen = false
    count.following--
    cancel()
    signal?.removeEventListener('abort', end)
    followed.end()
  }
  signal?.addEventListener('abort', end)
  if (duration !== null) cancel = clock.after(duration, end)
  if (signal?.aborted) end()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const packet = await followed.next()
          if (packet) return controller.enqueue(packet.bytes)
          end()
          controller.close()
        } catch (error) {
          end()
          throw error
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}
