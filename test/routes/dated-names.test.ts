// PostgreSQL and others write to files with dates in their names: no file has the name that lists call the log by.
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp, createFleet } from '../support/app.ts'

const line = (day: number, i: number) =>
  `2026-11-${day} 02:10:${String(i).padStart(2, '0')}.000\tINFO\tx.go:1\t[A]: day ${day} line ${i}\n`
const text = (day: number) => [1, 2, 3].map((i) => line(day, i)).join('')

const files = {
  'broker-2026-11-18_142134.log': text(18),
  'broker-2026-11-19_142134.log': text(19),
  'web.log': text(19),
}

const home = () => memoryStore(files)
const app = () => createApp({ logs: home(), config: '' })

async function get(path: string, service: { fetch(request: Request): Response | Promise<Response> } = app()) {
  const response = await service.fetch(new Request(`http://localhost${path}`))
  return { status: response.status, headers: response.headers, body: await response.text() }
}

describe('a log whose files have dates in their names', () => {
  it('is shown under the name without the date', async () => {
    const { body } = await get('/api/v1/log/list?detail=true')
    expect(JSON.parse(body).map(({ log }: { log: string }) => log)).toEqual([
      'broker.log',
      'broker.log',
      'web.log',
    ])
  })

  it('answers to it on every route', async () => {
    const file = 'file=broker.log'
    expect((await get(`/api/v1/log/view?${file}`)).body).toBe(text(19))
    expect((await get(`/api/v1/log/view?${file}&rotated=true`)).body).toBe(text(18) + text(19))
    expect((await get(`/api/v1/log/view?${file}&rotated=true&q=line 2`)).body).toBe(line(18, 2) + line(19, 2))
    expect((await get(`/api/v1/log/download?${file}`)).body).toBe(text(19))
    const several = await get(`/api/v1/log/view?${file}&file=web.log&lines=100`)
    expect(several.headers.get('X-Nodestate-Missing')).toBeNull()
    expect(several.body.split('\n').filter((each) => each.includes('broker'))).toHaveLength(6)
    const chart = JSON.parse((await get(`/api/v1/log/histogram?${file}&rotated=true`)).body)
    expect(
      chart.buckets
        .flatMap(({ counts }: { counts: number[] }) => counts)
        .reduce((a: number, b: number) => a + b),
    ).toBe(6)
    expect(JSON.parse((await get(`/api/v1/log/groups?${file}&rotated=true&by=level`)).body).records).toBe(6)
    expect(JSON.parse((await get(`/api/v1/log/fields?${file}&rotated=true`)).body).records).toBe(6)
    const days = 'since=2026-11-19T00:00:00Z&until=2026-11-20T00:00:00Z'
    const compared = await get(`/api/v1/log/compare?${file}&rotated=true&${days}`)
    expect(compared.body).toContain('"records":3},"base"')
  })

  it('is paged through under that name', async () => {
    let found = ''
    let path: string | undefined = '/api/v1/log/view?file=broker.log&rotated=true&lines=2'
    for (let pages = 0; path && pages < 10; pages++) {
      const { status, body, headers } = await get(path)
      expect(status).toBe(200)
      found = body + found
      path = /<([^>]*)>; rel="prev"/.exec(headers.get('Link') ?? '')?.[1]
      if (path) path = new URL(path, 'http://localhost/api/v1/log/view').href.replace('http://localhost', '')
    }
    expect(found).toBe(text(18) + text(19))
  })

  it('answers to it in a fleet', async () => {
    const store = memoryStore(
      Object.fromEntries(Object.entries(files).map(([name, body]) => [`n1/logs/${name}`, body])),
    )
    const fleet = createFleet({ store })
    const { status, body } = await get('/api/v1/log/view?node=n1&file=broker.log&lines=100', fleet)
    expect([status, body.split('\n').filter(Boolean).length]).toEqual([200, 6])
  })

  it('is no name for a log that has a file without a date, and none for anything else', async () => {
    const misspelt = await get('/api/v1/log/view?file=brokers.log')
    expect([misspelt.status, JSON.parse(misspelt.body).type]).toEqual([404, '/problems/unknown-file'])
    const rotated = createApp({ logs: memoryStore({ 'a.log.1': text(18) }), config: '' })
    expect((await get('/api/v1/log/view?file=a.log', rotated)).status).toBe(404)
  })
})
