import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../../../src/doors/client.ts'
import { text } from '../../../../src/routes/insight/incident/html.ts'
import { memoryStore } from '../../../../src/store/memory.ts'
import { createApp, createFleet } from '../../../support/app.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { NOW, planted, RANGE, SECRETS } from './plant.ts'

const clock = manualClock(NOW)
const store = memoryStore(planted())
const fleet = createFleet({ store, clock, onError: () => {} })
const ask = (query: string, init?: RequestInit) => fleet.request(`/api/v1/log/incident?${query}`, init)

describe('GET /api/v1/log/incident', async () => {
  const response = await ask(`node=*&file=*.log&${RANGE}`)
  const html = await response.text()

  it('is one file to download', () => {
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('Content-Disposition')).toBe(
      'attachment; filename="incident-2026-11-16T023000Z.html"',
    )
    expect(response.headers.get('Cache-Control')).toBe('private, no-cache')
    expect(new TextEncoder().encode(html).length).toBeLessThan(500_000)
  })

  it('has every part', () => {
    for (const part of [
      '2026-11-16T02:30:00.000Z to 2026-11-16T03:00:00.000Z',
      '<svg',
      'What is different',
      'First errors',
      'Records around the first error',
      'storage.flush-workers',
      'db-7.example',
      'db-4/broker.log',
      'db-7/storage.log',
      'href="http://localhost/api/v1/log/view?',
    ])
      expect(html.includes(part), part).toBe(true)
    expect(/<td>storage\.flush-workers<\/td><td><del>8<\/del><\/td><td><ins>1<\/ins>/.test(html)).toBe(true)
    expect(html.match(/<tr><td class="k">pattern<\/td>/g)?.length).toBeGreaterThan(2)
    expect(html.match(/<td class="error">error<\/td>/g)!.length).toBeGreaterThan(25)
  })

  it('has no secret in it', () => {
    for (const secret of SECRETS) expect(html.includes(secret), secret).toBe(false)
    expect(html.includes('postgres://app:********@db-7/main')).toBe(true)
  })

  it('runs nothing and loads nothing', () => {
    const found = /<script|<link|<img|<iframe|<object|<[^>]*\son\w+=|url\(|@import|src=/i.exec(html)
    expect(found?.[0]).toBeUndefined()
    expect(html.includes('&lt;script&gt;alert(1)&lt;/script&gt;')).toBe(true)
    expect(/[\p{Cc}\u202e]/u.test(html.replaceAll('\n', ''))).toBe(false)
  })

  it('is masked in its links and filters, too', async () => {
    const asked = await ask(`node=*&file=*.log&${RANGE}&not=${SECRETS[1]}&q=failed`)
    const text = await asked.text()
    expect(asked.status).toBe(200)
    expect(text).not.toContain(SECRETS[1])
    expect(text).toContain('q=failed')
  })
})

it('says what is wrong as a comparison does', async () => {
  const problem = async (query: string) => {
    const response = await ask(query)
    return [response.status, ((await response.json()) as { detail: string }).detail]
  }
  expect(await problem('node=*&file=broker.log')).toEqual([400, expect.stringContaining('since is missing')])
  expect(await problem(`node=*&file=nothing.log&${RANGE}`)).toEqual([404, expect.any(String)])
  expect(await problem(`file=broker.log&${RANGE}`)).toEqual([400, expect.stringContaining('node')])
  const head = await ask(`node=*&file=broker.log&${RANGE}`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect((await ask(`node=*&file=broker.log&${RANGE}`, { method: 'POST' })).status).toBe(405)
})

it('works for one node, below a path, with a page that its links lead to', async () => {
  const page = { html: '', etag: '"x"', assets: {} }
  const one = createFleet({ store, clock, page, onError: () => {} })
  const response = await one.request(`/nodes/db-7/api/v1/log/incident?file=storage.log&${RANGE}`)
  const html = await response.text()
  expect(html).toContain('href="http://localhost/nodes/db-7/#file=storage.log&amp;since=2026-11-16T02%3A30')
  expect(html).toContain('There are none.')
  expect(html).toContain('flush-workers')
})

it('holds only what the token may see', async () => {
  const tokens = () => [
    { name: 'logs', token: 'only-logs', scopes: ['logs' as const], files: ['storage*'] },
    { name: 'config', token: 'only-config', scopes: ['config' as const] },
  ]
  const app = createFleet({ store, clock, tokens, onError: () => {} })
  const get = (token: string, file: string) =>
    app.request(`/api/v1/log/incident?node=*&file=${file}&${RANGE}`, {
      headers: { Authorization: `Bearer ${token}` },
    })
  expect((await app.request(`/api/v1/log/incident?node=*&file=*&${RANGE}`)).status).toBe(401)
  expect((await get('only-config', '*')).status).toBe(403)
  expect((await get('only-logs', 'broker.log')).status).toBe(404)
  const html = await (await get('only-logs', '*')).text()
  expect(html).not.toContain('flush-workers')
  expect(html).not.toContain('db-7.example')
  expect(html).not.toContain('broker.log')
  expect(html).toContain('The token does not cover the configuration')
})

it('stays small with long lines, many fields and many versions', async () => {
  const long = Array.from(
    { length: 2000 },
    (_, i) =>
      `${new Date(NOW - 1_800_000 + i * 900).toISOString().replace('T', ' ').slice(0, 23)}\tERROR\ta.go:1\t[A]: ${i} ${'<ü&'.repeat(3000)}\n`,
  ).join('')
  const app = createApp({ logs: memoryStore({ 'a.log': long }), config: '', clock })
  const client = createClient({
    base: 'http://n',
    fetch: async (url, init) => app.request(String(url), init as RequestInit),
  })
  const { body } = await client.incident({ file: 'a.log', since: '30m' })
  const bytes = await new Response(body as ReadableStream).arrayBuffer()
  expect(bytes.byteLength).toBeLessThan(500_000)
})

describe('a text in the file', () => {
  const shown = (given: string, most?: number) => text(given, most).escaped

  it('is masked before it is cut, and what a cut may have broken is left out', () => {
    const token = SECRETS[1]!
    expect(shown(`${'x '.repeat(30)}${token}`, 70)).not.toContain(token.slice(0, 6))
    const pem = `-----BEGIN PRIVATE KEY-----${'A'.repeat(8100)}-----END PRIVATE KEY----- ${token}`
    expect(shown(pem)).not.toContain('ghp_')
    expect(shown('short', 3)).toBe('sho [+2 characters]')
  })

  it('property: holds no markup, and nothing that is hidden', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (given) => {
        expect(shown(given)).not.toMatch(/[<>"'\p{Cf}]|[^\P{Cc}\n]/u)
      }),
    )
  })
})
