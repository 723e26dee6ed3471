import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { createApp } from '../src/app.ts'
import { page } from '../src/doors/page.ts'
import { createMetrics } from '../src/kit/observe/metrics.ts'
import { memoryStore } from '../src/store/memory.ts'
import { apiText } from './support/api-docs.ts'

const hex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'))
const LINE = '2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A]: x\n'
const app = createApp({
  logs: memoryStore({
    'a.log': LINE,
    'b.log': LINE,
    'a.log.1.gz': gzipSync(LINE),
    'a.log.2.bz2': hex('425a6839314159265359'),
    'a.log.3.xz': hex('fd377a585a000000'),
    'a.log.4.zst': hex('28b52ffd00000000'),
    'a.log.5.zip': hex('504b030400000000'),
  }),
  config: 'a = 1\n',
  page,
  metrics: createMetrics(),
})

it('the documented kinds of files are those that a detailed list has', async () => {
  const [row] = apiText().match(/^\| `kind` \|.*$/m)!
  const documented = [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name!).slice(1)
  const list = (await (await app.request('/api/v1/log/list?detail=true')).json()) as { kind: string }[]
  expect([...new Set(list.map(({ kind }) => kind))].sort()).toEqual(documented.sort())
})

it('answers are cached as documented', async () => {
  const [text] = apiText().match(/^Answers have `Cache-Control: private, no-cache`.*$/m)!
  const cached = async (path: string) => {
    const answer = await app.request(path)
    await answer.body?.cancel()
    return answer.headers.get('Cache-Control')
  }
  const usual = [
    '/api/v1/config',
    '/api/v1/config/history',
    '/api/v1/log/list',
    '/healthz',
    '/readyz',
    '/',
    '/x',
  ]
  const ofLogs = ['view', 'histogram', 'fields', 'groups', 'download']
    .map((name) => `/api/v1/log/${name}?file=a.log&by=level`)
    .concat(['compare', 'incident'].map((name) => `/api/v1/log/${name}?file=a.log&since=2h`))
  const others = ['file=a.log&file=b.log', 'file=a.log&download=true', 'file=none', 'file=a.log&level=info']
  for (const path of [...usual, ...ofLogs, ...others.map((query) => `/api/v1/log/view?${query}`)])
    expect(await cached(path), path).toBe('private, no-cache')
  expect(text).toContain('Follows add `no-transform`')
  expect(await cached('/api/v1/log/view?file=a.log&follow=true')).toBe('private, no-cache, no-transform')
  expect(text).toContain('`/metrics` has `no-store`')
  expect(await cached('/metrics')).toBe('no-store')
  expect(text).toContain('assets of the page are `public` and `immutable`')
  const [, asset] = /src="([^"]+\.js)"/.exec(await (await app.request('/')).text())!
  expect(await cached(`/${asset}`)).toMatch(/^public, .*immutable$/)
})
