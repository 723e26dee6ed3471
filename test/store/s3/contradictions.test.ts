import { describe, expect, it } from 'vitest'
import { all } from '../../../src/store/contract/assert.ts'
import { s3Store } from '../../../src/store/s3.ts'
import { createApp } from '../../support/app.ts'

const TEXT = Array.from({ length: 50 }, (_, i) => `line ${i}\n`).join('')

interface Lies {
  /** The size that HEAD gives. */
  head?: number
  /** The size of all that a Content-Range gives. */
  total?: number
  /** Answers ranges with status 200 and only the range. */
  bare?: boolean
  etag?: (method: string) => string
  /** What the object holds. */
  text?: string
}

/** A bucket with one object, which tells lies about it. */
function lying({
  text = TEXT,
  head = text.length,
  total = text.length,
  bare = false,
  etag = () => '"e"',
}: Lies) {
  const requests: string[] = []
  const logs = s3Store({
    bucket: 'logs',
    fetch: async (url, init) => {
      const method = init.method ?? 'GET'
      requests.push(method)
      const headers = { ETag: etag(method), 'Last-Modified': 'Fri, 02 Jan 2026 03:04:05 GMT' }
      if (new URL(url).searchParams.has('list-type')) return new Response(listing([['f', text.length]], null))
      if (method === 'HEAD')
        return new Response(null, { headers: { ...headers, 'Content-Length': `${head}` } })
      const match = /bytes=(\d*)-(\d*)/.exec(new Headers(init.headers).get('Range') ?? '')
      if (!match) return new Response(text, { headers: { ...headers, 'Content-Length': `${text.length}` } })
      const from = match[1] === '' ? Math.max(0, total - Number(match[2])) : Number(match[1])
      const to = match[1] === '' || match[2] === '' ? total : Math.min(total, Number(match[2]) + 1)
      const part = text.padEnd(total, 'x').slice(from, to)
      const length = { 'Content-Length': `${part.length}` }
      if (bare) return new Response(part, { headers: { ...headers, ...length } })
      const range = { 'Content-Range': `bytes ${from}-${to - 1}/${total}` }
      return new Response(part, { status: 206, headers: { ...headers, ...length, ...range } })
    },
  })
  return { logs, requests, app: createApp({ logs, config: '', onError: () => {} }) }
}

function listing(entries: [string, number][], token: string | null): string {
  const contents = entries.map(
    ([key, size]) =>
      `<Contents><Key>${key}</Key><LastModified>2026-01-02T03:04:05Z</LastModified><ETag>"e"</ETag><Size>${size}</Size></Contents>`,
  )
  const next = token === null ? '' : `<NextContinuationToken>${token}</NextContinuationToken>`
  return `<ListBucketResult><IsTruncated>${token !== null}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`
}

/** A bucket whose listing has these pages; the last one is repeated for ever. */
function listed(pages: (n: number) => string[], isEndless = false) {
  const asked = { count: 0 }
  const logs = s3Store({
    bucket: 'logs',
    fetch: async () => {
      const keys = pages(asked.count++)
      const isLast = !isEndless && pages(asked.count).length === 0
      return new Response(
        listing(
          keys.map((key) => [key, key.length]),
          isLast ? null : `t${asked.count}`,
        ),
      )
    },
  })
  return { logs, asked, app: createApp({ logs, config: '', onError: () => {} }) }
}

describe('a bucket that gives two sizes for one version', () => {
  it.each([10, 100, TEXT.length + 1])('HEAD says %i: 503 where both were seen', async (head) => {
    const { logs } = lying({ head })
    expect((await logs.stat('f'))?.size).toBe(head)
    await expect(logs.read('f', { suffix: 20 })).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('a Content-Range says more than HEAD: the download is a 503', async () => {
    const { app, logs } = lying({ total: 2 * TEXT.length })
    await logs.stat('f')
    const response = await app.request('/api/v1/log/view?file=f&size=100')
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ type: '/problems/storage-unavailable' })
  })

  it('is believed when it is another version', async () => {
    let version = 0
    const { logs } = lying({ head: 10, etag: () => `"${version++}"` })
    expect((await logs.stat('f'))?.size).toBe(10)
    expect((await logs.read('f', { suffix: 20 }))?.entry.size).toBe(TEXT.length)
  })
})

describe('a range that is answered by 200', () => {
  it.each([1, 100, 300])('with the length of the range: a tail of %i bytes is a 503', async (size) => {
    const { app } = lying({ bare: true })
    const response = await app.request(`/api/v1/log/view?file=f&size=${size}`)
    expect(response.status).toBe(503)
  })

  it.each([
    'view?file=f&q=line',
    'view?file=f&since=2026-01-01',
    'histogram?file=f',
    'fields?file=f',
    'view?file=f&download=true&q=line',
  ])('with the length of the range, when the size is known: %s is a 503', async (query) => {
    const stamped = Array.from(
      { length: 9000 },
      (_, i) => `2026-01-02 03:04:05.${100 + (i % 900)}\tINFO\ta.go:1\tline ${i}\n`,
    )
    const { app, logs } = lying({ bare: true, text: stamped.join('') })
    await logs.stat('f')
    const response = await app.request(`/api/v1/log/${query}`)
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ type: '/problems/storage-unavailable' })
  })

  it('with all of the object, which one HEAD confirms', async () => {
    const { logs, requests } = lying({ bare: true })
    for (let i = 0; i < 2; i++) {
      const read = await logs.read('f', { suffix: 10_000 })
      expect(new TextDecoder().decode(read!.body as Uint8Array)).toBe(TEXT)
    }
    expect(requests).toEqual(['GET', 'HEAD', 'GET'])
  })
})

describe('a listing that contradicts itself', () => {
  const keysOf = async (pages: string[][]) => {
    const { logs } = listed((n) => pages[n] ?? [])
    return (await all(logs.list())).map(({ key }) => key)
  }

  it('gives a key once that is listed twice', async () => {
    expect(await keysOf([['a', 'b', 'a', 'a', 'c']])).toEqual(['a', 'b', 'c'])
    expect(await keysOf([['a', 'b'], ['b', 'c'], ['c']])).toEqual(['a', 'b', 'c'])
    const { app } = listed((n) => (n === 0 ? ['x.log', 'y.log', 'x.log'] : []))
    expect(await (await app.request('/api/v1/log/list')).json()).toHaveLength(2)
  })

  it.each([
    [
      ['a', 'c'],
      ['b', 'd'],
    ],
    [['a', 'b', 'c'], ['a', 'b', 'c'], ['d']],
    [
      ['m', 'n'],
      ['a', 'z'],
    ],
  ])('is a 503 when it goes back: %j, %j', async (...pages) => {
    const { app } = listed((n) => pages[n] ?? [])
    const response = await app.request('/api/v1/log/list')
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ type: '/problems/storage-unavailable' })
  })

  it.each([1, 7, 499])('is a 503 when it never ends, with %i new keys on each page', async (size) => {
    const name = (n: number) => `k${String(n).padStart(9, '0')}`
    const { app, asked } = listed((n) => Array.from({ length: size }, (_, i) => name(n * size + i)), true)
    const response = await app.request('/api/v1/log/list')
    expect(response.status).toBe(503)
    expect(asked.count).toBe(50)
  })

  it('of 60 short pages is believed when full ones come between', async () => {
    const sizes = Array.from({ length: 60 }, (_, n) => (n % 40 === 39 ? 1000 : 2))
    const pages = sizes.map((size, n) =>
      Array.from({ length: size }, (_, i) => `k${String(n * 1000 + i).padStart(6, '0')}`),
    )
    expect(await keysOf(pages)).toHaveLength(sizes.reduce<number>((sum, size) => sum + size, 0))
  })
})

it('a bucket with more folders than 20 pages of them has its files listed', async () => {
  const folders = (n: number) =>
    Array.from(
      { length: 1000 },
      (_, i) => `<CommonPrefixes><Prefix>d${n}${i + 1000}/</Prefix></CommonPrefixes>`,
    )
  let count = 0
  const logs = s3Store({
    bucket: 'logs',
    fetch: async () => {
      const n = count++
      if (n === 30) return new Response(listing([['z.log', 1]], null))
      const next = `<IsTruncated>true</IsTruncated><NextContinuationToken>t${n}</NextContinuationToken>`
      return new Response(`<ListBucketResult>${next}${folders(n + 10).join('')}</ListBucketResult>`)
    },
  })
  expect((await all(logs.list('', { shallow: true }))).map(({ key }) => key)).toEqual(['z.log'])
})
