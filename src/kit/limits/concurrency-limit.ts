import { BoundedMap } from './bounded-map.ts'
import { type Clock, onAbort, systemClock } from './clock.ts'

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
  /** @default the system's */
  clock?: Clock | undefined
}

/** More owners than a service has tokens, or clients at once. */
const MOST_OWNERS = 1024

/** Who a request is from, by its signal, which goes wherever the request does. */
const owners = new WeakMap<AbortSignal, string>()

/** Says who the work under a signal is done for: a token, or an address. Work that nobody claims is one owner's. */
export function setOwner(signal: AbortSignal, owner: string): void {
  owners.set(signal, owner)
}

/** A call that waits for a slot. */
interface Waiter {
  owner: string | undefined
  length: Length
  enter(): void
  refuse(reason: unknown): void
}

/**
 * Creates a limit. A free slot goes to anyone; when calls wait, the next slot goes to the owner with the fewest running,
 * among those to the one that has gone longest without a slot, and to its first call. If the queue is full, an owner
 * with fewer waiting calls takes the place of the newest one of the owner with the most. Without owners, slots are
 * granted in the order of the calls.
 */
export function concurrencyLimit({
  most,
  maxWait,
  busy,
  clock = systemClock,
  queue = busy ? most * 4 : Number.POSITIVE_INFINITY,
}: ConcurrencyOptions) {
  const running = { short: 0, long: 0 }
  const runningOf = new Map<string | undefined, number>()
  const waiting = new Set<Waiter>()
  /** The number of the last slot of each owner; one that is forgotten counts as new. */
  const served = new BoundedMap<string | undefined, number>(MOST_OWNERS)
  let grants = 0
  const sum = () => running.short + running.long

  const hasRoom = (length: Length) =>
    sum() < most && (length === 'short' || running.long < Math.max(1, most - 1))

  function start(owner: string | undefined, length: Length): void {
    running[length]++
    served.delete(owner)
    served.set(owner, ++grants)
    runningOf.set(owner, (runningOf.get(owner) ?? 0) + 1)
  }

  function end(owner: string | undefined, length: Length): void {
    running[length]--
    const left = runningOf.get(owner)! - 1
    if (left > 0) runningOf.set(owner, left)
    else runningOf.delete(owner)
  }

  function place(owner: string | undefined, length: Length, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (hasRoom(length)) {
      start(owner, length)
      return Promise.resolve()
    }
    if (waiting.size >= queue) makePlace(owner, length)
    return new Promise((resolve, reject) => {
      let cancel = () => {}
      let stay = () => {}
      const done = () => {
        stay()
        cancel()
      }
      const waiter: Waiter = {
        owner,
        length,
        enter() {
          done()
          waiting.delete(waiter)
          resolve()
        },
        refuse(reason) {
          done()
          waiting.delete(waiter)
          reject(reason)
        },
      }
      const leave = () => waiter.refuse(signal?.reason)
      waiting.add(waiter)
      stay = onAbort(signal, leave)
      if (maxWait !== undefined) cancel = clock.after(maxWait, () => waiter.refuse(busy!()))
    })
  }

  /** Refuses the newest call of the owner with the most in a full queue, or throws if that would not be fairer. */
  function makePlace(owner: string | undefined, length: Length): void {
    const alike = [...waiting].filter((waiter) => waiter.length === length)
    if (alike.length < queue) return
    const counts = new Map<string | undefined, number>()
    for (const waiter of alike) counts.set(waiter.owner, (counts.get(waiter.owner) ?? 0) + 1)
    const most = Math.max(...counts.values())
    if (most <= (counts.get(owner) ?? 0) + 1) throw busy!()
    alike.findLast((waiter) => counts.get(waiter.owner) === most)!.refuse(busy!())
  }

  /** The slot goes directly to the next in the queue, so no other caller can take it first. */
  function forwardToPeer(owner: string | undefined, length: Length): void {
    end(owner, length)
    let next: Waiter | null = null
    let fewest = Number.POSITIVE_INFINITY
    let longest = Number.POSITIVE_INFINITY
    for (const waiter of waiting) {
      if (!hasRoom(waiter.length)) continue
      const count = runningOf.get(waiter.owner) ?? 0
      const last = served.get(waiter.owner) ?? 0
      if (count > fewest || (count === fewest && last >= longest)) continue
      next = waiter
      fewest = count
      longest = last
    }
    if (next === null) return
    start(next.owner, next.length)
    next.enter()
  }

  /** Waits for a slot and returns a function that releases it. For work that outlives one promise, such as a stream. */
  async function enter(signal?: AbortSignal, length: Length = 'short'): Promise<() => void> {
    const owner = signal && owners.get(signal)
    await place(owner, length, signal)
    let held = true
    return () => {
      if (held) forwardToPeer(owner, length)
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
