import type { Hono } from 'hono'
import { parametersOf, type Query } from '../ask.ts'
import type { Random } from '../kernel/random.ts'
import { CURRENT, LEVELS, type Level, type Log, patternsOf } from '../logs.ts'
import type { Draft, Step } from '../plan.ts'
import { isAnswered } from '../rules/answers.ts'
import { FollowedLog } from '../rules/followed.ts'
import type { World } from '../world.ts'
import type { Actor } from './actor.ts'

/** One connection: it is cut after `for` milliseconds, or held to the end of the world. */
interface Follow extends Step {
  /** Its name, or `*` for all logs as one timeline. */
  log: string
  level: Level | null
  for: number | null
  /** Milliseconds between two reads of the connection. */
  pause: number
  /** Whether the service was restarted before, so that only the client knows where it was. @default it was not */
  restarted?: boolean
}

export const FOLLOWERS = 'follower'
/** How long the headers of a timeline wait for its logs. */
const HEADERS_MS = 2000

/** Clients that follow a log, or all logs, by events, leave, and come back with the id of the last one. */
export const follower: Actor = {
  plan(draft) {
    const { random, settings } = draft
    const merged = random.split('merged')
    const all = merged.chance(settings.isCrowded ? 0.25 : 0.3) ? merged.small(1, 2) : 0
    const most = settings.isCrowded ? random.small(0, 4) : random.small(all > 0 ? 0 : 1, 2)
    for (let i = most; i > 0; i--) {
      const own = random.split(i)
      const log = own.pick(settings.logs).name
      planOne(draft, own, { name: String(i), log })
    }
    for (let i = all; i > 0; i--) planOne(draft, merged.split(i), { name: `merged-${i}`, log: '*' })
  },
  async act(world, step) {
    const following = world.stateOf(step, () => new Following(world, step as Follow))
    await following.connect(step as Follow)
  },
}

function planOne({ add, moment }: Draft, own: Random, { name, log }: { name: string; log: string }): void {
  const level = own.chance(0.3) ? own.pick(LEVELS) : null
  const restarts = own.split('restarts')
  const times = Array.from({ length: own.small(1, 8) }, () => moment(own)).sort((a, b) => a - b)
  for (const [n, at] of times.entries()) {
    const isLast = n === times.length - 1
    const until = isLast ? null : own.small(0, Math.max(1, times[n + 1]! - at))
    const pause = own.chance(0.2) ? own.small(1, 200) : 0
    const restarted = n > 0 && restarts.chance(0.2)
    add(name, 'follow', at, { log, level, for: until, pause, restarted })
  }
}

/** What one follower has got so far. */
export class Following {
  readonly #world: World
  readonly #logs: Log[]
  readonly #isMerged: boolean
  readonly #who: string
  readonly #followed: Map<string, FollowedLog>
  #app: Hono
  #lastId: string | null = null
  #isOpen = false

  constructor(world: World, step: Follow) {
    this.#world = world
    this.#app = world.app
    this.#isMerged = step.log === '*'
    this.#logs = this.#isMerged ? world.logs : [world.log(step.log)]
    this.#who = step.by
    const least = step.level === null ? -1 : LEVELS.indexOf(step.level)
    const broken = (what: string) => world.break('a follower has each line once', `${step.by} ${what}`)
    this.#followed = new Map(this.#logs.map((log) => [log.name, new FollowedLog(log, { least, broken })]))
  }

  /** Connects, again and again while the answer is an excused problem, and reads until it is time to leave. */
  async connect(step: Follow): Promise<void> {
    const { kernel } = this.#world
    if (step.restarted) {
      this.#world.note(`the service of ${this.#who} is restarted`)
      this.#app = this.#world.restarted()
    }
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
    const parameters = parametersOf(this.#world, this.#logs[0]!, query, { follow: 'true', lines: 5 })
    if (this.#isMerged) {
      parameters.delete('file')
      for (const pattern of patternsOf(this.#logs)) parameters.append('file', pattern)
    }
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
    const { kernel } = this.#world
    const from = kernel.elapsed()
    const id = this.#lastId
    const headers = { Accept: 'text/event-stream', ...(id === null ? {} : { 'Last-Event-ID': id }) }
    const response = await this.#app.fetch(new Request(`http://node${path}`, { headers, signal }))
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
      for (const log of this.#isMerged ? [] : this.#logs)
        isAnswered(this.#world, log, answer, `${this.#who}, step ${step.id}`)
      // The place is gone, and the answer said so: it starts again with what there is.
      if (status === 410 || status === 400) this.#lastId = null
      return
    }
    const begin = () => {
      if (id === null) for (const followed of this.#followed.values()) followed.begin()
    }
    begin()
    // The headers of a timeline may come before its logs are open.
    let isEarly = kernel.elapsed() - from >= HEADERS_MS
    // Logs that are named here are not in the timeline.
    const missing = response.headers.get('X-Nodestate-Missing') ?? ''
    for (const name of missing.match(/[^,; ]+(?=;)/g) ?? []) this.#followed.get(logOf(name))?.event(false)
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
        if (isEarly) begin()
        isEarly = false
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
        this.#world.break(
          'a follower has each line once',
          `${this.#who} got ${JSON.stringify(line)} in an event`,
        )
    }
    if (name === null) {
      for (const text of data) this.#line(text)
      return
    }
    this.#world.note(`${this.#who} gets ${name} ${data.join('')}`)
    const { file } = JSON.parse(data.join('') || '{}') as { file?: string }
    for (const [log, followed] of this.#followed)
      if (!this.#isMerged || (file && logOf(file) === log)) followed.event(name === 'rotated')
  }

  #line(text: string): void {
    // In a timeline, each line has the name of its log in front.
    const [, file, rest] = (this.#isMerged && /^([^\t]*)\t(.*)$/s.exec(text)) || []
    const name = file === undefined ? this.#logs[0]!.name : logOf(file)
    const followed = this.#followed.get(name)
    if (followed) followed.line(rest ?? text)
    else this.#world.break('a follower has each line once', `${this.#who} got a line of ${file}`)
  }

  /** Once all is calm: it has the newest line. */
  checkEnd(): void {
    if (this.#isOpen) for (const followed of this.#followed.values()) followed.checkEnd()
  }
}

/** A log without a file of its own has the name of its newest one. */
function logOf(file: string): string {
  return file.startsWith('@') ? CURRENT : file.replace(/(\.log)[-.].*$/, '$1')
}
