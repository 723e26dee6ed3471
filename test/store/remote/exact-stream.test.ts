import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/kit/limits/clock.ts'
import { bytesWithin } from '../../../src/store/remote/exact-stream.ts'
import { AttemptTimer } from '../../../src/store/remote/retry.ts'

/** An answer of so many bytes in slices of 100, and whether its sender may forget the rest. */
function answerOf(size: number) {
  const sender = { left: size, isFree: false }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const slice = new Uint8Array(Math.min(100, sender.left))
        sender.left -= slice.length
        if (slice.length > 0) controller.enqueue(slice)
        else controller.close()
      },
      cancel() {
        sender.isFree = true
      },
    },
    { highWaterMark: 0 },
  )
  return { sender, answer: new Response(body) }
}

describe('an answer that is held as a whole', () => {
  it('is read to its end', async () => {
    const { sender, answer } = answerOf(250)
    const timer = new AttemptTimer(systemClock, undefined)
    const bytes = await bytesWithin(answer, timer, { longest: 250, who: 'peer' })
    expect(bytes).toHaveLength(250)
    expect(sender.isFree).toBe(false)
  })

  it('is cancelled if there is no memory for it', async () => {
    const { sender, answer } = answerOf(1000)
    const timer = new AttemptTimer(systemClock, undefined)
    const grow = () => {
      throw new Error('no memory')
    }
    await expect(bytesWithin(answer, timer, { longest: 1000, who: 'peer', grow })).rejects.toThrow(
      'no memory',
    )
    expect(sender).toEqual({ left: 900, isFree: true })
  })

  it('is cancelled if it is too long', async () => {
    const { sender, answer } = answerOf(1000)
    const timer = new AttemptTimer(systemClock, undefined)
    await expect(bytesWithin(answer, timer, { longest: 150, who: 'peer' })).rejects.toThrow(
      'The peer sent an endless answer',
    )
    expect(sender).toEqual({ left: 800, isFree: true })
  })

  it('is cancelled if the request has been aborted, even where fetch does not do that', async () => {
    const { sender, answer } = answerOf(1000)
    const client = new AbortController()
    const timer = new AttemptTimer(systemClock, client.signal)
    client.abort(new Error('left'))
    await expect(bytesWithin(answer, timer, { longest: 1000, who: 'peer' })).rejects.toThrow('left')
    expect(sender.isFree).toBe(true)
  })
})
