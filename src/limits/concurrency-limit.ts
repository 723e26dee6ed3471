/** Runs at most a fixed number of jobs at once; more are queued, and beyond that they are refused. */
export type ConcurrencyLimit = ReturnType<typeof concurrencyLimit>

/**
 * A long job may run for hours, such as an export that its client reads slowly. Long ones never take the last slot,
 * unless there is only one, and have a queue of their own.
 * @default 'short'
 */
export type Length = 'short' | 'long'

export interface ConcurrencyOptions {
  most: number
  /** How many may be queued. @default four times `most`, or all without `busy` */
  queue?: number
  /** Milliseconds after which a waiter is refused. @default no limit */
  maxWait?: number | undefined
  /** The error when the line is full, or too slow. @default nobody is refused */
  busy?: () => Error
}

/** Creates a limit. Slots are granted in the order of the calls. */
export function concurrencyLimit({
  most,
  maxWait,
  busy,
  queue = busy ? most * 4 : Number.POSITIVE_INFINITY,
}: ConcurrencyOptions) {
  const running = { short: 0, long: 0 }
  const waiting = new Map<() => void, Length>()
  const sum = () => running.short + running.long

  const hasRoom = (length: Length) =>
    sum() < most && (length === 'short' || running.long < Math.max(1, most - 1))

  const waitingFor = (length: Length) => [...waiting.values()].filter((other) => other === length).length

  function place(length: Length, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (hasRoom(length)) {
      running[length]++
      return Promise.resolve()
    }
    if (waiting.size >= queue && waitingFor(length) >= queue) throw busy!()
    return new Promise((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout> | undefined
      const done = () => {
        signal?.removeEventListener('abort', leave)
        clearTimeout(timer)
      }
      const enter = () => {
        done()
        resolve()
      }
      const refuse = (reason: unknown) => {
        done()
        waiting.delete(enter)
        reject(reason)
      }
      const leave = () => refuse(signal?.reason)
      waiting.set(enter, length)
      signal?.addEventListener('abort', leave, { once: true })
      if (maxWait !== undefined) timer = setTimeout(() => refuse(busy!()), maxWait)
    })
  }

  /** The slot goes directly to the next in the queue, so no other caller can take it first. */
  function handOn(length: Length): void {
    running[length]--
    for (const [enter, next] of waiting) {
      if (!hasRoom(next)) continue
      waiting.delete(enter)
      running[next]++
      enter()
      return
    }
  }

  /** Waits for a slot and returns a function that releases it. For work that outlives one promise, such as a stream. */
  async function enter(signal?: AbortSignal, length: Length = 'short'): Promise<() => void> {
    await place(length, signal)
    let held = true
    return () => {
      if (held) handOn(length)
      held = false
    }
  }

  return {
    enter,
    get load() {
      return { running: sum(), waiting: waiting.size }
    },
    /** Runs `job` when there is a free slot. An aborted waiter leaves the queue at once. */
    async run<T>(job: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      const leave = await enter(signal)
      try {
        return await job()
      } finally {
        leave()
      }
    },
  }
}
