import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { PeerOptions } from '../../../src/fleet/peer.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { shippedBucket } from '../../log/join/bucket.ts'
import { createApp, createFleet } from '../../support/app.ts'
import { NODE_JSON } from '../../support/node.ts'

const line = (second: number, text: string, level = 'INFO') =>
  `2026-11-16 02:41:${String(second).padStart(2, '0')}.000\t${level}\ta.go:1\t[A]: ${text}\n`
const LINES = Array.from({ length: 20 }, (_, i) =>
  i === 4 || i === 6 || i === 15 ? line(i, `bad ${i}`, 'ERROR') : line(i, `good ${i}`),
)

function service(files: Record<string, string | Uint8Array>) {
  const app = createApp({ logs: memoryStore(files), config: '' })
  return async (query: string) => {
    const response = await app.request(`http://localhost/api/v1/log/view?${query}`)
    const body = await response.text()
    const link = response.headers.get('Link') ?? ''
    const to = (rel: string) => new RegExp(`<\\?([^>]*)>; rel="${rel}"`).exec(link)?.[1] ?? null
    return { status: response.status, body, prev: to('prev'), next: to('next'), headers: response.headers }
  }
}

const get = service({ 'a.log': LINES.join(''), 'b.log': line(4, 'other') })
const some = (...numbers: number[]) => numbers.map((i) => LINES[i]).join('')

describe('context', () => {
  it('is the records around each match, each once, with a line between groups', async () => {
    expect((await get('file=a.log&level=error&context=1')).body).toBe(
      `${some(3, 4, 5, 6, 7)}--\n${some(14, 15, 16)}`,
    )
    expect((await get('file=a.log&level=error&context=0')).body).toBe(
      [some(4), some(6), some(15)].join('--\n'),
    )
    expect((await get('file=a.log&level=error&context=4')).body).toBe(LINES.join(''))
  })

  it('is marked in NDJSON, where the matches are as without it', async () => {
    const plain = (await get('file=a.log&level=error&format=ndjson')).body
    const { body } = await get('file=a.log&level=error&context=2&format=ndjson&raw=true')
    const records = body
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text))
    expect(records.map(({ match }) => match)).toEqual(
      [2, 3, 4, 5, 6, 7, 8, 13, 14, 15, 16, 17].map((i) => ([4, 6, 15].includes(i) ? undefined : false)),
    )
    expect(records[0]).toMatchObject({
      match: false,
      level: 'info',
      message: 'good 2',
      raw: LINES[2]!.trimEnd(),
    })
    const matches = records.filter(({ match }) => match !== false).map(({ raw, ...record }) => record)
    expect(matches).toEqual(
      plain
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text)),
    )
  })

  it('leaves `lines` to count matches, in pages that have each record once', async () => {
    for (const format of ['text', 'ndjson']) {
      const newest = await get(`file=a.log&level=error&context=1&lines=1&format=${format}&size=100000`)
      if (format === 'text') expect(newest.body).toBe(some(14, 15, 16))
      expect(newest.body.trimEnd().split('\n').length).toBe(3)
      const before = await get(newest.prev!)
      if (format === 'text') expect(before.body).toBe(some(5, 6, 7))
      else expect(before.body.trimEnd().split('\n').length).toBe(3)
      const first = await get(before.prev!)
      if (format === 'text') expect(first.body).toBe(some(3, 4))
      const again = await get(`file=a.log&level=error&context=1&first=1&format=${format}`)
      if (format === 'text') expect(again.body).toBe(some(3, 4, 5))
      if (format === 'text') expect((await get(again.next!)).body).toBe(some(6, 7))
    }
  })

  it('is bounded by `size`, with the lines between groups', async () => {
    const whole = (await get('file=a.log&level=error&context=1')).body
    for (let size = 1; size <= whole.length + 5; size += 41) {
      let all = ''
      for (let query: string | null = `file=a.log&level=error&context=1&size=${size}`; query; ) {
        const page = await get(query)
        expect(page.body.length).toBeLessThanOrEqual(size)
        all = page.body + all
        query = page.prev
      }
      expect(all.replaceAll('--\n', '')).toBe(whole.replaceAll('--\n', ''))
    }
  })

  it('stays within the times of the request', async () => {
    const day = '2026-11-16T02:41:'
    expect((await get(`file=a.log&level=error&context=3&since=${day}05Z&until=${day}08Z`)).body).toBe(
      some(5, 6, 7),
    )
  })

  it('is found in archives and in other encodings', async () => {
    const text = LINES.join('')
    const other = service({
      'a.log': LINES.slice(15).join(''),
      'a.log.1.gz': gzipSync(LINES.slice(5, 15).join('')),
      'a.log.2.gz': gzipSync(LINES.slice(0, 5).join('')),
      'wide.log': Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]),
    })
    const expected = `${some(3, 4, 5, 6, 7)}--\n${some(14, 15, 16)}`
    expect((await other('file=a.log&rotated=true&level=error&context=1')).body).toBe(expected)
    expect((await other('file=wide.log&level=error&context=1')).body).toBe(expected)
    const newest = await other('file=wide.log&level=error&context=1&lines=1')
    expect(newest.body).toBe(some(14, 15, 16))
    expect((await other(newest.prev!)).body).toBe(some(5, 6, 7))
  })

  it('is that of its own log in a timeline, where a line between groups has its name, too', async () => {
    const named = (text: string) => text.replace(/^/gm, 'a.log\t').replace(/a\.log\t$/, '')
    const { body } = await get('file=a.log&file=b.log&level=error&context=1')
    expect(body).toBe(`${named(some(3, 4, 5, 6, 7))}a.log\t--\n${named(some(14, 15, 16))}`)
    const newest = await get('file=*.log&level=error&context=1&lines=1&format=ndjson')
    expect(
      newest.body
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text).match),
    ).toEqual([false, undefined, false])
    expect((await get('file=*.log&level=error&context=1&lines=1')).body).toBe(named(some(14, 15, 16)))
    expect((await get('file=*.log&q=other&context=3')).body).toBe(`b.log\t${line(4, 'other')}`)
  })

  it('is found in the objects of a joined log, on every page', async () => {
    const bucket = await shippedBucket('Vector', { count: 12, step: 420_000, lines: 9, gzip: true })
    const lines = bucket.text().trimEnd().split('\n')
    const isMatch = (text: string) => text.includes('line 000') || text.includes('line 008')
    const expected = lines.filter((_, i) => lines.slice(Math.max(0, i - 2), i + 3).some(isMatch))
    const pages: string[] = []
    const start = '/api/v1/log/view?file=app&regex=line%2000%5B08%5D&context=2&lines=3'
    for (let path: string | null = start; path; ) {
      const { response, body } = await bucket.ask(path)
      expect(response.status).toBe(200)
      pages.unshift(body)
      const prev = /<(\?[^>]*)>; rel="prev"/.exec(response.headers.get('Link') ?? '')?.[1]
      path = prev ? `/api/v1/log/view${prev}` : null
    }
    let all = ''
    for (let path = start.replace('lines=', 'first='); ; ) {
      const { response, body } = await bucket.ask(path)
      all += body
      if (body === '') break
      path = `/api/v1/log/view${/<(\?[^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '')![1]}`
    }
    bucket.server.close()
    expect(all.replaceAll('--\n', '').trimEnd().split('\n')).toEqual(expected)
    expect(pages.join('').replaceAll('--\n', '').trimEnd().split('\n')).toEqual(expected)
  })

  it('is the same on a fleet, of peers and of a bucket', async () => {
    const options = { config: '', onError() {} }
    const text = LINES.join('')
    const peer = (id: string, files: Record<string, string>) => {
      const app = createApp({ ...options, logs: memoryStore(files) })
      const fetch: PeerOptions['fetch'] = async (url, { connectMillis: _, ...init }) =>
        app.fetch(new Request(url, init))
      return { id, url: `http://${id}.example`, fetch }
    }
    const peers = [peer('db-1', { 'a.log': text }), peer('db-2', { 'a.log': line(6, 'other') })]
    const homes = memoryStore({
      'db-1/node.json': NODE_JSON,
      'db-1/logs/a.log': text,
      'db-2/node.json': NODE_JSON,
      'db-2/logs/a.log': line(6, 'other'),
    })
    const named = (text: string) => text.replace(/^/gm, 'db-1/a.log\t').replace(/db-1\/a\.log\t$/, '')
    for (const fleet of [createFleet({ peers, onError() {} }), createFleet({ store: homes })]) {
      const ask = async (path: string) => (await fleet.request(path)).text()
      expect(await ask('/api/v1/log/view?node=*&file=a.log&level=error&context=1')).toBe(
        `${named(some(3, 4, 5, 6, 7))}db-1/a.log\t--\n${named(some(14, 15, 16))}`,
      )
      expect(await ask('/nodes/db-1/api/v1/log/view?file=a.log&level=error&context=1&lines=1')).toBe(
        some(14, 15, 16),
      )
    }
  })

  it('says what to do where it cannot be', async () => {
    for (const [query, words] of [
      ['context=3', 'without a filter'],
      ['context=3&since=1h', 'without a filter'],
      ['context=101&level=error', 'the maximum is 100'],
      ['context=-1&level=error', 'decimal integer'],
      ['context=3&level=error&follow=true', 'together with follow'],
      ['context=3&level=error&download=true', 'together with download'],
      ['context=3&level=error&format=csv', 'together with format=csv'],
      ['context=3&level=error&lane=true', 'together with lane'],
      ['context=3&level=error&file=b.log&follow=true', 'together with follow'],
    ]) {
      const { status, body } = await get(`file=a.log&${query}`)
      expect(status).toBe(400)
      expect(JSON.parse(body).detail).toContain(words)
    }
  })
})
