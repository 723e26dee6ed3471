import * as zlib from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { KEYS, lineAt } from './bucket.ts'

const { gzipSync } = zlib
const START = Date.UTC(2026, 10, 15, 9)
const MINUTE = 60_000

/** A log of Fluent Bit with these objects, one a minute. */
function logOf(objects: (string | Uint8Array)[]) {
  const store = memoryStore()
  objects.forEach((object, i) => {
    store.put(KEYS['Fluent Bit']!('app', START + i * MINUTE, i), object)
  })
  const app = createApp({ logs: store, config: '', join: true })
  const ask = async (path: string) => {
    const response = await app.request(`/api/v1/log/${path}`)
    return { response, body: await response.text() }
  }
  return { store, app, ask }
}

const plainLine = (i: number, level = 'info') => lineAt(START + i * MINUTE, `number ${i}`, level)
/** A line as Fluent Bit's tail input and S3 output write it. */
const wrapped = (i: number, level = 'info') =>
  `${JSON.stringify({ date: new Date(START + i * MINUTE).toISOString(), log: plainLine(i, level).trimEnd() })}\n`

describe('the objects of one joined log', () => {
  it('are compressed or not by their first bytes, each for itself', async () => {
    const lines = Array.from({ length: 9 }, (_, i) => plainLine(i, i === 4 ? 'error' : 'info'))
    // Absent before Node 22.15.
    const zstd = (zlib as { zstdCompressSync?: (text: string) => Uint8Array }).zstdCompressSync
    const { ask } = logOf(
      lines.map((line, i) => (i % 3 === 0 ? line : i % 3 === 1 || !zstd ? gzipSync(line) : zstd(line))),
    )
    expect((await ask('view?file=app')).body).toBe(lines.join(''))
    expect((await ask('view?file=app&level=error')).body).toBe(lines[4])
    expect((await ask('view?file=app&lines=4')).body).toBe(lines.slice(-4).join(''))
    expect((await ask('view?file=app&since=2026-11-15T09:02:00Z&until=2026-11-15T09:05:00Z')).body).toBe(
      lines.slice(2, 5).join(''),
    )
    expect((await ask('view?file=app&download=true')).body).toBe(lines.join(''))
  })

  it('keep Fluent Bit’s wrapper in texts; times, levels, filters and records see the line inside', async () => {
    const lines = Array.from({ length: 6 }, (_, i) => wrapped(i, i === 2 ? 'error' : 'info'))
    const { ask } = logOf(lines.map((line, i) => (i % 2 ? gzipSync(line) : line)))
    expect((await ask('view?file=app')).body).toBe(lines.join(''))
    expect((await ask('view?file=app&level=error')).body).toBe(lines[2])
    expect((await ask('view?file=app&q=number%203')).body).toBe(lines[3])
    expect((await ask('view?file=app&regex=%5E2026-11-15')).response.status).toBe(200)
    expect((await ask('view?file=app&since=2026-11-15T09:04:00Z')).body).toBe(lines.slice(4).join(''))
    const records = (await ask('view?file=app&format=ndjson')).body.trimEnd().split('\n')
    expect(records).toHaveLength(6)
    const record = JSON.parse(records[2]!)
    expect(record).toMatchObject({ level: 'error', message: 'number 2' })
    expect(Date.parse(record.time)).toBe(START + 2 * MINUTE)
  })

  it('have a first and a last time in a detailed list, and one entry', async () => {
    const { ask, store } = logOf(Array.from({ length: 30 }, (_, i) => gzipSync(plainLine(i))))
    store.put('other.log', plainLine(100))
    const list = JSON.parse((await ask('list?detail=true')).body)
    expect(list).toMatchObject([
      { name: 'app', first: '2026-11-15T09:00:00.000Z', last: '2026-11-15T09:29:00.000Z' },
      { name: 'other.log', first: '2026-11-15T10:40:00.000Z', last: '2026-11-15T10:40:00.000Z' },
    ])
    store.put(KEYS['Fluent Bit']!('app', START + 90 * MINUTE, 90), plainLine(90))
    await expect
      .poll(async () => JSON.parse((await ask('list?detail=true')).body)[0].last)
      .toBe('2026-11-15T10:30:00.000Z')
  })

  it('that expire are no longer part of it, even if they were remembered', async () => {
    const { ask, store } = logOf([plainLine(0), plainLine(1), plainLine(2)])
    expect((await ask('view?file=app')).body).toBe(plainLine(0) + plainLine(1) + plainLine(2))
    store.delete(KEYS['Fluent Bit']!('app', START, 0))
    expect((await ask('view?file=app')).body).toBe(plainLine(1) + plainLine(2))
  })
})

describe('a joined log', () => {
  const texts = Array.from({ length: 300 }, (_, i) => {
    let text = ''
    for (let n = 0; n < 40; n++) text += lineAt(START + i * MINUTE + n * 1000, `object ${i} line ${n}`)
    // A record that continues in the next object.
    return i % 50 === 49 ? `${text}\tat Trace.first(a.go:1)\n` : i % 50 === 0 ? `\tat b\n${text}` : text
  })
  const text = texts.join('')

  it('is downloaded as its text, from its first object to its last', async () => {
    const { ask } = logOf(texts.map((text, i) => (i % 2 ? gzipSync(text) : text)))
    for (const path of ['download?file=app', 'view?file=app&download=true']) {
      const { response, body } = await ask(path)
      expect(response.status).toBe(200)
      expect(response.headers.get('Content-Disposition')).toContain('app.txt')
      expect(body === text).toBe(true)
    }
    const q = await ask('view?file=app&download=true&q=Trace.first')
    const hits = text
      .split('\n')
      .flatMap((line, i, all) => (line.includes('Trace.first') ? [all[i - 1], line] : []))
    expect(q.body.split('\n').filter((line) => line.includes('Trace'))).toHaveLength(hits.length / 2)
    const times = 'since=2026-11-15T10:00:30Z&until=2026-11-15T10:02:00Z'
    const part = await ask(`view?file=app&download=true&${times}&q=object`)
    expect(part.body).toBe(
      text
        .split('\n')
        .filter((line) => line >= '2026-11-15 10:00:30' && line < '2026-11-15 10:02' && line.startsWith('2'))
        .map((line) => `${line}\n`)
        .join(''),
    )
  })

  it('answers HEAD as it answers GET', async () => {
    const { app } = logOf(texts.slice(0, 3))
    for (const path of [
      'view?file=app',
      'view?file=app&download=true',
      'download?file=app',
      'histogram?file=app',
      'fields?file=app',
    ]) {
      const response = await app.request(`/api/v1/log/${path}`, { method: 'HEAD' })
      expect(response.status, path).toBe(200)
      expect(
        (await app.request(`/api/v1/log/${path.replace('=app', '=no')}`, { method: 'HEAD' })).status,
      ).toBe(404)
    }
  })

  it('is counted over time: all of it, and a period', async () => {
    const { ask } = logOf(texts.map((text) => gzipSync(text)))
    const sum = async (query: string) => {
      const { body, response } = await ask(`histogram?file=app${query}`)
      expect(response.status, body).toBe(200)
      const chart = JSON.parse(body)
      const counts: number[] = chart.buckets.flatMap(({ counts }: { counts: number[] }) => counts)
      return { ...chart, sum: counts.reduce((all, count) => all + count, 0) }
    }
    expect(await sum('')).toMatchObject({ sum: 12_000, complete: true })
    const period = '&since=2026-11-15T10:00:00Z&until=2026-11-15T11:00:00Z'
    expect(await sum(period)).toMatchObject({ sum: 2400, complete: true })
  })
})
