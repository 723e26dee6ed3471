import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { fsStore } from '../../../src/store/fs.ts'
import { s3Store } from '../../../src/store/s3.ts'
import { createApp } from '../../support/app.ts'
import { type Bucket, KEYS, lineAt, next, shippedBucket } from './bucket.ts'

const MINUTE = 60_000
let bucket: Bucket | undefined
afterEach(() => bucket?.server.close())

/** What a tail must be. */
const tailOf = (text: string, size: number) =>
  text.length <= size ? text : text.slice(text.indexOf('\n', text.length - size - 1) + 1)

describe('a joined log', () => {
  it.each(Object.keys(KEYS).flatMap((shipper) => [false, true].map((gzip) => [shipper, gzip] as const)))(
    'of %s (gzip: %s) is listed, read, filtered and paged as one text',
    async (shipper, gzip) => {
      bucket = await shippedBucket(shipper, { count: 60, step: 7 * MINUTE, lines: 20, gzip })
      const { ask, server } = bucket
      const text = bucket.text()
      server.put('app/readme.txt', 'not a log\n')
      server.put('other.log', 'other\n')
      const stored = [...server.objects].filter(
        ([key]) => (key.startsWith('app/') && !key.endsWith('.txt')) || key.includes('ls.s3'),
      )
      const list = await ask('/api/v1/log/list')
      expect(JSON.parse(list.body)).toEqual([
        { name: 'app', size: stored.reduce((sum, [, { size }]) => sum + size, 0) },
        { name: 'app/readme.txt', size: 10 },
        { name: 'other.log', size: 6 },
      ])
      expect(list.response.headers.get('X-Nodestate-Note')).toBeNull()
      expect((await ask('/api/v1/log/view?file=app&size=5000')).body).toBe(tailOf(text, 5000))
      expect((await ask('/api/v1/log/view?file=app&size=100000000')).body).toBe(text)
      expect((await ask('/api/v1/log/view?file=app&lines=333')).body).toBe(
        text.split('\n').slice(-334).join('\n'),
      )
      expect((await ask('/api/v1/log/view?file=other.log')).body).toBe('other\n')
      expect((await ask('/api/v1/log/view?file=app/readme.txt')).body).toBe('not a log\n')
      const errors = text.split('\n').filter((line) => line.includes('\terror'))
      expect((await ask('/api/v1/log/view?file=app&level=error')).body).toBe(`${errors.join('\n')}\n`)
      const hit = await ask('/api/v1/log/view?file=app&q=object%2000003%20line%20007%20')
      expect(hit.body.split('\n').length).toBe(2)
      // Page by page, backwards: all of it, once.
      let pages = ''
      for (let path: string | null = '/api/v1/log/view?file=app&size=9000'; path; ) {
        const { response, body } = await ask(path)
        expect(response.status).toBe(200)
        pages = body + pages
        const prev: string | undefined = /<(\?[^>]*)>; rel="prev"/.exec(
          response.headers.get('Link') ?? '',
        )?.[1]
        path = prev ? `/api/v1/log/view${prev}` : null
      }
      expect(pages).toBe(text)
      // A period, across objects.
      const lines = text.split('\n').slice(0, -1)
      const [from, to] = [lines[400]!, lines[700]!].map((line) => line.slice(0, 23))
      const window = await ask(
        `/api/v1/log/view?file=app&size=10000000&since=${encodeURIComponent(from!)}&until=${encodeURIComponent(to!)}`,
      )
      expect(window.body).toBe(`${lines.slice(400, 700).join('\n')}\n`)
    },
  )

  it('gives new objects as new lines after a cursor', async () => {
    bucket = await shippedBucket('Fluent Bit', { count: 10, step: MINUTE })
    const { ask, server } = bucket
    const first = await ask('/api/v1/log/view?file=app&size=1000')
    const next = /<(\?[^>]*)>; rel="next"/.exec(first.response.headers.get('Link')!)![1]
    expect((await ask(`/api/v1/log/view${next}`)).body).toBe('')
    const time = Date.UTC(2026, 10, 15, 10, 1, 0)
    server.put(KEYS['Fluent Bit']!('app', time, 11), lineAt(time, 'new'))
    server.put(KEYS['Fluent Bit']!('app', time + MINUTE, 12), lineAt(time + MINUTE, 'newer'))
    expect((await ask(`/api/v1/log/view${next}`)).body).toBe(
      lineAt(time, 'new') + lineAt(time + MINUTE, 'newer'),
    )
  })

  it('is followed: every new object is new lines', async () => {
    bucket = await shippedBucket('Vector', { count: 3, step: MINUTE, gzip: true })
    const { app, server } = bucket
    const leave = new AbortController()
    const response = await app.request('/api/v1/log/view?file=app&follow=true&lines=1', {
      signal: leave.signal,
    })
    expect(response.status).toBe(200)
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ''
    const until = async (text: string) => {
      while (!seen.includes(text)) seen += await next(reader)
    }
    await until('object 00002')
    const time = Date.UTC(2026, 10, 15, 10, 1, 0)
    server.put(KEYS.Vector!('app', time, 11), lineAt(time, 'new'))
    await until(lineAt(time, 'new'))
    server.put(KEYS.Vector!('app', time + 24 * 60 * MINUTE, 12), gzipSync(lineAt(time, 'next day')))
    await until('next day')
    expect(seen).toBe(bucket.text(2) + lineAt(time, 'new') + lineAt(time, 'next day'))
    leave.abort()
  })

  it('is followed: who comes back to an object that has expired is told, and gets what is new', async () => {
    bucket = await shippedBucket('Vector', { count: 3, step: MINUTE })
    const { app, server } = bucket
    const view = await app.request('/api/v1/log/view?file=app&lines=2')
    const [, after] = /after=([^&>]+)[^>]*>; rel="next"/.exec(view.headers.get('Link')!)!
    const end = Date.UTC(2026, 10, 15, 10, 0, 0)
    server.objects.delete(KEYS.Vector!('app', end - MINUTE, 2))
    const leave = new AbortController()
    const response = await app.request(`/api/v1/log/view?file=app&follow=true&after=${after}`, {
      headers: { Accept: 'text/event-stream' },
      signal: leave.signal,
    })
    expect(response.status).toBe(200)
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ''
    const until = async (text: string) => {
      while (!seen.includes(text)) seen += await next(reader)
    }
    await until('event: gap')
    server.put(KEYS.Vector!('app', end + MINUTE, 11), lineAt(end + MINUTE, 'new'))
    await until('new')
    expect([...seen.matchAll(/^data: .*: (.*)$/gm)].map(([, text]) => text)).toEqual(['new'])
    leave.abort()
  })

  it.each(['Vector', 'Firehose', 'Logstash'])(
    'is followed: an object of %s that arrives late is sent, once',
    async (shipper) => {
      bucket = await shippedBucket(shipper, { count: 30, step: MINUTE })
      const { app, server } = bucket
      const start = Date.UTC(2026, 10, 15, 10, 0, 0)
      const put = (minutes: number, text: string) => {
        const time = start + minutes * MINUTE
        server.put(KEYS[shipper]!('app', time, 100 + minutes), lineAt(time, text, 'error'))
      }
      const follow = async (query: string, headers: Record<string, string> = {}) => {
        const leave = new AbortController()
        const response = await app.request(`/api/v1/log/view?file=app&follow=true&${query}`, {
          signal: leave.signal,
          headers,
        })
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
        const follower = { seen: '', leave: () => leave.abort(), until: async (_text: string) => {} }
        follower.until = async (text) => {
          while (!follower.seen.includes(text)) follower.seen += await next(reader)
        }
        return follower
      }
      const plain = await follow('lines=0')
      const records = await follow('lines=0&format=ndjson&level=error')
      const events = await follow('lines=0', { Accept: 'text/event-stream' })
      const each = async (text: string) => {
        for (const follower of [plain, records, events]) await follower.until(text)
      }
      await events.until('hello')
      put(5, 'newest')
      await each('newest')
      // Before and after the first object that was sent, and one that is too late.
      put(-3, 'old and delayed')
      put(2, 'late')
      put(-25, 'beyond reach')
      await each('old and delayed')
      await each('late')
      put(6, 'last')
      await each('last')
      const texts = [...plain.seen.matchAll(/: (.*)\n/g)].map(([, text]) => text)
      expect(texts).toEqual(['newest', 'old and delayed', 'late', 'last'])
      expect([...records.seen.matchAll(/"message":"([^"]*)"/g)].map(([, text]) => text)).toEqual(texts)
      expect([...events.seen.matchAll(/^data: .*: (.*)$/gm)].map(([, text]) => text)).toEqual(texts)
      // The place of a client is after the newest object, so nothing is repeated when it comes again.
      const id = /^id: (.*)\ndata: .*: late$/m.exec(events.seen)![1]!
      const again = await follow('lines=0', { Accept: 'text/event-stream', 'Last-Event-ID': id })
      await again.until('last')
      expect([...again.seen.matchAll(/^data: .*: (.*)$/gm)].map(([, text]) => text)).toEqual(['last'])
      for (const follower of [plain, records, events, again]) follower.leave()
    },
    30_000,
  )

  it('is named by its place where that is a dated folder itself, and joined in directories, too', async () => {
    bucket = await shippedBucket('Firehose', { count: 3, step: MINUTE, log: 'home/db-4' })
    const { server } = bucket
    const logs = s3Store({ bucket: 'logs', endpoint: server.endpoint, prefix: 'home/db-4' })
    const directory = mkdtempSync(join(tmpdir(), 'nodestate-join-'))
    try {
      for (const [key, object] of server.objects) {
        const path = join(directory, key.slice('home/db-4/'.length))
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, object.read(0, object.size))
      }
      writeFileSync(join(directory, 'plain.log'), 'plain\n')
      for (const store of [logs, fsStore(directory, { nested: true })]) {
        const app = createApp({ logs: store, config: '', join: 'db-4' })
        const names = (await (await app.request('/api/v1/log/list')).json()).map(
          ({ name }: { name: string }) => name,
        )
        expect(names).toEqual(store === logs ? ['db-4'] : ['db-4', 'plain.log'])
        expect(await (await app.request('/api/v1/log/view?file=db-4')).text()).toBe(bucket.text())
      }
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('has a size as far as 12 requests tell, and the next list goes on from there', async () => {
    bucket = await shippedBucket('Fluent Bit', { count: 20_000, step: 4 * MINUTE })
    const size = bucket.text(0, 1).length
    const first = await bucket.ask('/api/v1/log/list')
    expect(first.response.headers.get('X-Nodestate-Note')).toBe('size-partial')
    expect(JSON.parse(first.body)[0].size).toBeLessThan(20_000 * size)
    expect(first.requests).toBeLessThanOrEqual(16)
    const fresh = createApp({ logs: bucket.store, config: '', join: true })
    for (let i = 0; i < 2; i++) {
      const answer = await fresh.request('/api/v1/log/list')
      const [{ size: sum }] = JSON.parse(await answer.text())
      expect(answer.headers.get('X-Nodestate-Note')).toBe(i === 0 ? 'size-partial' : null)
      if (i === 1) expect(sum).toBe(20_000 * size)
      await new Promise((resolve) => setTimeout(resolve, 1100))
    }
  })

  it('reads the end of 10,000 objects in few requests, and fewer when asked again', async () => {
    bucket = await shippedBucket('Fluent Bit', { count: 10_000, step: 4 * MINUTE, lines: 500, gzip: false })
    const size = 256 * 1024
    const first = await bucket.ask(`/api/v1/log/view?file=app&size=${size}`)
    expect(first.body).toBe(tailOf(bucket.text(9_900), size))
    expect(first.requests).toBeLessThanOrEqual(12)
    expect(first.trips).toBeLessThanOrEqual(8)
    const second = await bucket.ask(`/api/v1/log/view?file=app&size=${size}`)
    expect(second.body).toBe(first.body)
    expect(second.requests).toBeLessThan(first.requests)
    const since = new Date(Date.UTC(2026, 9, 25, 10, 0)).toISOString()
    const until = new Date(Date.UTC(2026, 9, 25, 10, 10)).toISOString()
    const window = await bucket.ask(`/api/v1/log/view?file=app&since=${since}&until=${until}`)
    const isInside = (line: string) => line >= '2026-10-25 10:00' && line < '2026-10-25 10:10'
    expect(window.body).toBe(`${bucket.text(2300, 2700).split('\n').filter(isInside).join('\n')}\n`)
    expect(window.trips).toBeLessThanOrEqual(12)
    const absent = await bucket.ask('/api/v1/log/view?file=no.log')
    expect(absent.response.status).toBe(404)
    expect(
      (await bucket.ask('/api/v1/log/view?file=app/2026/11/15/09/56/00-object00009999')).response.status,
    ).toBe(404)
  })
})
