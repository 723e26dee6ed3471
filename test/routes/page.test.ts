import { gunzipSync, gzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import type { Page } from '../../src/routes/page.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { type AppOptions, createApp } from '../support/app.ts'

const SCRIPT = 'console.log("hello")\n'.repeat(50)
const ICON = '<svg />'
const page: Page = {
  html: '<!doctype html><link rel="icon" href="./assets/icon-1.svg" /><script type="module" src="./assets/main-1.js"></script>\n',
  etag: '"page-1"',
  assets: {
    'main-1.js': {
      type: 'text/javascript; charset=utf-8',
      size: SCRIPT.length,
      gzip: gzipSync(SCRIPT).toString('base64'),
    },
    'icon-1.svg': { type: 'image/svg+xml', size: ICON.length, gzip: gzipSync(ICON).toString('base64') },
  },
}
const make = (options: Partial<AppOptions> = {}) =>
  createApp({ logs: memoryStore({}), config: '', page, ...options })
/** What the loader imports when it runs at `url`. */
const imported = async (code: string, url: string): Promise<string> => {
  const body = code.replaceAll('import.meta.url', JSON.stringify(url)).replace('import(', 'return (')
  return new Function('URL', body)(URL)
}
const source = (html: string) => /src="([^"]*)"/.exec(html)?.[1]

describe('the page', () => {
  it('is HTML that nothing foreign can run in', async () => {
    const response = await make().request('/')
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('Cache-Control')).toBe('private, no-cache')
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(response.headers.get('Referrer-Policy')).toBe('no-referrer')
    const policy = response.headers.get('Content-Security-Policy')!
    expect(policy).not.toContain('unsafe')
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]) {
      expect(policy.split('; ')).toContain(rule)
    }
    expect(await response.text()).toBe(
      page.html
        .replace('./assets/main-1.js', '?start=main-1.js')
        .replace('./assets/icon-1.svg', '?asset=icon-1.svg'),
    )
  })

  it('is revalidated by its tag', async () => {
    const known = await make().request('/', { headers: { 'If-None-Match': 'W/"page-1"' } })
    expect(known.status).toBe(304)
    expect(known.headers.get('ETag')).toBe('"page-1"')
  })

  it('answers HEAD without a body, and nothing but GET and HEAD', async () => {
    const head = await make().request('/', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const post = await make().request('/', { method: 'POST' })
    expect([post.status, post.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
    expect((await make().request('/assets/main-1.js', { method: 'DELETE' })).status).toBe(405)
  })

  const mounted = (path: string) => {
    const outer = new Hono()
    outer.route('/route', make())
    outer.route('/with:colon', make())
    outer.mount('/mount', make().fetch)
    outer.route('/', make())
    return outer.request(path)
  }
  it.each(['/', '/route', '/route/', '/with:colon', '/with:colon/', '/mount', '/mount/'])(
    'finds its files where it is shown at %s',
    async (path) => {
      const response = await mounted(path)
      expect(response.status).toBe(200)
      const html = await response.text()
      const icon = new URL(/href="([^"]*)"/.exec(html)![1]!, `http://host${path}`)
      expect(await (await mounted(icon.pathname + icon.search)).text()).toBe(ICON)
      const start = new URL(source(html)!, `http://host${path}`)
      const loader = await mounted(start.pathname + start.search)
      expect(loader.headers.get('Content-Type')).toBe('text/javascript; charset=utf-8')
      const script = await imported(await loader.text(), start.href)
      expect(new URL(script).pathname).toBe(`${path.replace(/\/$/, '')}/assets/main-1.js`)
      expect(await (await mounted(new URL(script).pathname)).text()).toBe(SCRIPT)
    },
  )

  it.each(['asset', 'start'])('has no other file at ?%s=', async (name) => {
    for (const file of ['', 'nothing.js', '__proto__', '../main-1.js']) {
      const response = await make().request(`/?${name}=${encodeURIComponent(file)}`)
      expect(response.status, file).toBe(404)
      expect(response.headers.get('Content-Type')).toBe('application/problem+json')
    }
  })

  it('lets no path into its markup', async () => {
    const outer = new Hono().route('/:any', make())
    const html = await (await outer.request(`/"><script>alert(1)&'`)).text()
    expect(html.match(/<script/g)).toHaveLength(1)
    expect(html).not.toContain('alert')
  })

  it('needs no token', async () => {
    const app = make({ token: 'secret' })
    expect((await app.request('/')).status).toBe(200)
    expect((await app.request('/assets/main-1.js')).status).toBe(200)
    expect((await app.request('/api/v1/config')).status).toBe(401)
  })

  it('is left out unless given', async () => {
    for (const none of [{ page: false as const }, {}]) {
      const app = createApp({ logs: memoryStore({}), config: '', ...none })
      const response = await app.request('/')
      expect(response.status).toBe(404)
      expect(response.headers.get('Content-Type')).toBe('application/problem+json')
      expect((await app.request('/assets/main-1.js')).status).toBe(404)
    }
  })
})

describe('its files', () => {
  const ask = (headers: Record<string, string>, method = 'GET') =>
    make().request('/assets/main-1.js', { headers, method })

  it.each(['gzip', 'br, gzip;q=0.5', 'deflate, *', 'x-gzip'])('go out compressed for %s', async (accept) => {
    const response = await ask({ 'Accept-Encoding': accept })
    expect(response.headers.get('Content-Encoding')).toBe('gzip')
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(response.headers.get('Content-Length')).toBe(String(bytes.length))
    expect(gunzipSync(bytes).toString()).toBe(SCRIPT)
  })

  it.each(['', 'br', 'identity', 'gzip;q=0', '*;q=0', 'gzip;q=0.0, *'])(
    'go out plain for "%s"',
    async (accept) => {
      const response = await ask(accept === '' ? {} : { 'Accept-Encoding': accept })
      expect(response.headers.get('Content-Encoding')).toBeNull()
      expect(response.headers.get('Content-Length')).toBe(String(SCRIPT.length))
      expect(await response.text()).toBe(SCRIPT)
    },
  )

  it('never change', async () => {
    const response = await ask({})
    expect(response.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
    expect(response.headers.get('Vary')).toBe('Accept-Encoding')
    expect(response.headers.get('Content-Type')).toBe('text/javascript; charset=utf-8')
    const again = await ask({ 'If-None-Match': response.headers.get('ETag')! })
    expect(again.status).toBe(304)
  })

  it('have a head', async () => {
    const response = await ask({ 'Accept-Encoding': 'gzip' }, 'HEAD')
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  it.each(['nothing.js', '__proto__', 'constructor', '..%2f', 'main-1.js%00'])(
    'are no other: %s',
    async (name) => {
      const response = await make().request(`/assets/${name}`)
      expect(response.status).toBe(404)
      expect(response.headers.get('Content-Type')).toBe('application/problem+json')
    },
  )
})
