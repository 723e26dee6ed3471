import { parametersOf, type Query } from '../ask.ts'
import { KNOWN } from '../known.ts'
import { LEVELS, type Level, type Line, type Log } from '../logs.ts'
import type { Step } from '../plan.ts'
import { isAnswered, newestAt } from '../rules/answers.ts'
import type { World } from '../world.ts'
import type { Actor } from './actor.ts'

/** One connection: it is cut after `for` milliseconds, or held to the end of the world. */
interface Follow extends Step {
  log: string
  level: Level | null
  for: number | null
  /** Milliseconds between two reads of the connection. */
  pause: number
}

export const FOLLOWERS = 'follower'

/** Clients that follow a log by events, leave, and come back with the id of the last one. */
export const follower: Actor = {
  plan({ random, settings, add, moment }) {
    for (let i = random.small(0, 4); i > 0; i--) {
      const own = random.split(i)
      const { name: log, format } = own.pick(settings.logs)
      const mayFilter = !(KNOWN.noTracesForFilters && format === 'lindb')
      const level = own.chance(0.3) && mayFilter ? own.pick(LEVELS) : null
      const times = Array.from({ length: own.small(1, 8) }, () => moment(own)).sort((a, b) => a - b)
      for (const [n, at] of times.entries()) {
        const isLast = n === times.length - 1
        const until = isLast ? null : own.small(0, Math.max(1, times[n + 1]! - at))
        add(String(i), 'follow', at, {
          log,
          level,
          for: until,
          pause: own.chance(0.2) ? own.small(1, 200) : 0,
        })
      }
    }
  },
  async act(world, step) {
    const following = world.stateOf(step, () => new Following(world, step as Follow))
    await following.connect(step as Follow)
  },
}

/** What one follower has got so far. */
export class Following {
  readonly #world: World
  readonly #log: Log
  readonly #who: string
  readonly #least: number
  #lastId: string | null = null
  #last: Line | null = null
  /** Whether an event said that something was lost. */
  #isGapped = false
  #isOpen = false
  /** The beginning of a line, which may stand only before an event that says that the rest is lost. */
  #fragment: string | null = null

  constructor(world: World, step: Follow) {
    this.#world = world
    this.#log = world.log(step.log)
    this.#who = step.by
    this.#least = step.level === null ? -1 : LEVELS.indexOf(step.level)
  }

  /** Connects, again and again while the answer is an excused problem, and reads until it is time to leave. */
  async connect(step: Follow): Promise<void> {
    const { kernel } = this.#world
    const leaving = new AbortController()
    const leave = () => leaving.abort(new Error('the follower leaves'))
    const reading = this.#read(step, leaving.signal)
    if (step.for === null) {
      this.#world.closers.push(async () => {
        leave()
        await kernel.waits(`${this.#who} to leave`, reading)
      })
      return
    }
    await kernel.sleep(step.for)
    this.#world.note(`${this.#who} leaves`)
    leave()
    await kernel.waits(`${this.#who} to leave`, reading)
  }

  async #read(step: Follow, signal: AbortSignal): Promise<void> {
    const query: Query = { rotated: false, level: step.level, q: null, since: null, until: null }
    const parameters = parametersOf(this.#world, this.#log, query, { follow: 'true', lines: 5 })
    while (!signal.aborted) {
      try {
        await this.#readOnce(`/api/v1/log/view?${parameters}`, step, signal)
      } catch (error) {
        if (!signal.aborted) this.#world.note(`${this.#who} is disconnected: ${String(error)}`)
      }
      this.#isOpen = false
      if (!signal.aborted) await this.#world.kernel.sleep(500)
    }
  }

  async #readOnce(path: string, step: Follow, signal: AbortSignal): Promise<void> {
    const { kernel, app } = this.#world
    const from = kernel.elapsed()
    const id = this.#lastId
    const headers = { Accept: 'text/event-stream', ...(id === null ? {} : { 'Last-Event-ID': id }) }
    const response = await app.fetch(new Request(`http://node${path}`, { headers, signal }))
    const { status } = response
    this.#world.note(`${this.#who} ${id === null ? 'follows' : `comes back after ${id}`} → ${status}`)
    if (signal.aborted) {
      await response.body?.cancel()
      return
    }
    if (status !== 200) {
      const text = await response.text()
      const notes: string[] = []
      const answer = { status, text, cut: null, headers: response.headers, notes, from, to: kernel.elapsed() }
      isAnswered(this.#world, this.#log, answer, `${this.#who}, step ${step.id}`)
      // The place is gone, and the answer said so: it starts again with what there is.
      if (status === 410 || status === 400) this.#lastId = this.#last = null
      return
    }
    if (id === null) this.#last = null
    this.#isOpen = true
    const reader = response.body!.getReader()
    const decoder = new TextDecoder()
    let text = ''
    // As a client that closes its connection: the server's stream is cancelled.
    const cancel = () => void reader.cancel().catch(() => {})
    signal.addEventListener('abort', cancel, { once: true })
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        text += decoder.decode(value, { stream: true })
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          this.#event(text.slice(0, end))
          text = text.slice(end + 2)
        }
        if (step.pause > 0) await kernel.sleep(step.pause)
      }
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

  #event(event: string): void {
    let name: string | null = null
    const data: string[] = []
    for (const line of event.split('\n')) {
      if (line.startsWith('data: ')) data.push(line.slice(6))
      else if (line === 'data:') data.push('')
      else if (line.startsWith('event: ')) name = line.slice(7)
      else if (line.startsWith('id: ')) this.#lastId = line.slice(4)
      else if (line !== '' && !/^(:|retry: \d+$)/.test(line))
        this.#break(`got ${JSON.stringify(line)} in an event`)
    }
    const fragment = this.#fragment
    this.#fragment = null
    if (name !== null) this.#world.note(`${this.#who} gets ${name} ${data.join('')}`)
    const isGap = name !== null && name !== 'rotated'
    // The rest of a line that was being written may be lost, if the next event says so.
    if (fragment !== null && !isGap) this.#break(`got ${JSON.stringify(fragment)}, which was never written`)
    if (isGap) this.#isGapped = true
    else if (name !== null) this.#fragment = fragment
    else for (const text of data) this.#line(text)
  }

  /** Rule 3: every line exactly once and in order, or an event before it that says what was lost. */
  #line(text: string): void {
    const line = this.#log.lineOf(text)
    if (!line) {
      const isEnded = ({ lost, gone }: Line['record']) => lost || gone !== null
      const isBegun = this.#log.lines.some((one) => isEnded(one.record) && one.text.startsWith(text))
      if (isBegun) this.#fragment = text
      else this.#break(`got ${JSON.stringify(text)}, which was never written`)
      return
    }
    const before = this.#last
    if (before && line.place <= before.place) this.#break(`got ${text} after ${before.text}`)
    else if (before && !this.#isGapped) {
      const skipped = this.#log.lines.slice(before.place + 1, line.place).find((one) => this.#isWanted(one))
      if (skipped) this.#break(`got ${text} without ${skipped.text}`)
    }
    this.#last = line
    this.#isGapped = false
  }

  #isWanted({ record }: Line): boolean {
    return !record.lost && LEVELS.indexOf(record.level) >= this.#least
  }

  #break(what: string): void {
    this.#world.break('a follower has each line once', `${this.#who} ${what}`)
  }

  /** Once all is calm: it has the newest line. */
  checkEnd(): void {
    if (!this.#isOpen || !this.#last) return
    const newest = newestAt(this.#log, Number.POSITIVE_INFINITY)
    const missing = this.#log.lines.slice(this.#last.place + 1).find((line) => this.#isWanted(line))
    if (newest && missing && !this.#isGapped) this.#break(`never got ${missing.text}`)
  }
}
