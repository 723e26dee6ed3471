import { Hono } from 'hono'
import { beforeEach, describe, expect, it } from 'vitest'
import { HomeError } from '../src/core/node/home.ts'
import { type MemoryStore, memoryStore } from '../src/store/memory.ts'
import { type Store, StoreError } from '../src/store/store.ts'
import { type AppOptions, createApp } from './support/app.ts'

const LINDB_ACCEPT = 'application/json, text/plain, */*'
const node = {
  hostIp: '10.0.0.7',
  hostName: 'db-4',
  grpcPort: 9001,
  httpPort: 9000,
  version: '1.2.3',
  onlineTime: 1700000000000,
}
const log = Array.from(
  { length: 100 },
  (_, i) => `2026-11-15 02:10:00.${100 + i}\tINFO\tx.go:1\t[A]: line ${i}\n`,
).join('')

let store: MemoryStore
beforeEach(() => {
  store = memoryStore({ 'broker.log': log, 'a b+c%d.log': 'odd\n', empty: '' })
})

const make = (options: Partial<AppOptions> = {}) =>
  createApp({ onError: () => {}, logs: store, config: '[http]\nport = 9000 # the port\n', node, ...options })

async function get(path: string, init: RequestInit = {}, options: Partial<AppOptions> = {}) {
  const response = await make(options).request(path, init)
  return { response, status: response.status, headers: response.headers, text: await response.text() }
}

async function problem(path: string, init: RequestInit = {}, options: Partial<AppOptions> = {}) {
  const { status, headers, text } = await get(path, init, options)
  expect(headers.get('Content-Type')).toBe('application/problem+json')
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
  expect(headers.get('Cache-Control')).toBe('private, no-cache')
  expect(headers.get('Vary')).toMatch(/\bAccept\b/)
  const body = JSON.parse(text)
  expect(Object.keys(body)).toEqual(['type', 'title', 'status', 'detail'])
  expect(body.status).toBe(status)
  return { status, code: body.type.replace('/problems/', ''), detail: body.detail as string, headers }
}

describe('GET /api/v1/config', () => {
  it('answers with the configuration and the node, and nothing else', async () => {
    const { status, headers, text } = await get('/api/v1/config')
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toBe('application/json')
    expect(text).toBe(JSON.stringify({ config: '[http]\nport = 9000 # the port\n', node }))
  })

  it('reads the text anew at every request', async () => {
    let text = 'a = 1\n'
    const app = make({ config: () => text })
    const config = async () => (await (await app.request('/api/v1/config')).json()).config
    expect(await config()).toBe('a = 1\n')
    text = 'a = 2\n'
    expect(await config()).toBe('a = 2\n')
  })

  it('masks secrets', async () => {
    const { text } = await get('/api/v1/config', {}, { config: 'password = "hunter2" # hunter2\n' })
    expect(text).not.toContain('hunter2')
  })

  it('says where a configuration is broken, and quotes nothing of it', async () => {
    const { status, code, detail } = await problem(
      '/api/v1/config',
      {},
      { config: 'a = 1\npassword = hunter2\n' },
    )
    expect([status, code]).toEqual([500, 'bad-config'])
    expect(detail).toMatch(/line 2/)
    expect(detail).not.toContain('hunter2')
  })

  it.each([
    new StoreError('unavailable', 'Cannot read "/etc/secret/path"'),
    Object.assign(new Error("ENOENT: open '/etc/secret/path'"), { code: 'ENOENT' }),
  ])('is a 503 when the configuration cannot be read: %s', async (error) => {
    const errors: unknown[] = []
    const options = { config: () => Promise.reject(error), onError: (e: unknown) => errors.push(e) }
    const { status, code, detail } = await problem('/api/v1/config', {}, options)
    expect([status, code]).toEqual([503, 'storage-unavailable'])
    expect(detail).toContain('configuration')
    expect(detail).not.toContain('/etc')
    expect(errors).toEqual([error])
  })
})

describe('GET /api/v1/config of a bucket', () => {
  const late = () => new Promise((resolve) => setTimeout(resolve, 20))

  it.each(['denied', 'throttled', 'timeout'] as const)('tells why it cannot be read: %s', async (code) => {
    const config = () => Promise.reject(new StoreError(code, 'Cannot read "s3://logs/config.toml"'))
    expect(await problem('/api/v1/config', {}, { config })).toMatchObject({
      status: 503,
      code: `storage-${code}`,
    })
  })

  it('names the same missing object first, whichever answer was quicker', async () => {
    const missing = (name: string) => new HomeError('missing-object', `The node's home has no "${name}".`)
    for (const slow of ['node.json', 'config.toml']) {
      const fail = async (name: string) => {
        if (name === slow) await late()
        throw missing(name)
      }
      const options = { config: () => fail('config.toml'), node: () => fail('node.json') }
      const { status, detail } = await problem('/api/v1/config', {}, options)
      expect([status, detail]).toEqual([503, 'The node\'s home has no "node.json".'])
    }
  })
})

describe('GET /api/v1/log/list', () => {
  it('answers with names and sizes, by name', async () => {
    const { status, headers, text } = await get('/api/v1/log/list')
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toBe('application/json')
    expect(JSON.parse(text)).toEqual([
      { name: 'a b+c%d.log', size: 4 },
      { name: 'broker.log', size: log.length },
      { name: 'empty', size: 0 },
    ])
  })

  it('is [] when there are none', async () => {
    expect((await get('/api/v1/log/list', {}, { logs: memoryStore() })).text).toBe('[]')
  })

  it('writes any name as JSON in UTF-8, and tags the same list alike', async () => {
    const names = ['a"b', 'line\nbreak', 'é', 'x\uFFFD.log', '\uFF5E', '😀', '\u2028']
    const logs = memoryStore(Object.fromEntries(names.map((name) => [name, name])))
    const { text, headers } = await get('/api/v1/log/list', {}, { logs })
    const sizes = names.map((name) => ({ name, size: Buffer.byteLength(name) }))
    const bytes = (name: string) => Buffer.from(name)
    sizes.sort((a, b) => Buffer.compare(bytes(a.name), bytes(b.name)))
    expect(text).toBe(JSON.stringify(sizes))
    const tag = headers.get('ETag')!
    const again = await get('/api/v1/log/list', { headers: { 'If-None-Match': tag } }, { logs })
    expect([again.status, again.text, again.headers.get('ETag')]).toEqual([304, '', tag])
    const grown = memoryStore(Object.fromEntries(names.map((name) => [name, name === 'é' ? 'eee' : name])))
    const other = await get('/api/v1/log/list', {}, { logs: grown })
    expect(other.headers.get('ETag')).not.toBe(tag)
  })

  it('never hides a failure behind an empty list', async () => {
    const { status, code } = await problem('/api/v1/log/list', {}, { logs: failing('unavailable') })
    expect([status, code]).toEqual([503, 'storage-unavailable'])
  })

  it('leaves out what cannot be a file of the directory', async () => {
    store.put('sub/deep.log', 'x')
    store.put('back\\slash', 'x')
    expect(JSON.parse((await get('/api/v1/log/list')).text)).toHaveLength(3)
    for (const name of ['sub/deep.log', 'back\\slash'])
      expect((await problem(`/api/v1/log/view?file=${encodeURIComponent(name)}`)).status).toBe(404)
  })

  it('is narrowed by patterns, and so is the view', async () => {
    const include = ['*.log']
    const { text } = await get('/api/v1/log/list', {}, { include })
    expect(JSON.parse(text).map((entry: { name: string }) => entry.name)).toEqual([
      'a b+c%d.log',
      'broker.log',
    ])
    expect((await problem('/api/v1/log/view?file=empty', {}, { include })).status).toBe(404)
    expect((await get('/api/v1/log/view?file=broker.log', {}, { include })).status).toBe(200)
  })
})

describe('GET /api/v1/log/view', () => {
  const view = '/api/v1/log/view?file=broker.log'

  it('answers with the tail as text', async () => {
    const { status, headers, text } = await get(`${view}&size=100`)
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect(text).toBe(
      log
        .split(/(?<=\n)/)
        .slice(-2)
        .join(''),
    )
    expect(headers.get('Content-Length')).toBe(String(text.length))
  })

  it.each([
    ['', log],
    ['&size=', log],
    ['&size=0', ''],
    [`&size=${log.length}`, log],
    [`&size=${'9'.repeat(40)}`, log],
    ['&size=000049', log.split(/(?<=\n)/).at(-1)],
  ])('size given as %j', async (query, expected) => {
    const { status, text } = await get(view + query)
    expect(status).toBe(200)
    expect(text).toBe(expected)
  })

  it.each([
    '-1',
    '1.5',
    '1e3',
    '0x10',
    'abc',
    '%205',
    '5%20',
    '+5',
    '%2B5',
    '٣',
    'NaN',
    'Infinity',
    '1_000',
    '0b1',
  ])('size=%s is a problem that names it', async (size) => {
    const { status, code, detail } = await problem(`${view}&size=${size}`)
    expect([status, code]).toEqual([400, 'bad-parameter'])
    expect(detail).toContain('size')
  })

  it('defaults to one MiB', async () => {
    store.put('big', `${'x'.repeat(99)}\n`.repeat(20_000))
    expect((await get('/api/v1/log/view?file=big')).text.length).toBe(Math.floor(1048576 / 100) * 100)
  })

  it('names a maximum that was passed; below 1 MiB it is the default too', async () => {
    const { status, detail } = await problem(`${view}&size=101`, {}, { limits: { maxSize: 100 } })
    expect(status).toBe(400)
    expect(detail).toContain('100')
    expect((await get(`${view}&size=100`, {}, { limits: { maxSize: 100 } })).status).toBe(200)
    expect((await get(view, {}, { limits: { maxSize: 100 } })).text).toBe(
      log
        .split(/(?<=\n)/)
        .slice(-2)
        .join(''),
    )
  })

  it.each(['/api/v1/log/view', '/api/v1/log/view?file=', '/api/v1/log/view?size=5'])(
    '%s lacks the file',
    async (path) => {
      const { status, detail } = await problem(path)
      expect(status).toBe(400)
      expect(detail).toContain('file')
    },
  )

  it.each([`${view}&lines=1&lines=1`, `${view}&size=1&size=1`])(
    '%s gives a parameter twice',
    async (path) => {
      expect((await problem(path)).status).toBe(400)
    },
  )

  it('ignores parameters that it does not know, however often', async () => {
    expect((await get(`${view}&target=1&path=x&target=2&_=3&size=0`)).status).toBe(200)
  })

  it('finds odd names', async () => {
    expect((await get(`/api/v1/log/view?file=${encodeURIComponent('a b+c%d.log')}`)).text).toBe('odd\n')
    expect((await get('/api/v1/log/view?file=a+b%2Bc%25d.log')).text).toBe('odd\n')
  })

  it.each([
    'nope',
    '..',
    '.',
    '../app.ts',
    '..%2F..%2Fetc%2Fpasswd',
    '%2Fetc%2Fpasswd',
    '..%5Cx',
    'broker.log%00',
    'broker.log%2F',
    '%ff',
    '%',
    'Broker.log',
    'x'.repeat(5000),
  ])('%s is not in the list', async (name) => {
    const { status, code } = await problem(`/api/v1/log/view?file=${name}`)
    expect([status, code]).toEqual([404, 'unknown-file'])
  })
})

describe('caching', () => {
  it.each(['/api/v1/config', '/api/v1/log/list', '/api/v1/log/view?file=broker.log'])('%s', async (path) => {
    const { headers } = await get(path)
    const etag = headers.get('ETag')!
    expect(etag).toMatch(/^"[^"]+"$/)
    expect(headers.get('Cache-Control')).toBe('private, no-cache')
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(headers.get('Last-Modified')).toBeNull()
    for (const tags of [etag, `W/${etag}`, `"x", ${etag}`, `W/"x",W/${etag}`, '*']) {
      const again = await get(path, { headers: { 'If-None-Match': tags } })
      expect(again.status, tags).toBe(304)
      expect(again.text).toBe('')
      expect(again.headers.get('ETag')).toBe(etag)
      expect(again.headers.get('Cache-Control')).toBe('private, no-cache')
    }
    for (const tags of ['"x"', 'W/"x"', '"x", "y"', etag.slice(1, -1)])
      expect((await get(path, { headers: { 'If-None-Match': tags } })).status, tags).toBe(200)
  })

  it('gives another tag when the bytes are others', async () => {
    const path = '/api/v1/log/view?file=broker.log'
    const etag = (await get(path)).headers.get('ETag')!
    store.put('broker.log', log.replaceAll('line', 'LINE'))
    const { status, text } = await get(path, { headers: { 'If-None-Match': etag } })
    expect(status).toBe(200)
    expect(text).toContain('LINE')
  })

  it('costs no read when nothing changed', async () => {
    const path = '/api/v1/log/view?file=broker.log'
    const etag = (await get(path)).headers.get('ETag')!
    const bodies: unknown[] = []
    const logs: Store = {
      ...store,
      read: async (key, range, options) => {
        const got = await store.read(key, range, options)
        bodies.push(got)
        return got
      },
    }
    expect((await get(path, { headers: { 'If-None-Match': etag } }, { logs })).status).toBe(304)
    expect(bodies).toEqual([])
  })

  it('is a 404 for a file that is gone, whatever the tag', async () => {
    expect((await get('/api/v1/log/view?file=gone', { headers: { 'If-None-Match': '*' } })).status).toBe(404)
  })
})

describe('methods and paths', () => {
  const paths = ['/api/v1/config', '/api/v1/log/list', '/api/v1/log/view?file=broker.log', '/healthz']

  it.each(paths)('HEAD %s is GET without a body', async (path) => {
    const headers = { 'X-Request-Id': 'same' }
    const head = await get(path, { method: 'HEAD', headers })
    const whole = await get(path, { headers })
    expect(head.status).toBe(200)
    expect(head.text).toBe('')
    for (const [name, value] of head.headers) expect(whole.headers.get(name), name).toBe(value)
    for (const name of ['Content-Type', 'Cache-Control', 'ETag', 'X-Content-Type-Options'])
      expect(head.headers.get(name), name).toBe(whole.headers.get(name))
  })

  it('HEAD of a view reads nothing', async () => {
    const logs: Store = { ...store, read: () => Promise.reject(new Error('was read')) }
    expect((await get(paths[2]!, { method: 'HEAD' }, { logs })).status).toBe(200)
    expect((await get('/api/v1/log/view?file=gone', { method: 'HEAD' }, { logs })).status).toBe(404)
    expect((await get(`${paths[2]}&size=x`, { method: 'HEAD' }, { logs })).status).toBe(400)
  })

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'])('%s is not allowed', async (method) => {
    for (const path of paths) {
      const { status, code, headers } = await problem(path, { method })
      expect([status, code]).toEqual([405, 'method-not-allowed'])
      expect(headers.get('Allow')).toBe('GET, HEAD')
    }
  })

  it.each([
    '/nothing',
    '/api',
    '/api/',
    '/api/v1',
    '/api/v2/config',
    '/api/v1/config/',
    '/api/v1/log/view/x',
    '//api/v1/config',
    '/API/v1/config',
  ])('%s is unknown', async (path) => {
    expect(await problem(path)).toMatchObject({ status: 404, code: 'unknown-path' })
    expect((await problem(path, { method: 'POST' })).status).toBe(404)
  })

  it.each(['/healthz', '/healthz?x=1'])('%s touches no store', async (path) => {
    const { status, text } = await get(path, {}, { logs: failing('unavailable'), token: 'secret' })
    expect([status, text]).toEqual([200, 'ok\n'])
  })

  it('works under any path, problems included', async () => {
    const outer = new Hono().route('/nodes/db-4', make())
    const request = async (path: string, method = 'GET') => outer.request(path, { method })
    expect((await request('/nodes/db-4/api/v1/log/list')).status).toBe(200)
    expect(await (await request('/nodes/db-4/api/v1/log/view?file=empty')).text()).toBe('')
    expect((await request('/nodes/db-4/api/v1/log/list', 'POST')).status).toBe(405)
    const unknown = await request('/nodes/db-4/nothing')
    expect(unknown.status).toBe(404)
    expect(unknown.headers.get('Content-Type')).toBe('application/problem+json')
    expect((await new Hono().mount('/m', make().fetch).request('/m/api/v1/log/list')).status).toBe(200)
  })
})

describe('problems', () => {
  it.each([
    [undefined, true],
    ['*/*', true],
    ['application/json', true],
    ['text/html,application/xhtml+xml,*/*;q=0.8', true],
    ['application/problem+json, text/plain', true],
    ['text/plain;q=0, */*', true],
    ['text/*', true],
    [LINDB_ACCEPT, false],
    ['text/plain', false],
    ['TEXT/PLAIN; charset=utf-8', false],
  ])('for Accept %s', async (accept, json) => {
    const { headers, text } = await get(
      '/api/v1/log/view',
      accept === undefined ? {} : { headers: { Accept: accept } },
    )
    expect(headers.get('Content-Type')).toBe(json ? 'application/problem+json' : 'text/plain; charset=utf-8')
    expect(headers.get('Vary')).toBe('Accept')
    if (json) expect(JSON.parse(text).detail).toContain('file')
    else expect(text).toMatch(/^The parameter file is missing[^\n]*\n?$/)
  })

  it.each([
    ['unavailable', 'storage-unavailable', null],
    ['denied', 'storage-denied', null],
    ['throttled', 'storage-throttled', '1'],
    ['timeout', 'storage-timeout', '1'],
    ['changed', 'storage-changed', '1'],
  ] as const)('of the store: %s', async (code, expected, retry) => {
    for (const path of ['/api/v1/log/list', '/api/v1/log/view?file=broker.log']) {
      const found = await problem(path, {}, { logs: failing(code) })
      expect([found.status, found.code]).toEqual([503, expected])
      expect(found.headers.get('Retry-After')).toBe(retry)
      expect(found.detail).not.toMatch(/secret|\/var/)
    }
  })

  it('tells nothing of the machine when something unforeseen fails, but tells the operator', async () => {
    const errors: unknown[] = []
    const error = new Error('at /var/secret/place')
    const logs = { ...store, read: () => Promise.reject(error) }
    const found = await problem(
      '/api/v1/log/view?file=broker.log',
      {},
      { logs, onError: (e) => errors.push(e) },
    )
    expect([found.status, found.code]).toEqual([500, 'internal'])
    expect(found.detail).not.toContain('/var')
    expect(errors).toEqual([error])
  })

  it('does not tell the operator of a read that ended because the client left', async () => {
    const errors: unknown[] = []
    const left = new AbortController()
    const logs: Store = {
      ...store,
      async read() {
        left.abort()
        throw new StoreError('unavailable', 'Stopped reading: the client left')
      },
    }
    await get(
      '/api/v1/log/view?file=broker.log',
      { signal: left.signal },
      { logs, onError: (e) => errors.push(e) },
    )
    expect(errors).toEqual([])
  })
})

describe('authentication', () => {
  const options = { token: 'correct-horse' }
  const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })

  it('lets the token in, its scheme in any case', async () => {
    expect((await get('/api/v1/log/list', bearer('correct-horse'), options)).status).toBe(200)
    expect(
      (await get('/api/v1/log/list', { headers: { Authorization: 'bearer correct-horse' } }, options)).status,
    ).toBe(200)
  })

  it.each([
    {},
    bearer('wrong'),
    bearer('correct-horse2'),
    bearer('correct-hors'),
    bearer('correct-horsecorrect-horse'),
    bearer(''),
    { headers: { Authorization: 'Basic correct-horse' } },
    { headers: { Authorization: 'correct-horse' } },
  ])('keeps %j out of everything under /api/', async (init) => {
    for (const path of ['/api/v1/config', '/api/v1/log/list', '/api/v1/log/view?file=broker.log', '/api/x']) {
      const { status, code, headers } = await problem(path, init, options)
      expect([status, code]).toEqual([401, 'unauthorized'])
      expect(headers.get('WWW-Authenticate')).toMatch(/^Bearer /)
    }
    expect((await problem('/api/v1/config', { ...init, method: 'POST' }, options)).status).toBe(401)
    expect((await get('/healthz', init, options)).status).toBe(200)
  })
})

describe('hosts and origins', () => {
  it('answers any host unless some are named', async () => {
    const host = (name: string) => ({ headers: { Host: name } })
    expect((await get('/api/v1/log/list', host('evil.example'))).status).toBe(200)
    const options = { allowHosts: ['db-4', '::1', 'Proxy.example:8080'] }
    for (const name of ['db-4', 'DB-4:9000', '[::1]:9000', 'proxy.example:8080'])
      expect((await get('/api/v1/log/list', host(name), options)).status, name).toBe(200)
    for (const name of ['evil.example', 'db-4.evil.example', 'proxy.example:1', ''])
      expect(await problem('/api/v1/log/list', host(name), options)).toMatchObject({
        status: 421,
        code: 'unknown-host',
      })
    expect((await get('/healthz', host('10.0.0.1'), options)).status).toBe(200)
  })

  it('is closed to other origins', async () => {
    const { headers } = await get('/api/v1/log/list', { headers: { Origin: 'https://a.example' } })
    expect(headers.get('Access-Control-Allow-Origin')).toBeNull()
  })

  it('opens to the origins that are named, problems and preflights included', async () => {
    const options = { corsOrigins: ['https://a.example'], token: 'secret' }
    const headers = { Origin: 'https://a.example' }
    const refused = await get('/api/v1/log/list', { headers }, options)
    expect(refused.status).toBe(401)
    expect(refused.headers.get('Access-Control-Allow-Origin')).toBe('https://a.example')
    // What says that an answer is incomplete can be read there, too.
    for (const name of ['Note', 'Missing', 'Settled'])
      expect(refused.headers.get('Access-Control-Expose-Headers')).toContain(`X-Nodestate-${name}`)
    expect(refused.headers.get('Vary')).toBe('Accept, Origin')
    const preflight = await get(
      '/api/v1/log/list',
      { method: 'OPTIONS', headers: { ...headers, 'Access-Control-Request-Method': 'GET' } },
      options,
    )
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('Access-Control-Allow-Headers')).toContain('Authorization')
    expect(preflight.headers.get('Vary')?.match(/\bOrigin\b/g)).toHaveLength(1)
    const other = await get('/api/v1/log/list', { headers: { Origin: 'https://b.example' } }, options)
    expect(other.headers.get('Access-Control-Allow-Origin')).toBeNull()
    const any = await get('/api/v1/log/list', { headers }, { corsOrigins: ['*'] })
    expect(any.headers.get('Access-Control-Allow-Origin')).toBe('*')
  })
})

/** A store that can do nothing, and says why in words that must not reach a client. */
function failing(code: StoreError['code']): Store {
  const fail = () => {
    throw new StoreError(code, 'Cannot read "/var/secret/place"')
  }
  return {
    // biome-ignore lint/correctness/useYield: it fails before the first entry
    async *list() {
      fail()
    },
    stat: async () => fail(),
    read: async () => fail(),
  } as Store
}
