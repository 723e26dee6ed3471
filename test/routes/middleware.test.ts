import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerType, serve } from '@hono/node-server'
import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { etag } from 'hono/etag'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fsStore } from '../../src/store/fs.ts'
import { createApp } from '../support/app.ts'

const directory = mkdtempSync(join(tmpdir(), 'nodestate-middleware-'))
const log = join(directory, 'a.log')
const app = createApp({ logs: fsStore(directory), config: 'a = 1\n' })
const outer = new Hono()
for (const [path, middlewares] of [
  ['/etag', [etag()]],
  ['/compress', [compress()]],
  ['/both', [etag(), compress()]],
  ['/turned', [compress(), etag()]],
] as const)
  outer.route(path, new Hono().use(...middlewares).route('/', app))

let server: ServerType
let port: number
beforeAll(async () => {
  writeFileSync(log, `${'x'.repeat(5000)}\n`)
  port = await new Promise<number>((resolve) => {
    server = serve({ fetch: outer.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port))
  })
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  rmSync(directory, { recursive: true })
})

function get(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path, headers: { 'Accept-Encoding': 'gzip', ...headers } }
    request(options, resolve).on('error', reject).end()
  })
}

describe.each(['/etag', '/compress', '/both', '/turned'])('a follow behind %s', (base) => {
  it.each([
    ['as text', {}],
    ['as events', { Accept: 'text/event-stream' }],
    ['as JSON', { Accept: 'application/x-ndjson' }],
  ] as const)('sends its status line at once and every line as it comes, %s', async (_, accept) => {
    const response = await get(`${base}/api/v1/log/view?file=a.log&lines=0&follow=true`, { ...accept })
    expect(response.statusCode).toBe(200)
    expect(response.headers['content-encoding']).toBeUndefined()
    expect(response.headers['cache-control']).toBe('private, no-cache, no-transform')
    let text = ''
    for (const word of ['first', 'second']) {
      appendFileSync(log, `${word}\n`)
      for await (const chunk of response.iterator({ destroyOnReturn: false })) {
        text += String(chunk)
        if (text.includes(word)) break
      }
    }
    expect(text).toContain('second')
    response.destroy()
  })
})

it('two follows never have the same tag, so none is ever a 304', async () => {
  const follow = () => app.request('/api/v1/log/view?file=a.log&lines=0&follow=true')
  const [one, two] = [await follow(), await follow()]
  expect(one.headers.get('ETag')).toMatch(/^W\/"follow-/)
  expect(one.headers.get('ETag')).not.toBe(two.headers.get('ETag'))
  await Promise.all([one.body!.cancel(), two.body!.cancel()])
})

it('other answers are compressed and revalidated as ever', async () => {
  const response = await get('/both/api/v1/log/view?file=a.log&size=5000000', {})
  expect(response.headers['content-encoding']).toBe('gzip')
  response.resume()
  const known = await get('/both/api/v1/log/view?file=a.log&size=5000000', {
    'If-None-Match': String(response.headers.etag),
  })
  expect(known.statusCode).toBe(304)
  known.resume()
})
