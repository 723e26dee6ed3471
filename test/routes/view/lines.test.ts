// A number of lines is not cut by the default size.
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'

const MIB = 1024 * 1024
const COUNT = 20_000
const stamp = (i: number) =>
  new Date(Date.UTC(2026, 10, 15) + i * 1000).toISOString().replace('T', ' ').slice(0, 23)
const all = Array.from(
  { length: COUNT },
  (_, i) => `${stamp(i)}\tINFO\tx.go:1\t[A]: line ${i} ${'y'.repeat(100)}\n`,
)
const text = all.join('')
// Four times a page of a mebibyte.
expect(text.length).toBeGreaterThan(2 * MIB)

const logs = memoryStore({
  'a.log': text,
  'b.log': all[0]!,
  'c.log.gz': gzipSync(text, { level: 1 }),
})
const app = createApp({ logs, config: '' })

async function view(query: string, service = app) {
  const response = await service.request(`/api/v1/log/view?${query}`)
  const body = await response.text()
  return {
    status: response.status,
    body,
    count: body.split('\n').length - 1,
    note: response.headers.get('X-Nodestate-Note'),
    link: response.headers.get('Link') ?? '',
  }
}

describe('a number of lines', () => {
  it.each([
    ['text', 'file=a.log'],
    ['records', 'file=a.log&format=ndjson'],
    ['matches', 'file=a.log&q=line'],
    ['an archive', 'file=c.log.gz&q=line'],
    ['records of an archive', 'file=c.log.gz&format=ndjson'],
    ['several logs', 'file=a.log&file=b.log'],
  ])('is not cut by the default size: %s', async (_, query) => {
    const { count, note } = await view(`${query}&lines=${COUNT - 1}`)
    expect([count, note]).toEqual([COUNT - 1, null])
    const first = await view(`${query}&first=${COUNT - 1}`)
    expect([first.count, first.note]).toEqual([COUNT - 1, null])
  })

  it('is exactly the end of the log', async () => {
    expect((await view('file=a.log&lines=15000')).body).toBe(all.slice(-15_000).join(''))
    expect((await view('file=a.log&lines=15000&q=line')).body).toBe(all.slice(-15_000).join(''))
  })

  it('says where an answer cannot hold it, and goes on', async () => {
    const small = createApp({ logs, config: '', limits: { memory: 8 * MIB } })
    let path: string | undefined = `file=a.log&q=line&lines=${COUNT}`
    const seen: number[] = []
    let found = ''
    for (let pages = 0; path && pages < 10; pages++) {
      const { body, count, note, link } = await view(path, small)
      path = /<\?([^>]*)>; rel="prev"/.exec(link)?.[1]
      if (path) expect(note).toBe('answer-budget')
      seen.push(count)
      found = body + found
    }
    expect(seen.length).toBeGreaterThan(1)
    expect(found).toBe(text)
  })

  it('gives few lines no note about what an answer can hold', async () => {
    for (const query of [
      'file=a.log',
      'file=a.log&q=line',
      'file=a.log&format=ndjson',
      'file=c.log.gz&q=line',
    ])
      expect(await view(`${query}&lines=10`)).toMatchObject({ count: 10, note: null })
  })

  it('is cut by a size that is given, and by the maximum of the operator', async () => {
    expect((await view(`file=a.log&lines=${COUNT}&size=100000`)).body.length).toBeLessThanOrEqual(100_000)
    const limited = createApp({ logs, config: '', limits: { maxSize: 200_000 } })
    expect((await view(`file=a.log&lines=${COUNT}`, limited)).body.length).toBeLessThanOrEqual(200_000)
  })
})
