import type { Random } from './random.ts'

/** Something that happens at a moment of virtual time. */
interface Event {
  time: number
  /** Decides between events of the same moment: drawn for calls and steps, a half for timers. */
  tie: number
  number: number
  label: string
  run: () => void
}

/** A world that does not end: nothing is left to happen, or too much happens. */
export class Stuck extends Error {
  override readonly name = 'Stuck'
}

/** Where virtual time begins: Sunday, 15 November 2026, 02:00 UTC. */
export const BEGIN = Date.UTC(2026, 10, 15, 2)
/** More events than this in one world are a loop. */
const MOST_EVENTS = 300_000

/**
 * Time and order of a world. Every call of a disk or a bucket, every timer and every step of an actor is an event at a
 * moment of virtual time. The kernel lets promises run until none can, then takes the next event: so the seed decides
 * the order in which calls complete, and time jumps when nothing can run.
 *
 * It is the `Clock` that the product is given.
 */
export class Kernel {
  /** All that happened, one line each. */
  readonly history: string[] = []
  readonly random: Random
  readonly #heap: Event[] = []
  readonly #cancelled = new Set<Event>()
  readonly #ties: Random
  readonly #waiting = new Map<number, string>()
  readonly #timers = new Map<Event, string>()
  #time = 0
  #shift = 0
  #numbers = 0
  #events = 0
  /** Whether to remember where each timer was set, for a failing world that is told in full. */
  readonly #isTraced: boolean

  constructor(random: Random, isTraced = false) {
    this.random = random
    this.#ties = random.split('ties')
    this.#isTraced = isTraced
  }

  /** The wall clock, in milliseconds since the Unix epoch. It may step. */
  now(): number {
    return Math.floor(BEGIN + this.#time + this.#shift)
  }

  /** Milliseconds since the world began. They never step. */
  elapsed(): number {
    return this.#time
  }

  /** A timer of the product; returns what cancels it. */
  after(ms: number, then: () => void): () => void {
    const event = this.#add(Math.max(0, Number.isFinite(ms) ? ms : 1e12), 0.5, 'timer', () => {
      this.#timers.delete(event)
      then()
    })
    this.#timers.set(event, this.#isTraced ? callerOf(new Error().stack) : '')
    return () => {
      if (this.#timers.delete(event)) this.#cancelled.add(event)
    }
  }

  /** Sets the wall clock forward or back. */
  step(ms: number): void {
    this.#shift += ms
    this.note(`the clock steps by ${ms} ms`)
  }

  /** Writes a line into the history. */
  note(line: string): void {
    this.history.push(`${this.#time.toFixed(2)} ${line}`)
  }

  /** Calls back after `ms` of virtual time. */
  at(ms: number, label: string, run: () => void): void {
    this.#add(ms, this.#ties.fraction(), label, run)
  }

  /** Waits for virtual time to pass. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.at(ms, 'sleep', resolve))
  }

  /**
   * A call that takes time. `answer` runs in one piece when it completes: what it reads and changes is what the world is
   * at that moment. `ms` is drawn by the caller from the stream of whatever is called.
   */
  call<T>(label: string, ms: number, answer: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.at(ms, label, () => {
        try {
          resolve(answer())
        } catch (error) {
          this.note(`${label}: ${error instanceof Error ? error.message : String(error)}`)
          reject(error)
        }
      })
    })
  }

  /** Names who waits for a promise, for the message about a world that does not end. */
  async waits<T>(who: string, work: Promise<T>): Promise<T> {
    const number = ++this.#numbers
    this.#waiting.set(number, who)
    try {
      return await work
    } finally {
      this.#waiting.delete(number)
    }
  }

  /** The timers that the product has set and not cancelled. */
  get timers(): string[] {
    return [...this.#timers].map(([{ time }, where]) => `due at ${time.toFixed(0)} ${where}`.trim())
  }

  /** Lets things happen until `isDone`, but not beyond a moment. */
  async run(isDone: () => boolean, until: number): Promise<void> {
    for (;;) {
      await settled()
      if (isDone()) return
      if (!this.next(until)) throw new Stuck(`Nothing can happen any more; these wait: ${this.#whoWaits()}`)
    }
  }

  /** Lets the next thing happen; false when there is none. */
  next(until = Number.POSITIVE_INFINITY): boolean {
    const next = this.#pop()
    if (!next) return false
    if (next.time > until) throw new Stuck(`It is ${until} ms, and these still wait: ${this.#whoWaits()}`)
    if (++this.#events > MOST_EVENTS)
      throw new Stuck(`${MOST_EVENTS} events, the last is ${next.label}; these wait: ${this.#whoWaits()}`)
    this.#time = next.time
    next.run()
    return true
  }

  get events(): number {
    return this.#events
  }

  #whoWaits(): string {
    return [...this.#waiting.values()].join(', ') || 'nobody'
  }

  #add(ms: number, tie: number, label: string, run: () => void): Event {
    const event = { time: this.#time + ms, tie, number: ++this.#numbers, label, run }
    const heap = this.#heap
    let at = heap.push(event) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(event, heap[above]!)) break
      heap[at] = heap[above]!
      at = above
    }
    heap[at] = event
    return event
  }

  #pop(): Event | undefined {
    for (;;) {
      const first = this.#popAny()
      if (first === undefined || !this.#cancelled.delete(first)) return first
    }
  }

  #popAny(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || first === last) return first
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++
      if (!isBefore(heap[below]!, last)) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = last
    return first
  }
}

/** One turn of the event loop: all promises and streams that can go on have done so. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function isBefore(a: Event, b: Event): boolean {
  if (a.time !== b.time) return a.time < b.time
  return a.tie !== b.tie ? a.tie < b.tie : a.number < b.number
}

function callerOf(stack = ''): string {
  return (stack.split('\n')[3] ?? '').trim()
}
