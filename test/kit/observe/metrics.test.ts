import { describe, expect, it } from 'vitest'
import { loki } from '../../../src/doors/loki.ts'
import { createMetrics } from '../../../src/kit/observe/metrics.ts'
import { createRegistry } from '../../../src/kit/observe/registry.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { s3Store } from '../../../src/store/s3.ts'
import { type Store, StoreError } from '../../../src/store/store.ts'
import { createApp } from '../../support/app.ts'

const LOG = '2026-01-01 00:00:00.000\tINFO\ta.go:1\t[X]: one\n'
const files = { 'a.log': LOG.repeat(20_000) }

function observed(store: Store = memoryStore(files), more: object = {}) {
  const metrics = createMetrics({ runtime: 'test' })
  const app = createApp({ logs: store, config: '', metrics, onError() {}, ...more })
  return { app, metrics, text: () => metrics.registry.text('prometheus') }
}

describe('the registry', () => {
  it('counts alike whether a series is named each time or once', () => {
    const [each, once] = [createRegistry(), createRegistry()]
    const labels = { route: '/', status: '200' }
    const counter = once.counter('a', 'A.').with(labels)
    const histogram = once.histogram('h', 'H.', [0.5, 1]).with(labels)
    for (const value of [0.2, 0.5, 0.7, 3]) {
      each.counter('a', 'A.').add(value, labels)
      each.histogram('h', 'H.', [0.5, 1]).observe(value, labels)
      counter(value)
      histogram(value)
    }
    expect(once.text('prometheus')).toBe(each.text('prometheus'))
    once.counter('a', 'A.').add(1, labels)
    counter()
    expect(once.text('prometheus')).toContain('a_total{route="/",status="200"} 6.4\n')
  })

  it('writes both formats', () => {
    const registry = createRegistry()
    registry.counter('a', 'A.').add(2, { x: 'q"\\\n' })
    registry.histogram('h', 'H.', [0.5, 1]).observe(0.7, { r: '/' })
    registry.gauge('g', 'G.', () => 1.5)
    registry.gauge('none', 'Never shown.', () => null)
    expect(registry.text('prometheus')).toBe(
      [
        '# HELP a_total A.',
        '# TYPE a_total counter',
        'a_total{x="q\\"\\\\\\n"} 2',
        '# HELP h H.',
        '# TYPE h histogram',
        'h_bucket{r="/",le="0.5"} 0',
        'h_bucket{r="/",le="1.0"} 1',
        'h_bucket{r="/",le="+Inf"} 1',
        'h_sum{r="/"} 0.7',
        'h_count{r="/"} 1',
        '# HELP g G.',
        '# TYPE g gauge',
        'g 1.5',
        '',
      ].join('\n'),
    )
    const open = registry.text('openmetrics')
    expect(open).toContain('# TYPE a counter\na_total{')
    expect(open.endsWith('# EOF\n')).toBe(true)
  })

  it('has one instrument for a name, however often it is asked for', () => {
    const registry = createRegistry()
    registry.counter('a', 'A.').add()
    registry.counter('a', 'A.').add()
    registry.gauge('g', 'G.', () => 1)
    registry.gauge('g', 'G.', () => 2)
    expect(registry.text('prometheus').match(/^(a_total|g) .*$/gm)).toEqual(['a_total 2', 'g 2'])
  })
})

describe('an app with metrics', () => {
  it('counts requests by route, method and status', async () => {
    const { app, text } = observed()
    await (await app.request('/api/v1/log/view?file=a.log&size=100')).text()
    await app.request('/api/v1/log/view?file=a.log', { method: 'HEAD' })
    await app.request('/api/v1/log/view?file=nope')
    await app.request('/api/v1/log/list', { method: 'POST' })
    await app.request('/some/path')
    await app.request('/healthz', { method: 'BREW' })
    const lines = text().match(/^nodestate_http_requests_total.*$/gm)
    expect(lines).toEqual([
      'nodestate_http_requests_total{route="/api/v1/log/view",method="GET",status="200"} 1',
      'nodestate_http_requests_total{route="/api/v1/log/view",method="HEAD",status="200"} 1',
      'nodestate_http_requests_total{route="/api/v1/log/view",method="GET",status="404"} 1',
      'nodestate_http_requests_total{route="/api/v1/log/list",method="POST",status="405"} 1',
      'nodestate_http_requests_total{route="other",method="GET",status="404"} 1',
      'nodestate_http_requests_total{route="/healthz",method="other",status="405"} 1',
    ])
    expect(text()).toMatch(/duration_seconds_count\{route="\/api\/v1\/log\/view"\} 3/)
    expect(text()).toContain('nodestate_build_info{version="0.1.0",runtime="test"} 1')
  })

  it('counts an answer as in flight until its last byte is taken, and its bytes', async () => {
    const { app, text } = observed()
    const answer = await app.request('/api/v1/log/view?file=a.log&q=one&size=1000000')
    expect(text()).toContain('nodestate_http_requests_in_flight 1')
    const bytes = (await answer.arrayBuffer()).byteLength
    expect(text()).toContain('nodestate_http_requests_in_flight 0')
    expect(text()).toContain(`nodestate_http_response_size_bytes_sum{route="/api/v1/log/view"} ${bytes}`)
    const left = await app.request('/api/v1/log/view?file=a.log&q=one&size=1000000')
    expect(text()).toContain('nodestate_http_requests_in_flight 1')
    await left.body!.cancel()
    expect(text()).toContain('nodestate_http_requests_in_flight 0')
  })

  it('counts the bytes of every answer, also of those made in memory', async () => {
    const { app, metrics, text } = observed(memoryStore({ 'a.log': LOG, 'ü.log': LOG }), {
      config: 'name = "Zürich"\n',
      loki,
      page: { html: '<p>ä</p>', etag: '"p"', assets: {} },
      token: 't',
      corsOrigins: ['https://elsewhere.example'],
    })
    const view = '/api/v1/log/view?file=a.log'
    const paths = [
      '/api/v1/config',
      '/api/v1/config?detail=true',
      '/api/v1/log/list',
      '/api/v1/log/list?detail=true',
      view,
      `${view}&format=ndjson&lines=1`,
      `${view}&size=x`,
      '/api/v1/log/view?file=none',
      '/api/v1/log/histogram?file=a.log',
      '/api/v1/log/fields?file=a.log',
      '/api/v1/log/download?file=a.log',
      '/api/v1/elsewhere',
      '/loki/api/v1/labels',
      '/loki/api/v1/query?query=x',
      '/openapi.json',
      '/healthz',
      '/readyz',
      '/metrics',
      '/',
    ]
    const taken = new Map<string, number>()
    const take = async (path: string, init: RequestInit) => {
      const answer = await app.request(path, init)
      const bytes = (await answer.arrayBuffer()).byteLength
      taken.set(path, (taken.get(path) ?? 0) + bytes)
      return answer
    }
    for (const path of paths) {
      const headers = { Authorization: 'Bearer t' }
      const etag = (await take(path, { headers })).headers.get('ETag')
      if (etag) await take(path, { headers: { ...headers, 'If-None-Match': etag } })
      await take(path, {})
      await take(path, { method: 'POST', headers })
      const preflight = { Origin: 'https://elsewhere.example', 'Access-Control-Request-Method': 'GET' }
      await take(path, { method: 'OPTIONS', headers: preflight })
    }
    const shown = text()
    const routes = new Map<string, number>()
    for (const [, route, count] of shown.matchAll(
      /^nodestate_http_requests_total\{route="([^"]+)".* (\d+)$/gm,
    ))
      routes.set(route!, (routes.get(route!) ?? 0) + Number(count))
    expect(routes.size).toBeGreaterThan(12)
    for (const [route, count] of routes)
      expect(shown, route).toContain(`nodestate_http_response_size_bytes_count{route="${route}"} ${count}\n`)
    for (const route of ['/api/v1/config', '/api/v1/log/list', '/api/v1/log/view', '/loki/*', '/', 'other']) {
      const here = (path: string) =>
        route === 'other'
          ? path.endsWith('elsewhere')
          : path.split('?')[0]!.startsWith(route.replace('*', ''))
      const bytes = [...taken].filter(([path]) => (route === '/' ? path === '/' : here(path)))
      const sum = bytes.reduce((total, [, length]) => total + length, 0)
      expect(shown, route).toContain(`nodestate_http_response_size_bytes_sum{route="${route}"} ${sum}\n`)
    }
    expect(metrics.registry.text('prometheus')).toContain('nodestate_http_requests_in_flight 0')
  })

  it('counts followers while they follow', async () => {
    const { app, text } = observed()
    const follow = await app.request('/api/v1/log/view?file=a.log&follow=true&lines=1')
    const reader = follow.body!.getReader()
    await reader.read()
    expect(text()).toContain('nodestate_followers 1')
    await reader.cancel()
    expect(text()).toContain('nodestate_followers 0')
  })

  it('counts calls, bytes and failures of the store', async () => {
    const store = memoryStore(files)
    const { app, text } = observed({
      ...store,
      stat: async (key, options) => {
        if (key === 'bad') throw new StoreError('throttled', 'slow down')
        return store.stat(key, options)
      },
      read: async (key, range, options) => {
        if (key === 'bad') throw new StoreError('throttled', 'slow down')
        return store.read(key, range, options)
      },
      async *list(prefix, options) {
        yield* store.list(prefix, options)
        yield { key: 'bad', size: 1, modified: 0, etag: '"x"' }
      },
    })
    for (const operation of ['list', 'stat', 'read'])
      expect(text()).toContain(`nodestate_store_requests_total{operation="${operation}"} 0\n`)
    await (await app.request('/api/v1/log/view?file=a.log&size=1000')).text()
    expect((await app.request('/api/v1/log/view?file=bad')).status).toBe(503)
    expect(text()).toMatch(/nodestate_store_requests_total\{operation="read"\} [1-9]/)
    expect(text()).toMatch(/nodestate_store_read_bytes_total [1-9]\d{2,}/)
    expect(text()).toMatch(/nodestate_store_errors_total\{operation="\w+",kind="throttled"\} 1/)
  })

  it('counts the retries and the failures of a bucket, from zero on', async () => {
    let requests = 0
    const bytes = new Uint8Array(3 * 1024 * 1024)
    const retried: string[] = []
    const logs = s3Store({
      bucket: 'logs',
      backoff: 0,
      retries: 1,
      onRetry: (kind) => retried.push(kind),
      fetch: async (_url, init) => {
        requests++
        const headers = { ETag: '"e"', 'Last-Modified': 'Fri, 02 Jan 2026 03:04:05 GMT' }
        if (requests === 1) return new Response(null, { status: 429 })
        if (requests > 2) return new Response(null, { status: 500 })
        const length = {
          'Content-Length': `${bytes.length}`,
          'Content-Range': `bytes 0-${bytes.length - 1}/${bytes.length}`,
        }
        // Cut in the middle of the body.
        const body = init.method === 'HEAD' ? null : bytes.subarray(0, 1000)
        return new Response(body, { status: 206, headers: { ...headers, ...length } })
      },
    })
    const { app, text } = observed(logs)
    expect(text()).toContain('nodestate_store_retries_total{kind="throttled"} 0')
    expect(text()).toContain('nodestate_store_errors_total{operation="read",kind="timeout"} 0')
    const response = await app.request(`/api/v1/log/view?file=a&size=${bytes.length}`)
    await response.arrayBuffer().catch(() => {})
    expect(text()).toContain('nodestate_store_retries_total{kind="throttled"} 1')
    expect(text()).toContain('nodestate_store_retries_total{kind="unavailable"} 2')
    expect(text()).toContain('nodestate_store_errors_total{operation="read",kind="unavailable"} 1')
    expect(retried).toEqual(['throttled', 'unavailable', 'unavailable'])
  })

  it('counts searches that their budget ended, and answers that the client had', async () => {
    const { app, text } = observed(memoryStore(files), { limits: { scanBytes: 65_536 } })
    await (await app.request('/api/v1/log/view?file=a.log&q=nothing')).text()
    const list = await app.request('/api/v1/log/list')
    await app.request('/api/v1/log/list', { headers: { 'If-None-Match': list.headers.get('ETag')! } })
    expect(text()).toContain('nodestate_scans_cut_total 1')
    expect(text()).toContain('nodestate_cache_hits_total{cache="client"} 1')
    expect(text()).toContain('nodestate_scans_running 0')
  })
})

describe('GET /metrics', () => {
  it('needs the token unless it is open, and does not exist without metrics', async () => {
    const guarded = observed(memoryStore(files), { token: 't' }).app
    expect((await guarded.request('/metrics')).status).toBe(401)
    const headers = { Authorization: 'Bearer t' }
    expect((await guarded.request('/metrics', { headers })).status).toBe(200)
    expect(
      (await observed(memoryStore(files), { token: 't', metricsOpen: true }).app.request('/metrics')).status,
    ).toBe(200)
    expect((await createApp({ logs: memoryStore(files), config: '' }).request('/metrics')).status).toBe(501)
  })

  it('answers in the format that is accepted', async () => {
    const { app } = observed()
    const plain = await app.request('/metrics')
    expect(plain.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const accept =
      'application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
    const open = await app.request('/metrics', { headers: { Accept: accept } })
    expect(open.headers.get('Content-Type')).toBe(
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    )
    expect((await open.text()).endsWith('# EOF\n')).toBe(true)
    const head = await app.request('/metrics', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('reads no value for HEAD: a delay of the event loop is the one since the last scrape', async () => {
    const { app, metrics } = observed()
    let reads = 0
    metrics.registry.gauge('reads', 'Reads.', () => ++reads)
    await app.request('/metrics', { method: 'HEAD' })
    expect(reads).toBe(0)
    expect(await (await app.request('/metrics')).text()).toContain('reads 1\n')
  })
})
