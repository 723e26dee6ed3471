import { gzipSync } from 'node:zlib'
import { logFiles } from '../../../src/log/files/files.ts'
import { decodeMerged, encodeMerged } from '../../../src/log/merge/cursor.ts'
import { type MergedPage, type MergeRequest, mergePage } from '../../../src/log/merge/merge.ts'
import { pickSources } from '../../../src/log/merge/source.ts'
import { EVERY_RECORD } from '../../../src/log/selection.ts'
import type { ViewLimits } from '../../../src/log/view/context.ts'
import { type MemoryStore, memoryStore } from '../../../src/store/memory.ts'
import { wholes } from '../../support/random.mjs'
import { type Conditions, contextOf, selectionOf } from '../context.ts'

export const START = Date.UTC(2026, 10, 16, 2)
const SHAPES: ((time: number, text: string) => string)[] = [
  (time, text) =>
    `${new Date(time).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:1\t[A]: ${text}\n`,
  (time, text) => `{"time":"${inZone(time, 2)}","level":"info","msg":"${text}"}\n`,
  (time, text) => `time=${inZone(time, -5)} level=warn msg="${text}"\n`,
  (time, text) => `${new Date(time).toISOString()} ERROR ${text}\n`,
]

/** An instant with an offset from UTC of so many hours. */
function inZone(time: number, hours: number): string {
  const sign = hours < 0 ? '-' : '+'
  const local = new Date(time + hours * 3_600_000).toISOString().slice(0, 23)
  return `${local}${sign}${String(Math.abs(hours)).padStart(2, '0')}:00`
}

/** A record of a log that was made up. */
export interface Made {
  name: string
  time: number
  text: string
  isStray: boolean
}

/** Logs with what is in them, in their order, and a store that holds them. */
export interface MadeLogs {
  store: MemoryStore
  logs: Map<string, Made[]>
}

/** How logs are made up. */
export interface Making {
  sources: number
  records: number
  /** Of a hundred times, so many are wrong by hours. */
  strays?: number
  /** The most milliseconds between two records of a log; few make ties. */
  gap?: number
}

/** Makes up logs of several formats and zones; some have a compressed predecessor. */
export function makeLogs(seed: number, { sources, records, strays = 0, gap = 40 }: Making): MadeLogs {
  const random = wholes(seed)
  const logs = new Map<string, Made[]>()
  const store = memoryStore()
  for (let s = 0; s < sources; s++) {
    const name = `${'zyxab'[s % 5]}-${s}.log`
    const shape = SHAPES[random(SHAPES.length)]!
    let time = START + random(500)
    const made: Made[] = []
    const count = random(records + 1)
    for (let i = 0; i < count; i++) {
      time += random(gap + 1)
      const isStray = random(100) < strays && i > 0
      const own = isStray ? time + (random(2) === 0 ? 1 : -1) * (3_600_000 + random(9_000_000)) : time
      const more = random(8) === 0 ? '\tat deeper()\n\tat deepest()\n' : ''
      made.push({
        name,
        time,
        text: shape(own, `${name} number ${i}`) + (shape === SHAPES[1] ? '' : more),
        isStray,
      })
    }
    logs.set(name, made)
    const rotated = made.length > 4 && random(3) === 0 ? 1 + random(made.length - 1) : 0
    const text = (part: Made[]) => part.map((record) => record.text).join('')
    if (rotated > 0) store.put(`${name}.1.gz`, gzipSync(text(made.slice(0, rotated))))
    store.put(name, text(made.slice(rotated)))
  }
  return { store, logs }
}

/** The timeline, as simply as it can be said: what is oldest comes first, then by name, and no log changes its order. */
export function reference(logs: Map<string, Made[]>): Made[] {
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

/** What a request wants when it does not say. */
export const EVERYTHING: MergeRequest = {
  selection: EVERY_RECORD,
  cursor: null,
  fit: { size: 1 << 20, lines: null },
}

/** A page, with its cursors as clients see them. */
export interface Asked extends Omit<MergedPage, 'prev' | 'next'> {
  prev: string | null
  next: string
  texts: string[]
}

/** Asks for a page as a client would: with cursors as text. */
export async function ask(
  store: MemoryStore,
  values: readonly string[],
  part: Partial<Omit<MergeRequest, 'cursor' | 'selection'>> &
    Conditions & { before?: string; after?: string } = {},
  limits: Partial<ViewLimits> = {},
): Promise<Asked> {
  const context = contextOf(logFiles(store), limits)
  const { sources } = await pickSources({ node: null, context }, values)
  const { before, after, ...rest } = part
  const given = before ?? after
  const cursor =
    given === undefined
      ? null
      : {
          place: decodeMerged(given, 'before', sources),
          direction: before === undefined ? ('after' as const) : ('before' as const),
        }
  const page = await mergePage(sources, { ...EVERYTHING, ...rest, selection: selectionOf(part), cursor })
  const texts = page.records.map(({ bytes }) => new TextDecoder().decode(bytes))
  page.release()
  return {
    ...page,
    texts,
    prev: page.prev && encodeMerged(page.prev, sources),
    next: encodeMerged(page.next, sources),
  }
}

/** Every page to the beginning, put together. */
export async function allBack(
  store: MemoryStore,
  values: readonly string[],
  lines: () => number,
): Promise<string[]> {
  let all: string[] = []
  let before: string | undefined
  for (let pages = 0; pages < 10_000; pages++) {
    const page = await ask(store, values, {
      fit: { size: 1 << 20, lines: lines() },
      ...(before && { before }),
    })
    all = [...page.texts, ...all]
    if (page.prev === null) return all
    before = page.prev
  }
  throw new Error('The pages do not end')
}

/** Every page to the end, put together. */
export async function allForth(
  store: MemoryStore,
  values: readonly string[],
  lines: () => number,
): Promise<string[]> {
  const all: string[] = []
  let after: string | undefined
  for (let pages = 0; pages < 10_000; pages++) {
    const fit = { size: 1 << 20, lines: lines() }
    const page = await ask(store, values, after ? { fit, after } : { fit, first: true })
    if (page.texts.length === 0 && after) return all
    all.push(...page.texts)
    after = page.next
  }
  throw new Error('The pages do not end')
}
