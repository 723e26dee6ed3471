import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../src/kit/limits/clock.ts'
import { collect } from '../../src/log/text/bytes.ts'
import { all, bytesOf, codeOf, pattern } from '../../src/store/contract/assert.ts'
import { type S3Options, s3Store } from '../../src/store/s3.ts'
import { type ByteRange, type Store, StoreError, type StoreRead } from '../../src/store/store.ts'
import { createApp } from '../support/app.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { manualClock } from '../support/manual-clock.ts'
import { fractions } from '../support/random.mjs'

/** A bucket behind the proxy, and how to fill it. */
export interface FaultyBucket {
  endpoint: string
  options: Omit<S3Options, 'endpoint'>
  put(key: string, bytes: Uint8Array | string): Promise<unknown> | unknown
}

const LARGE = 3 * 1024 * 1024 + 11
/** So patient that a busy machine is never taken for a silent bucket. */
const PATIENT = { deadline: 12_000, timeout: 10_000, stall: 10_000, backoff: 10, retries: 3 }
/** For a body that stalls: long enough for one that does not. */
const HASTY = { ...PATIENT, stall: 1_500 }
/** For bodies that all stall. */
const HASTIEST = { ...PATIENT, stall: 100 }

const slowDown = { kind: 'answer', status: 503, body: '<Error><Code>SlowDown</Code></Error>' } as const
const answer = (status: number, body = '', headers: Record<string, string> = {}): Fault => ({
  kind: 'answer',
  status,
  body,
  headers,
})

/** Faults that pass after a while, and the code of the error when they do not. */
const PASSING: [string, Fault, string][] = [
  ['a dropped connection', { kind: 'drop' }, 'unavailable'],
  ['a 500', answer(500, '<Error><Code>InternalError</Code></Error>'), 'unavailable'],
  ['a 500 with no body', answer(500), 'unavailable'],
  ['a 502 page of a proxy', answer(502, '<html><body>Bad gateway<hr></body></html>'), 'unavailable'],
  ['a 503 without a reason', answer(503), 'unavailable'],
  ['a 503 SlowDown', slowDown, 'throttled'],
  ['a 429', answer(429), 'throttled'],
  ['a 504', answer(504), 'timeout'],
]
/** How a large body is read: by a client that downloads it, and by a search. */
const WAYS: [string, ByteRange | undefined, (read: StoreRead | null) => Promise<Uint8Array>][] = [
  ['as a stream', undefined, bytesOf],
  ['into memory', { offset: 0, length: LARGE }, (read) => collect(read!, new Uint8Array(LARGE))],
]
const SILENCE: Fault = { kind: 'silence' }

const PATHS = ['list', 'view?file=f', 'view?file=f&lines=3']

/** A clock of which short pauses are real, while the time limit of a request passes when it is told to. */
function silenceClock(): Clock & { pass(): void } {
  const limits = new Map<() => void, number>()
  let elapsed = 0
  return {
    now: systemClock.now,
    elapsed: () => elapsed,
    after(ms, then) {
      if (ms < 1000) return systemClock.after(ms, then)
      limits.set(then, elapsed + ms)
      return () => limits.delete(then)
    },
    pass() {
      const [then, at] = limits.entries().next().value!
      limits.delete(then)
      elapsed = at
      then()
    },
  }
}

/** A client is told by a problem, after the retries of one call. */
async function expectProblem(logs: Store, proxy: FaultProxy, path: string): Promise<void> {
  const app = createApp({ logs, config: '', onError: () => {} })
  proxy.count = 0
  const response = await app.request(`/api/v1/log/${path}`)
  expect(proxy.count, path).toBe(4)
  expect(response.status).toBe(503)
  expect(response.headers.get('Content-Type')).toBe('application/problem+json')
  expect(await response.json()).toMatchObject({ type: expect.stringMatching(/^\/problems\/storage-/) })
}

/** What a store does when its bucket misbehaves: right bytes, or a StoreError within the deadline. */
export function faultSuite(title: string, setup: () => Promise<FaultyBucket>): void {
  describe(`${title} behind a proxy that fails`, () => {
    const large = pattern(LARGE, 9)
    let bucket: FaultyBucket
    let proxy: FaultProxy
    let store: Store
    let hasty: Store
    let hastiest: Store
    beforeAll(async () => {
      bucket = await setup()
      proxy = await startFaultProxy(bucket.endpoint)
      store = s3Store({ ...bucket.options, ...PATIENT, endpoint: proxy.endpoint })
      hasty = s3Store({ ...bucket.options, ...HASTY, endpoint: proxy.endpoint })
      hastiest = s3Store({ ...bucket.options, ...HASTIEST, endpoint: proxy.endpoint })
      await bucket.put('f/small', 'small text')
      await bucket.put('f/large', large)
    })
    beforeEach(() => {
      proxy.each(() => ({ kind: 'pass' }))
      proxy.count = 0
      proxy.cut = 0
      proxy.onSilence = () => {}
    })
    afterAll(() => proxy?.close())

    const operations: [string, (store: Store) => Promise<unknown>, unknown][] = [
      [
        'list',
        async (store) => (await all(store.list('f/'))).map((entry) => entry.key),
        ['f/large', 'f/small'],
      ],
      ['stat', async (store) => (await store.stat('f/small'))?.size, 10],
      [
        'read',
        async (store) => new TextDecoder().decode(await bytesOf(await store.read('f/small', { suffix: 4 }))),
        'text',
      ],
      ['an empty read', async (store) => (await store.read('f/small', { suffix: 0 }))?.entry.size, 10],
      ['a large read', async (store) => Buffer.compare(await bytesOf(await store.read('f/large')), large), 0],
    ]

    describe.each(PASSING)('%s', (_, fault, code) => {
      it.each(operations)('is survived by %s when it passes', async (__, run, expected) => {
        proxy.next(fault, fault, fault)
        expect(await run(store)).toEqual(expected)
        expect(proxy.count).toBe(4)
      })

      it.each(operations)('makes %s fail in time when it stays', async (name, run) => {
        proxy.each(() => fault)
        // The answer to a HEAD has no body that could say SlowDown.
        const headOnly = fault === slowDown && (name === 'stat' || name === 'an empty read')
        expect(await codeOf(run(store))).toBe(headOnly ? 'unavailable' : code)
        expect(proxy.count).toBe(4)
      })
    })

    describe('a silent bucket', () => {
      /** A store whose requests time out as soon as the bucket keeps silent. */
      const waiting = () => {
        const clock = silenceClock()
        proxy.onSilence = clock.pass
        // Four time limits are within the deadline.
        return s3Store({ ...bucket.options, ...PATIENT, timeout: 2_500, endpoint: proxy.endpoint, clock })
      }

      it.each(operations)('is survived by %s when it passes', async (_, run, expected) => {
        proxy.next(SILENCE, SILENCE, SILENCE)
        expect(await run(waiting())).toEqual(expected)
        expect(proxy.count).toBe(4)
      })

      it.each(operations)('makes %s fail in time when it stays', async (_, run) => {
        proxy.each(() => SILENCE)
        expect(await codeOf(run(waiting()))).toBe('timeout')
        expect(proxy.count).toBe(4)
      })

      it.each(PATHS)('is a 503 problem to a client: %s', async (path) => {
        proxy.each(() => SILENCE)
        await expectProblem(waiting(), proxy, path)
      })
    })

    it.each(operations)('a 403 makes %s fail at once, with denied', async (_, run) => {
      proxy.each(() => answer(403, '<Error><Code>AccessDenied</Code></Error>'))
      expect(await codeOf(run(store))).toBe('denied')
      expect(proxy.count).toBe(1)
    })

    it.each(operations)('a redirect to another region makes %s fail, and is not followed', async (_, run) => {
      proxy.each(() =>
        answer(301, '<Error><Code>PermanentRedirect</Code></Error>', { Location: 'http://127.0.0.1:1/' }),
      )
      expect(await codeOf(run(store))).toBe('unavailable')
      expect(proxy.count).toBe(1)
    })

    it.each([
      '',
      'garbage',
      '<html><body><p>Login</body></html>',
      '{"error": "no"}',
      '<ListBucketResult><IsTruncated>false</IsTruncated>',
      '<ListBucketResult></ListBucketResult>',
      '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>',
      '<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key></Contents></ListBucketResult>',
      '<Other><IsTruncated>false</IsTruncated></Other>',
    ])('the listing %j is an error, not an empty list', async (body) => {
      proxy.each(() => answer(200, body))
      expect(await codeOf(all(store.list('f/')))).toBe('unavailable')
      proxy.next(answer(200, body))
      expect((await all(store.list('f/'))).length).toBe(2)
    })

    it.each(operations.slice(1))('a page of a proxy with status 200 makes %s fail', async (_, run) => {
      proxy.each(() => answer(200, '<html>Welcome</html>', { 'Content-Length': '20' }))
      expect(await codeOf(run(store))).toBe('unavailable')
    })

    it('a cut listing is asked for again, and never taken as whole', async () => {
      proxy.next({ kind: 'truncate', after: 150 })
      expect((await all(store.list('f/'))).length).toBe(2)
      proxy.each(() => ({ kind: 'truncate', after: 150 }))
      expect(await codeOf(all(store.list('f/')))).toBe('unavailable')
    })

    it('a small body that ends short is asked for again, and never passed on', async () => {
      proxy.next({ kind: 'truncate', after: 3 })
      expect(new TextDecoder().decode(await bytesOf(await store.read('f/small')))).toBe('small text')
      proxy.each(() => ({ kind: 'truncate', after: 3 }))
      expect(await codeOf(store.read('f/small'))).toBe('unavailable')
    })

    it('a small body that stalls is a timeout', async () => {
      proxy.each(() => ({ kind: 'stall', after: 3 }))
      expect(await codeOf(hastiest.read('f/small'))).toBe('timeout')
    })

    describe.each(WAYS)('a large body, read %s', (_how, range, whole) => {
      it('goes on where it broke, and nothing is lost', async () => {
        proxy.next(
          { kind: 'truncate', after: 1_000_000 },
          { kind: 'truncate', after: 500_000 },
          { kind: 'stall', after: 7 },
        )
        const read = await hasty.read('f/large', range)
        expect(read?.body).toBeInstanceOf(ReadableStream)
        expect(Buffer.compare(await whole(read), large)).toBe(0)
        expect(proxy.count).toBe(4)
      })

      it('is not requested again after its reader has left', async () => {
        proxy.each(() => ({ kind: 'stall', after: 3 }))
        const clock = manualClock(Date.now())
        const timed = s3Store({ ...bucket.options, ...PATIENT, endpoint: proxy.endpoint, clock })
        const read = await timed.read('f/large', range)
        const body = read!.body as ReadableStream<Uint8Array>
        const reader = body.getReader()
        await reader.read()
        const rest = reader.read()
        // That read waits for the connection, with a time limit.
        await expect.poll(() => clock.timers).toBe(1)
        await reader.cancel()
        await rest
        await expect.poll(() => proxy.cut).toBe(1)
        // No retry is pending either.
        await clock.pass(60_000)
        expect(clock.timers).toBe(0)
        expect(proxy.count).toBe(1)
      })

      it.each(['truncate', 'stall'] as const)('errors if it breaks (%s) again and again', async (kind) => {
        proxy.each(() => ({ kind, after: 10_000 }))
        const read = await (kind === 'stall' ? hastiest : store).read('f/large', range)
        expect(await codeOf(whole(read))).toBe(kind === 'stall' ? 'timeout' : 'unavailable')
        expect(proxy.count).toBe(4)
      })
    })

    it('a large body that was replaced while it was broken is an error, not a mixture', async () => {
      await bucket.put('g/swapped', large)
      proxy.next({ kind: 'truncate', after: 1_000_000 })
      const read = await store.read('g/swapped')
      const reader = (read!.body as ReadableStream<Uint8Array>).getReader()
      await reader.read()
      await bucket.put('g/swapped', pattern(LARGE, 10))
      const drain = (async () => {
        for (let { done } = await reader.read(); !done; ) done = (await reader.read()).done
      })()
      expect(await codeOf(drain)).toBe('changed')
      await bucket.put('g/swapped', 'gone')
    })

    it('waits as long as the bucket asks, but not beyond the deadline', async () => {
      proxy.next(answer(503, '', { 'Retry-After': '1' }))
      expect((await store.stat('f/small'))?.size).toBe(10)
      expect(proxy.count).toBe(2)
      // A minute is beyond the deadline, so there is no other request.
      proxy.each(() => answer(429, '', { 'Retry-After': '60' }))
      const error = await store.stat('f/small').catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'throttled', retryAfter: 60 })
      expect(proxy.count).toBe(3)
    })

    it('a client that leaves while the bucket is silent cuts the request', async () => {
      proxy.each(() => SILENCE)
      const client = new AbortController()
      const read = store.read('f/small', undefined, { signal: client.signal })
      const outcome = expect(read).rejects.toHaveProperty('name', 'AbortError')
      await expect.poll(() => proxy.count).toBe(1)
      client.abort()
      await outcome
      await expect.poll(() => proxy.cut).toBe(1)
      expect(proxy.count).toBe(1)
    })

    it('a client that has left already causes no request', async () => {
      const signal = AbortSignal.abort()
      await expect(store.read('f/small', undefined, { signal })).rejects.toHaveProperty('name', 'AbortError')
      await expect(store.stat('f/small', { signal })).rejects.toHaveProperty('name', 'AbortError')
      await expect(all(store.list('f/', { signal }))).rejects.toHaveProperty('name', 'AbortError')
      expect(proxy.count).toBe(0)
    })

    it('a client that leaves in the middle of a body cuts the request', async () => {
      const client = new AbortController()
      const read = await store.read('f/large', undefined, { signal: client.signal })
      const reader = (read!.body as ReadableStream<Uint8Array>).getReader()
      await reader.read()
      client.abort()
      await expect(
        (async () => {
          for (let { done } = await reader.read(); !done; ) done = (await reader.read()).done
        })(),
      ).rejects.toHaveProperty('name', 'AbortError')
      expect(proxy.count).toBe(1)
    })

    it.each(PASSING)('%s is a 503 problem to a client, after the retries of one call', async (_, fault) => {
      proxy.each(() => fault)
      for (const path of PATHS) await expectProblem(store, proxy, path)
    })

    it('gives right bytes or a StoreError, whatever comes, and nothing else', async () => {
      const random = fractions(20261115)
      const faults: (() => Fault)[] = [
        () => ({ kind: 'drop' }),
        () => ({ kind: 'truncate', after: Math.floor(random() ** 3 * LARGE) }),
        () => answer(500),
        () => slowDown,
        () => answer(200, '<ListBucketResult>'),
        () => ({ kind: 'delay', ms: 20 }),
      ]
      proxy.each(() => (random() < 0.5 ? { kind: 'pass' } : faults[Math.floor(random() * faults.length)]!()))
      let right = 0
      for (let i = 0; i < 100; i++) {
        const [, run, expected] = operations[i % operations.length]!
        try {
          expect(await run(store)).toEqual(expected)
          right++
        } catch (error) {
          if (!(error instanceof StoreError)) throw error
        }
      }
      expect(right).toBeGreaterThan(50)
    })
  })
}
