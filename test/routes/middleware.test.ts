import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerType, serve } from '@hono/node-server'
import { Hono, type MiddlewareHandler } from 'hono'
import { basicAuth } from 'hono/basic-auth'
import { bearerAuth } from 'hono/bearer-auth'
import { compress } from 'hono/compress'
import { cors } from 'hono/cors'
import { etag } from 'hono/etag'
import { jwk } from 'hono/jwk'
import { sign } from 'hono/jwt'
import { logger } from 'hono/logger'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { timeout } from 'hono/timeout'
import { timing } from 'hono/timing'
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

describe('an app behind', () => {
  const signed = async () => {
    const { privateKey, publicKey } = await crypto.subtle.generateKey(
      { name: 'ECDSA', namedCurve: 'P-256' },
      true,
      ['sign', 'verify'],
    )
    const names = { kid: 'one', alg: 'ES256' }
    const exported = async (key: CryptoKey) => ({ ...(await crypto.subtle.exportKey('jwk', key)), ...names })
    const token = await sign({ sub: 'ann' }, await exported(privateKey), 'ES256')
    return { keys: [await exported(publicKey)], bearer: `Bearer ${token}` }
  }
  const paths = [
    '/api/v1/log/list',
    '/api/v1/log/view?file=a.log&size=100',
    '/api/v1/config',
    '/api/v1/nothing',
  ]
  const compared = async (asked: { request: Hono['request'] }, headers: Record<string, string> = {}) =>
    Promise.all(
      paths.map(async (path) => {
        const answer = await asked.request(path, { headers })
        const own = ['Content-Type', 'ETag', 'Link'].map((name) => answer.headers.get(name))
        return { status: answer.status, own, body: await answer.text() }
      }),
    )

  it.each<[string, MiddlewareHandler, header: string | null]>([
    ['logger', logger(() => {}), null],
    ['timing', timing(), 'Server-Timing'],
    ['secureHeaders', secureHeaders(), 'X-Frame-Options'],
    ['requestId', requestId(), 'X-Request-Id'],
    ['cors', cors(), 'Access-Control-Allow-Origin'],
    ['etag', etag(), 'ETag'],
    ['compress', compress(), null],
    ['timeout', timeout(5000), null],
  ])('%s answers as alone', async (_, middleware, header) => {
    const outer = new Hono().use(middleware).route('/', app)
    // Problems have no tag of their own.
    const tagged = (answers: Awaited<ReturnType<typeof compared>>) =>
      answers.map(({ own: [type, tag, link], ...rest }) => ({
        ...rest,
        type,
        link,
        tag: rest.status === 200 && tag,
      }))
    expect(tagged(await compared(outer))).toEqual(tagged(await compared(app)))
    if (header !== null) expect((await outer.request(paths[1]!)).headers.get(header)).toBeTruthy()
  })

  it.each<[string, () => Promise<{ middleware: MiddlewareHandler; authorization: string }>]>([
    [
      'basicAuth',
      async () => ({
        middleware: basicAuth({ username: 'ann', password: 'secret' }),
        authorization: `Basic ${btoa('ann:secret')}`,
      }),
    ],
    [
      'bearerAuth',
      async () => ({ middleware: bearerAuth({ token: 'secret' }), authorization: 'Bearer secret' }),
    ],
    [
      'jwk',
      async () => {
        const { keys, bearer } = await signed()
        return { middleware: jwk({ keys, alg: ['ES256'] }), authorization: bearer }
      },
    ],
  ])('%s answers those who sign in as alone, and nobody else', async (_, make) => {
    const { middleware, authorization } = await make()
    const outer = new Hono().use(middleware).route('/', app)
    expect(await compared(outer, { Authorization: authorization })).toEqual(await compared(app))
    for (const { status, body } of await compared(outer)) {
      expect(status).toBe(401)
      expect(body).not.toContain('xxx')
    }
  })
})
