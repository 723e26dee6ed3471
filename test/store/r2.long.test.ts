import { describe, expect, it } from 'vitest'
import { all, bytesOf, codeOf, pattern } from '../../src/store/contract/assert.ts'
import { type R2BucketLike, type R2ObjectLike, r2Store } from '../../src/store/r2.ts'

const LARGE = 2 * 1024 * 1024 + 5
const bytes = pattern(LARGE, 1)
/** So patient that a busy machine is never taken for a silent bucket. */
const PATIENT = { backoff: 1, timeout: 60_000, stall: 60_000, deadline: 60_000 }

type Get = R2BucketLike['get']

/** One object, `a`, behind a binding whose calls first go through `fail`, which may throw. */
function bucket(
  fail: (call: string, n: number) => void | Promise<void>,
  wrap?: (object: R2ObjectLike, n: number) => R2ObjectLike,
) {
  const calls: { call: string; options?: Parameters<Get>[1] }[] = []
  let etag = '"v1"'
  const object = (body?: ReadableStream<Uint8Array>) => ({
    key: 'a',
    size: LARGE,
    uploaded: new Date(0),
    httpEtag: etag,
    ...(body ? { body } : {}),
  })
  const binding: R2BucketLike = {
    async head() {
      calls.push({ call: 'head' })
      await fail('head', calls.length)
      return object()
    },
    async get(_key, options) {
      calls.push({ call: 'get', options })
      const n = calls.length
      await fail('get', n)
      if (options.onlyIf?.etagMatches !== undefined && `"${options.onlyIf.etagMatches}"` !== etag)
        return object()
      const range = (options.range ?? { offset: 0 }) as { offset: number; length?: number }
      const part = bytes.subarray(range.offset, range.offset + (range.length ?? LARGE))
      const made = object(new Blob([part]).stream())
      return wrap ? wrap(made, n) : made
    },
    async list() {
      calls.push({ call: 'list' })
      await fail('list', calls.length)
      return { objects: [object()], truncated: false }
    },
  }
  return { binding, calls, replace: () => (etag = '"v2"') }
}

const failing = (message: string, times: number) => (_: string, n: number) => {
  if (n <= times) throw new Error(message)
}

/** The first part of a body, and then an error, an early end, or nothing. */
function broken(object: R2ObjectLike, how: 'error' | 'end' | 'stall'): R2ObjectLike {
  let sent = false
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!sent) {
        sent = true
        const { value } = await object.body!.getReader().read()
        controller.enqueue(value!.subarray(0, 1000))
      } else if (how === 'error') controller.error(new Error('Network connection lost.'))
      else if (how === 'end') controller.close()
      else await new Promise(() => {})
    },
  })
  return { ...object, body }
}

describe('r2Store', () => {
  const internal = 'get: We encountered an internal error. Please try again. (10001)'

  it('asks again after a failure that passes', async () => {
    const { binding, calls } = bucket(failing(internal, 3))
    expect((await r2Store(binding, PATIENT).stat('a'))?.size).toBe(LARGE)
    expect(calls.length).toBe(4)
  })

  it.each([
    [internal, 'unavailable', 4],
    ['Network connection lost.', 'unavailable', 4],
    ['get: Reduce your rate of simultaneous reads on the same object. (10058)', 'throttled', 4],
    ['get: Access Denied. (10003)', 'denied', 1],
    ['get: The specified bucket does not exist. (10006)', 'unavailable', 1],
  ])('turns %j into %s', async (message, code, count) => {
    const runs = [
      (binding: R2BucketLike) => r2Store(binding, PATIENT).stat('a'),
      (binding: R2BucketLike) => r2Store(binding, PATIENT).read('a'),
      (binding: R2BucketLike) => all(r2Store(binding, PATIENT).list()),
    ]
    for (const run of runs) {
      const { binding, calls } = bucket(failing(message, 99))
      expect(await codeOf(run(binding))).toBe(code)
      expect(calls.length).toBe(count)
    }
  })

  it('does not wait forever for a binding that takes no signal', async () => {
    const { binding } = bucket(() => new Promise<void>(() => {}))
    expect(await codeOf(r2Store(binding, { ...PATIENT, timeout: 100 }).stat('a'))).toBe('timeout')
    const client = new AbortController()
    const read = r2Store(binding, PATIENT).read('a', undefined, { signal: client.signal })
    client.abort()
    await expect(read).rejects.toHaveProperty('name', 'AbortError')
  })

  it.each(['error', 'end', 'stall'] as const)('goes on where a body broke (%s)', async (how) => {
    const { binding, calls } = bucket(
      () => {},
      (object, n) => (n <= 3 ? broken(object, how) : object),
    )
    const store = r2Store(binding, { ...PATIENT, stall: how === 'stall' ? 1_500 : PATIENT.stall })
    expect(Buffer.compare(await bytesOf(await store.read('a')), bytes)).toBe(0)
    expect(calls.map(({ options }) => options?.range)).toEqual([
      undefined,
      { offset: 1000, length: LARGE - 1000 },
      { offset: 2000, length: LARGE - 2000 },
      { offset: 3000, length: LARGE - 3000 },
    ])
  })

  it.each([
    ['error', 'unavailable'],
    ['end', 'unavailable'],
    ['stall', 'timeout'],
  ] as const)('errors when a body breaks (%s) again and again', async (how, code) => {
    const { binding } = bucket(
      () => {},
      (object) => broken(object, how),
    )
    const options = { ...PATIENT, stall: how === 'stall' ? 100 : PATIENT.stall }
    expect(await codeOf(bytesOf(await r2Store(binding, options).read('a')))).toBe(code)
    const small = r2Store(binding, { ...options, wholeUpTo: LARGE })
    expect(await codeOf(small.read('a'))).toBe(code)
  })

  it('does not wait forever when the rest of a body fails and its size is not told', async () => {
    const { binding } = bucket(
      (call, n) => {
        if (n > 1 && call === 'get') throw new Error('Network connection lost.')
        return call === 'head' ? new Promise<void>(() => {}) : undefined
      },
      (object) => broken(object, 'end'),
    )
    const read = await r2Store(binding, { ...PATIENT, timeout: 100 }).read('a')
    expect(await codeOf(bytesOf(read))).toBe('timeout')
  })

  it('errors when the object was replaced while its body was broken', async () => {
    const { binding, replace } = bucket(
      () => {},
      (object, n) => (n === 1 ? broken(object, 'end') : object),
    )
    const read = await r2Store(binding, PATIENT).read('a')
    replace()
    expect(await codeOf(bytesOf(read))).toBe('changed')
  })

  it('fails rather than end a listing that has no way on', async () => {
    const { binding } = bucket(() => {})
    const store = r2Store({ ...binding, list: async () => ({ objects: [], truncated: true }) }, PATIENT)
    expect(await codeOf(all(store.list()))).toBe('unavailable')
  })
})
