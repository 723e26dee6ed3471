import { describe, expect, it } from 'vitest'
import { type AppOptions, createApp } from '../src/app.ts'
import { createFleet } from '../src/fleet/fleet.ts'
import { memoryStore } from '../src/store/memory.ts'

const logs = memoryStore({})
const valid = { logs, config: '' }
const app = (options: object) => () => createApp(options as AppOptions)
const fleet = (options: object) => () => createFleet({ store: logs, ...options } as never)

describe('createApp refuses', () => {
  it.each([
    [undefined, 'Cannot create the app: pass an object with its options, such as { logs, config }.'],
    [null, 'Cannot create the app: pass an object'],
    ['/var/log', 'Cannot create the app: pass an object'],
    [
      {},
      "Cannot use the option logs: it must be a store, such as fsStore('/var/log/db') of nodestate/store/fs.",
    ],
    [{ config: '', logs: '/var/log' }, 'Cannot use the option logs: it must be a store'],
    [{ config: '', logs: null }, 'Cannot use the option logs: it must be a store'],
    [{ config: '', logs: { list() {} } }, 'Cannot use the option logs: it must be a store'],
    [{ logs }, 'Cannot use the option config: it must be TOML text, or a function that returns it.'],
    [{ logs, config: { a: 1 } }, 'Cannot use the option config: it must be TOML text'],
    [{ ...valid, corsOrigin: ['*'] }, 'Unknown option "corsOrigin": did you mean corsOrigins?'],
    [{ ...valid, tokne: 'x' }, 'Unknown option "tokne": did you mean token?'],
    [{ ...valid, frobnicate: 1 }, 'Unknown option "frobnicate"; the options are logs, config, '],
    [{ ...valid, limits: { maxsize: 1 } }, 'Unknown option "limits.maxsize": did you mean maxSize?'],
    [{ ...valid, follow: { follower: 1 } }, 'Unknown option "follow.follower": did you mean followers?'],
    [{ ...valid, limits: 7 }, 'Cannot use the option limits: it must be an object.'],
    [{ ...valid, corsOrigins: '*' }, 'Cannot use the option corsOrigins: it must be a list of texts.'],
    [{ ...valid, allowHosts: 'a.example' }, 'Cannot use the option allowHosts: it must be a list of texts.'],
  ])('%j', (options, message) => {
    expect(app(options as object)).toThrow(TypeError)
    expect(app(options as object)).toThrow(message)
  })
})

describe.each([
  ['createApp', (options: object) => app({ ...valid, ...options })],
  ['createFleet', fleet],
])('%s refuses an option that protects something and has no value', (_, make) => {
  it.each(['token', 'tokens', 'allowHosts', 'include'])('%s', (name) => {
    for (const value of [undefined, null])
      expect(make({ [name]: value })).toThrow(
        `Cannot use the option ${name}: it is ${value}; give it a value, or leave it out.`,
      )
  })

  it.each(['', ' ', '\n', 'a b', 'ä', 7, {}, ['x']])('the token %j', (token) => {
    expect(make({ token })).toThrow(
      'Cannot use the option token: it must be printable ASCII without spaces, and not empty.',
    )
  })

  it.each(['', [], [{ name: 'a', token: 'b' }]])('the tokens %j', (tokens) => {
    expect(make({ tokens })).toThrow('Cannot use the option tokens: it must be a function')
  })

  it('but takes all of them left out, or set', () => {
    expect(make({})).not.toThrow()
    expect(make({ token: 't', tokens: () => [], allowHosts: [], include: ['*.log'] })).not.toThrow()
    expect(make({ corsOrigins: undefined, metrics: undefined, limits: undefined })).not.toThrow()
  })
})

describe('an embedded app', () => {
  it('knows the machine it runs on, unless it is told otherwise', async () => {
    const { hostname } = await import('node:os')
    const nodeOf = async (options: object) => {
      const answer = await createApp({ ...valid, ...options }).request('/api/v1/config')
      return ((await answer.json()) as { node: Record<string, unknown> }).node
    }
    expect(await nodeOf({})).toMatchObject({ hostName: hostname() })
    expect(await nodeOf({ facts: { hostName: 'db-4' } })).toMatchObject({ hostName: 'db-4' })
    expect(await nodeOf({ node: { hostName: 'db-5' } })).toMatchObject({ hostName: 'db-5' })
  })

  it('gives every answer the id of its request', async () => {
    const made = createApp({ ...valid, token: 't' })
    for (const path of ['/healthz', '/api/v1/log/list', '/nothing', '/openapi.json']) {
      const answer = await made.request(path, { headers: { 'X-Request-Id': 'mine' } })
      expect(answer.headers.get('X-Request-Id'), path).toBe('mine')
      expect((await made.request(path)).headers.get('X-Request-Id'), path).toMatch(/^[\da-f-]{36}$/)
    }
    const { createFleet } = await import('../src/fleet/fleet.ts')
    const fleet = createFleet({ store: memoryStore({}) })
    for (const path of ['/api/v1/nodes', '/nodes/db-4/api/v1/config', '/nothing'])
      expect((await fleet.request(path)).headers.get('X-Request-Id'), path).toMatch(/^[\da-f-]{36}$/)
  })

  it('has the metrics of its process', async () => {
    const { createMetrics } = await import('../src/kit/observe/metrics.ts')
    const made = createApp({ ...valid, metrics: createMetrics() })
    const metrics = async () => (await made.request('/metrics')).text()
    // The delay is there with its first sample.
    const delay = /^nodestate_event_loop_delay_seconds\{percentile="99"\} [\d.e-]+$/m
    await expect.poll(metrics, { timeout: 5_000 }).toMatch(delay)
    const text = await metrics()
    expect(text).toMatch(/^nodestate_build_info\{version="[^"]+",runtime="node"\} 1$/m)
    expect(text).toMatch(/^process_resident_memory_bytes \d{6,}$/m)
    expect(text).toMatch(/^process_start_time_seconds 1\d{9}/m)
  })

  it('calls a configuration that cannot be read a problem of the configuration', async () => {
    const errors: unknown[] = []
    const reason = new Error('secret path')
    const configs: unknown[] = [
      () => Promise.reject(reason),
      () => {
        throw reason
      },
      () => undefined,
    ]
    for (const config of configs) {
      const made = createApp({ logs, config: config as () => string, onError: (error) => errors.push(error) })
      const answer = await made.request('/api/v1/config')
      expect(answer.status).toBe(500)
      const body = await answer.text()
      expect(JSON.parse(body)).toMatchObject({ type: '/problems/bad-config' })
      expect(body).not.toContain('secret')
    }
    expect(errors.slice(0, 2)).toEqual([reason, reason])
  })
})
