import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readTail } from '../../src/log/text/tail.ts'
import { all, bytesOf } from '../../src/store/contract/assert.ts'
import { type S3Options, s3Store } from '../../src/store/s3.ts'
import { StoreError } from '../../src/store/store.ts'
import { readClock } from '../support/manual-clock.ts'
import { type S3Server, startS3Server } from '../support/s3-server.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)

/** What a store asks, without a network. */
async function asked(options: Partial<S3Options>, key = 'a.log'): Promise<{ url: string; headers: Headers }> {
  let seen: { url: string; headers: Headers } | undefined
  const store = s3Store({
    bucket: 'logs',
    clock: readClock(() => NOW),
    fetch: async (url, init) => {
      seen = { url, headers: new Headers(init.headers) }
      return new Response(null, {
        headers: { ETag: '"x"', 'Last-Modified': new Date(NOW).toUTCString(), 'Content-Length': '0' },
      })
    },
    ...options,
  })
  await store.stat(key)
  return seen!
}

describe('s3Store addresses', () => {
  const cases: [string, Partial<S3Options>, string][] = [
    ['Amazon, by host', {}, 'https://logs.s3.us-east-1.amazonaws.com/a.log'],
    ['a region', { region: 'eu-west-3' }, 'https://logs.s3.eu-west-3.amazonaws.com/a.log'],
    ['China', { region: 'cn-north-1' }, 'https://logs.s3.cn-north-1.amazonaws.com.cn/a.log'],
    ['Amazon, by path', { pathStyle: true }, 'https://s3.us-east-1.amazonaws.com/logs/a.log'],
    ['a name with dots', { bucket: 'my.logs' }, 'https://s3.us-east-1.amazonaws.com/my.logs/a.log'],
    ['an endpoint', { endpoint: 'http://minio:9000' }, 'http://minio:9000/logs/a.log'],
    ['an endpoint with a slash', { endpoint: 'http://minio:9000/' }, 'http://minio:9000/logs/a.log'],
    ['an endpoint with a path', { endpoint: 'http://minio/s3/' }, 'http://minio/s3/logs/a.log'],
    [
      'an endpoint, by host',
      { endpoint: 'https://x.digitaloceanspaces.com', pathStyle: false },
      'https://logs.x.digitaloceanspaces.com/a.log',
    ],
    ['a prefix', { prefix: '/db-4/logs/' }, 'https://logs.s3.us-east-1.amazonaws.com/db-4/logs/a.log'],
  ]
  it.each(cases)('%s', async (_, options, url) => {
    expect((await asked(options)).url).toBe(url)
  })

  it('keys, escaped segment by segment', async () => {
    const { url } = await asked({ pathStyle: true }, "a b+c%d&e/f(g)'h!*~_-.é😀")
    expect(new URL(url).pathname).toBe('/logs/a%20b%2Bc%25d%26e/f%28g%29%27h%21%2A~_-.%C3%A9%F0%9F%98%80')
  })

  it.each(['..', '.', 'a/../b', './a', 'a/.', '', '/a', '\udfff', 'x'.repeat(1025)])(
    'nothing for %j, which a URL could not carry',
    async (key) => {
      expect(await asked({}, key)).toBeUndefined()
    },
  )

  it('refuses what is no bucket and no endpoint', () => {
    expect(() => s3Store({ bucket: '' })).toThrow(StoreError)
    expect(() => s3Store({ bucket: '../x' })).toThrow(StoreError)
    expect(() => s3Store({ bucket: 'logs', endpoint: 'ftp://x' })).toThrow(StoreError)
    expect(() => s3Store({ bucket: 'logs', endpoint: 'not a url' })).toThrow(StoreError)
    expect(() => s3Store({ bucket: 'logs', accessKeyId: 'alone' })).toThrow(StoreError)
  })
})

describe('s3Store signs', () => {
  const keys = { accessKeyId: 'AKID', secretAccessKey: 'SECRET' }

  it('nothing without credentials', async () => {
    const { headers } = await asked({})
    expect(headers.has('authorization')).toBe(false)
    expect([...headers.keys()].filter((name) => name.startsWith('x-amz'))).toEqual([])
  })

  it('with the region, the clock and the session token', async () => {
    const { headers } = await asked({ ...keys, region: 'eu-west-3', sessionToken: 'TOKEN' })
    expect(headers.get('authorization')).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKID\/20260102\/eu-west-3\/s3\/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=[\da-f]{64}$/,
    )
    expect(headers.get('x-amz-date')).toBe('20260102T030405Z')
    expect(headers.get('x-amz-security-token')).toBe('TOKEN')
    expect((await asked(keys)).headers.has('x-amz-security-token')).toBe(false)
  })
})

describe('s3Store costs', () => {
  let server: S3Server
  beforeAll(async () => {
    server = await startS3Server()
  })
  beforeEach(() => {
    server.objects.clear()
    server.requests.length = 0
    server.sent = 0
    server.pageSize = 1000
  })
  afterAll(() => server.close())
  const store = (options: Partial<S3Options> = {}) =>
    s3Store({ bucket: 'logs', endpoint: server.endpoint, ...options })

  const LINE = 64
  const GIB = 1024 ** 3
  /** A log of 1 GiB of lines of 64 bytes, made as it is read. */
  function gibibyte() {
    const etag = '"gib"'
    const byteAt = (i: number) => (i % LINE === LINE - 1 ? 10 : 97 + (Math.floor(i / LINE) % 26))
    const read = (offset: number, length: number) => Uint8Array.from({ length }, (_, i) => byteAt(offset + i))
    server.objects.set('big.log', { size: GIB, etag, read })
    return read
  }

  it.each([64, 4096, 65_530, 3_000_000])(
    'one request and size + 1 bytes for a tail of %i bytes of 1 GiB',
    async (size) => {
      const bytes = gibibyte()
      const bucket = store()
      const tail = await readTail(
        async (range, options) => (await bucket.read('big.log', range, options))!,
        size,
      )
      const length = Math.floor(size / LINE) * LINE
      expect(tail.entry).toMatchObject({ key: 'big.log', size: GIB, etag: '"gib"' })
      expect([tail.offset, tail.length]).toEqual([GIB - length, length])
      expect(Buffer.compare(await bytesOf(tail), bytes(GIB - length, length))).toBe(0)
      expect(server.requests).toEqual([{ method: 'GET', url: '/logs/big.log', range: `bytes=-${size + 1}` }])
      expect(server.sent).toBe(size + 1)
    },
  )

  it('one request for each page, and only for the pages that are taken', async () => {
    server.pageSize = 10
    for (let i = 0; i < 35; i++) server.put(`k${String(i).padStart(2, '0')}`, 'x')
    const entries = store().list()[Symbol.asyncIterator]()
    expect(server.requests.length).toBe(0)
    for (let i = 0; i < 10; i++) await entries.next()
    expect(server.requests.length).toBe(1)
    expect((await entries.next()).value).toMatchObject({ key: 'k10' })
    expect(server.requests.length).toBe(2)
    await entries.return?.()
    expect(server.requests.length).toBe(2)
    expect((await all(store().list())).length).toBe(35)
    expect(server.requests.length).toBe(6)
  })

  it('a HEAD for an empty range, and a GET and a HEAD for one past the end', async () => {
    server.put('a', 'abc')
    await store().read('a', { suffix: 0 })
    expect(server.requests.map((request) => request.method)).toEqual(['HEAD'])
    server.requests.length = 0
    await store().read('a', { offset: 3 })
    expect(server.requests.map((request) => request.method)).toEqual(['GET', 'HEAD'])
  })

  it('no body when only its first bytes are taken', async () => {
    gibibyte()
    const read = await store().read('big.log')
    const reader = (read!.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await reader.cancel()
    await expect.poll(() => server.cut).toBeGreaterThan(0)
    expect(server.sent).toBeLessThan(64 * 1024 * 1024)
  })

  it('a list without folders, other roots and keys that cannot be asked for', async () => {
    for (const key of ['db/logs/', 'db/logs/a', 'db/logs//b', 'db/logs/../c', 'db/logsx', 'db/other'])
      server.put(key, 'x')
    const keys = (await all(store({ prefix: 'db/logs' }).list())).map((entry) => entry.key)
    expect(keys).toEqual(['a'])
  })

  /** A listing that a service makes up, page by page, and how often it is asked. */
  function madeUp(page: (count: number) => { keys: string[]; token: string | null }, options = {}) {
    const asked = { count: 0 }
    const store = s3Store({
      bucket: 'logs',
      ...options,
      fetch: async () => {
        const { keys, token } = page(asked.count++)
        const contents = keys.map(
          (key) =>
            `<Contents><Key>${key}</Key><LastModified>2026-01-02T03:04:05Z</LastModified><ETag>"e"</ETag><Size>1</Size></Contents>`,
        )
        const next = token === null ? '' : `<NextContinuationToken>${token}</NextContinuationToken>`
        return new Response(
          `<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${token !== null}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
        )
      },
    })
    return { store, asked }
  }

  it.each([
    ['the same token again', () => ({ keys: [], token: 't' })],
    ['tokens in a circle', (n: number) => ({ keys: [`k${n}`], token: 'AB'[n % 2]! })],
    ['the same keys under new tokens', (n: number) => ({ keys: ['a', 'b'], token: `t${n}` })],
  ])('a listing ends with an error on %s', async (_name, page) => {
    const { store, asked } = madeUp(page)
    await expect(all(store.list())).rejects.toMatchObject({ code: 'unavailable' })
    expect(asked.count).toBeLessThanOrEqual(50)
  })

  it('a listing of empty pages ends with an error', async () => {
    const { store, asked } = madeUp((n) => ({ keys: [], token: `t${n}` }))
    await expect(all(store.list())).rejects.toMatchObject({ code: 'unavailable', message: /endless/ })
    expect(asked.count).toBe(50)
  })

  it('a listing that never ends has a deadline, which the time of its consumer does not shorten', async () => {
    let clock = 0
    const options = { listDeadline: 1000, clock: readClock(() => clock) }
    const { store, asked } = madeUp((n) => {
      clock += 100
      return { keys: [`k${String(n).padStart(6, '0')}`], token: `t${n}` }
    }, options)
    const seen: string[] = []
    const consume = async () => {
      for await (const { key } of store.list()) {
        seen.push(key)
        clock += 5000
      }
    }
    await expect(consume()).rejects.toMatchObject({ code: 'timeout' })
    expect(asked.count).toBe(10)
    expect(seen.length).toBe(10)
  })

  it('a listing ends when its client leaves', async () => {
    const client = new AbortController()
    const { store, asked } = madeUp((n) => {
      if (n === 4) client.abort(new Error('left'))
      return { keys: [`k${n}`], token: `t${n}` }
    })
    await expect(all(store.list('', { signal: client.signal }))).rejects.toThrow('left')
    expect(asked.count).toBe(5)
  })

  it('a list without the key that cannot be decoded, sorted where the service does not sort', async () => {
    const { store } = madeUp(() => ({ keys: ['c', '%E0%A4%A', '%FF', 'b', 'a%20b'], token: null }))
    expect((await all(store.list())).map(({ key }) => key)).toEqual(['a b', 'b', 'c'])
  })

  it('asks for no more keys than the limit', async () => {
    for (const key of ['a', 'b', 'c/d', 'e']) server.put(key, 'x')
    server.requests.length = 0
    const options = { shallow: true, folders: true, after: 'a', limit: 2 }
    expect((await all(store().list('', options))).map(({ key }) => key)).toEqual(['b', 'c/'])
    expect(server.requests.length).toBe(1)
    expect(server.requests[0]!.url).toContain('max-keys=2&delimiter=%2F&start-after=a')
  })

  it('refuses a range that was not asked for', async () => {
    const headers = { ETag: '"x"', 'Last-Modified': new Date(NOW).toUTCString() }
    const answers: [number, Record<string, string>][] = [
      [200, { 'Content-Length': '10' }],
      [206, { 'Content-Range': 'bytes 0-3/10' }],
      [206, { 'Content-Range': 'bytes 6-9/*' }],
      [206, {}],
    ]
    for (const [status, extra] of answers) {
      const store = s3Store({
        bucket: 'logs',
        fetch: async () =>
          new Response('0123456789'.slice(0, status === 200 ? 10 : 4), {
            status,
            headers: { ...headers, ...extra },
          }),
      })
      await expect(store.read('a', { suffix: 4 })).rejects.toHaveProperty('code', 'unavailable')
    }
  })
})

describe('objects with a Content-Encoding', () => {
  /** Sends the header unless the request overrides it, as S3 does. */
  const encoded = (urls: string[]) => async (url: string) => {
    urls.push(url)
    const modified = 'Sun, 15 Nov 2026 10:00:00 GMT'
    const headers: Record<string, string> = { ETag: '"a"', 'Content-Length': '3', 'Last-Modified': modified }
    if (!url.includes('response-content-encoding') && !url.includes('plain'))
      headers['Content-Encoding'] = 'gzip'
    return new Response('abc', { headers })
  }
  const options = {
    bucket: 'logs',
    endpoint: 'http://s3.test',
    accessKeyId: 'key',
    secretAccessKey: 'secret',
  }

  it('cost one more request, but only the first of them', async () => {
    const urls: string[] = []
    const store = s3Store({ ...options, fetch: encoded(urls) })
    for (const key of ['a', 'b', 'plain', 'a']) expect((await store.read(key))?.length).toBe(3)
    expect(urls.length).toBe(5)
  })

  it('cannot be read without credentials, and do not spoil other objects', async () => {
    const urls: string[] = []
    const { bucket, endpoint } = options
    const store = s3Store({ bucket, endpoint, fetch: encoded(urls) })
    await expect(store.read('a')).rejects.toThrow('needs credentials')
    expect((await store.read('plain'))?.length).toBe(3)
    expect(urls.some((url) => url.includes('response-content-encoding'))).toBe(false)
  })
})
