import { appendFileSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMetrics } from '../../../src/kit/observe/metrics.ts'
import { Directory } from '../../../src/store/fs/directory.ts'
import { fsStore } from '../../../src/store/fs.ts'
import type { Store } from '../../../src/store/store.ts'
import { createApp } from '../../support/app.ts'

let directory: string
let store: Store

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'nodestate-unchanged-'))
  store = fsStore(directory)
  writeFileSync(join(directory, 'a.log'), 'one\ntwo\n')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const ask = (tag?: string, file = 'a.log', include: string[] = []) =>
  createApp({ logs: store, config: '', include }).request(`/api/v1/log/view?file=${file}&size=100`, {
    headers: tag === undefined ? {} : { 'If-None-Match': tag },
  })
const tagOf = async (file = 'a.log') => (await ask(undefined, file)).headers.get('ETag')!

describe('a tail in memory', () => {
  const url = 'http://localhost/api/v1/log/view?file=a.log&size=5'
  const warm = async (app: ReturnType<typeof createApp>, headers = {}) => {
    await sleep(30)
    return app.fetch(new Request(url, { headers }))
  }

  it('is answered as when it must be read', async () => {
    const app = createApp({ logs: store, config: '', metrics: createMetrics() })
    const read = await warm(app)
    await warm(app)
    for (const noneMatch of ['', '"other"', '"a", "b"']) {
      const kept = await app.fetch(new Request(url, { headers: { 'If-None-Match': noneMatch } }))
      const { status, headers } = kept
      const named = (headers: Headers) => ({ ...Object.fromEntries(headers), 'x-request-id': '' })
      expect({ status, ...named(headers) }).toEqual({ status: 200, ...named(read.headers) })
      expect(await kept.text()).toBe('two\n')
    }
    const tag = read.headers.get('ETag')!
    for (const noneMatch of [tag, `W/${tag}`, `"a", ${tag}`, '*']) {
      const kept = await app.fetch(new Request(url, { headers: { 'If-None-Match': noneMatch } }))
      expect(kept.status).toBe(304)
    }
    const metrics = await (await app.request('/metrics')).text()
    expect(metrics).toContain('nodestate_store_requests_total{operation="read"} 7')
    expect(metrics).toContain('{route="/api/v1/log/view",method="GET",status="200"} 5')
  })

  it('is hidden from a token that may not see it, and from a path or a method that is not its own', async () => {
    const tokens = [
      { name: 'all', token: 'a'.repeat(32), scopes: ['logs' as const] },
      { name: 'none', token: 'b'.repeat(32), scopes: ['logs' as const], files: ['b.log'] },
      { name: 'config', token: 'c'.repeat(32), scopes: ['config' as const] },
    ]
    const app = createApp({ logs: store, config: '', tokens: () => tokens })
    const bearer = (letter: string) => ({ Authorization: `Bearer ${letter.repeat(32)}` })
    for (let i = 0; i < 2; i++) expect((await warm(app, bearer('a'))).status).toBe(200)
    expect((await warm(app, bearer('b'))).status).toBe(404)
    expect((await warm(app, bearer('c'))).status).toBe(403)
    expect((await warm(app)).status).toBe(401)
    const asked = (url: string, method = 'GET') => app.request(url, { method, headers: bearer('a') })
    expect((await asked(url, 'POST')).status).toBe(405)
    expect((await asked(url.replace('view', 'view/'))).status).toBe(404)
    const mounted = new Hono().route('/node', createApp({ logs: store, config: '' }))
    expect((await mounted.request(url)).status).toBe(404)
    expect((await mounted.request(url.replace('/api', '/node/api'))).status).toBe(200)
  })
})

describe('a tail that the client has', () => {
  it('is told as unchanged without opening it, seen before or not, with the headers of the tail', async () => {
    const tag = (await store.stat('a.log'))!.etag
    const open = vi.spyOn(Directory.prototype, 'open')
    for (const given of [tag, `W/${tag}`, tag]) {
      const response = await ask(given)
      expect(response.status).toBe(304)
      expect(await response.text()).toBe('')
      expect(Object.fromEntries(response.headers)).toEqual({
        'cache-control': 'private, no-cache',
        etag: tag,
        vary: 'Accept',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.any(String),
      })
    }
    expect(open).not.toHaveBeenCalled()
    open.mockRestore()
    await tagOf()
    expect((await ask(tag)).status).toBe(304)
  })

  it('is sent anew after any change', async () => {
    const changes = [
      () => appendFileSync(join(directory, 'a.log'), 'three\n'),
      () => writeFileSync(join(directory, 'a.log'), 'ONE\nTWO\nTHREE\n'),
      () => utimesSync(join(directory, 'a.log'), 1000, 1000),
      () => {
        rmSync(join(directory, 'a.log'))
        writeFileSync(join(directory, 'a.log'), 'again\n')
      },
    ]
    for (const change of changes) {
      const tag = await tagOf()
      expect((await ask(tag)).status).toBe(304)
      await sleep(20)
      change()
      const response = await ask(tag)
      expect(response.status).toBe(200)
      expect(response.headers.get('ETag')).not.toBe(tag)
    }
  })

  it('is not there for who may not see the file, or when it is gone', async () => {
    const tag = await tagOf()
    expect((await ask(tag, 'a.log', ['b*'])).status).toBe(404)
    expect((await ask(tag, '../a.log')).status).toBe(404)
    rmSync(join(directory, 'a.log'))
    expect((await ask(tag)).status).toBe(404)
    rmSync(directory, { recursive: true })
    expect((await ask(tag)).status).toBe(503)
  })
})
