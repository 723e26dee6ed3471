import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/kit/limits/clock.ts'
import { all, codeOf } from '../../../src/store/contract/assert.ts'
import { fromEnv, type S3Credentials, type S3Options, s3Store } from '../../../src/store/s3.ts'
import { createApp } from '../../support/app.ts'
import { readClock } from '../../support/manual-clock.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 0, 2)

/** A store whose requests are answered here, with what each was signed with. */
function signing(options: Partial<S3Options>) {
  const keys: (string | null)[] = []
  const tokens: (string | null)[] = []
  const clock = { now: START }
  const store = s3Store({
    bucket: 'logs',
    clock: readClock(() => clock.now),
    backoff: 0,
    fetch: async (_url, init) => {
      const headers = new Headers(init.headers)
      keys.push(/Credential=([^/]+)/.exec(headers.get('Authorization') ?? '')?.[1] ?? null)
      tokens.push(headers.get('X-Amz-Security-Token'))
      const answer = { ETag: '"e"', 'Last-Modified': 'Fri, 02 Jan 2026 03:04:05 GMT', 'Content-Length': '0' }
      return new Response(null, { headers: answer })
    },
    ...options,
  })
  return { store, keys, tokens, clock }
}

/** Credentials one after the other, each of which expires after so many minutes. */
function provider(clock: { now: number }, minutes: number | null) {
  const calls = { count: 0 }
  const get = async (): Promise<S3Credentials> => ({
    accessKeyId: `key${++calls.count}`,
    secretAccessKey: 'secret',
    sessionToken: `token${calls.count}`,
    ...(minutes !== null && { expiration: new Date(clock.now + minutes * MINUTE) }),
  })
  return { calls, get }
}

describe('credentials from a function', () => {
  it('sign every request, and are obtained again before they expire', async () => {
    const clock = { now: START }
    const { calls, get } = provider(clock, 60)
    const { store, keys, tokens } = signing({ credentials: get, clock: readClock(() => clock.now) })
    await store.stat('a')
    await store.stat('a')
    clock.now += 54 * MINUTE
    await store.stat('a')
    expect(keys).toEqual(['key1', 'key1', 'key1'])
    clock.now += 2 * MINUTE
    await store.stat('a')
    expect(keys.at(-1)).toBe('key2')
    expect(tokens.at(-1)).toBe('token2')
    expect(calls.count).toBe(2)
  })

  it('without an expiration are obtained once, and by one call for requests at the same time', async () => {
    const { calls, get } = provider({ now: START }, null)
    const { store, keys } = signing({ credentials: get })
    await Promise.all(Array.from({ length: 16 }, () => store.stat('a')))
    await store.stat('a')
    expect(keys).toEqual(Array(17).fill('key1'))
    expect(calls.count).toBe(1)
  })

  it.each([
    ['rejects', () => Promise.reject(new Error('secret of the machine'))],
    [
      'throws',
      () => {
        throw new Error('secret of the machine')
      },
    ],
    ['has none', async () => ({}) as S3Credentials],
    ['gives nothing', async () => undefined as unknown as S3Credentials],
  ])('a call that %s is a 503, and is not remembered', async (_how, failing) => {
    let calls = 0
    const credentials = async () =>
      calls++ === 0 ? failing() : { accessKeyId: 'good', secretAccessKey: 'secret' }
    const { store, keys } = signing({ credentials })
    const app = createApp({ logs: store, config: '', onError: () => {} })
    const response = await app.request('/api/v1/log/view?file=a')
    expect(response.status).toBe(503)
    expect(await response.text()).not.toContain('machine')
    expect(calls).toBe(1)
    expect((await app.request('/api/v1/log/view?file=a')).status).toBe(200)
    expect(new Set(keys)).toEqual(new Set(['good']))
  })

  it('that never come are a timeout', async () => {
    const { store } = signing({
      credentials: () => new Promise(() => {}),
      timeout: 20,
      deadline: 100,
      clock: systemClock,
    })
    expect(await codeOf(store.stat('a'))).toBe('timeout')
    expect(await codeOf(all(store.list()))).toBe('timeout')
  })

  it('may be given as they are, but not twice', async () => {
    const credentials = { accessKeyId: 'mine', secretAccessKey: 'secret' }
    const { store, keys } = signing({ credentials })
    await store.stat('a')
    expect(keys).toEqual(['mine'])
    expect(() => s3Store({ bucket: 'logs', credentials, ...credentials })).toThrow('given twice')
    expect(() => s3Store({ bucket: 'logs', credentials: {} as S3Credentials })).toThrow('accessKeyId')
  })
})

describe('fromEnv', () => {
  it('reads the standard variables of AWS', () => {
    const env = {
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: 'token',
      AWS_REGION: 'eu-west-1',
      AWS_ENDPOINT_URL_S3: 'https://s3.example',
      HOME: '/root',
    }
    expect(fromEnv(env)).toEqual({
      accessKeyId: 'id',
      secretAccessKey: 'secret',
      sessionToken: 'token',
      region: 'eu-west-1',
      endpoint: 'https://s3.example',
    })
  })

  it('takes the more specific variable, and empty ones as not set', async () => {
    const both = {
      AWS_REGION: 'a',
      AWS_DEFAULT_REGION: 'b',
      AWS_ENDPOINT_URL_S3: 'https://a',
      AWS_ENDPOINT_URL: 'https://b',
    }
    expect(fromEnv(both)).toMatchObject({ region: 'a', endpoint: 'https://a' })
    expect(fromEnv({ ...both, AWS_REGION: '', AWS_ENDPOINT_URL_S3: '' })).toMatchObject({
      region: 'b',
      endpoint: 'https://b',
    })
    const { store, keys } = signing(fromEnv({ AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }))
    await store.stat('a')
    expect(keys).toEqual([null])
    expect(() => s3Store({ bucket: 'logs', ...fromEnv({ AWS_ACCESS_KEY_ID: 'id' }) })).toThrow(
      'needs its secret',
    )
  })
})
