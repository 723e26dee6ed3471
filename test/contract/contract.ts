import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ByteRange,
  byCodePoint,
  clampRange,
  type Entry,
  type ListOptions,
  type Store,
  StoreError,
  type StoreRead,
} from '../../src/store/store.ts'

/** A store under test, and the hand that fills it. */
export interface Subject {
  store: Store
  put(key: string, bytes: Uint8Array | string): Promise<unknown> | unknown
  remove(key: string): Promise<unknown> | unknown
  /** The same kind of store on a place that does not exist. */
  nowhere?: Store
  close?(): Promise<unknown> | unknown
}

/** What a kind of store cannot have, each with the reason in words. */
export interface Exceptions {
  /** Why there are no keys with a slash. */
  flat?: string
  /** Keys that cannot be stored there. */
  notKeys?: Record<string, string>
  /** Why a version can still be read by its etag after the file was replaced. */
  pinned?: string
  /** Why `nowhere` does not exist. */
  alwaysThere?: string
}

const LARGE = 5 * 1024 * 1024 + 7

export const HOSTILE_KEYS = [
  'with space.log',
  ' leading and trailing ',
  'plus+plus.log',
  'percent%41%.log',
  'a%2Fb.log',
  'amp&amp;.log',
  'less<than>.log',
  "quote'single.log",
  'quote"double.log',
  'semi;colon.log',
  'equals=.log',
  'question?.log',
  'hash#.log',
  "(brackets)[]{}!*'.log",
  'back\\slash.log',
  'colon:at@comma,dollar$.log',
  'tilde~caret^pipe|tick`.log',
  '..log',
  '...',
  '-dash.log',
  'tab\there.log',
  'caf\u00e9.log',
  'cafe\u0301.log',
  'Übergröße-日志.log',
  'emoji-😀👩‍💻.log',
  'right\u202eto-left.log',
  `${'n'.repeat(250)}.log`,
]

/** The one suite that every store passes. */
export function storeContract(
  name: string,
  setup: () => Promise<Subject>,
  exceptions: Exceptions = {},
): void {
  describe(`${name} keeps the store contract`, () => {
    let subject: Subject
    let store: Store
    beforeAll(async () => {
      subject = await setup()
      store = subject.store
    })
    afterAll(() => subject?.close?.())

    describe('list', () => {
      it('gives entries in the order of their UTF-8 bytes, below the prefix only', async () => {
        const keys = [
          'order-B',
          'order-a',
          'order-é',
          'order-\uffe5',
          'order-😀',
          'order-',
          'order-a1',
          'order-Z',
        ]
        for (const key of [...keys, 'other-a']) await subject.put(key, key)
        expect((await all(store.list('order-'))).map((entry) => entry.key)).toEqual(keys.sort(byCodePoint))
      })

      it('gives nothing for a prefix that nothing has', async () => {
        expect(await all(store.list('no-such-prefix-'))).toEqual([])
      })

      it('goes past 1,000 keys, none lost, none twice', async () => {
        const keys = Array.from({ length: 1_050 }, (_, i) => `many-${String(i).padStart(5, '0')}`)
        await inBatches(keys, (key) => subject.put(key, key.slice(-2)))
        expect((await all(store.list('many-'))).map((entry) => entry.key)).toEqual(keys)
        const some: string[] = []
        for await (const entry of store.list('many-')) if (some.push(entry.key) === 3) break
        expect(some).toEqual(keys.slice(0, 3))
      })

      it('leaves out what lies deeper when it is asked to', async (context) => {
        if (exceptions.flat) return context.skip(exceptions.flat)
        for (const key of ['deep/a', 'deep/b/c', 'deep/b/d/e', 'deep/z']) await subject.put(key, 'x')
        const keys = async (prefix: string, shallow: boolean) =>
          (await all(store.list(prefix, { shallow }))).map((entry) => entry.key)
        expect(await keys('deep/', false)).toEqual(['deep/a', 'deep/b/c', 'deep/b/d/e', 'deep/z'])
        expect(await keys('deep/', true)).toEqual(['deep/a', 'deep/z'])
        expect(await keys('deep/b/', true)).toEqual(['deep/b/c'])
        expect(await keys('deep', true)).toEqual([])
      })

      it('gives the folders of a shallow list, each once and in its place', async (context) => {
        if (exceptions.flat) return context.skip(exceptions.flat)
        const files = [
          'tree/a',
          'tree/b-',
          'tree/b/1',
          'tree/b/2',
          'tree/b0',
          'tree/c/d/e',
          'tree/é/x',
          'tree/z',
        ]
        for (const key of files) await subject.put(key, 'x')
        const list = async (prefix: string, options: ListOptions = {}) =>
          (await all(store.list(prefix, { shallow: true, folders: true, ...options }))).map(({ key }) => key)
        const level = ['tree/a', 'tree/b-', 'tree/b/', 'tree/b0', 'tree/c/', 'tree/z', 'tree/é/']
        expect(await list('tree/')).toEqual(level)
        expect(await list('tree/b')).toEqual(['tree/b-', 'tree/b/', 'tree/b0'])
        expect(await list('tree/c/')).toEqual(['tree/c/d/'])
        expect(await list('tree')).toEqual(['tree/'])
        for (let i = 0; i < level.length; i++) {
          expect(await list('tree/', { after: level[i]! }), level[i]).toEqual(level.slice(i + 1))
          expect(await list('tree/', { after: level[i]!, limit: 2 }), level[i]).toEqual(
            level.slice(i + 1, i + 3),
          )
        }
        const [folder] = await all(store.list('tree/c', { shallow: true, folders: true }))
        expect(folder).toEqual({ key: 'tree/c/', size: 0, modified: 0, etag: '""', folder: true })
        // Unless requested, and in a deep list, there are none.
        expect((await all(store.list('tree/', { shallow: true }))).every((entry) => !entry.folder)).toBe(true)
        expect((await all(store.list('tree/', { folders: true }))).map(({ key }) => key)).toEqual(
          [...files].sort(byCodePoint),
        )
        expect((await all(store.list('tree/', { after: 'tree/b/1' }))).map(({ key }) => key)).toEqual(
          [...files].sort(byCodePoint).slice(3),
        )
      })

      it('begins after a key, and ends at a limit', async () => {
        const keys = ['part-a', 'part-b', 'part-c', 'part-é', 'part-😀']
        for (const key of keys) await subject.put(key, key)
        const list = async (options: ListOptions) =>
          (await all(store.list('part-', options))).map(({ key }) => key)
        expect(await list({ limit: 2 })).toEqual(['part-a', 'part-b'])
        expect(await list({ limit: 0 })).toEqual([])
        expect(await list({ limit: 99 })).toEqual(keys)
        expect(await list({ after: 'part-b' })).toEqual(['part-c', 'part-é', 'part-😀'])
        expect(await list({ after: 'part-bb' })).toEqual(['part-c', 'part-é', 'part-😀'])
        expect(await list({ after: 'a' })).toEqual(keys)
        expect(await list({ after: 'part-😀' })).toEqual([])
        expect(await list({ after: 'q' })).toEqual([])
        expect(await list({ after: 'part-a', limit: 1 })).toEqual(['part-b'])
        expect(await list({ after: 'part-a', limit: 2, shallow: true })).toEqual(['part-b', 'part-c'])
      })

      it('ends when the client leaves', async () => {
        await subject.put('leaving', 'x')
        const client = new AbortController()
        client.abort(new Error('left'))
        await expect(all(store.list('leaving', { signal: client.signal }))).rejects.toThrow('left')
      })
    })

    describe('stat', () => {
      it('gives null for what is not there', async () => {
        expect(await store.stat('absent')).toBeNull()
        expect(await store.read('absent')).toBeNull()
        expect(await store.read('absent', { suffix: 0 })).toBeNull()
        expect(await store.read('absent', { suffix: 10 })).toBeNull()
      })

      const never = [
        '',
        '/',
        '/absent',
        '.',
        '..',
        '../order-a',
        'x/../order-a',
        './order-a',
        '\ud800',
        'x'.repeat(1100),
      ]
      it.each(never)('gives null for %j, which is no key', async (key) => {
        expect(await store.stat(key)).toBeNull()
        expect(await store.read(key)).toBeNull()
      })

      it('follows what happens to a file', async () => {
        await subject.put('comes-and-goes', 'one')
        expect((await store.stat('comes-and-goes'))?.size).toBe(3)
        await subject.remove('comes-and-goes')
        expect(await store.stat('comes-and-goes')).toBeNull()
        expect(await store.read('comes-and-goes')).toBeNull()
      })

      it('gives another etag whenever the bytes are others, of the same size too', async () => {
        await subject.put('tagged', 'aaaa')
        const first = await store.stat('tagged')
        await subject.put('tagged', 'bbbb')
        const second = await store.stat('tagged')
        expect(first?.etag).toMatch(/^"[^"]+"$/)
        expect(second?.etag).toMatch(/^"[^"]+"$/)
        expect(second?.etag).not.toBe(first?.etag)
        expect(Math.abs(Date.now() - (second?.modified ?? 0))).toBeLessThan(60_000)
      })
    })

    describe('read', () => {
      const contents = { empty: '', one: 'x', ten: '0123456789' }
      const numbers = [0, 1, 3, 9, 10, 11, 1e6, Number.MAX_SAFE_INTEGER, 1e21, Number.POSITIVE_INFINITY]
      const ranges: (ByteRange | undefined)[] = [
        undefined,
        ...numbers.map((suffix) => ({ suffix })),
        ...numbers.map((offset) => ({ offset })),
        ...[0, 1, 9, 10, 11].flatMap((offset) => numbers.map((length) => ({ offset, length }))),
      ]
      it.each(Object.entries(contents))('clamps every range as slice() would, on %s', async (kind, text) => {
        await subject.put(`range-${kind}`, text)
        const entry = await store.stat(`range-${kind}`)
        for (const range of ranges) {
          const read = await store.read(`range-${kind}`, range)
          const shown = JSON.stringify(range, (_, value) =>
            value === Number.POSITIVE_INFINITY ? 'inf' : value,
          )
          const { offset, length } = clampRange(range, text.length)
          expect(read?.entry, shown).toEqual(entry)
          expect([read?.offset, read?.length], shown).toEqual([offset, length])
          expect(new TextDecoder().decode(await bytesOf(read)), shown).toBe(
            text.slice(offset, offset + length),
          )
        }
      })

      it('gives a large file whole, and any part of it', async () => {
        const bytes = pattern(LARGE, 1)
        await subject.put('large', bytes)
        const parts: (ByteRange | undefined)[] = [
          undefined,
          { suffix: 3_000_000 },
          { offset: 1_234_567, length: 2_345_678 },
          { suffix: 65_537 },
          { offset: LARGE - 1 },
        ]
        for (const range of parts) {
          const { offset, length } = clampRange(range, LARGE)
          const read = await store.read('large', range)
          expect(read?.entry.size).toBe(LARGE)
          const got = await bytesOf(read)
          expect(got.length).toBe(length)
          expect(Buffer.compare(got, bytes.subarray(offset, offset + length))).toBe(0)
        }
      })

      it('never mixes two versions when a file is replaced while it is read', async () => {
        const before = pattern(LARGE, 2)
        const after = pattern(LARGE, 3)
        await subject.put('replaced', before)
        const read = await store.read('replaced')
        const reader = streamOf(read!.body).getReader()
        const chunks = [(await reader.read()).value!]
        await subject.put('replaced', after)
        try {
          for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value)
        } catch (error) {
          expect(error).toBeInstanceOf(Error)
          return
        }
        expect(Buffer.compare(Buffer.concat(chunks), before)).toBe(0)
      })

      it('stops a large body when the client leaves, and never ends it as if it were whole', async () => {
        await subject.put('left', pattern(LARGE, 4))
        const client = new AbortController()
        const read = await store.read('left', undefined, { signal: client.signal })
        if (read!.body instanceof Uint8Array) return
        const reader = streamOf(read!.body).getReader()
        let received = (await reader.read()).value!.length
        client.abort()
        const drain = (async () => {
          for (let next = await reader.read(); !next.done; next = await reader.read())
            received += next.value.length
        })()
        await expect(drain).rejects.toThrow()
        expect(received).toBeLessThan(LARGE)
      })

      it('lets go of a body that is cancelled', async () => {
        await subject.put('cancelled', pattern(LARGE, 5))
        const read = await store.read('cancelled')
        const stream = streamOf(read!.body)
        const reader = stream.getReader()
        await reader.read()
        await reader.cancel()
        expect((await store.read('cancelled', { suffix: 1 }))?.length).toBe(1)
      })
    })

    describe('conditions', () => {
      const ranges: (ByteRange | undefined)[] = [
        undefined,
        { suffix: 2 },
        { suffix: 0 },
        { offset: 1, length: 2 },
        { offset: 99 },
      ]
      it.each(ranges)('hold for the range %j', async (range) => {
        await subject.put('conditional', 'first')
        const { etag } = (await store.stat('conditional'))!
        const read = await store.read('conditional', range, { ifMatch: etag })
        expect(read?.entry.etag).toBe(etag)
        expect(await codeOf(store.read('conditional', range, { ifNoneMatch: etag }))).toBe('unchanged')
        expect(await codeOf(store.read('conditional', range, { ifMatch: '"other"' }))).toBe('changed')
        expect((await store.read('conditional', range, { ifNoneMatch: '"other"' }))?.entry.etag).toBe(etag)
        await subject.put('conditional', 'other')
        if (exceptions.pinned) {
          const again = await store.read('conditional', range, { ifMatch: etag })
          const { offset, length } = clampRange(range, 'first'.length)
          expect(again?.entry.etag, exceptions.pinned).toBe(etag)
          expect(new TextDecoder().decode(await bytesOf(again))).toBe('first'.slice(offset, offset + length))
        } else expect(await codeOf(store.read('conditional', range, { ifMatch: etag }))).toBe('changed')
        expect((await store.read('conditional', range, { ifNoneMatch: etag }))?.entry.etag).not.toBe(etag)
      })

      it('do not conjure up a file that is not there', async () => {
        expect(await store.read('absent', undefined, { ifNoneMatch: '"x"' })).toBeNull()
      })
    })

    describe('keys', () => {
      it.each(HOSTILE_KEYS)('%j is listed, found and read', async (key) => {
        const key_ = `k${key}`
        const why = exceptions.notKeys?.[key]
        if (why) {
          expect(await store.stat(key_), why).toBeNull()
          expect(await store.read(key_), why).toBeNull()
          return
        }
        const text = `text of ${key}`
        const size = new TextEncoder().encode(text).length
        await subject.put(key_, text)
        const listed = (await all(store.list(key_))).find((entry) => entry.key === key_)
        const found = await store.stat(key_)
        const read = await store.read(key_, { suffix: 1_000 })
        expect(listed).toMatchObject({ key: key_, size })
        expect(found).toEqual(listed)
        expect(read?.entry).toEqual(listed)
        expect(new TextDecoder().decode(await bytesOf(read))).toBe(text)
        await subject.remove(key_)
        expect(await store.stat(key_)).toBeNull()
      })

      it('that differ only in their Unicode form are two files', async () => {
        await subject.put('nf-caf\u00e9', 'composed')
        await subject.put('nf-cafe\u0301', 'decomposed!')
        expect((await store.stat('nf-caf\u00e9'))?.size).toBe(8)
        expect((await store.stat('nf-cafe\u0301'))?.size).toBe(11)
        expect((await all(store.list('nf-'))).map((entry) => entry.key)).toEqual([
          'nf-cafe\u0301',
          'nf-caf\u00e9',
        ])
      })
    })

    it('says unavailable, and nothing empty, where the place itself does not exist', async (context) => {
      if (exceptions.alwaysThere) return context.skip(exceptions.alwaysThere)
      const nowhere = subject.nowhere!
      expect(await codeOf(all(nowhere.list()))).toBe('unavailable')
      expect(await codeOf(nowhere.stat('x'))).toBe('unavailable')
      expect(await codeOf(nowhere.read('x', { suffix: 10 }))).toBe('unavailable')
      expect(await codeOf(nowhere.read('x', { suffix: 0 }))).toBe('unavailable')
    })
  })
}

/** The code of the StoreError that a promise is rejected with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const outcome = await promise.then(
    (value) => `no error, but ${JSON.stringify(value)}`,
    (error: unknown) => error,
  )
  return outcome instanceof StoreError ? outcome.code : String(outcome)
}

/** All entries of a listing. */
export async function all(entries: AsyncIterable<Entry>): Promise<Entry[]> {
  const list: Entry[] = []
  for await (const entry of entries) list.push(entry)
  return list
}

/** The bytes of a read, which must be as many as it says. */
export async function bytesOf(read: StoreRead | null): Promise<Uint8Array> {
  if (read === null) throw new Error('there is nothing to read')
  const bytes =
    read.body instanceof Uint8Array ? read.body : new Uint8Array(await new Response(read.body).arrayBuffer())
  expect(bytes.length).toBe(read.length)
  return bytes
}

function streamOf(body: StoreRead['body']): ReadableStream<Uint8Array> {
  if (body instanceof ReadableStream) return body
  return new Response(body).body!
}

/** Bytes that differ everywhere, so that a shifted or mixed part shows. */
export function pattern(length: number, seed: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(length / 4))
  let state = seed * 2654435761
  for (let i = 0; i < words.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    words[i] = state
  }
  return new Uint8Array(words.buffer, 0, length)
}

async function inBatches<T>(items: T[], work: (item: T) => unknown): Promise<void> {
  for (let i = 0; i < items.length; i += 20) await Promise.all(items.slice(i, i + 20).map(work))
}
