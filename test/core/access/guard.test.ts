import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Token } from '../../../src/core/access/grant.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { type AppOptions, createApp } from '../../support/app.ts'

const line = (second: number, text: string) => `2026-11-15 02:10:0${second}.000\tINFO\ta.go:1\t[A]: ${text}\n`
const store = memoryStore({
  'broker.log': line(3, 'now'),
  'broker.log.1': line(2, 'before'),
  'broker.log.2': line(1, 'long before'),
  'storage.log': line(1, 'storage'),
})
const digest = (token: string) => `sha256:${createHash('sha256').update(token).digest('hex')}`
const TOKENS: Token[] = [
  { name: 'all', token: 'token-of-all' },
  { name: 'config', token: 'token-of-config', scopes: ['config'] },
  { name: 'logs', token: digest('token-of-logs'), scopes: ['logs'] },
  { name: 'broker', token: 'token-of-broker', scopes: ['logs'], files: ['broker.log', 'broker.log.1'] },
  { name: 'nothing', token: 'token-of-nothing', scopes: [], files: [] },
]

function client(options: Partial<AppOptions> = {}) {
  const app = createApp({ logs: store, config: 'a = 1\n', tokens: () => TOKENS, ...options })
  return async (path: string, token?: string, headers: Record<string, string> = {}) => {
    const authorization: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {}
    const response = await app.request(path, { headers: { ...authorization, ...headers } })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text }
  }
}
const get = client()
const API = '/api/v1'
const names = (text: string) => (JSON.parse(text) as { name: string }[]).map(({ name }) => name)

describe('several tokens', () => {
  it.each([undefined, 'wrong', 'sha256:abc', digest('token-of-logs'), 'token-of-al', 'token-of-alll'])(
    'refuse %s with 401',
    async (token) => {
      for (const path of ['/config', '/log/list', '/log/view?file=broker.log', '/nothing']) {
        const { status, headers, text } = await get(API + path, token)
        expect(status, path).toBe(401)
        expect(JSON.parse(text).type).toBe('/problems/unauthorized')
        expect(headers.get('WWW-Authenticate')).toBe(
          token ? 'Bearer realm="nodestate", error="invalid_token"' : 'Bearer realm="nodestate"',
        )
      }
    },
  )

  it.each([
    ['all', 200, 200],
    ['config', 200, 403],
    ['logs', 403, 200],
    ['broker', 403, 200],
    ['nothing', 403, 403],
  ])('open to %s what its scopes name', async (name, config, logs) => {
    const token = `token-of-${name}`
    const statuses = async (...paths: string[]) => {
      const answers = await Promise.all(paths.map((path) => get(API + path, token)))
      for (const { status, headers, text } of answers) {
        if (status !== 403) continue
        expect(JSON.parse(text).type).toBe('/problems/forbidden')
        expect(headers.get('WWW-Authenticate')).toMatch(
          /^Bearer realm="nodestate", error="insufficient_scope", scope="(config|logs)"$/,
        )
      }
      return [...new Set(answers.map(({ status }) => status))]
    }
    expect(await statuses('/config')).toEqual([config])
    const file = 'file=broker.log'
    expect(
      await statuses('/log/list', `/log/view?${file}`, `/log/view?${file}&lines=1`, `/log/download?${file}`),
    ).toEqual([logs])
    expect(await statuses(`/log/histogram?${file}`)).toEqual([logs])
    expect(await statuses('/nothing')).toEqual([404])
  })

  it('leave open what holds nothing', async () => {
    expect((await get('/healthz')).status).toBe(200)
  })

  it('stand beside the single token, which opens everything', async () => {
    const both = client({ token: 'the-one' })
    expect((await both(`${API}/config`, 'the-one')).status).toBe(200)
    expect(names((await both(`${API}/log/list`, 'the-one')).text)).toHaveLength(4)
    expect((await both(`${API}/config`, 'token-of-config')).status).toBe(200)
    expect((await both(`${API}/config`, 'another')).status).toBe(401)
  })

  it('are asked for at every request', async () => {
    let tokens: Token[] = [{ name: 'old', token: 'old' }]
    const changing = client({ tokens: async () => tokens })
    expect((await changing(`${API}/config`, 'old')).status).toBe(200)
    tokens = [{ name: 'new', token: 'new' }]
    expect((await changing(`${API}/config`, 'old')).status).toBe(401)
    expect((await changing(`${API}/config`, 'new')).status).toBe(200)
    tokens = []
    expect((await changing(`${API}/config`, 'new')).status).toBe(401)
  })

  it('open nothing when their source fails', async () => {
    const failing = client({ tokens: () => Promise.reject(new Error('gone')), onError: () => {} })
    expect((await failing(`${API}/config`, 'token-of-all')).status).toBe(500)
  })

  it('are told by name, and only when they are valid', async () => {
    const told: string[] = []
    const telling = client({ onAccess: (_, name) => told.push(name) })
    await telling(`${API}/config`, 'token-of-config')
    await telling(`${API}/log/list`, 'token-of-config')
    await telling(`${API}/log/list`, 'wrong')
    await telling('/healthz')
    expect(told).toEqual(['config', 'config'])
  })
})

describe('the nodes of a token', () => {
  it('are of a fleet: a service for one node does not take it', async () => {
    const tokens: Token[] = [
      { name: 'db', token: 'db', nodes: ['db-*'] },
      { name: 'any', token: 'any', nodes: ['*'] },
    ]
    const one = client({ tokens: () => tokens })
    for (const token of ['db', 'any'])
      for (const path of ['config', 'log/list', 'log/view?file=broker.log', 'nope']) {
        const { status, text } = await one(`${API}/${path}`, token)
        expect([status, JSON.parse(text).type]).toEqual([403, '/problems/forbidden'])
      }
  })
})

describe('the files of a token', () => {
  const broker = (path: string, headers?: Record<string, string>) =>
    get(`${API}/log/${path}`, 'token-of-broker', headers)

  it('narrow the list, with a tag of its own', async () => {
    const [all, some] = [await get(`${API}/log/list`, 'token-of-all'), await broker('list')]
    expect(names(all.text)).toEqual(['broker.log', 'broker.log.1', 'broker.log.2', 'storage.log'])
    expect(names(some.text)).toEqual(['broker.log', 'broker.log.1'])
    expect(names((await broker('list?detail=true')).text)).toEqual(['broker.log', 'broker.log.1'])
    expect(some.headers.get('ETag')).not.toBe(all.headers.get('ETag'))
    const tag = { 'If-None-Match': all.headers.get('ETag')! }
    expect((await broker('list', tag)).status).toBe(200)
  })

  it.each(['view?', 'view?lines=1&', 'view?follow=true&', 'histogram?', 'download?'])(
    'are the only ones that exist for %s',
    async (path) => {
      const { status, text } = await broker(`${path}file=storage.log`)
      expect([status, JSON.parse(text).type]).toEqual([404, '/problems/unknown-file'])
      expect((await broker(`${path}file=broker.log.2`)).status).toBe(404)
    },
  )

  it('narrow a rotated family, and its tag', async () => {
    const query = '/view?file=broker.log&rotated=true'
    const all = await get(`${API}/log${query}`, 'token-of-all')
    const some = await get(`${API}/log${query}`, 'token-of-broker')
    expect(all.text).toBe(line(1, 'long before') + line(2, 'before') + line(3, 'now'))
    expect(some.text).toBe(line(2, 'before') + line(3, 'now'))
    expect(some.headers.get('ETag')).not.toBe(all.headers.get('ETag'))
    const histogram = await broker('histogram?file=broker.log&rotated=true')
    const { buckets } = JSON.parse(histogram.text) as { buckets: { counts: number[] }[] }
    expect(buckets.flatMap(({ counts }) => counts).reduce((sum, count) => sum + count)).toBe(2)
  })

  it('cannot be left by the cursor of another token', async () => {
    const all = await get(`${API}/log/view?file=broker.log.2`, 'token-of-all')
    const cursor = /after=([\w-]+)/.exec(all.headers.get('Link')!)![1]
    const { status, text } = await broker(`view?file=broker.log&rotated=true&before=${cursor}`)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text).not.toContain('long before')
  })

  it('share their followers with everyone', async () => {
    const app = createApp({ logs: store, config: '', tokens: () => TOKENS, follow: { followers: 1 } })
    const follow = (name: string) =>
      app.request(`${API}/log/view?file=broker.log&follow=true`, {
        headers: { Authorization: `Bearer token-of-${name}` },
      })
    const first = await follow('broker')
    expect([first.status, (await follow('all')).status]).toEqual([200, 503])
    await first.body!.cancel()
    const second = await follow('all')
    expect(second.status).toBe(200)
    await second.body!.cancel()
  })
})
