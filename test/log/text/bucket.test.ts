import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { s3Store } from '../../../src/store/s3.ts'
import { createApp } from '../../support/app.ts'
import { type S3Server, startS3Server } from '../../support/s3-server.ts'

const line = (i: number) =>
  `2026-11-15 02:${String(Math.floor(i / 60) % 60).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}.000\t${i % 10 ? 'INFO' : 'ERROR'}\tx.go:1\t[A]: line ${i}\n`
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => line(from + i)).join('')

let server: S3Server
let app: ReturnType<typeof createApp>
beforeAll(async () => {
  server = await startS3Server()
  const logs = s3Store({ endpoint: server.endpoint, bucket: 'logs', region: 'us-east-1' })
  app = createApp({ logs, config: '', follow: { pollMillis: [30, 60] } })
})
afterAll(() => server.close())

const get = async (query: string) => {
  const response = await app.request(`/api/v1/log/view${query.replace(/^\??/, '?')}`)
  const links = Object.fromEntries(
    [...(response.headers.get('Link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)].map((found) => [
      found[2],
      found[1],
    ]),
  )
  return { status: response.status, text: await response.text(), prev: links.prev, next: links.next }
}

describe('in a bucket', () => {
  it('a log is paged, filtered and joined with what it was rotated from', async () => {
    server.put('a.log', lines(2000, 3000))
    server.put('a.log.1', lines(1000, 2000))
    server.put('a.log.2.gz', gzipSync(lines(0, 1000)))
    const pages: string[] = []
    let page: Awaited<ReturnType<typeof get>> = await get('file=a.log&rotated=true&size=40000')
    for (pages.unshift(page.text); page.prev; pages.unshift(page.text)) page = await get(page.prev)
    expect(pages.join('')).toBe(lines(0, 3000))
    expect((await get('file=a.log&rotated=true&level=error')).text.split('\n').length).toBe(301)
    const window = await get('file=a.log&rotated=true&since=2026-11-15T02:30:00Z&until=2026-11-15T02:40:00Z')
    expect(window.text).toBe(lines(1800, 2400))
  })

  it('a poll with a cursor costs one request', async () => {
    server.put('b.log', lines(0, 50))
    const { next } = await get('file=b.log&size=500')
    server.requests.length = 0
    expect((await get(next!)).text).toBe('')
    expect(server.requests.length).toBe(1)
    server.put('b.log', lines(0, 53))
    server.requests.length = 0
    expect((await get(next!)).text).toBe(lines(50, 53))
    expect(server.requests.length).toBe(1)
  })

  it('a cursor knows its file by what it saw, and goes on in the renamed one', async () => {
    server.put('c.log', lines(0, 50))
    const { next } = await get('file=c.log')
    server.put('c-2026-11-15T02-10-00.000.log', lines(0, 60))
    server.put('c.log', lines(60, 120))
    expect((await get(next!)).text).toBe(lines(50, 120))
    server.objects.delete('c-2026-11-15T02-10-00.000.log')
    expect((await get(next!)).status).toBe(410)
  })

  it('a log is followed by conditional requests, through a rotation', async () => {
    server.put('d.log', lines(0, 5))
    const response = await app.request('/api/v1/log/view?file=d.log&lines=1&follow=true')
    const reader = response.body!.getReader()
    let text = ''
    const until = async (wanted: string) => {
      while (text.length < wanted.length) text += Buffer.from((await reader.read()).value!).toString()
      expect(text).toBe(wanted)
    }
    await until(line(4))
    server.put('d.log', lines(0, 8))
    await until(lines(4, 8))
    server.put('d.log.1.gz', gzipSync(lines(0, 10)))
    server.put('d.log', lines(10, 12))
    await until(lines(4, 12))
    const polls = async (count: number) => {
      const before = server.requests.length
      await expect.poll(() => server.requests.length).toBeGreaterThanOrEqual(before + count)
    }
    await polls(3)
    const sent = server.sent
    await polls(5)
    expect(server.sent).toBe(sent)
    await reader.cancel()
  })
})
