import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../../src/store/memory.ts'
import { createApp } from '../../../support/app.ts'
import { FIXTURES, linesOf } from '../fixtures.ts'

const text = (id: string) => linesOf(FIXTURES.find((fixture) => fixture.id === id)!)
const CST = '2026-11-15 02:10:00 CST [1] LOG:  hi\n2026-11-15 02:10:01 CST [1] ERROR:  no\n'
const app = (timezone: string) =>
  createApp({
    logs: memoryStore({
      'prefix.log': text('postgresql-prefix'),
      'cst.log': CST,
      'clock.log': text('logback'),
      'maria.log': text('mariadb'),
      'jul.log': text('java-util-logging'),
    }),
    config: '',
    timezone,
  } as Parameters<typeof createApp>[0])
const view = (query: string, timezone = 'UTC') => app(timezone).request(`/api/v1/log/view?${query}`)
const note = (response: Response) => response.headers.get('X-Nodestate-Note')

describe('PostgreSQL', () => {
  it('has its errors behind a long prefix, with their STATEMENT', async () => {
    const lines = text('postgresql-prefix').split('\n')
    expect(await (await view('file=prefix.log&level=error')).text()).toBe(`${lines.slice(4, 8).join('\n')}\n`)
    expect(await (await view('file=prefix.log&level=warn')).text()).toBe(`${lines.slice(0, 8).join('\n')}\n`)
  })
  it('has no duration that is no number, which JSON cannot say', async () => {
    const line = '2026-11-14 02:10:00.123 UTC [42] user=app,app=x duration_s=1e400 LOG:  hello\n'
    const odd = createApp({ logs: memoryStore({ 'a.log': line.repeat(3) }), config: '' })
    const json = await (await odd.request('/api/v1/log/view?file=a.log&format=ndjson')).text()
    const records = json
      .trim()
      .split('\n')
      .map((record) => JSON.parse(record))
    expect(records.map(({ context }) => context)).toEqual(Array(3).fill({ user: 'app', app: 'x', pid: 42 }))
  })
  it('has the zone of its lines', async () => {
    const since = await view('file=prefix.log&since=2026-11-15T11:34:17Z&until=2026-11-15T11:34:18Z')
    expect(await since.text()).toBe(text('postgresql-prefix'))
    expect(note(since)).toBe(null)
  })
  it('says when an abbreviation means several zones', async () => {
    const since = await view('file=cst.log&since=2026-11-15T02:10:00Z')
    expect(await since.text()).toBe(CST)
    expect(note(since)).toBe('ambiguous-zone')
    const json = await view('file=cst.log&format=ndjson')
    expect(note(json)).toBe('ambiguous-zone')
    const chart = await app('UTC').request('/api/v1/log/histogram?file=cst.log')
    expect(note(chart)).toBe('ambiguous-zone')
    expect(note(await view('file=cst.log'))).toBe(null)
    expect(note(await view('file=cst.log&level=error'))).toBe(null)
    const chicago = await view('file=cst.log&since=2026-11-15T08:10:00Z', 'America/Chicago')
    expect([note(chicago), await chicago.text()]).toEqual([null, CST])
  })
})

describe('other lines', () => {
  it('with a clock and no date say so', async () => {
    const json = await view('file=clock.log&format=ndjson')
    expect(note(json)).toBe('assumed-date')
    expect(note(await view('file=clock.log&level=error'))).toBe(null)
  })
  it('MariaDB at night are found by time and level', async () => {
    const lines = text('mariadb').split('\n')
    expect(await (await view('file=maria.log&since=2026-11-15T02:10:04Z')).text()).toBe(
      `${lines.slice(3, 5).join('\n')}\n`,
    )
    expect(await (await view('file=maria.log&level=warn')).text()).toBe(`${lines[3]}\n`)
  })
  it('with the level on their second line are found by it', async () => {
    const lines = text('java-util-logging').split('\n')
    expect(await (await view('file=jul.log&level=error')).text()).toBe(`${lines.slice(2).join('\n')}`)
  })
})
