import { gzipSync } from 'node:zlib'
import { loki } from '../../../src/doors/loki.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { segmentStore } from '../../../src/store/segments.ts'
import type { Entry, Store } from '../../../src/store/store.ts'
import { createApp, createFleet } from '../../support/app.ts'
import { NODE_JSON } from '../../support/node.ts'
import { putLife } from '../../support/segments.ts'

export const START = Date.UTC(2026, 10, 15, 2)
export const SECOND = 1000
export const HOUR = 3600 * SECOND
export const YEAR = 365 * 24 * HOUR

/** A record of a log: one line, or several. */
export interface Step {
  time: number
  text: string
}

/** Records with these times, in this order; every seventh has a stack trace. */
export function recordsOf(times: readonly number[], width = 0): Step[] {
  return times.map((time, i) => {
    const stamp = new Date(time).toISOString().replace('T', ' ').slice(0, 23)
    const trace = i % 7 === 3 ? '\n\tat some.place()' : ''
    const line = `${stamp}\t${i % 4 === 0 ? 'ERROR' : 'INFO'}\ta.go:1\t[A]: number ${i}`
    return { time, text: `${line.padEnd(width, '.')}${trace}\n` }
  })
}

/** What a range of time selects: every record by its own time. */
export function selected(records: readonly Step[], since: number | null, until: number | null): string[] {
  return records
    .filter(({ time }) => (since === null || time >= since) && (until === null || time < until))
    .map(({ text }) => text)
}

const textOf = (records: readonly Step[]) => records.map(({ text }) => text).join('')
const bytesOf = (records: readonly Step[]) => new TextEncoder().encode(textOf(records))

/** Cuts records into parts at these shares. */
function cut(records: readonly Step[], shares: readonly number[]): Step[][] {
  const ends = [0, ...shares.map((share) => Math.round(share * records.length)), records.length]
  return ends.slice(1).map((end, i) => records.slice(ends[i], end))
}

/** A log that can be asked: where its API is, and its parameters. */
export interface Asked {
  request(path: string): Response | Promise<Response>
  base: string
  /** The parameters that name it. */
  log: string
  /** Its records, in the order of the answer; of several files, in any order: it may be a guess. */
  records: readonly Step[]
  isMerged?: boolean
}

type Limits = NonNullable<Parameters<typeof createApp>[0]['limits']>

export const KINDS: Record<string, (records: Step[], limits?: Limits) => Promise<Asked>> = {
  file: async (records, limits) => of({ 'a.log': textOf(records) }, { log: 'file=a.log', records }, limits),
  archive: async (records, limits) =>
    of({ 'a.log.1.gz': gzipSync(bytesOf(records)) }, { log: 'file=a.log.1.gz', records }, limits),
  family: async (records, limits) => {
    const [one, two, three, four] = cut(records, [0.3, 0.55, 0.8])
    const files = {
      'a.log.3.gz': gzipSync(bytesOf(one!)),
      'a.log.2.gz': gzipSync(bytesOf(two!)),
      'a.log.1': textOf(three!),
      'a.log': textOf(four!),
    }
    return of(files, { log: 'file=a.log&rotated=true', records, isMerged: true }, limits)
  },
  'plain family': async (records, limits) => {
    const [one, two, three] = cut(records, [0.4, 0.7])
    const files = { 'a.log.2': textOf(one!), 'a.log.1': textOf(two!), 'a.log': textOf(three!) }
    return of(files, { log: 'file=a.log&rotated=true', records, isMerged: true }, limits)
  },
  joined: async (records, limits) => {
    const files: Record<string, Uint8Array> = {}
    for (let i = 0, n = 0; i < records.length; i += 9, n++) {
      // The clock of the shipper is right.
      const at = new Date(START + i * 60_000).toISOString()
      const key = `app/${at.slice(0, 16).replace(/[-T:]/g, '/')}/00-object${String(n).padStart(8, '0')}`
      files[key] = gzipSync(bytesOf(records.slice(i, i + 9)))
    }
    const app = createApp({ logs: memoryStore(files), config: '', join: true, loki, limits })
    return { request: (path) => app.request(path), base: '', log: 'file=app', records }
  },
  segments: async (records, limits) => {
    const home = memoryStore()
    const [one, two] = cut(records, [0.5])
    const put = (key: string, bytes: Uint8Array | string) => home.put(key, bytes)
    await putLife(put, bytesOf(one!), { life: 1, how: 'end' })
    await putLife(put, bytesOf(two!), { life: 2 })
    const app = createApp({ logs: segmentStore(home, memoryStore()), config: '', loki, limits })
    return { request: (path) => app.request(path), base: '', log: 'file=a.log&rotated=true', records }
  },
  merged: async (records, limits) => {
    const [a, b] = [0, 1].map((which) => records.filter((_, i) => i % 2 === which))
    const files = { 'a.log': textOf(a!), 'b.log': textOf(b!) }
    return of(files, { log: 'file=a.log&file=b.log', records, isMerged: true }, limits)
  },
  fleet: async (records, limits) => {
    const [a, b] = [0, 1].map((which) => records.filter((_, i) => i % 2 === which))
    const files = {
      'db-4/node.json': NODE_JSON,
      'db-4/logs/a.log': textOf(a!),
      'db-7/node.json': NODE_JSON,
      'db-7/logs/a.log': textOf(b!),
    }
    const app = createFleet({ store: memoryStore(files), onError: () => {}, loki, limits })
    return {
      request: (path) => app.request(path),
      base: '',
      log: 'node=*&file=a.log',
      records,
      isMerged: true,
    }
  },
}

/** A family of two files, of which the first has so many records. */
export function twoFiles(records: Step[], count: number): Asked {
  const files = { 'a.log.1': textOf(records.slice(0, count)), 'a.log': textOf(records.slice(count)) }
  return of(files, { log: 'file=a.log&rotated=true', records })
}

/** Files in the order in which they were changed. */
function changed(files: Record<string, string | Uint8Array>): Store {
  const store = memoryStore(files)
  const names = Object.keys(files)
  const dated = (entry: Entry) => ({ ...entry, modified: START + names.indexOf(entry.key) * 60_000 })
  return {
    async *list(...query) {
      for await (const entry of store.list(...query)) yield dated(entry)
    },
    stat: async (...query) => {
      const entry = await store.stat(...query)
      return entry && dated(entry)
    },
    read: async (...query) => {
      const found = await store.read(...query)
      return found && { ...found, entry: dated(found.entry) }
    },
  }
}

function of(
  files: Record<string, string | Uint8Array>,
  asked: Pick<Asked, 'log' | 'records' | 'isMerged'>,
  limits?: Limits,
): Asked {
  const app = createApp({ logs: changed(files), config: '', loki, limits })
  return { request: (path) => app.request(path), base: '', ...asked }
}
