import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serverEvents } from '../../src/doors/client/events.ts'
import { createClient, type FollowEvent, ProblemError, UnreachableError } from '../../src/doors/client.ts'
import { fsStore } from '../../src/store/fs.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp } from '../support/app.ts'

const LOG = Array.from(
  { length: 100 },
  (_, i) => `2026-11-15 02:10:00.${100 + i}\t${i % 10 ? 'INFO' : 'ERROR'}\tx.go:1\t[A]: line ${i}\n`,
).join('')
const node = {
  hostIp: '10.0.0.7',
  hostName: 'db-4',
  grpcPort: 9001,
  httpPort: 9000,
  version: '1.2.3',
  onlineTime: 1700000000000,
}

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** A server on a free port; its address. */
async function listen(server: Server): Promise<string> {
  servers.push(server)
  if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function realNode(options: { token?: string } = {}): Promise<string> {
  const logs = memoryStore({ 'broker.log': LOG, 'a b+c%d&é.log': 'odd\n' })
  const app = createApp({ logs, config: 'a = 1\n', node, ...options })
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
  await new Promise((resolve) => server.once('listening', resolve))
  return listen(server)
}

type Script = (request: IncomingMessage, response: ServerResponse, nth: number) => void

/** A server that does what the test says, for what a real node does only on a bad day. */
async function scripted(script: Script): Promise<string> {
  let nth = 0
  return listen(createServer((request, response) => script(request, response, nth++)))
}

describe('createClient', () => {
  it('reads configuration, list and text', async () => {
    const client = createClient({ base: await realNode() })
    expect(await client.config()).toEqual({ config: 'a = 1\n', node })
    expect((await client.list()).entries.map((file) => file.name)).toEqual(['a b+c%d&é.log', 'broker.log'])
    expect((await client.view({ file: 'a b+c%d&é.log' })).content).toBe('odd\n')
    expect((await client.view({ file: 'broker.log', size: 0 })).content).toBe('')
  })

  it('pages back through a log and forward again, whole', async () => {
    const client = createClient({ base: await realNode() })
    const pages: string[] = []
    let page = await client.view({ file: 'broker.log', size: 500 })
    const last = page.next
    pages.unshift(page.content)
    let oldest = page
    while (page.prev !== null) {
      page = await client.view({ file: 'broker.log', size: 500, before: page.prev })
      pages.unshift(page.content)
      oldest = page
    }
    expect(pages.join('')).toBe(LOG)
    expect(pages.length).toBeGreaterThan(5)
    let forward = oldest.content
    for (let next = oldest.next; forward.length < LOG.length; ) {
      const more = await client.view({ file: 'broker.log', size: 700, after: next! })
      expect(more.content).not.toBe('')
      forward += more.content
      next = more.next
    }
    expect(forward).toBe(LOG)
    expect((await client.view({ file: 'broker.log', after: last! })).content).toBe('')
  })

  it('asks for what is narrowed', async () => {
    const client = createClient({ base: await realNode() })
    const view = await client.view({ file: 'broker.log', level: 'error', q: 'line 9', lines: 5 })
    expect(view.content.match(/line \d+/g)).toEqual(['line 90'])
    expect(view.complete).toBe(true)
  })

  it('sends each of several conditions, and asks for fields, nodes and exports by their names', async () => {
    const asked: string[] = []
    const base = await scripted((request, response) => {
      const url = new URL(request.url!, 'http://node')
      asked.push(request.url!)
      if (url.pathname.endsWith('/nodes') && !url.searchParams.get('after')) {
        response.setHeader('Link', '<?limit=1000&after=db-1>; rel="next"')
        response.end('[{"id":"db-1"}]')
      } else if (url.pathname.endsWith('/nodes')) response.end('[{"id":"db-2"}]')
      else response.end('{}')
    })
    const client = createClient({ base })
    await client.fields({ file: 'a.log', not: ['x', 'y'], where: 'shard:17' })
    expect((await client.nodes()).entries).toEqual([{ id: 'db-1' }, { id: 'db-2' }])
    const { body } = await client.export({ file: 'a.log', q: ['a', 'b'] }, 'ndjson')
    await new Response(body).text()
    await client.config({ detail: true })
    expect(asked).toEqual([
      '/api/v1/log/fields?file=a.log&not=x&not=y&where=shard%3A17',
      '/api/v1/nodes?limit=1000',
      '/api/v1/nodes?limit=1000&after=db-1',
      '/api/v1/log/view?file=a.log&q=a&q=b&download=true&format=ndjson',
      '/api/v1/config?detail=true',
    ])
  })

  it('works under any path', async () => {
    const base = await realNode()
    const seen: string[] = []
    const client = createClient({
      base: `${base}/proxy/db-4?x=1#y`,
      fetch: (input, init) => {
        seen.push(String(input))
        return fetch(String(input).replace('/proxy/db-4', ''), init)
      },
    })
    await client.list()
    expect(seen).toEqual([`${base}/proxy/db-4/api/v1/log/list`])
  })

  it('sends the token, as it is now, in a header alone', async () => {
    const base = await realNode({ token: 'open-sesame' })
    let token: string | null = null
    const client = createClient({ base, token: () => token })
    const refused = await client.list().catch((error) => error)
    expect(refused).toBeInstanceOf(ProblemError)
    expect([refused.status, refused.code]).toEqual([401, 'unauthorized'])
    token = 'open-sesame'
    expect((await client.list()).entries).toHaveLength(2)
  })

  it('throws problems as the node words them', async () => {
    const client = createClient({ base: await realNode() })
    const error = await client.view({ file: 'none.log' }).catch((each) => each)
    expect(error).toBeInstanceOf(ProblemError)
    expect(error).toMatchObject({ status: 404, code: 'unknown-file', title: 'No such log file' })
    expect(error.message.length).toBeGreaterThan(10)
  })

  it('tells a foreign answer from a problem', async () => {
    const base = await scripted((_, response) => response.writeHead(502).end('<h1>Bad gateway</h1>'))
    const error = await createClient({ base })
      .config()
      .catch((each) => each)
    expect(error).toMatchObject({ status: 502, code: 'foreign' })
    expect(error.message).not.toContain('<h1>')
  })

  it('tells a node that does not answer, and an answer that is cut', async () => {
    const base = await scripted((request, response) => {
      if (request.url!.includes('config')) request.socket.destroy()
      else {
        response.writeHead(200, { 'Content-Length': '1000' }).write('short')
        setTimeout(() => response.destroy(), 20)
      }
    })
    const client = createClient({ base })
    await expect(client.config()).rejects.toBeInstanceOf(UnreachableError)
    await expect(client.view({ file: 'x' })).rejects.toBeInstanceOf(UnreachableError)
  })

  it('gives an abort back as what it is', async () => {
    const base = await scripted(() => {})
    const abort = new AbortController()
    const asked = createClient({ base }).config({ signal: abort.signal })
    setTimeout(() => abort.abort(new Error('enough')), 20)
    await expect(asked).rejects.toThrow('enough')
  })
})

describe('what an answer lacks', () => {
  const lacking = {
    'X-Nodestate-Note': 'time-order, gap',
    'X-Nodestate-Missing': 'db-1/a%20b.log;storage-timeout, db-2;gone, +2',
  }
  const missing = [
    { name: 'db-1/a b.log', reason: 'storage-timeout' },
    { name: 'db-2', reason: 'gone' },
    { name: '+2', reason: '' },
  ]
  const notes = ['time-order', 'gap']
  const client = (body: string, headers: Record<string, string> = lacking) =>
    createClient({ base: 'http://node', fetch: async () => new Response(body, { headers }) })
  const query = { file: '*', node: '*' }

  it('is told with every value', async () => {
    expect(await client('{"step":1}').histogram(query)).toEqual({ step: 1, notes, missing })
    expect(await client('{"records":7}').fields(query)).toEqual({ records: 7, notes, missing })
    for (const name of ['list', 'history', 'nodes'] as const)
      expect(await client('[{"id":1}]')[name](), name).toEqual({ entries: [{ id: 1 }], notes, missing })
    const page = { prev: null, next: null, complete: true, settled: null, notes, missing }
    expect(await client('x').view(query)).toEqual({ content: 'x', ...page })
    expect(await client('{}\n').records(query)).toEqual({ content: [{}], ...page })
    expect(await client('x').download('a')).toMatchObject({ notes, missing })
    expect(await client('x').export(query, 'text')).toMatchObject({ notes, missing })
  })

  it('is empty in an answer that is whole', async () => {
    const whole = { notes: [], missing: [] }
    expect(await client('[]', {}).list()).toEqual({ entries: [], ...whole })
    expect(await client('{}', {}).histogram(query)).toEqual(whole)
    expect(await client('{}', {}).fields(query)).toEqual(whole)
  })

  it('has the nodes that a comparison lacks in the same form', async () => {
    const body = '{"nodes":["db-1"],"missing":{"db-9":"no-config","db-8":"budget"},"keys":[]}'
    expect(await client(body, { 'X-Nodestate-Note': 'gap' }).compareConfig('*')).toEqual({
      nodes: ['db-1'],
      keys: [],
      notes: ['gap'],
      missing: [
        { name: 'db-9', reason: 'no-config' },
        { name: 'db-8', reason: 'budget' },
      ],
    })
  })

  it('begins each connection of a follow', async () => {
    for await (const event of client('').follow(query)) {
      expect(event).toEqual({ type: 'open', notes, missing })
      break
    }
  })
})

describe('lists', () => {
  /** Pages of two, each with its notes; the last one may say that it is cut, too. */
  const paged = (last: string) => {
    const asked: string[] = []
    const names = ['a', 'b', 'c', 'd', 'e']
    const client = createClient({
      base: 'http://node',
      fetch: async (input) => {
        const { searchParams, search } = new URL(String(input))
        asked.push(search)
        const from = names.findIndex((name) => name > (searchParams.get('after') ?? ''))
        const page = names.slice(from, from + 2)
        const isLast = from + 2 >= names.length
        const headers = {
          'X-Nodestate-Note': isLast ? last : `list-cut, size-partial`,
          'X-Nodestate-Missing': `db-${from};gone, db-9;gone`,
          ...(!isLast && { Link: `<?after=${page.at(-1)}>; rel="next"` }),
        }
        return new Response(JSON.stringify(page.map((name) => ({ name, size: 1 }))), { headers })
      },
    })
    return { client, asked }
  }

  it.each([false, true])(
    'lists with detail=%s follow all pages, and tell the notes of each',
    async (isDetailed) => {
      const { client, asked } = paged('detail-incomplete')
      const { entries, notes, missing } = await (isDetailed
        ? client.list({ node: 'db-*', detail: true })
        : client.list({ node: 'db-*' }))
      expect(entries.map((file) => file.name)).toEqual(['a', 'b', 'c', 'd', 'e'])
      expect(notes).toEqual(['size-partial', 'detail-incomplete'])
      expect(missing.map((each) => each.name)).toEqual(['db-0', 'db-9', 'db-2', 'db-4'])
      expect(asked.map((search) => new URLSearchParams(search).get('after'))).toEqual([null, 'b', 'd'])
      for (const search of asked) expect(search).toContain(`node=db-*`)
      for (const search of asked) expect(search.includes('detail=true')).toBe(isDetailed)
    },
  )

  it('say that they are cut if the last page is', async () => {
    const { client } = paged('list-cut')
    expect((await client.list({ after: 'c' })).entries.map((file) => file.name)).toEqual(['d', 'e'])
    expect((await client.list()).notes).toEqual(['size-partial', 'list-cut'])
  })

  it('end where a page leads to itself, and stop when the signal aborts', async () => {
    const headers = { Link: '<?after=x>; rel="next"' }
    const stuck = createClient({
      base: 'http://node',
      fetch: async () => Response.json([{ id: 1 }], { headers }),
    })
    expect((await stuck.nodes()).entries).toHaveLength(2)
    const abort = new AbortController()
    let pages = 0
    const endless = createClient({
      base: 'http://node',
      fetch: async (_, init) => {
        init?.signal?.throwIfAborted()
        if (++pages === 3) abort.abort(new Error('enough'))
        return Response.json([], { headers: { Link: `<?after=${pages}>; rel="next"` } })
      },
    })
    await expect(endless.list({ signal: abort.signal })).rejects.toThrow('enough')
    expect(pages).toBe(3)
  })

  it('have all files of a node that answers in parts', async () => {
    const names = Array.from({ length: 10_050 }, (_, i) => `f${String(i).padStart(5, '0')}.log`)
    const logs = memoryStore(Object.fromEntries(names.map((name) => [name, 'x\n'])))
    const app = createApp({ logs, config: '', node })
    const client = createClient({ base: 'http://node', fetch: async (url, init) => app.request(url, init) })
    const { entries, notes } = await client.list({ detail: true })
    expect(entries.map((file) => file.name)).toEqual(names)
    expect(notes).not.toContain('list-cut')
    expect((await client.list()).entries).toHaveLength(names.length)
  })
})

describe('everything beyond the three operations, against a real node', () => {
  let directory: string
  let client: ReturnType<typeof createClient>
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'nodestate-client-'))
    writeFileSync(join(directory, 'broker.log'), LOG)
    const app = createApp({ logs: fsStore(directory), config: '', node, timezone: 'UTC' })
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
    await new Promise((resolve) => server.once('listening', resolve))
    client = createClient({ base: await listen(server) })
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('has the list in detail', async () => {
    const { entries, ...lacks } = await client.list({ detail: true })
    const [file] = entries
    expect(lacks).toEqual({ notes: [], missing: [] })
    expect(file).toMatchObject({ name: 'broker.log', size: LOG.length, kind: 'plain' })
    expect(Date.parse(file!.first!)).toBe(Date.UTC(2026, 10, 15, 2, 10, 0, 100))
    expect(Date.parse(file!.last!)).toBe(Date.UTC(2026, 10, 15, 2, 10, 0, 199))
    expect(Math.abs(Date.parse(file!.modified) - Date.now())).toBeLessThan(60_000)
  })

  it('has records, and lines to parse later', async () => {
    const query = { file: 'broker.log', level: 'error', lines: 2 } as const
    const { content } = await client.records(query)
    expect(content).toEqual(
      [80, 90].map((i) => ({
        time: `2026-11-15T02:10:00.${100 + i}Z`,
        level: 'error',
        source: { file: 'x.go', line: 1 },
        tags: ['A'],
        message: `line ${i}`,
      })),
    )
    const { content: lines } = await client.lines(query)
    expect(lines.map((line) => JSON.parse(line))).toEqual(content)
  })

  it('has the histogram', async () => {
    const found = await client.histogram({ file: 'broker.log', buckets: 10 })
    expect(found.complete).toBe(true)
    const sum = (level: string) => {
      const column = found.levels.indexOf(level)
      return found.buckets.reduce((all, bucket) => all + bucket.counts[column]!, 0)
    }
    expect([sum('error'), sum('info'), sum('fatal')]).toEqual([10, 90, 0])
  })

  it('has the file as it is', async () => {
    const { name, size, body } = await client.download('broker.log')
    expect([name, size]).toEqual(['broker.log', LOG.length])
    expect(await new Response(body).text()).toBe(LOG)
    await expect(client.download('none.log')).rejects.toMatchObject({ code: 'unknown-file' })
  })

  it('follows from a view on, through a rotation, and nothing is lost or told twice', async () => {
    const log = join(directory, 'broker.log')
    const { next } = await client.view({ file: 'broker.log', lines: 1 })
    const said: string[] = []
    let told = 0
    const entry = (i: number) => `2026-11-15 02:11:00.${100 + i}\tINFO\tx.go:1\t[A]: new ${i}\n`
    for await (const event of client.follow({ file: 'broker.log' }, { lastId: next, json: true })) {
      if (event.type === 'open') appendFileSync(log, entry(0))
      if (event.type === 'rotated') told++
      if (event.type !== 'record') continue
      said.push(event.data.message!)
      if (said.length === 1) {
        appendFileSync(log, entry(1))
        renameSync(log, `${log}.1`)
        writeFileSync(log, entry(2))
      }
      if (said.length === 3) break
    }
    expect(said).toEqual(['new 0', 'new 1', 'new 2'])
    expect(told).toBe(1)
  })
})

describe('follow', () => {
  const events = { 'Content-Type': 'text/event-stream' }

  /** Collects until this many records have arrived. */
  async function collect(
    base: string,
    records: number,
    { silence, onRecord = () => {} }: { silence?: number; onRecord?: () => void } = {},
  ): Promise<FollowEvent[]> {
    const seen: FollowEvent[] = []
    const client = createClient({ base })
    for await (const event of client.follow({ file: 'x.log' }, { backoff: 10, silence })) {
      seen.push(event)
      if (seen.filter((each) => each.type === 'record').length >= records) break
      if (event.type === 'record') onRecord()
    }
    return seen
  }

  it('resumes after the last id when the connection is lost', async () => {
    const asked: (string | undefined)[] = []
    let cut = () => {}
    const base = await scripted((request, response, nth) => {
      asked.push(request.headers['last-event-id'] as string | undefined)
      response.writeHead(200, events)
      response.write(`: heartbeat\n\nid: c${nth}\ndata: record ${nth}\n\n`)
      cut = () => void (nth % 2 ? response.end() : response.destroy())
    })
    const seen = await collect(base, 4, { onRecord: () => cut() })
    expect(asked).toEqual([undefined, 'c0', 'c1', 'c2'])
    expect(seen.flatMap((event) => (event.type === 'record' ? [event.data] : []))).toEqual([
      'record 0',
      'record 1',
      'record 2',
      'record 3',
    ])
    expect(seen.filter((event) => event.type === 'lost')).toHaveLength(3)
    expect(seen.filter((event) => event.type === 'open')).toHaveLength(4)
  })

  it('goes on without a word after an end in good order', async () => {
    let end = () => {}
    const base = await scripted((_, response, nth) => {
      response.writeHead(200, events).write(`id: ${nth}\ndata: record ${nth}\n\n`)
      end = () => void response.end()
    })
    // A connection that ends within a second was lost.
    const seen = await collect(base, 2, { onRecord: () => void setTimeout(end, 1200) })
    expect(seen.map((event) => event.type)).toEqual(['open', 'record', 'open', 'record'])
  })

  it('tells rotations, truncations and gaps', async () => {
    const base = await scripted((_, response) => {
      response.writeHead(200, events)
      response.write('event: rotated\ndata: {"file":"x.log"}\n\nevent: truncated\ndata\n\n')
      response.write('event: gap\ndata: 12 bytes\nid: g1\n\nevent: unheard\ndata: x\n\ndata: a\ndata: b\n\n')
    })
    expect((await collect(base, 1)).slice(1)).toEqual([
      { type: 'rotated', id: null, data: '{"file":"x.log"}' },
      { type: 'truncated', id: null, data: '' },
      { type: 'gap', id: 'g1', data: '12 bytes' },
      { type: 'record', id: 'g1', data: 'a\nb' },
    ])
  })

  it('has records, their JSON text, or the text of the log', async () => {
    const base = await scripted((_, response) => {
      response
        .writeHead(200, events)
        .write('id: 1\ndata: {"level":"warn","context":{"id":12345678901234567890}}\n\n')
    })
    const first = async (json: boolean | 'text') => {
      for await (const event of createClient({ base }).follow({ file: 'x' }, { json }))
        if (event.type === 'record') return event.data
    }
    const text = '{"level":"warn","context":{"id":12345678901234567890}}'
    expect(await first(true)).toEqual(JSON.parse(text))
    expect(await first('text')).toBe(text)
    expect(await first(false)).toBe(text)
  })

  it('throws where a node sends text instead of records, and skips none', async () => {
    let asked = 0
    const base = await scripted((_, response) => {
      asked++
      response.writeHead(200, events).write('id: 1\ndata: 2026 INFO old\n\n')
    })
    const read = async () => {
      for await (const event of createClient({ base }).follow({ file: 'x' }, { json: true, backoff: 1 }))
        expect(event.type).toBe('open')
    }
    await expect(read()).rejects.toMatchObject({ code: 'unsupported', status: 501 })
    expect(asked).toBe(1)
  })

  it('waits as long as a busy node asks, and goes on', async () => {
    const base = await scripted((_, response, nth) => {
      if (nth === 0) response.writeHead(503, { 'Retry-After': '0' }).end('{}')
      else response.writeHead(200, events).write('data: at last\n\n')
    })
    const seen = await collect(base, 1)
    expect(seen[0]).toMatchObject({ type: 'lost' })
    expect(seen.at(-1)).toMatchObject({ type: 'record', data: 'at last' })
  })

  it('takes a silent connection for a dead one', async () => {
    const base = await scripted((_, response, nth) => {
      response.writeHead(200, events)
      response.write(nth === 0 ? 'id: 1\ndata: one\n\n' : 'id: 2\ndata: two\n\n')
    })
    const seen = await collect(base, 2, { silence: 2000 })
    expect(seen.map((event) => event.type)).toEqual(['open', 'record', 'lost', 'open', 'record'])
  })

  it.each([400, 401, 404, 410, 501])('throws %i, which will not pass', async (status) => {
    const base = await scripted((_, response) => response.writeHead(status).end())
    await expect(collect(base, 1)).rejects.toMatchObject({ status })
  })

  it('ends when its signal aborts, in a connection and between two', async () => {
    const base = await scripted((_, response, nth) => {
      if (nth === 0) response.writeHead(200, events).write('data: x\n\n')
      else response.destroy()
    })
    const abort = new AbortController()
    const client = createClient({ base })
    let records = 0
    for await (const event of client.follow({ file: 'x' }, { signal: abort.signal })) {
      if (event.type !== 'record') continue
      records++
      setTimeout(() => abort.abort(), 10)
    }
    expect(records).toBe(1)
    const second = new AbortController()
    for await (const event of client.follow({ file: 'x' }, { signal: second.signal, backoff: 60_000 })) {
      expect(event.type).toBe('lost')
      setTimeout(() => second.abort(), 10)
    }
  })

  it('leaves the node when the loop is left', async () => {
    let closed!: () => void
    const gone = new Promise<void>((resolve) => {
      closed = resolve
    })
    const base = await scripted((request, response) => {
      request.socket.on('close', closed)
      response.writeHead(200, events).write('data: x\n\n')
    })
    await collect(base, 1)
    await gone
  })
})

describe('serverEvents', () => {
  const STREAM =
    '\ufeff: hi\r\nid: 1\r\ndata: é1\r\n\r\nid: 2\rdata: two\rdata:  lines\r\revent: e\ndata\nid\n\nid: 7\n\ndata: cut'

  it.each([1, 2, 3, 7, 1000])('does not depend on how the bytes come: %i at a time', async (size) => {
    const bytes = new TextEncoder().encode(STREAM)
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
        controller.close()
      },
    })
    const seen = []
    for await (const event of serverEvents(body)) seen.push(event)
    expect(seen).toEqual([
      { event: '', data: 'é1', id: '1' },
      { event: '', data: 'two\n lines', id: '2' },
      { event: 'e', data: '', id: null },
      { event: '', data: null, id: '7' },
    ])
  })
})
