import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
// @ts-expect-error the example is plain JavaScript
import { head } from '../../examples/capability/head.js'
import { follow, full, search } from '../../src/full.ts'
import { type AppOptions, createApp } from '../../src/index.ts'
import { memoryStore } from '../../src/store/memory.ts'

const logs = memoryStore({ 'a.log': 'one\ntwo\n', 'b.log': 'three\n', 'other.txt': 'x\n' })
const app = (options: Partial<AppOptions> = {}) => createApp({ logs, config: 'a = 1\n', ...options })
const codeOf = async (answer: Response) => [answer.status, ((await answer.json()) as { type: string }).type]

describe('the core alone', () => {
  it('has the three operations and health', async () => {
    for (const path of [
      '/api/v1/config',
      '/api/v1/log/list',
      '/api/v1/log/view?file=a.log&size=4',
      '/healthz',
    ])
      expect((await app().request(path)).status, path).toBe(200)
    expect(await (await app().request('/api/v1/log/view?file=a.log&size=4')).text()).toBe('two\n')
  })

  it('names the capability of every parameter and path that it lacks, and ignores none', async () => {
    const document = await (await app({ with: full() }).request('/openapi.json')).json()
    const { paths } = document as { paths: Record<string, { parameters: { name: string }[] }> }
    const core = { view: ['file', 'size'], list: ['etag', 'prefix', 'after'], config: ['detail'] }
    for (const [name, own] of Object.entries(core)) {
      const path = name === 'config' ? '/api/v1/config' : `/api/v1/log/${name}`
      const { parameters } = paths[path]!
      const known = parameters.map((one) => one.name)
      expect(known.length).toBeGreaterThan(0)
      for (const parameter of known.filter((one) => !own.includes(one) && /^[a-z]+$/.test(one))) {
        if (parameter === 'node') continue
        const answer = await app().request(`${path}?file=a.log&${parameter}=1`)
        expect(await codeOf(answer), `${path} ${parameter}`).toEqual([501, '/problems/not-included'])
      }
    }
    for (const path of [
      '/api/v1/log/histogram?file=a.log',
      '/api/v1/log/compare',
      '/openapi.json',
      '/metrics',
      '/mcp',
      '/loki/api/v1/labels',
    ])
      expect(await codeOf(await app().request(path)), path).toEqual([501, '/problems/not-included'])
    expect(await codeOf(await app().request('/api/v1/log/view?file=a.log&file=b.log'))).toEqual([
      501,
      '/problems/not-included',
    ])
    expect((await app().request('/api/v1/log/view?file=a.log&target=x&path=y&other=1')).status).toBe(200)
  })

  it('takes some capabilities and lacks the others', async () => {
    const some = app({ with: [search(), follow()] })
    expect(await (await some.request('/api/v1/log/view?file=a.log&q=two')).text()).toBe('two\n')
    expect((await some.request('/api/v1/log/view?file=a.log&file=b.log')).status).toBe(501)
    expect(() => app({ with: [search(), search()] })).toThrow('search is in it twice')
  })
})

describe('a capability of your own', () => {
  it('answers behind the same guard', async () => {
    const tokens = () => [{ name: 'a', token: 'a', files: ['a*'] }]
    const own = app({ with: [head()], auth: { tokens } })
    const ask = (path: string, token = 'a') =>
      own.request(path, { headers: { Authorization: `Bearer ${token}` } })
    expect(await (await ask('/api/v1/log/head?file=a.log')).text()).toBe('one\ntwo\n')
    expect((await ask('/api/v1/log/head?file=b.log')).status).toBe(404)
    expect((await ask('/api/v1/log/head')).status).toBe(400)
    expect((await ask('/api/v1/log/head?file=a.log', 'wrong')).status).toBe(401)
  })
})

describe('mounted in another app', () => {
  it("passes unknown paths on with unknown: 'next'", async () => {
    const outer = new Hono().route('/', app({ unknown: 'next' })).get('/metrics', (c) => c.text('own'))
    outer.get('*', (c) => c.text('page'))
    expect(await (await outer.request('/metrics')).text()).toBe('own')
    expect(await (await outer.request('/somewhere')).text()).toBe('page')
    expect((await outer.request('/api/v1/log/list')).status).toBe(200)
  })

  it('knows the users of a middleware by identify, with what they may see', async () => {
    const seen: string[] = []
    const inner = app({
      auth: {
        identify: (_, { var: { user } }) =>
          user ? { name: String(user), scopes: ['logs'], files: ['a*'] } : null,
      },
      onAccess: (_, name) => seen.push(name),
    })
    const outer = new Hono<{ Variables: { user: string } }>()
    outer.use(async (c, next) => {
      const user = c.req.header('X-User')
      if (user) c.set('user', user)
      await next()
    })
    outer.route('/db', inner)
    const ask = (path: string, user?: string) =>
      outer.request(path, { headers: user ? { 'X-User': user } : {} })
    expect(await (await ask('/db/api/v1/log/list', 'ann')).json()).toEqual([{ name: 'a.log', size: 8 }])
    expect((await ask('/db/api/v1/config', 'ann')).status).toBe(403)
    expect((await ask('/db/api/v1/log/list')).status).toBe(401)
    expect(seen).toContain('ann')
  })
})
