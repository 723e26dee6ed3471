import { appendFileSync, readdirSync, rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { serverEvents } from '../../../src/client/events.ts'
import { type Answers, numbersOf } from '../../support/log-clients.ts'
import { fractions } from '../../support/random.mjs'
import { ROTATIONS, RotatedLog } from '../../support/rotations.ts'
import { steppedStore } from '../../support/stepped-store.ts'

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A log with numbered lines. */
class Log extends RotatedLog {
  count = 0

  write(lines: number): void {
    let text = ''
    for (let i = 0; i < lines; i++) {
      const stamp = new Date(Date.UTC(2026, 10, 15) + this.count * 1000)
        .toISOString()
        .replace('T', ' ')
        .slice(0, 23)
      text += `${stamp}\tINFO\tx.go:1\t[A]: number ${this.count++} ${'.'.repeat(this.count % 7)}\n`
    }
    appendFileSync(this.path('a.log'), text)
  }
}

interface Case {
  rotation: keyof typeof ROTATIONS
  /** The calls of the store before each rotation begins, counted from the reconnection. */
  at: number[]
  /** How many calls are between two steps of a rotation; 0 makes it one moment. */
  stride: number
  /** Rotations before the reconnection. */
  before: number
  /** Whether the process is restarted before the reconnection. */
  restarted: boolean
  /** Records after which the client leaves and comes back. */
  stay: number
}

/** A client that follows, leaves and comes back, and what it got. */
class Visitor {
  readonly numbers: number[] = []
  readonly told: string[] = []
  /** What it got, between the calls of the store. */
  readonly trace: string[] = []
  /** The last line there is, and when to stop waiting for it. */
  last = Number.POSITIVE_INFINITY
  deadline = Number.POSITIVE_INFINITY
  #lastId: string | null = null

  get isDone(): boolean {
    return this.numbers.at(-1) === this.last || Date.now() > this.deadline
  }

  /** Follows until it has a number of records, or the last one. */
  async visit(app: Answers, records: number): Promise<void> {
    const abort = new AbortController()
    const headers: Record<string, string> = { Accept: 'text/event-stream' }
    if (this.#lastId) headers['Last-Event-ID'] = this.#lastId
    const url = 'http://localhost/api/v1/log/view?file=a.log&follow=true&lines=100'
    const request = new Request(url, { headers, signal: abort.signal })
    const response = await app.request(request)
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    const timer = setInterval(() => this.isDone && abort.abort(), 50)
    const enough = this.numbers.length + records
    try {
      for await (const event of serverEvents(response.body!, () => {})) {
        if (event.id) this.#lastId = event.id
        this.#take(event)
        if (this.numbers.length >= enough || this.isDone) break
      }
    } catch (error) {
      if (!abort.signal.aborted) throw error
    } finally {
      clearInterval(timer)
      abort.abort()
    }
  }

  #take({ event, data }: { event: string; data: string | null }): void {
    if (event) this.told.push(event)
    else if (data) this.numbers.push(...numbersOf(`${data} `))
    if (event || data) this.trace.push(`> ${event ? `${event} ${data}` : this.numbers.at(-1)}`)
  }
}

/** Rotates step by step, between the calls of the store. */
class Rotator {
  readonly #log: Log
  readonly #test: Case
  readonly #starts: number[]
  #running: Generator<void, void> | null = null
  #calls = 0
  #wait = 0

  constructor(log: Log, test: Case) {
    this.#log = log
    this.#test = test
    this.#starts = [...test.at]
  }

  get isDone(): boolean {
    return this.#running === null && this.#starts.length === 0
  }

  *steps(): Generator<void, void> {
    this.#log.write(3)
    yield
    yield* ROTATIONS[this.#test.rotation](this.#log)
    yield
    this.#log.write(3)
  }

  /** Called before each call of the store. Returns what it did. */
  call(): string {
    if (!this.#running && this.#calls >= this.#starts[0]!) {
      this.#starts.shift()
      this.#running = this.steps()
      this.#wait = 0
    }
    this.#calls++
    let steps = 0
    for (; this.#running && this.#wait-- <= 0; steps++) {
      if (this.#running.next().done) this.#running = null
      this.#wait = this.#test.stride
    }
    return steps > 0 ? `, after ${steps} steps of a rotation: ${readdirSync(this.#log.folder).join(' ')}` : ''
  }
}

async function faultOf(test: Case): Promise<string | null> {
  const log = new Log()
  const visitor = new Visitor()
  const rotator = new Rotator(log, test)
  const { numbers, told, trace } = visitor
  let isRotating = false
  const step = (call: string) => isRotating && trace.push(call + rotator.call())
  const make = () => createApp({ logs: steppedStore(log.folder, step), config: '' })
  const app = make()
  /** What was written is read though nothing follows it; then come the last lines. */
  const end = async () => {
    while (!rotator.isDone) await sleep(20)
    const late = Date.now() + 60_000
    while (numbers.at(-1) !== log.count - 1 && Date.now() < late) await sleep(20)
    if (numbers.at(-1) !== log.count - 1) told.push('late')
    log.write(2)
    visitor.last = log.count - 1
    visitor.deadline = Date.now() + 30_000
  }
  try {
    log.write(5)
    await visitor.visit(app, 5)
    for (let i = 0; i < test.before; i++) for (const _ of rotator.steps());
    log.write(5)
    isRotating = true
    const ending = end()
    const next = test.restarted ? make() : app
    while (!visitor.isDone) await visitor.visit(next, test.stay)
    await ending
  } catch (error) {
    told.push(String(error))
  } finally {
    isRotating = false
    rmSync(log.folder, { recursive: true })
  }
  const isWhole = numbers.length === log.count && numbers.every((number, i) => number === i)
  if (isWhole && told.every((event) => event === 'rotated')) return null
  return `got ${numbers.join()} of ${log.count}, ${told.join()}\n${trace.join('\n')}`
}

async function faultsOf(cases: Case[], atOnce = 16): Promise<string[]> {
  const faults: string[] = []
  const left = [...cases]
  const work = async () => {
    for (let test = left.shift(); test; test = left.shift()) {
      const fault = await faultOf(test)
      if (fault) faults.push(`${JSON.stringify(test)}: ${fault}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return faults
}

/** How many cases of each kind of rotation. */
const CASES = 40

/** Cases over all that differs: one or two rotations, each at any of the first calls. */
function casesOf(rotation: keyof typeof ROTATIONS): Case[] {
  const random = fractions(1)
  const below = (most: number) => Math.floor(random() * most)
  return Array.from({ length: CASES }, () => {
    const first = below(40)
    return {
      rotation,
      at: random() < 0.5 ? [first] : [first, first + below(40)],
      stride: below(4),
      before: below(3),
      restarted: random() < 0.5,
      stay: random() < 0.5 ? 100 : 1 + below(6),
    }
  })
}

// Not tried again: what fails at any interleaving is a defect.
describe('a follower that reconnects while the log is rotated', { retry: 0 }, () => {
  it.each(Object.keys(ROTATIONS) as (keyof typeof ROTATIONS)[])(
    'gets every line once, whenever %s happens',
    async (rotation) => {
      const faults = await faultsOf(casesOf(rotation))
      // The first one with its calls; the others in a line.
      expect(faults.map((fault, i) => (i === 0 ? fault : fault.split('\n')[0]))).toEqual([])
    },
  )
})
