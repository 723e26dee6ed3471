import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import type { Store } from '../../../src/store/store.ts'
import { createApp } from '../../support/app.ts'
import { zipOf } from '../../support/zip.ts'

const LINES = Array.from(
  { length: 3000 },
  (_, i) =>
    `2026-11-15 02:${String(Math.floor(i / 60)).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}.000\t${i % 10 ? 'INFO' : 'ERROR'}\ta.go:1\t[A]: number ${i * i}\n`,
)
const TEXT = LINES.join('')
const NAMES = {
  'gzip.log': gzipSync(TEXT),
  'gzip.log.1': Buffer.concat([gzipSync(TEXT.slice(0, 5000)), gzipSync(TEXT.slice(5000))]),
  'cassandra.log.zip': zipOf([{ name: 'system.log', text: Buffer.from(TEXT) }]),
  'stored.log.zip': zipOf([{ name: 'system.log', text: Buffer.from(TEXT), method: 0 }]),
  'text.log.gz': Buffer.from(TEXT),
}

/** A store that counts its reads. */
function counting(files: Record<string, string | Uint8Array>): { store: Store; reads: () => number } {
  const inner = memoryStore(files)
  let reads = 0
  const read: Store['read'] = (...args) => {
    reads++
    return inner.read(...args)
  }
  return { store: { list: inner.list, stat: inner.stat, read }, reads: () => reads }
}

describe.each(Object.keys(NAMES) as (keyof typeof NAMES)[])('%s is known by its first bytes', (name) => {
  const app = createApp({ logs: memoryStore(NAMES), config: '' })
  const get = (query: string) => app.request(`/api/v1/log/view?file=${name}${query}`)

  it('and viewed as its text', async () => {
    const response = await get('')
    expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toBe(TEXT)
    expect(await (await get('&lines=3')).text()).toBe(LINES.slice(-3).join(''))
    expect(await (await get('&size=100')).text()).toBe(TEXT.slice(TEXT.indexOf('\n', TEXT.length - 101) + 1))
  })

  it('and searched, paged and counted like any log', async () => {
    const errors = LINES.filter((line) => line.includes('ERROR'))
    expect(await (await get('&level=error&lines=4')).text()).toBe(errors.slice(-4).join(''))
    expect(await (await get('&since=2026-11-15T02:10:00Z&until=2026-11-15T02:10:03Z')).text()).toBe(
      LINES.slice(600, 603).join(''),
    )
    const page = await get('&lines=5')
    const prev = /<(\?[^>]*)>; rel="prev"/.exec(page.headers.get('Link')!)![1]!
    const older = await app.request(`/api/v1/log/view${prev}`)
    expect(await older.text()).toBe(LINES.slice(-10, -5).join(''))
    const histogram = await (await app.request(`/api/v1/log/histogram?file=${name}`)).json()
    const counts = (histogram as { buckets: { counts: number[] }[] }).buckets.flatMap(({ counts }) => counts)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(LINES.length)
  })
})

describe('a line that is longer than a page, at the end of a rotated archive', () => {
  const line = (i: number, text: string) =>
    `${JSON.stringify({ time: `2026-11-15T02:10:0${i}Z`, level: 'info', msg: text })}\n`
  const lines = Array.from({ length: 8 }, (_, i) => line(i, i === 3 ? 'z'.repeat(3000) : `line ${i}`))
  const app = createApp({
    logs: memoryStore({
      'a.log.1.gz': gzipSync(lines.slice(0, 4).join('')),
      'a.log': lines.slice(4).join(''),
    }),
    config: '',
  })

  // The page that cuts the line knows the border of its records by its place, the page before it must judge each.
  it.each(['2026-11-15T02:10:06Z', '2026-11-15T03:00:00Z'])(
    'is whole over pages before %s',
    async (until) => {
      let page = `?file=a.log&rotated=true&size=700&until=${until}`
      let text = ''
      while (page) {
        const response = await app.request(`/api/v1/log/view${page}`)
        text = (await response.text()) + text
        page = /<(\?[^>]*)>; rel="prev"/.exec(response.headers.get('Link')!)?.[1] ?? ''
      }
      expect(text).toBe(lines.slice(0, until.includes('T02') ? 6 : 8).join(''))
    },
  )
})

it('pages forward since a time keep the lines of a record that a rotation cut', async () => {
  const record = (i: number) => `2026-11-15 02:10:0${i}.000\tERROR\ta.go:1\t[A]: number ${i}\n`
  const files = {
    'a.log.1': `${record(0)}${record(1)}\tat a\n`,
    'a.log': `\tat b\n\tat c\n\tat d\n${record(5)}`,
  }
  const app = createApp({ logs: memoryStore(files), config: '', timezone: 'Europe/Berlin' })
  for (const first of [1, 2, 3, 4, 5]) {
    let page = `?file=a.log&rotated=true&first=${first}&since=2026-11-15T01:00:00Z`
    let text = ''
    for (;;) {
      const response = await app.request(`/api/v1/log/view${page}`)
      const part = await response.text()
      if (part === '') break
      text += part
      page = /<(\?[^>]*)>; rel="next"/.exec(response.headers.get('Link')!)![1]!
    }
    expect(text).toBe(files['a.log.1'] + files['a.log'])
  }
})

describe('what no runtime can show as text', () => {
  const two = [
    { name: 'a', text: Buffer.from('a\n') },
    { name: 'b', text: Buffer.from('b\n') },
  ]
  const app = createApp({
    logs: memoryStore({
      'a.bz2': Buffer.from('425a683931415926535944f7136a0000', 'hex'),
      'a.xz': Buffer.from('fd377a585a000004e6d6b44600000000', 'hex'),
      'a.log': Buffer.from('fd377a585a000004e6d6b446ffffffff', 'hex'),
      'two.zip': zipOf(two),
    }),
    config: '',
  })

  it.each(['a.bz2', 'a.xz', 'a.log', 'two.zip'])('%s is a 415 that points to the download', async (file) => {
    for (const query of ['', '&lines=3', '&q=a', '&format=ndjson']) {
      const response = await app.request(`/api/v1/log/view?file=${file}${query}`)
      expect(response.status).toBe(415)
      const problem = (await response.json()) as { type: string; detail: string }
      expect(problem.type).toBe('/problems/not-viewable')
      expect(problem.detail).toContain(`/api/v1/log/download?file=${file}`)
    }
    expect((await app.request(`/api/v1/log/download?file=${file}`)).status).toBe(200)
  })
})

describe('text costs no look at its head', () => {
  it.each(['', '&size=100', '&size=5000'])('a plain tail is one read%s', async (query) => {
    const { store, reads } = counting({ 'a.log': 'größer: naïve\n'.repeat(2000) })
    const response = await createApp({ logs: store, config: '' }).request(
      `/api/v1/log/view?file=a.log${query}`,
    )
    expect(response.status).toBe(200)
    expect(reads()).toBe(1)
  })

  it('bytes that are neither text nor an archive pass through', async () => {
    const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 7919) & 0xff))
    const app = createApp({ logs: memoryStore({ 'odd.log': bytes }), config: '' })
    const got = Buffer.from(await (await app.request('/api/v1/log/view?file=odd.log')).arrayBuffer())
    expect(got.equals(bytes)).toBe(true)
    expect((await app.request('/api/v1/log/view?file=odd.log&lines=2')).status).toBe(200)
  })
})
