/** Runs at most a fixed number of jobs at once; more are queued, and beyond that they are refused. */
export interface ConcurrencyLimit {
  /** Runs `job` when there is a free slot. An aborted waiter leaves the queue at once. */
  run<T>(job: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Waits for a slot and returns a function that releases it. For work that outlives one promise, such as a stream. */
  enter(signal?: AbortSignal): Promise<() => void>
  /** How many run and wait right now. */
  readonly load: { running: number; waiting: number }
}

export interface ConcurrencyOptions {
  /** How many jobs run at once. */
  most: number
  /** How many may be queued. @default four times `most` */
  queue?: number
  /** Milliseconds after which a waiter is refused. @default no limit */
  maxWait?: number | undefined
  /** The error when the line is full, or too slow. */
  busy: () => Error
}

/** Creates a limit. Slots are granted in the order of the calls. */
export function concurrencyLimit({
  most,
  queue = most * 4,
  maxWait,
  busy,
}: ConcurrencyOptions): ConcurrencyLimit {
  let running = 0
  const waiting = new Set<() => void>()

  function place(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (running < most) {
      running++
      return Promise.resolve()
    }
    if (waiting.size >= queue) throw busy()
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
      waiting.add(enter)
      signal?.addEventListener('abort', leave, { once: true })
      if (maxWait !== undefined) timer = setTimeout(() => refuse(busy()), maxWait)
    })
  }

  /** The slot goes directly to the next in the queue, so no other caller can take it first. */
  function handOn(): void {
    const [next] = waiting
    if (!next) {
      running--
      return
    }
    waiting.delete(next)
    next()
  }

  async function enter(signal?: AbortSignal): Promise<() => void> {
    await place(signal)
    let held = true
    return () => {
      if (held) handOn()
      held = false
    }
  }

  return {
    enter,
    get load() {
      return { running, waiting: waiting.size }
    },
    async run(job, signal) {
      const leave = await enter(signal)
      try {
        return await job()
      } finally {
        leave()
      }
    },
  }
}
