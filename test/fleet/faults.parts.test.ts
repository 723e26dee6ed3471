import { appendFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/doors/client.ts'
import { cleanUp, lastingPort, type Program, serve, temporaryDirectory } from '../program.ts'
import { type OlderAnswer, proxyTo } from '../support/proxy.ts'

const HOUR = 3_600_000
const START = Date.parse('2026-11-14T02:00:00Z')
const RECORDS = 300
/** How long a test may take: a node that is slow is waited for, and so is a busy machine. */
const PATIENCE_MS = 900_000
const stamp = (at: number) => new Date(at).toISOString().replace('T', ' ').slice(0, 23)

/** Each node writes another format, in another zone. */
const NODES = [
  {
    id: 'db-1',
    zone: 'UTC',
    line: (at: number, text: string) => `${stamp(at)}\tINFO\ta.go:1\t[A] [B]: ${text}\n`,
  },
  {
    id: 'db-2',
    zone: 'Asia/Tokyo',
    line: (at: number, text: string) => `${stamp(at + 9 * HOUR).replace('.', ',')} INFO ${text}\n`,
  },
  {
    id: 'db-3',
    zone: '-05:00',
    line: (at: number, msg: string) =>
      `${JSON.stringify({ time: new Date(at).toISOString(), level: 'info', msg })}\n`,
  },
]
const IDS = NODES.map(({ id }) => id)

interface Node {
  program: Program
  logs: string
  port: number
  proxy: Server
  /** The number of the first record of its log, and of the one that comes next. */
  first: number
  next: number
}

const nodes: Node[] = []
let coordinator: Program

const lineOf = (node: number, i: number) =>
  NODES[node]!.line(START + i * 1000 + node * 250, `${IDS[node]} record ${i}.`)

function append(node: number, records: number): void {
  const one = nodes[node]!
  for (let i = 0; i < records; i++) appendFileSync(join(one.logs, 'a.log'), lineOf(node, one.next++))
}

const start = (node: number): Promise<Program> => {
  const { port, logs } = nodes[node]!
  return serve(['--logs', logs, '--port', String(port), '--timezone', NODES[node]!.zone])
}

/** Bytes per second that pass from a node; without a number, as fast as they come. */
const rates: (number | null)[] = [null, null, null]
/** Nodes of a version that does not know some parameters: it ignores them with a note, or refuses them. */
const old: ('notes' | 'refuses' | null)[] = [null, null, null]
const NEWER = ['lane', 'origin']

/** What a node of an older version answers instead, or the query that it understands. */
function asOlder(node: number, url: URL): OlderAnswer {
  const unknown = old[node] ? NEWER.filter((name) => url.searchParams.has(name)) : []
  if (unknown.length === 0) return { problem: null, note: null }
  const problem = JSON.stringify({ type: '/problems/bad-parameter', status: 400 })
  if (old[node] === 'refuses') return { problem, note: null }
  for (const name of unknown) url.searchParams.delete(name)
  return { problem: null, note: 'unknown-parameter' }
}

beforeAll(async () => {
  for (const [i] of NODES.entries()) {
    const port = await lastingPort()
    const proxy = await proxyTo(port, { rate: () => rates[i]!, older: (url) => asOlder(i, url) })
    const program = undefined as unknown as Program
    nodes.push({ logs: temporaryDirectory(), port, proxy, program, first: 0, next: 0 })
    append(i, RECORDS)
    nodes[i]!.program = await start(i)
  }
  const flags = nodes.flatMap(({ proxy }, i) => [
    '--peer',
    `${IDS[i]}=http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  ])
  coordinator = await serve([...flags, '--port', '0'])
})

afterAll(async () => {
  for (const { proxy } of nodes) {
    proxy.closeAllConnections()
    proxy.close()
  }
  await cleanUp()
})

const addressOf = (search: string) => `${coordinator.url.replace(/\/$/, '')}/api/v1/log/view${search}`

/** Records as `db-1 17`, and the nodes that were named. */
interface Seen {
  records: string[]
  missing: Set<string>
  /** A note says that something is not as the reader expects. */
  hasNote: boolean
}

const nameMissing = ({ headers }: Response, missing: Set<string>) => {
  for (const part of (headers.get('X-Nodestate-Missing') ?? '').split(', '))
    if (part !== '') missing.add(part.split(/[/;]/)[0]!)
}

const recordOf = (text: string) => {
  const [, id, number] = /(db-\d) record (\d+)\./.exec(text)!
  return `${id} ${number}`
}

interface Page {
  response: Response
  text: string
}

/** A page; one that a busy machine does not answer in time is asked for again. */
async function page(search: string): Promise<Page> {
  let answer: Page | undefined
  await until(async () => {
    const response = await fetch(addressOf(search))
    answer = { response, text: await response.text() }
    return ![429, 503, 504].includes(response.status)
  })
  const { response, text } = answer!
  expect(response.status, text).toBe(200)
  return { response, text }
}

/** Pages until there is none, oldest record first whichever way they are read. */
async function paged(
  direction: 'prev' | 'next',
  turned: (missing: Set<string>) => Promise<void> = async () => {},
  query = '',
): Promise<Seen> {
  const seen: Seen = { records: [], missing: new Set(), hasNote: false }
  const part = direction === 'next' ? 'first' : 'lines'
  let search: string | null = `?node=*&file=a.log&format=ndjson&${part}=60${query}`
  for (let pages = 0; search !== null; pages++) {
    const { response, text }: Page = await page(search)
    const found = text.split('\n').filter(Boolean).map(recordOf)
    if (direction === 'prev') seen.records.unshift(...found)
    else seen.records.push(...found)
    nameMissing(response, seen.missing)
    if (response.headers.get('X-Nodestate-Note')) seen.hasNote = true
    const links: string = response.headers.get('Link') ?? ''
    search = new RegExp(`<([^>]*)>; rel="${direction}"`).exec(links)?.[1] ?? null
    if (direction === 'next' && found.length === 0) search = null
    expect(pages).toBeLessThan(200)
    await turned(seen.missing)
  }
  return seen
}

/** Everything as a file; null if its connection was cut, by which a client knows. */
async function exported(): Promise<Seen | null> {
  const seen: Seen = { records: [], missing: new Set(), hasNote: false }
  try {
    const response = await fetch(addressOf('?node=*&file=a.log&format=ndjson&download=true'))
    if (response.status !== 200) return null
    nameMissing(response, seen.missing)
    seen.records = (await response.text()).split('\n').filter(Boolean).map(recordOf)
  } catch {
    return null
  }
  return seen
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

/** The numbers of the records that each node has now. */
const held = () => nodes.map(({ first, next }) => range(first, next))

/**
 * Every record that a node had is there exactly once and in order, or the node is named. The reader of a log that is
 * replaced by another may be told so in a note instead.
 */
function expectWhole({ records, missing, hasNote }: Seen, expected: number[][], replaced?: string): void {
  expect(new Set(records).size).toBe(records.length)
  for (const [i, id] of IDS.entries()) {
    const own = records.filter((record) => record.startsWith(`${id} `)).map((record) => +record.slice(5))
    expect(own, id).toEqual(own.toSorted((a, b) => a - b))
    if (missing.has(id) || (id === replaced && hasNote)) continue
    // A reader that began later has only the other log.
    if (id === replaced && own[0] === nodes[i]!.first) continue
    expect(own.slice(0, expected[i]!.length), id).toEqual(expected[i])
  }
}

/** Follows all nodes until it is stopped; a client comes back by itself. */
function follow() {
  const client = createClient({ base: coordinator.url })
  const ended = new AbortController()
  const records: string[] = []
  const following = (async () => {
    const query = { node: '*', file: 'a.log', lines: 3 }
    for await (const event of client.follow(query, { json: true, signal: ended.signal }))
      if (event.type === 'record') records.push(recordOf(String(event.data.message)))
  })().catch((error) => {
    if (!ended.signal.aborted) throw error
  })
  return {
    records,
    async stop() {
      ended.abort()
      await following
    },
  }
}

/** What happens to a node, and how it ends. */
interface Fault {
  node: number
  begin(): unknown
  end(): unknown
  /** The node cannot answer until the fault ends, so it must be named. */
  isDead?: boolean
  /** It comes back with other logs. */
  isReplaced?: boolean
}

/** Of all walks together: a fault begins at the sixth page, and ends four pages later, or once its node is named. */
function duringPages({ node, begin, end, isDead }: Fault) {
  let pages = 0
  let state: 'before' | 'begun' | 'ended' = 'before'
  const finish = async () => {
    if (state === 'ended') return
    state = 'ended'
    await end()
  }
  return {
    hasEnded: () => state === 'ended',
    finish,
    async turned(missing: Set<string>) {
      pages++
      if (state === 'before' && pages >= 6) {
        state = 'begun'
        await begin()
        for (const [i] of nodes.entries()) if (i !== node) append(i, 2)
      } else if (state === 'begun' && pages >= 10 && (!isDead || missing.has(IDS[node]!))) await finish()
    },
  }
}

/** Reads pages in both directions, with and without a search, and exports, while something happens to a node. */
async function readDuring(fault: Fault): Promise<{ walks: Seen[]; exports: Seen[] }> {
  const { turned, hasEnded, finish } = duringPages(fault)
  const exports: Seen[] = []
  const exporting = (async () => {
    while (!hasEnded()) exports.push(...[await exported()].filter((seen) => seen !== null))
  })()
  const walks = await Promise.all([
    paged('prev', turned),
    paged('next', turned),
    paged('prev', turned, '&q=record'),
    paged('next', turned, '&q=record'),
  ]).finally(finish)
  await exporting
  return { walks, exports }
}

/** Nobody is named, and nothing is missing: in pages, and in a file. */
async function hasHealed(): Promise<boolean> {
  const expected = held()
  for (const seen of [await paged('prev'), await paged('next'), await exported()]) {
    if (!seen) return false
    expectWhole(seen, expected)
    if (seen.missing.size > 0) return false
  }
  return true
}

/** Reads all nodes in every way, while something happens to one of them in the middle of it. */
async function whileReading(fault: Fault): Promise<void> {
  await until(hasHealed)
  const followed = follow()
  try {
    await readThrough(fault, followed.records)
  } finally {
    await followed.stop()
  }
  const { records } = followed
  expect(records.filter((record, i) => records.indexOf(record) !== i)).toEqual([])
}

async function readThrough(fault: Fault, followed: readonly string[]): Promise<void> {
  const id = IDS[fault.node]!
  const replaced = fault.isReplaced ? id : undefined
  const expected = held()
  const ends = nodes.map(({ next }) => next)
  await until(() => followed.length >= 3)
  for (const [i] of nodes.entries()) append(i, 2)
  const { walks, exports } = await readDuring(fault)
  for (const seen of [...walks, ...exports]) expectWhole(seen, expected, replaced)
  if (fault.isDead) expect(walks.some(({ missing }) => missing.has(id))).toBe(true)
  for (const [i] of nodes.entries()) append(i, 2)
  await until(hasHealed)
  const wanted = nodes.flatMap(({ next }, i) =>
    IDS[i] === replaced ? [] : range(ends[i]!, next).map((n) => `${IDS[i]} ${n}`),
  )
  await until(() => wanted.every((record) => followed.includes(record)))
}

describe('pages in both directions, exports and follows of three nodes', { timeout: PATIENCE_MS }, () => {
  const signal = (node: number, name: NodeJS.Signals) => nodes[node]!.program.child.kill(name)
  const killed = async (node: number) => {
    signal(node, 'SIGKILL')
    await nodes[node]!.program.exited
  }

  it('while one is killed and comes back', () =>
    whileReading({
      node: 1,
      isDead: true,
      begin: () => killed(1),
      end: async () => {
        nodes[1]!.program = await start(1)
      },
    }))

  it('while one is stopped', () =>
    whileReading({
      node: 0,
      isDead: true,
      begin: () => signal(0, 'SIGSTOP'),
      end: () => signal(0, 'SIGCONT'),
    }))

  it('while one is slow', () =>
    whileReading({
      node: 2,
      begin: () => {
        rates[2] = 1024
      },
      end: () => {
        rates[2] = null
      },
    }))

  it.each(['notes', 'refuses'] as const)(
    'while one is upgraded from a version that %s what it does not know',
    (how) => {
      old[1] = how
      return whileReading({
        node: 1,
        begin: () => {
          old[1] = null
        },
        end: () => {
          old[1] = how
        },
      }).finally(() => {
        old[1] = null
      })
    },
  )

  it('while the log of one rotates', () =>
    whileReading({
      node: 0,
      begin: () => {
        const paths = ['a.log.2', 'a.log.1', 'a.log'].map((name) => join(nodes[0]!.logs, name))
        // At a second try there is a rotated file already.
        if (existsSync(paths[1]!)) renameSync(paths[1]!, paths[0]!)
        renameSync(paths[2]!, paths[1]!)
        append(0, 3)
      },
      end: () => append(0, 3),
    }))

  it('while one is restarted with other logs', () =>
    whileReading({
      node: 1,
      isDead: true,
      isReplaced: true,
      begin: async () => {
        await killed(1)
        const one = nodes[1]!
        one.logs = join(one.logs, 'other')
        one.first = one.next
        mkdirSync(one.logs)
        append(1, 5)
      },
      end: async () => {
        nodes[1]!.program = await start(1)
      },
    }))
})

/** Waits until something holds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS / 3
  while (performance.now() < end) {
    if (await holds()) return
    await sleep(100)
  }
  throw new Error('It did not happen in time')
}
