import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { runTerminal, type World } from '../../../src/doors/terminal/terminal.ts'
import { wholes } from '../../support/random.mjs'
import {
  type Asked,
  HOUR,
  KINDS,
  recordsOf,
  SECOND,
  START,
  type Step,
  selected,
  twoFiles,
  YEAR,
} from './steps.ts'

/** How clocks step: the times of records, in the order in which they were written. */
const SHAPES: Record<string, (count: number) => number[]> = {
  'in order': (count) => evenly(count),
  'back by a second': (count) => stepped(count, [[0.5, -SECOND]], 100),
  'back by an hour': (count) => stepped(count, [[0.5, -HOUR]]),
  'back by a year': (count) => stepped(count, [[0.6, -YEAR]]),
  'back by an hour where the next file begins': (count) => stepped(count, [[0.55, -HOUR]]),
  'back where the last file begins': (count) => stepped(count, [[0.8, -HOUR / 2]]),
  'back in the first archive': (count) => stepped(count, [[0.15, -HOUR]]),
  'back and forth': (count) =>
    stepped(count, [
      [0.3, -YEAR],
      [0.45, YEAR],
    ]),
  'two steps that overlap': (count) =>
    stepped(count, [
      [0.4, -HOUR],
      [0.6, -HOUR / 2],
    ]),
  'a stray date': (count) => evenly(count).map((time, i) => (i === count >> 1 ? time - YEAR : time)),
  'a stray date ahead': (count) => evenly(count).map((time, i) => (i === count >> 2 ? time + YEAR : time)),
  'the end of summer time': (count) => stepped(count, [[0.5, -HOUR]], 90 * SECOND),
}

function evenly(count: number, gap = 60 * SECOND): number[] {
  return Array.from({ length: count }, (_, i) => START + i * gap)
}

function stepped(count: number, steps: [share: number, by: number][], gap = 60 * SECOND): number[] {
  return evenly(count, gap).map((time, i) =>
    steps.reduce((at, [share, by]) => (i >= Math.round(share * count) ? at + by : at), time),
  )
}

const idsIn = (body: string) => [...body.matchAll(/number (\d+)/g)].map(([, id]) => Number(id))
const idsOf = (texts: readonly string[]) => texts.map((text) => idsIn(text)[0]!)
const notesOf = (response: Response) => (response.headers.get('X-Nodestate-Note') ?? '').split(/, */)
const linkOf = (response: Response, rel: string) =>
  new RegExp(`<(\\?[^>]*)>; rel="${rel}"`).exec(response.headers.get('Link') ?? '')?.[1] ?? null

async function get(asked: Asked, resource: string, query: string) {
  const response = await asked.request(`/api/v1/log/${resource}?${query}`)
  const body = await response.text()
  expect(response.status, body).toBe(200)
  return { response, body, notes: notesOf(response) }
}

const windowOf = (since: number | null, until: number | null) =>
  [since === null ? '' : `&since=${since}`, until === null ? '' : `&until=${until}`].join('')

/** What a command prints about the log, from a server on a port of its own. */
async function inTerminal(name: string, asked: Asked, window: string, more: Record<string, string[]> = {}) {
  const server = createServer(async ({ url = '' }, response) => {
    const answer = await asked.request(url)
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const [out, err] = [[], []] as string[][]
  const into = (all: string[]) => ({ isTTY: false, write: async (text: string) => all.push(text) > 0 })
  const world: World = {
    env: {},
    stdout: into(out!),
    stderr: into(err!),
    readFile: async () => '',
    signal: new AbortController().signal,
  }
  const query = new URLSearchParams(`${asked.log}${window}`)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const positional = [...(name === 'grep' ? ['number'] : []), url, ...query.getAll('file')]
  const given = [...new Set(query.keys())].filter((key) => key !== 'file')
  const flags = new Map([...given.map((key) => [key, query.getAll(key)] as const), ...Object.entries(more)])
  try {
    expect(await runTerminal(name, { positional, flags }, world), err!.join('')).toBeLessThan(2)
  } finally {
    server.closeAllConnections()
    server.close()
  }
  return out!.join('')
}

/** What each resource finds, as numbers of records; null if it says that it is incomplete. */
const RESOURCES: Record<string, (asked: Asked, window: string) => Promise<number[] | null>> = {
  async view(asked, window) {
    const found: number[] = []
    for (let query: string | null = `${asked.log}&size=100000000${window}`; query; ) {
      const { response, body, notes } = await get(asked, 'view', query)
      found.unshift(...idsIn(body))
      query = notes.includes('scan-budget') ? (linkOf(response, 'prev')?.slice(1) ?? null) : null
    }
    return found
  },
  async 'pages back'(asked, window) {
    const found: number[] = []
    let query: string | null =
      `${asked.log}&lines=${asked.records.length > 1000 ? 500 : 23}&format=ndjson${window}`
    for (let page = 0; query && page < 1000; page++) {
      const { response, body } = await get(asked, 'view', query)
      found.unshift(...idsIn(body))
      query = linkOf(response, 'prev')?.slice(1) ?? null
    }
    return found
  },
  async 'pages forth'(asked, window) {
    const found: number[] = []
    let query = `${asked.log}&first=${asked.records.length > 1000 ? 500 : 23}&format=ndjson${window}`
    for (let page = 0; page < 1000; page++) {
      const { response, body, notes } = await get(asked, 'view', query)
      found.push(...idsIn(body))
      if (body === '' && !notes.includes('scan-budget')) break
      query = linkOf(response, 'next')!.slice(1)
    }
    return found
  },
  async export(asked, window) {
    return idsIn((await get(asked, 'view', `${asked.log}&download=true${window}`)).body)
  },
  async 'export of records'(asked, window) {
    return idsIn((await get(asked, 'view', `${asked.log}&download=true&format=ndjson${window}`)).body)
  },
  async fields(asked, window) {
    const { body } = await get(asked, 'fields', `${asked.log}${window}`)
    const { records, complete } = JSON.parse(body)
    return complete ? new Array(records) : null
  },
  async groups(asked, window) {
    const { body } = await get(asked, 'groups', `${asked.log}&by=tag${window}`)
    const { records, groups, complete } = JSON.parse(body) as {
      records: number
      groups: { count: number; errors: number }[]
      complete: boolean
    }
    expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(records)
    return complete ? new Array(records) : null
  },
  async compare(asked, window) {
    // The period is the base as well, so that both sides are counted.
    const { since, until } = Object.fromEntries(new URLSearchParams(window))
    const [from, to] = [since ?? String(START - 2 * YEAR), until ?? String(START + 2 * YEAR)]
    const period = `&since=${from}&until=${to}&base-since=${from}&base-until=${to}`
    const { range, base, complete } = JSON.parse((await get(asked, 'compare', `${asked.log}${period}`)).body)
    expect(base.records).toBe(range.records)
    return complete ? new Array(range.records) : null
  },
  async 'tail in a terminal'(asked, window) {
    return idsIn(await inTerminal('tail', asked, window, { lines: ['100000'] }))
  },
  async 'grep in a terminal'(asked, window) {
    return idsIn(await inTerminal('grep', asked, window))
  },
  async histogram(asked, window) {
    return countOf((await get(asked, 'histogram', `${asked.log}${window}`)).body)
  },
  async 'histogram of errors'(asked, window) {
    return countOf((await get(asked, 'histogram', `${asked.log}&level=error${window}`)).body)
  },
}

function countOf(body: string): number[] | null {
  const { buckets, complete } = JSON.parse(body) as { buckets: { counts: number[] }[]; complete: boolean }
  return complete ? new Array(buckets.flatMap(({ counts }) => counts).reduce((a, b) => a + b, 0)) : null
}

/** Instants at which something changes, and the open ends. */
function instantsOf(records: readonly Step[], random: (below: number) => number): (number | null)[] {
  const times = records.map(({ time }) => time)
  const some = Array.from({ length: 4 }, () => times[random(times.length)]! + random(3) - 1)
  return [null, ...some, Math.min(...times), Math.max(...times)]
}

/** Checks what a resource says about a range of time. */
async function check(name: string, asked: Asked, [since, until]: [number | null, number | null]) {
  const where = `${name} of ${asked.log} ${windowOf(since, until)}`
  const found = await RESOURCES[name]!(asked, windowOf(since, until))
  if (found === null) return false
  const isError = name === 'histogram of errors'
  const expected = idsOf(selected(asked.records, since, until)).filter((id) => !isError || id % 4 === 0)
  if (/histogram|fields|groups|compare/.test(name)) expect(found.length, where).toBe(expected.length)
  else if (asked.isMerged)
    expect(
      [...found].sort((a, b) => a - b),
      where,
    ).toEqual(expected)
  else expect(found, where).toEqual(expected)
  return true
}

describe.each(Object.keys(KINDS))('a range of time in a log of the kind "%s"', (kind) => {
  it.each(Object.keys(SHAPES))('whose times are: %s', async (shape) => {
    const random = wholes(shape.length * 7 + kind.length)
    const records = recordsOf(SHAPES[shape]!(120))
    const asked = await KINDS[kind]!(records)
    const instants = instantsOf(records, random)
    for (const name of Object.keys(RESOURCES))
      for (let n = 0; n < 2; n++) {
        const range = [instants[random(instants.length)]!, instants[random(instants.length)]!]
        const [since, until] = range
        if (since !== null && until !== null && since! >= until!) range.reverse()
        if (range[0] === range[1] && range[0] !== null) continue
        expect(await check(name, asked, range as [number | null, number | null])).toBe(true)
      }
  })
})

describe('a range of time that costs more than one request may', () => {
  const records = recordsOf(stepped(1500, [[0.5, -HOUR]], 10 * SECOND), 200)
  const limits = { scanBytes: 100_000 }

  it.each(['file', 'plain family', 'segments', 'merged'])('is found by going on: %s', async (kind) => {
    const asked = await KINDS[kind]!(records, limits)
    const middle = records[750]!.time
    for (const name of ['view', 'pages back', 'pages forth', 'export'])
      for (const range of [
        [middle + HOUR / 4, middle + HOUR / 2],
        [middle + HOUR / 4, null],
        [null, middle + HOUR / 4],
      ] as [number | null, number | null][])
        expect(await check(name, asked, range)).toBe(true)
    // What is counted is all of it, or said to be a part.
    for (const name of ['histogram', 'fields'])
      await check(name, asked, [middle + HOUR / 4, middle + HOUR / 2])
  })
})

it.each(['file', 'archive', 'plain family'])(
  'records without a time go with the one before: %s',
  async (kind) => {
    const made = stepped(8000, [[0.5, -HOUR]], 2 * SECOND).map((time, i) => {
      const stamp = i % 3 === 0 ? `"time":"${new Date(time).toISOString()}",` : ''
      return { time: 0, text: `{${stamp}"level":"info","msg":"number ${i} ${'.'.repeat(400)}"}\n`, own: time }
    })
    const records = made.map(({ text }, i) => ({ text, time: made[i - (i % 3)]!.own }))
    const asked = await KINDS[kind]!(records)
    const middle = made[3999]!.own
    for (const name of ['view', 'export', 'histogram', 'pages back'])
      for (const range of [
        [middle - HOUR / 2, middle - HOUR / 3],
        [middle - HOUR / 2, null],
        [null, middle - HOUR / 2],
      ] as [number | null, number | null][])
        expect(await check(name, asked, range)).toBe(true)
  },
)

describe('three logs that were answered wrongly', () => {
  const at = (time: string) => Date.parse(`2026-11-15T${time}Z`)
  const made = (...times: string[]) => recordsOf(times.map(at))
  const half = at('01:30:00')

  it.each(Object.keys(RESOURCES))('an archive of two records: %s', async (name) => {
    const asked = await KINDS.archive!(made('01:00:05', '00:00:05'))
    expect(await check(name, asked, [at('00:30:00'), null])).toBe(true)
    expect(await check(name, asked, [null, at('00:30:00')])).toBe(true)
  })

  it.each(Object.keys(RESOURCES))('a family whose second file steps back: %s', async (name) => {
    const records = made('00:50:00', '01:00:00', '02:00:00', '02:00:01', '01:00:30', '01:00:31', '02:00:02')
    const asked = twoFiles(records, 2)
    expect(await check(name, asked, [null, half])).toBe(true)
    expect(await check(name, asked, [half, null])).toBe(true)
  })

  it.each(Object.keys(RESOURCES))('a file that ends before it began: %s', async (name) => {
    const records = made('02:00:00', '02:00:01', '01:00:00', '01:00:01')
    for (const kind of ['file', 'merged', 'fleet']) {
      const asked = await KINDS[kind]!(records)
      expect(await check(name, asked, [null, half])).toBe(true)
      expect(await check(name, asked, [half, null])).toBe(true)
    }
  })
})
