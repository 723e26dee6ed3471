import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/doors/client.ts'
import { cleanUp, lastingPort, type Program, serve, temporaryDirectory } from '../program.ts'

/** Each node writes another format, in another zone. */
const NODES = [
  {
    id: 'db-1',
    zone: 'UTC',
    line: (at: number, i: number) => `${stamp(at)}\tINFO\ta.go:1\t[A] [B]: db-1 record ${i}\n`,
  },
  {
    id: 'db-2',
    zone: 'Asia/Tokyo',
    line: (at: number, i: number) => `${stamp(at + 9 * HOUR).replace('.', ',')} INFO db-2 record ${i}\n`,
  },
  {
    id: 'db-3',
    zone: '-05:00',
    line: (at: number, i: number) =>
      `${JSON.stringify({ time: new Date(at).toISOString(), level: 'info', msg: `db-3 record ${i}` })}\n`,
  },
]
const HOUR = 3_600_000
const START = Date.parse('2026-11-14T02:00:00Z')
const RECORDS = 300
const stamp = (at: number) => new Date(at).toISOString().replace('T', ' ').slice(0, 23)
const timeOf = (node: number, i: number) => START + i * 1000 + node * 250
const lineOf = (node: number, i: number) => NODES[node]!.line(timeOf(node, i), i)

interface Node {
  program: Program
  logs: string
  port: number
}

const nodes: Node[] = []
let coordinator: Program

async function start(node: number, logs = nodes[node]!.logs): Promise<Program> {
  const { port } = nodes[node]!
  return serve([
    '--logs',
    logs,
    '--port',
    String(port),
    '--timezone',
    NODES[node]!.zone,
    '--token-file',
    tokenFile,
  ])
}

let tokenFile = ''

beforeAll(async () => {
  tokenFile = join(temporaryDirectory(), 'token')
  writeFileSync(tokenFile, 'peer-secret\n')
  for (const [i] of NODES.entries()) {
    const logs = temporaryDirectory()
    writeFileSync(join(logs, 'a.log'), Array.from({ length: RECORDS }, (_, n) => lineOf(i, n)).join(''))
    nodes.push({ logs, port: await lastingPort(), program: undefined as unknown as Program })
    nodes[i]!.program = await start(i)
  }
  const flags = NODES.flatMap(({ id }, i) => ['--peer', `${id}=http://127.0.0.1:${nodes[i]!.port}`])
  coordinator = await serve([...flags, '--peer-token-file', tokenFile, '--port', '0'])
}, 120_000)

afterAll(cleanUp)

interface Seen {
  records: string[]
  missing: Set<string>
}

/** Every record of all nodes, page by page, oldest first whichever way they are read. */
async function paged(direction: 'prev' | 'next', query = ''): Promise<Seen> {
  const seen: Seen = { records: [], missing: new Set() }
  const first = direction === 'next' ? '&first=70' : '&lines=70'
  let search: string | null = `?node=*&file=a.log&format=ndjson${first}${query}`
  for (let pages = 0; search !== null; pages++) {
    const response: Response = await fetch(`${coordinator.url.replace(/\/$/, '')}/api/v1/log/view${search}`)
    expect(response.status).toBe(200)
    const lines = (await response.text()).split('\n').filter((line) => line !== '')
    const found = lines.map((line) => {
      const { message, node } = JSON.parse(line)
      return `${node}: ${message}`
    })
    if (direction === 'prev') seen.records.unshift(...found)
    else seen.records.push(...found)
    for (const part of (response.headers.get('X-Nodestate-Missing') ?? '').split(', '))
      if (part !== '') seen.missing.add(part.split(/[/;]/)[0]!)
    const links: string = response.headers.get('Link') ?? ''
    search = new RegExp(`<([^>]*)>; rel="${direction}"`).exec(links)?.[1] ?? null
    if (direction === 'next' && found.length === 0) search = null
    expect(pages).toBeLessThan(100)
  }
  return seen
}

/** Every record of a node exactly once, or the node is named. */
function expectWhole({ records, missing }: Seen, counts = NODES.map(() => RECORDS)): void {
  expect(new Set(records).size).toBe(records.length)
  for (const [i, { id }] of NODES.entries()) {
    const own = records.filter((record) => record.startsWith(`${id}:`))
    if (!missing.has(id)) expect(own.length, id).toBe(counts[i])
    expect(own.map((record) => Number(record.split(' ').at(-1)))).toEqual(
      own.map((record) => Number(record.split(' ').at(-1))).sort((a, b) => a - b),
    )
  }
}

describe('three real nodes and a coordinator', () => {
  it('give one timeline over formats and zones, in both directions', async () => {
    for (const direction of ['prev', 'next'] as const) {
      const seen = await paged(direction)
      expect(seen.missing.size).toBe(0)
      expectWhole(seen)
      const expected = Array.from({ length: RECORDS }, (_, n) =>
        NODES.map(({ id }) => `${id}: ${id} record ${n}`),
      ).flat()
      expect(seen.records.map((record) => record.replace(/: .*(db-\d record)/, ': $1'))).toEqual(expected)
    }
  })

  it('export all of it', async () => {
    const response = await fetch(
      `${coordinator.url}/api/v1/log/view?node=*&file=a.log&format=ndjson&download=true`,
    )
    expect((await response.text()).trim().split('\n')).toHaveLength(3 * RECORDS)
  })

  it('go on while a log rotates and is followed', async () => {
    const { logs } = nodes[0]!
    const client = createClient({ base: coordinator.url })
    const ended = new AbortController()
    const followed: string[] = []
    const following = (async () => {
      const query = { node: '*', file: 'a.log', lines: 1 }
      for await (const event of client.follow(query, { json: true, signal: ended.signal }))
        if (event.type === 'record') followed.push(String(event.data.message))
    })().catch(() => {})
    await until(() => followed.length > 0)
    for (let i = 0; i < 5; i++) appendFileSync(join(logs, 'a.log'), lineOf(0, RECORDS + i))
    renameSync(join(logs, 'a.log'), join(logs, 'a.log.1'))
    for (let i = 5; i < 10; i++) appendFileSync(join(logs, 'a.log'), lineOf(0, RECORDS + i))
    appendFileSync(join(nodes[1]!.logs, 'a.log'), lineOf(1, RECORDS))
    const expected = [
      ...Array.from({ length: 10 }, (_, i) => `db-1 record ${RECORDS + i}`),
      `db-2 record ${RECORDS}`,
    ]
    await until(() => expected.every((record) => followed.some((message) => message.endsWith(record))))
    ended.abort()
    await following
    for (const record of expected)
      expect(
        followed.filter((message) => message.endsWith(record)),
        record,
      ).toHaveLength(1)
    for (const direction of ['prev', 'next'] as const)
      expectWhole(await paged(direction), [RECORDS + 10, RECORDS + 1, RECORDS])
  })

  it('name one that is stopped, and answer soon', async () => {
    nodes[1]!.program.child.kill('SIGSTOP')
    try {
      const seen = await paged('prev')
      expect([...seen.missing]).toEqual(['db-2'])
      expectWhole(seen, [RECORDS + 10, RECORDS + 1, RECORDS])
      const metrics = await (await fetch(`${coordinator.url}/metrics`)).text()
      expect(metrics).toMatch(/nodestate_peer_up\{node="db-2"\} 0/)
      expect(metrics).toMatch(/nodestate_peer_up\{node="db-1"\} 1/)
    } finally {
      nodes[1]!.program.child.kill('SIGCONT')
    }
    await until(async () => (await paged('prev')).missing.size === 0)
  })

  it('name one that is killed, and read it again when it comes back with other logs', async () => {
    const { program } = nodes[1]!
    program.child.kill('SIGKILL')
    await program.exited
    const without = await paged('prev')
    expect([...without.missing]).toEqual(['db-2'])
    expectWhole(without, [RECORDS + 10, 0, RECORDS])
    expect((await fetch(`${coordinator.url}/readyz`)).status).toBe(200)
    const logs = join(nodes[1]!.logs, 'other')
    mkdirSync(logs)
    writeFileSync(join(logs, 'a.log'), lineOf(1, 7) + lineOf(1, 8))
    nodes[1]!.program = await start(1, logs)
    await until(async () => (await paged('prev')).missing.size === 0)
    for (const direction of ['prev', 'next'] as const)
      expectWhole(await paged(direction), [RECORDS + 10, 2, RECORDS])
  })
})

/** Waits until something holds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if (await holds()) return
    await sleep(100)
  }
  throw new Error('It did not happen in time')
}
