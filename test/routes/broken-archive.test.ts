import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { loki } from '../../src/doors/loki.ts'
import { encodeCursor } from '../../src/log/text/cursor.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp } from '../support/app.ts'

const line = (i: number) =>
  `2026-11-15 00:${String(Math.floor(i / 60) % 60).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}.000\tINFO\ta.go:1\t[A]: ${'n'.repeat(1 + (i % 7))} ${Math.sin(i)}\n`
const text = Array.from({ length: 3000 }, (_, i) => line(i)).join('')
const whole = gzipSync(text)
const app = createApp({
  logs: memoryStore({
    'cut.log.gz': whole.subarray(0, Math.floor(whole.length * 0.6)),
    'checksum.log.gz': Buffer.concat([whole.subarray(0, -8), Buffer.alloc(8)]),
    'nothing.log.gz': whole.subarray(0, 10),
    'whole.log.gz': whole,
  }),
  config: '',
  timezone: 'UTC',
  loki,
})
const ask = (path: string) => app.request(path)
const noteOf = (response: Response) => response.headers.get('X-Nodestate-Note')

describe.each(['cut.log.gz', 'checksum.log.gz'])('an archive that is damaged: %s', (file) => {
  it.each([
    'q=n',
    'level=info',
    'q=n&format=ndjson',
    'q=n&lines=3',
    'q=nothing+at+all',
    'lines=5&format=ndjson',
  ])('gives what can be read with a note (%s)', async (query) => {
    const response = await ask(`/api/v1/log/view?file=${file}&${query}`)
    expect(response.status).toBe(200)
    expect(noteOf(response)).toContain('archive-cut')
    const body = await response.text()
    if (query.includes('nothing')) expect(body).toBe('')
    else expect(body.length).toBeGreaterThan(0)
  })

  it.each(['size=500', 'size=9000000', 'lines=7', 'download=true&q=n', 'download=true&format=ndjson'])(
    'is cut where it is streamed (%s)',
    async (query) => {
      const response = await ask(`/api/v1/log/view?file=${file}&${query}`)
      expect(response.status).toBe(200)
      expect(response.headers.get('Content-Length')).toBeNull()
      await expect(response.text()).rejects.toThrow()
    },
  )

  it('is not complete in fields and histogram', async () => {
    const fields = await ask(`/api/v1/log/fields?file=${file}`)
    expect(noteOf(fields)).toContain('archive-cut')
    expect(await fields.json()).toMatchObject({ complete: false })
    for (const query of ['', '&q=n']) {
      const histogram = await ask(`/api/v1/log/histogram?file=${file}${query}`)
      expect(await histogram.json()).toMatchObject({ complete: false })
    }
  })

  it('is reported by Loki', async () => {
    const range = 'start=2026-11-15T00:00:00Z&end=2026-11-15T01:00:00Z'
    for (const query of [`{file="${file}"}`, `count_over_time({file="${file}"}[1h])`]) {
      const path = `/loki/api/v1/query_range?query=${encodeURIComponent(query)}&${range}&step=3600&limit=5000`
      const answer = await (await ask(path)).json()
      expect(answer.status).toBe('success')
      expect(answer.warnings).toEqual(['An archive is damaged or ends early; the rest of it is missing.'])
    }
    const series = await (
      await ask(`/loki/api/v1/series?match[]=${encodeURIComponent(`{file="${file}"}`)}`)
    ).json()
    expect(series.warnings?.length).toBe(1)
  })
})

describe('other archives', () => {
  it('of which nothing can be read are a problem', async () => {
    for (const path of [
      '/api/v1/log/view?file=nothing.log.gz',
      '/api/v1/log/view?file=nothing.log.gz&q=n',
      '/api/v1/log/fields?file=nothing.log.gz',
      '/api/v1/log/histogram?file=nothing.log.gz',
    ]) {
      const response = await ask(path)
      expect(response.status).toBe(502)
      expect(await response.json()).toMatchObject({ type: '/problems/bad-archive' })
    }
  })

  it('that are whole say so', async () => {
    expect(noteOf(await ask('/api/v1/log/view?file=whole.log.gz&q=n'))).toBeNull()
    const fields = await (await ask('/api/v1/log/fields?file=whole.log.gz')).json()
    expect(fields).toMatchObject({ complete: true, records: 3000 })
  })

  it('are completely counted even if that takes all of the budget', async () => {
    const small = createApp({
      logs: memoryStore({ 'a.log.gz': whole }),
      config: '',
      limits: { scanBytes: text.length, windowBytes: 1000 },
    })
    const histogram = await (await small.request('/api/v1/log/histogram?file=a.log.gz')).json()
    expect(histogram.complete).toBe(true)
  })
})

it('a cursor that is not found in archives before the budget ends gives a note, and the same place again', async () => {
  const archives = Array.from({ length: 31 }, (_, i) => [`a.log.${i + 1}.gz`, gzipSync(text.repeat(40))])
  const busy = createApp({
    logs: memoryStore({ 'a.log': text, ...Object.fromEntries(archives) }),
    config: '',
    limits: { scanMillis: 30 },
  })
  const print = { offset: 5000, length: 64, hash: 7654321 }
  const cursor = encodeCursor({ name: 'a.log', id: null, offset: 5064, print, splitsRecord: false })
  for (const direction of ['after', 'before']) {
    const response = await busy.request(`/api/v1/log/view?file=a.log&rotated=true&${direction}=${cursor}`)
    expect(response.status).toBe(200)
    expect(noteOf(response)).toBe('scan-budget')
    expect(response.headers.get('Link')).toContain(`after=${cursor}`)
    expect(await response.text()).toBe('')
  }
})
