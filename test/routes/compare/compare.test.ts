import { describe, expect, it } from 'vitest'
import { openHome } from '../../../src/core/node/home.ts'
import { createClient } from '../../../src/doors/client.ts'
import type { LogComparison } from '../../../src/kit/answers.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { versionKey } from '../../../src/store/segment/configs.ts'
import { createApp, createFleet } from '../../support/app.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { NODE_JSON } from '../../support/node.ts'

const HOUR = 3_600_000
const START = Date.UTC(2026, 10, 15)
const line = (time: number, text: string, level = 'INFO') =>
  `${new Date(time).toISOString().slice(0, 23).replace('T', ' ')}\t${level}\ta.go:1\t[A]: ${text}\n`
/** A record a minute for two hours, and more of what `extra` says. */
function log(extra: (minute: number) => string = () => ''): string {
  let text = ''
  for (let minute = 0; minute < 120; minute++)
    text += line(START + minute * 60_000, `tick ${minute}`) + extra(minute)
  return text
}
const at = (minute: number) => START + minute * 60_000 + 1
const failing = log((minute) => (minute >= 60 ? line(at(minute), `disk full on sda${minute}`, 'ERROR') : ''))
const RANGE = 'since=2026-11-15T01:00Z&until=2026-11-15T02:00Z'

type App = ReturnType<typeof createApp>
async function ask(app: App, query: string, headers: Record<string, string> = {}) {
  const response = await app.request(`/api/v1/log/compare?${query}`, { headers })
  const body = (await response.json()) as LogComparison & { detail?: string }
  return {
    status: response.status,
    body,
    notes: response.headers.get('X-Nodestate-Note'),
    headers: response.headers,
  }
}
const kinds = ({ findings }: LogComparison) => findings.map(({ kind, what }) => `${kind} ${what}`)

describe('GET /api/v1/log/compare', () => {
  const app = createApp({
    logs: memoryStore({ 'a.log': failing, 'b.log': log(), 'plain.txt': 'x\ny\n' }),
    config: '',
  })

  it('compares a range with the hour before it', async () => {
    const { status, body, headers, notes } = await ask(app, `file=a.log&${RANGE}`)
    expect([status, notes]).toEqual([200, null])
    expect(Object.keys(body)).toEqual(['range', 'base', 'complete', 'findings'])
    expect(body.range).toEqual({ from: START + HOUR, to: START + 2 * HOUR, records: 120 })
    expect(body.base).toEqual({ from: START, to: START + HOUR, records: 60 })
    expect(kinds(body)).toEqual(['pattern disk full on <*>', 'level error'])
    expect(body.findings[0]).toMatchObject({ count: 60, base: 0, example: 'disk full on sda119' })
    expect(body.findings[0]).not.toHaveProperty('file')
    const again = { 'If-None-Match': headers.get('ETag')! }
    expect((await app.request(`/api/v1/log/compare?file=a.log&${RANGE}`, { headers: again })).status).toBe(
      304,
    )
  })

  it('names the log of a finding among several, and what is missing', async () => {
    const { body, headers } = await ask(app, `file=a.log&file=b.log&file=plain.txt&${RANGE}`)
    expect(body.findings[0]).toMatchObject({ what: 'disk full on <*>', file: 'a.log' })
    expect(headers.get('X-Nodestate-Missing')).toBe('plain.txt;no-time')
    const { query } = body.findings[0]!
    const view = await (await app.request(`/api/v1/log/view?${query}`)).text()
    expect(view.trimEnd().split('\n').length).toBe(60)
  })

  it('takes another base', async () => {
    const { body } = await ask(
      app,
      `file=a.log&${RANGE}&base-since=2026-11-15T01:00Z&base-until=2026-11-15T02:00Z`,
    )
    expect(body.findings).toEqual([])
    const shorter = await ask(
      app,
      'file=a.log&since=2026-11-15T01:50Z&until=2026-11-15T02:00Z&base-since=2026-11-15T01:30Z',
    )
    expect(shorter.body.base).toMatchObject({ from: START + 1.5 * HOUR, to: START + HOUR * (1 + 50 / 60) })
    expect(shorter.body.findings).toEqual([])
  })

  it('ends now by default', async () => {
    const clock = manualClock(START + 2 * HOUR)
    const now = createApp({ logs: memoryStore({ 'a.log': failing }), config: '', clock })
    const { body, headers } = await ask(now, 'file=a.log&since=1h')
    expect(body.range).toEqual({ from: START + HOUR, to: START + 2 * HOUR, records: 120 })
    expect(headers.get('ETag')).toBeNull()
    const client = createClient({
      base: 'http://n',
      fetch: async (url, init) => now.request(String(url), init as RequestInit),
    })
    const { findings, notes } = await client.compareLogs({ file: 'a.log', since: '1h' })
    expect([findings[0]?.what, notes]).toEqual(['disk full on <*>', []])
  })

  it.each([
    ['file=a.log', 400, 'since is missing'],
    ['since=1h', 400, 'file is missing'],
    ['file=a.log&since=yesteryear', 400, 'since'],
    ['file=a.log&since=2026-11-15T02:00Z&until=2026-11-15T01:00Z', 400, 'not after since'],
    [`file=a.log&${RANGE}&base-since=2026-11-15T01:30Z`, 400, 'base-since'],
    [`file=a.log&${RANGE}&base-since=2026-11-15T00:30Z&base-until=2026-11-15T00:10Z`, 400, 'base-until'],
    [`file=plain.txt&${RANGE}`, 400, 'times'],
    [`file=none.log&${RANGE}`, 404, 'log'],
  ])('%s is a %d', async (query, status, says) => {
    const answer = await ask(app, query)
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringContaining(says)])
  })

  it('answers HEAD, and refuses other methods', async () => {
    expect((await app.request(`/api/v1/log/compare?file=a.log&${RANGE}`, { method: 'HEAD' })).status).toBe(
      200,
    )
    expect((await app.request(`/api/v1/log/compare?file=a.log&${RANGE}`, { method: 'POST' })).status).toBe(
      405,
    )
  })
})

describe('changes of the configuration', () => {
  const versions = Object.fromEntries(
    [
      [-600, 'max = 10\nkeep = 1\npassword = "a"\n'],
      [30, 'max = 20\nkeep = 1\npassword = "b"\n'],
      [90, 'max = 30\nkeep = 1\nnew = "x"\npassword = "c"\n'],
    ].map(([minute, text], i) => [
      versionKey({ time: START + Number(minute) * 60_000, crc: i }),
      String(text),
    ]),
  )
  const home = memoryStore({ 'node.json': NODE_JSON, 'config.toml': 'max = 30\n', ...versions })
  const tokens = [
    { name: 'all', token: 'all-of-it' },
    { name: 'logs', token: 'logs-only', scopes: ['logs'] as const },
  ]
  const app = createApp({ logs: memoryStore({ 'a.log': log() }), ...openHome(home), tokens: () => tokens })

  it('are findings, with the values before and after', async () => {
    const { body, notes } = await ask(app, `file=a.log&${RANGE}`, { Authorization: 'Bearer all-of-it' })
    expect(notes).toBeNull()
    expect(body.findings).toEqual([
      { kind: 'config', what: 'max', count: 1, base: 1, example: '10 → 30' },
      { kind: 'config', what: 'new', count: 1, base: 0, example: '(not set) → "x"' },
    ])
  })
  it('need their scope', async () => {
    const { body, notes } = await ask(app, `file=a.log&${RANGE}`, { Authorization: 'Bearer logs-only' })
    expect([body.findings, notes]).toEqual([[], 'no-config-scope'])
  })
})

describe('a fleet', () => {
  const nodes = ['db-1', 'db-2', 'db-3', 'db-4']
  const files = Object.fromEntries(
    nodes.flatMap((id) => [
      [`${id}/node.json`, NODE_JSON],
      [`${id}/config.toml`, `workers = ${id === 'db-4' ? 64 : 16}\n`],
      [`${id}/logs/a.log`, id === 'db-4' ? failing : log()],
      [`${id}/logs/b.log`, id === 'db-4' ? log().slice(0, 60 * 30) : log()],
    ]),
  )
  const fleet = createFleet({ store: memoryStore(files) })

  it('is compared with the time before', async () => {
    const { body } = await ask(fleet, `node=*&file=a.log&${RANGE}`)
    expect(kinds(body)).toEqual(['pattern disk full on <*>', 'level error'])
    expect(body.findings[0]).toMatchObject({ node: 'db-4', file: 'a.log' })
  })
  it('has nodes that are compared with others', async () => {
    const { body } = await ask(fleet, `node=db-4&base-node=*&file=a.log&file=b.log&${RANGE}`)
    expect(body.base).toMatchObject({ from: body.range.from, to: body.range.to, records: 360 })
    expect(kinds(body)).toEqual(['config workers', 'silent b.log', 'pattern disk full on <*>', 'level error'])
    expect(body.findings[0]).toEqual({
      kind: 'config',
      what: 'workers',
      count: 1,
      base: 0,
      node: 'db-4',
      example: '16 → 64',
    })
    const [, { query: silent }, { query }] = body.findings as [unknown, { query: string }, { query: string }]
    expect(new URLSearchParams(query).getAll('node')).toEqual(['db-4'])
    expect(new URLSearchParams(silent).getAll('node')).not.toContain('db-4')
    const steady = await ask(fleet, `node=db-1&base-node=db-2&base-node=db-3&file=a.log&${RANGE}`)
    expect(steady.body.findings).toEqual([])
  })
  it('refuses a base without other nodes', async () => {
    const { status, body } = await ask(fleet, `node=*&base-node=db-1&file=a.log&${RANGE}`)
    expect([status, body.detail]).toEqual([400, expect.stringContaining('base-node')])
  })
})
