import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { MemoryBudget } from '../../../src/kit/limits/memory-budget.ts'
import { inParts } from '../../../src/log/text/parts-ahead.ts'
import { pattern } from '../../../src/store/contract/assert.ts'
import { SlicedStream, type Slices, slicesOf } from '../../../src/store/fast.ts'
import { s3Store } from '../../../src/store/s3.ts'
import type { Entry, ReadOptions, StoreRead } from '../../../src/store/store.ts'
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import { type S3Server, startS3Server } from '../../support/s3-server.ts'

const MIB = 1024 * 1024
const PART = 2 * MIB
const LENGTH = 24 * MIB + 12_345
const bytes = pattern(LENGTH, 7)
const otherBytes = pattern(LENGTH, 8)
const isSame = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0

describe('a download of a large object', () => {
  let server: S3Server
  let proxy: FaultProxy
  beforeAll(async () => {
    server = await startS3Server()
    proxy = await startFaultProxy(server.endpoint)
  })
  afterAll(async () => {
    await proxy.close()
    await server.close()
  })

  /** Downloads over the proxy; what was asked of the bucket meanwhile is in `server.requests`. */
  function download(headers: Record<string, string> = {}, memory = 1024 * MIB) {
    server.put('a.log', bytes)
    server.requests.length = 0
    const logs = s3Store({
      endpoint: proxy.endpoint,
      bucket: 'logs',
      accessKeyId: 'key',
      secretAccessKey: 'secret',
      backoff: 1,
      timeout: 60_000,
      deadline: 60_000,
      stall: 60_000,
    })
    const app = createApp({ logs, config: '', limits: { memory } })
    return app.request('/api/v1/log/download?file=a.log', { headers })
  }
  const bodyOf = async (response: Response) => new Uint8Array(await response.arrayBuffer())
  const partsAsked = () => server.requests.filter(({ ifMatch }) => ifMatch !== undefined)

  it('is read over several connections, in parts of one version, each byte once', async () => {
    proxy.each(() => ({ kind: 'pass' }))
    const response = await download()
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Length')).toBe(String(LENGTH))
    expect(isSame(await bodyOf(response), bytes)).toBe(true)
    const etag = server.objects.get('a.log')!.etag
    const parts = partsAsked()
    expect(parts.length).toBeGreaterThanOrEqual(10)
    expect(parts.every(({ ifMatch }) => ifMatch === etag)).toBe(true)
    expect(new Set(parts.map(({ range }) => range)).size).toBe(parts.length)
    // Connections may overtake each other.
    expect(parts.filter(({ range }) => range?.endsWith(`-${LENGTH - 1}`))).toHaveLength(1)
  })

  it.each([
    ['bytes=12345-', 12_345, LENGTH],
    ['bytes=7-20971520', 7, 20_971_521],
    ['bytes=-14000000', LENGTH - 14_000_000, LENGTH],
  ])('%s is, too', async (range, from, to) => {
    const response = await download({ Range: range })
    expect(response.status).toBe(206)
    expect(response.headers.get('Content-Range')).toBe(`bytes ${from}-${to - 1}/${LENGTH}`)
    expect(isSame(await bodyOf(response), bytes.subarray(from, to))).toBe(true)
    expect(partsAsked().length).toBeGreaterThanOrEqual(5)
  })

  it.each([
    ['a short range', { Range: `bytes=0-${8 * MIB}` }, 1024 * MIB, 8 * MIB + 1],
    ['little memory', {}, 128 * MIB, LENGTH],
  ])('is one request with %s', async (_, headers, memory, length) => {
    const response = await download(headers as Record<string, string>, memory)
    expect(isSame(await bodyOf(response), bytes.subarray(0, length))).toBe(true)
    expect(server.requests.length).toBe(1)
  })

  it('has the right bytes although parts fail on the way', async () => {
    let asked = 0
    proxy.each(() => {
      asked++
      // Few enough that no part fails for good, whichever asks first.
      if (asked === 2) return { kind: 'truncate', after: 700_000 }
      if (asked === 4) return { kind: 'drop' }
      return asked === 8 ? { kind: 'answer', status: 503 } : { kind: 'pass' }
    })
    expect(isSame(await bodyOf(await download()), bytes)).toBe(true)
  })

  it('comes from the first request if the bucket refuses parts', async () => {
    let asked = 0
    proxy.each(() => (asked++ === 0 ? { kind: 'pass' } : { kind: 'answer', status: 403 }))
    expect(isSame(await bodyOf(await download()), bytes)).toBe(true)
    expect(server.requests.length).toBe(1)
  })

  it('fails if a part fails for good', async () => {
    let asked = 0
    proxy.each(() => (asked++ < 8 ? { kind: 'pass' } : { kind: 'answer', status: 403 }))
    const response = await download()
    await expect(bodyOf(response)).rejects.toThrow()
  })

  it('is never made of two versions', async () => {
    let asked = 0
    proxy.each(() => {
      // The first parts were asked for by then, and others were not.
      if (++asked === 6) server.put('a.log', otherBytes)
      return { kind: 'pass' }
    })
    const response = await download()
    const reader = response.body!.getReader()
    const taken: Uint8Array[] = []
    const read = async () => {
      for (let got = await reader.read(); !got.done; got = await reader.read()) taken.push(got.value.slice())
    }
    await expect(read()).rejects.toThrow()
    const sent = Buffer.concat(taken)
    expect(isSame(sent, bytes.subarray(0, sent.length))).toBe(true)
  })
})

describe('the memory of parts', () => {
  const entry: Entry = { key: 'a.log', size: LENGTH, modified: 0, etag: '"a"' }
  /** A body of a store far away, and how to read its parts. */
  function opened(memory: MemoryBudget, { of = entry, parallel = 16 } = {}) {
    const asked: number[] = []
    const read = async (range: object, { signal }: ReadOptions): Promise<StoreRead> => {
      signal?.throwIfAborted()
      const { offset, length } = range as { offset: number; length: number }
      asked.push(offset)
      return { entry, offset, length, body: streamed(offset, length) }
    }
    const client = new AbortController()
    const got = { entry: of, offset: 0, length: LENGTH, body: streamed(0, LENGTH) }
    const { body } = inParts(got, { read, parallel, memory, signal: client.signal })
    return { slices: slicesOf(body as ReadableStream<Uint8Array>), isSplit: body !== got.body, asked, client }
  }
  /** Bytes of the object, 64 KiB at a time. */
  function streamed(offset: number, length: number): SlicedStream {
    let at = offset
    const next = async () => {
      const slice = bytes.slice(at, Math.min(at + 65_536, offset + length))
      at += slice.length
      return slice.length > 0 ? slice : null
    }
    return new SlicedStream({ next, release() {}, cancel() {} })
  }
  /** Takes slices, each of which is overwritten after it was sent, from one place to another; returns where it ended. */
  async function take(slices: Slices, [from, most]: [number, number]): Promise<number> {
    let size = from
    for (let slice = await slices.next(); slice; slice = await slices.next()) {
      if (!isSame(slice, bytes.subarray(size, size + slice.length))) throw new Error(`wrong bytes at ${size}`)
      size += slice.length
      slice.fill(0)
      slices.release(slice)
      if (size >= most) return size
    }
    return size
  }

  it('is used again, and returned at the end', async () => {
    const memory = new MemoryBudget(256 * MIB)
    const { slices } = opened(memory)
    expect(await take(slices, [0, LENGTH])).toBe(LENGTH)
    expect(await slices.next()).toBeNull()
    expect(memory.used).toBe(0)
  })

  it('is that of four parts and one more for a client that takes less than they bring, and returned when it leaves', async () => {
    for (const leave of ['cancel', 'abort']) {
      const memory = new MemoryBudget(256 * MIB)
      const { slices, asked, client } = opened(memory)
      const size = await take(slices, [0, MIB])
      expect(memory.used).toBe(0)
      await take(slices, [size, size + 1])
      expect(memory.used).toBe(5 * PART)
      expect(asked).toEqual([0, 1, 2, 3].map((i) => 3 * MIB + i * PART))
      if (leave === 'abort') client.abort()
      else slices.cancel()
      expect(memory.used).toBe(0)
    }
  })

  it('is at most half of what there is, and none without enough', async () => {
    const memory = new MemoryBudget(24 * PART)
    const first = opened(memory)
    const second = opened(memory)
    await take(first.slices, [0, 20 * MIB])
    expect(memory.used).toBeLessThanOrEqual(12 * PART)
    await take(second.slices, [0, 20 * MIB])
    expect(memory.used).toBeLessThanOrEqual(24 * PART)
    const third = opened(memory)
    memory.lease(24 * PART - memory.used)
    expect(await take(third.slices, [0, LENGTH])).toBe(LENGTH)
    expect(third.asked).toEqual([])
    expect(opened(new MemoryBudget(8 * PART)).isSplit).toBe(false)
  })

  it.each([
    ['a file that grows', { id: '17' }],
    ['a shipped log', { appendOnly: true as const }],
    ['an object with a weak tag', { etag: 'W/"a"' }],
  ])('is not used for %s', (_, of) => {
    expect(opened(new MemoryBudget(256 * MIB), { of: { ...entry, ...of } }).isSplit).toBe(false)
  })
})
