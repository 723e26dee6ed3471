import { gzipSync } from 'node:zlib'
import type { Hono } from 'hono'
import { type MemoryStore, memoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { createApp } from '../support/app.ts'
import { wholes } from '../support/random.mjs'

/** Logs that a seed makes up, the plainest reader of them, and a client that follows the links of pages. */

export const START = Date.UTC(2026, 10, 15, 2)
export const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const

/** A record, as it was meant. */
export interface Made {
  file: string
  /** Unique among all logs: `#b17` is in the record's message. */
  id: string
  time: number
  level: (typeof LEVELS)[number]
  message: string
  /** A field of the record, as the log writes it. */
  shard: string
  /** Its bytes. */
  text: string
}

type Draft = Omit<Made, 'text'>
const stamp = (time: number) => new Date(time).toISOString().replace('T', ' ').slice(0, 23)
/** How records are written: by name, so that a failure says it. */
const WRITERS: Record<string, (made: Draft) => string> = {
  lindb({ time, level, message, shard }) {
    const [first, ...more] = message.split('\n')
    const rest = more.map((line) => `${line}\n`).join('')
    return `${stamp(time)}\t${level.toUpperCase()}\ta/b.go:12\t[Broker] [Query]: ${first}\t{"shard":${shard}}\n${rest}`
  },
  json: ({ time, level, message, shard }) =>
    `${JSON.stringify({ time: new Date(time).toISOString(), level, msg: message })
      .slice(0, -1)
      .concat(`,"shard":${shard}}`)}\n`,
  logfmt: ({ time, level, message, shard }) =>
    `time=${new Date(time).toISOString()} level=${level} msg=${JSON.stringify(message)} shard=${shard}\n`,
  docker: ({ time, level, message, shard }) =>
    `${JSON.stringify({
      log: `time=${new Date(time).toISOString()} level=${level} msg=${JSON.stringify(message)} shard=${shard}\n`,
      stream: 'stdout',
      time: new Date(time).toISOString(),
    })}\n`,
}
const WORDS = ['flush', 'needle', 'Needle', 'häystack 😀', 'a,b "c"', 'slow   query', 'x'.repeat(90)]

export interface Making {
  /** Records of each log, at most. */
  records: number
  /** The most milliseconds between two records; few make ties. */
  gap: number
  names?: readonly string[]
}

/** The logs of a seed: each with up to three rotated files, some compressed. */
export function makeLogs(seed: number, { records, gap, names = ['a.log'] }: Making) {
  const random = wholes(seed)
  const store = memoryStore()
  const logs = new Map<string, Made[]>()
  const formats = Object.keys(WRITERS)
  for (const [n, file] of names.entries()) {
    const format = formats[random(formats.length)]!
    const made: Made[] = []
    const count = 2 + random(records)
    const cuts = new Set(Array.from({ length: random(4) }, () => 1 + random(count - 1)))
    let time = START + random(2000)
    for (let i = 0; i < count; i++) {
      // Files that begin at the same moment have an order that nothing tells for sure.
      time += random(gap + 1) + (cuts.has(i) ? 1000 : 0)
      const id = `#${'abcdefgh'[n]}${i}`
      const more = format === 'lindb' && random(4) === 0 ? '\n\tat deeper()\n\tat deepest()' : ''
      const message = `${WORDS[random(WORDS.length)]} ${id}${more}`
      const draft: Draft = { file, id, time, level: LEVELS[random(5)]!, message, shard: String(random(20)) }
      made.push({ ...draft, text: WRITERS[format]!(draft) })
    }
    logs.set(file, made)
    const borders = [0, ...[...cuts].sort((a, b) => a - b), count]
    for (let i = 0; i + 1 < borders.length; i++) {
      const text = made
        .slice(borders[i], borders[i + 1])
        .map((record) => record.text)
        .join('')
      const age = borders.length - 2 - i
      if (age === 0) store.put(file, text)
      else if (random(2) === 0) store.put(`${file}.${age}.gz`, gzipSync(text))
      else store.put(`${file}.${age}`, text)
    }
  }
  return { store, logs, random }
}

/** The same bytes behind the contract alone, and a turn of the event loop late: what a bucket is to a reader. */
export function distant(store: MemoryStore): Store {
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return {
    async *list(prefix, options) {
      await turn()
      yield* store.list(prefix, options)
    },
    async stat(key) {
      await turn()
      return store.stat(key)
    },
    async read(key, range, options) {
      await turn()
      return store.read(key, range, options)
    },
  }
}

/** A node that has little room: archives are read in windows, and reads go to a store that is near or far. */
export function nodeOf(store: MemoryStore, isDistant: boolean): Hono {
  return createApp({
    logs: isDistant ? distant(store) : store,
    config: '',
    limits: { windowBytes: 64 * 1024, parallelReads: isDistant ? 2 : 16 },
    onError(error) {
      throw error
    },
  })
}

export interface Page {
  status: number
  text: string
  notes: string
  prev: string | null
  next: string | null
}

/** A page of a view; `query` begins with `?`. */
export async function pageOf(app: Hono, query: string): Promise<Page> {
  const answer = await app.request(`/api/v1/log/view${query}`)
  const link = answer.headers.get('Link') ?? ''
  const to = (rel: string) => new RegExp(`<([^>]*)>; rel="${rel}"`).exec(link)?.[1] ?? null
  return {
    status: answer.status,
    text: await answer.text(),
    notes: answer.headers.get('X-Nodestate-Note') ?? '',
    prev: to('prev'),
    next: to('next'),
  }
}

/** All pages back to the beginning, and from there to the end again, both oldest first. */
export async function allPages(app: Hono, query: string): Promise<{ back: Page[]; forth: Page[] }> {
  const back: Page[] = []
  for (let at: string | null = query; at !== null; at = back[0]!.prev) {
    if (back.length > 3000) throw new Error(`the pages of ${query} do not begin`)
    back.unshift(await pageOf(app, at))
  }
  const forth = [back[0]!]
  for (;;) {
    const { next } = forth.at(-1)!
    if (next === null) break
    const page = await pageOf(app, next)
    forth.push(page)
    if (page.next === next) break
    if (forth.length > 3000) throw new Error(`the pages of ${query} do not end`)
  }
  return { back, forth }
}

/** The timeline of several logs: the oldest comes first, then by name, and no log changes its order. */
export function timeline(logs: Map<string, Made[]>): Made[] {
  const heads = [...logs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, records]) => [...records])
  const all: Made[] = []
  for (;;) {
    let best: Made[] | null = null
    for (const records of heads)
      if (records.length > 0 && (best === null || records[0]!.time < best[0]!.time)) best = records
    if (best === null) return all
    all.push(best.shift()!)
  }
}

/** What a client may ask for, as a query and as what it means. */
export interface Choice {
  query: string
  isWanted(record: Made): boolean
}

/** Filters of a seed: each record is judged by what it was meant to be. */
export function choose(random: (below: number) => number, records: readonly Made[]): Choice {
  const parts: [string, (record: Made) => boolean][] = []
  if (random(3) === 0) {
    const least = random(5)
    parts.push([`level=${LEVELS[least]}`, ({ level }) => LEVELS.indexOf(level) >= least])
  }
  if (random(3) === 0) {
    const word = ['needle', 'Needle', '😀', 'nowhere', 'deepest'][random(5)]!
    const isLower = word === word.toLowerCase()
    parts.push([
      `q=${encodeURIComponent(word)}`,
      ({ text }) => (isLower ? text.toLowerCase() : text).includes(word),
    ])
  }
  if (random(3) === 0) {
    const digit = random(10)
    parts.push([`regex=${encodeURIComponent(`#[a-h]\\d*${digit}\\b`)}`, ({ id }) => id.endsWith(`${digit}`)])
  }
  if (random(3) === 0) {
    const most = random(20)
    parts.push([`where=${encodeURIComponent(`shard<${most}`)}`, ({ shard }) => Number(shard) < most])
  }
  const moment = () => records[random(records.length)]!.time + random(3) - 1
  if (random(3) === 0) {
    const since = moment()
    parts.push([`since=${new Date(since).toISOString()}`, ({ time }) => time >= since])
  }
  if (random(3) === 0) {
    const until = moment()
    parts.push([`until=${new Date(until).toISOString()}`, ({ time }) => time < until])
  }
  return {
    query: parts.map(([query]) => `&${query}`).join(''),
    isWanted: (record) => parts.every(([, test]) => test(record)),
  }
}
