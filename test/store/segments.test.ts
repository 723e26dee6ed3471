import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32 } from '../../src/store/codec/crc32.ts'
import { fsStore } from '../../src/store/fs.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { endKey, type How, lifeFolder, segmentName } from '../../src/store/segment/names.ts'
import { segmentStore } from '../../src/store/segments.ts'
import { clampRange, MissingBytes, type Store, StoreError, type StoreRead } from '../../src/store/store.ts'
import { createApp } from '../support/app.ts'
import { putYoung } from '../support/segments.ts'

type Put = (key: string, bytes: Uint8Array | string) => void

/** Writes a segment of a text as a shipper would. */
function putSegment(
  put: Put,
  text: Uint8Array,
  [start, end]: [number, number],
  { life = 1, log = 'a.log' } = {},
) {
  const bytes = text.subarray(start, end)
  const name = segmentName({ start, end, crc: crc32(bytes) })
  put(lifeFolder(log, life) + name, gzipSync(bytes, { level: 1 }))
  return lifeFolder(log, life) + name
}

function putEnd(put: Put, text: Uint8Array, { life = 1, log = 'a.log', how = 'end' as How } = {}) {
  put(endKey(log, { life, size: text.length, crc: crc32(text.subarray(-65536)), how }), '')
}

const textOf = (read: StoreRead | null) => new Response(read!.body).text()
const pattern = (length: number, seed = 7) =>
  Uint8Array.from({ length }, (_, i) => 97 + ((i * 31 + seed * (i >> 3)) % 26))

/** A home in memory that counts what is asked of it. */
function home() {
  const files = memoryStore()
  const asked: string[] = []
  const counting: Store = {
    list: (prefix, options) => {
      asked.push(`LIST ${prefix}`)
      return files.list(prefix, options)
    },
    stat: (key) => files.stat(key),
    read: (key, range, options) => {
      asked.push(`GET ${key}`)
      return files.read(key, range, options)
    },
  }
  const mirror = memoryStore()
  return { files, asked, mirror, put: files.put, store: segmentStore(counting, mirror) }
}

describe('a reader of segments', () => {
  it('keeps logs apart whose lives have the same number', async () => {
    const { put, store } = home()
    const lines = (log: string, n: number) =>
      Buffer.from(`2026-11-15T02:00:0${n}Z INFO ${log} ${n}\n`.repeat(log === 'a.log' ? 3 : 1))
    for (const [log, life] of [
      ['a.log', 1],
      ['a.log', 2],
      ['b.log', 1],
    ] as const) {
      const text = lines(log, life)
      putSegment(put, text, [0, text.length], { log, life })
      if (log === 'a.log' && life === 1) putEnd(put, text, { log, life })
    }
    const app = createApp({ logs: store, config: '' })
    const newest = await app.request('/api/v1/log/view?file=b.log&rotated=true&format=ndjson')
    const records = await newest.text()
    expect(JSON.parse(records)).toMatchObject({ level: 'info', message: 'b.log 1' })
    const [, next] = /<([^>]*)>; rel="next"/.exec(newest.headers.get('Link')!)!
    const after = await app.request(`/api/v1/log/view${next}`)
    expect(await after.text()).toBe('')
    const before = await app.request(`/api/v1/log/view${next!.replace('after=', 'before=')}`)
    expect(await before.text()).toBe(records)
    expect(before.headers.get('X-Nodestate-Note')).toBeNull()
  })

  it('reads any range as from a plain buffer, whatever the cuts and overlaps', async () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 299 }), { maxLength: 8 })
    const range = fc.oneof(
      fc.record({ suffix: fc.integer({ min: 0, max: 400 }) }),
      fc.record({ offset: fc.integer({ min: 0, max: 400 }), length: fc.integer({ min: 0, max: 400 }) }),
      fc.constant(undefined),
    )
    await fc.assert(
      fc.asyncProperty(
        cuts,
        cuts,
        fc.array(range, { minLength: 1, maxLength: 6 }),
        async (one, other, ranges) => {
          const { put, store } = home()
          const text = pattern(300)
          await putYoung(put, text, [0, 0])
          for (const shipper of [one, other]) {
            const places = [...new Set([0, ...shipper.sort((a, b) => a - b), 300])]
            for (let i = 1; i < places.length; i++) {
              const [from, to] = [places[i - 1]!, places[i]!]
              // The same start, shorter.
              if (to - from > 3) putSegment(put, text, [from, from + 2])
              putSegment(put, text, [from, to])
            }
          }
          for (const range of ranges) {
            const read = await store.read('a.log', range)
            const { offset, length } = clampRange(range, 300)
            expect([read!.offset, read!.length]).toEqual([offset, length])
            expect(await textOf(read)).toBe(new TextDecoder().decode(text.subarray(offset, offset + length)))
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  it('ends a suffix at a hole or an expired head, and refuses a range that needs them', async () => {
    const bounds = fc.uniqueArray(fc.integer({ min: 1, max: 299 }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(
        bounds,
        fc.array(fc.nat(20), { minLength: 1, maxLength: 3 }),
        fc.nat(400),
        async (cuts, gone, size) => {
          const { put, store } = home()
          const text = pattern(300)
          const places = [0, ...cuts.sort((a, b) => a - b), 300]
          const segments = places.slice(1).map((to, i) => [places[i]!, to] as [number, number])
          const lost = new Set(
            gone.map((index) => index % segments.length).filter((index) => index < segments.length - 1),
          )
          for (const [index, range] of segments.entries()) if (!lost.has(index)) putSegment(put, text, range)
          putEnd(put, text)
          const held = new Array(300).fill(true)
          for (const [index, [from, to]] of segments.entries())
            if (lost.has(index)) held.fill(false, from, to)

          const { offset } = clampRange({ suffix: size }, 300)
          const begin = Math.max(offset, size === 0 ? 300 : held.lastIndexOf(false) + 1)
          const read = (await store.read('a.log', { suffix: size }))!
          expect(read.offset).toBe(begin)
          expect(await textOf(read)).toBe(new TextDecoder().decode(text.subarray(begin)))
          if (begin > offset) {
            const head = held.slice(0, begin).every((there) => !there)
            expect(read.missing).toMatchObject({ to: begin, head })
          } else expect(read.missing).toBeUndefined()

          const hole = held.indexOf(false)
          if (hole >= 0) {
            const error = await store.read('a.log', { offset: hole, length: 1 }).catch((error) => error)
            expect(error).toBeInstanceOf(MissingBytes)
            expect(error.missing.from).toBeLessThanOrEqual(hole)
            expect(error.missing.to).toBe(held.indexOf(true, hole))
            const after = await store.read('a.log', { offset: error.missing.to, length: 1 })
            expect(await textOf(after)).toBe(String.fromCharCode(text[error.missing.to]!))
          }
        },
      ),
      { numRuns: 100 },
    )
  })

  it('finds the beginning of an expired life in at most 6 LISTs, and remembers it', async () => {
    const { put, store, asked } = home()
    const text = pattern(40_000)
    for (let i = 9_000; i < 10_000; i++) putSegment(put, text, [i * 4, i * 4 + 4])
    const first = await store.read('a.log', { offset: 0, length: 10 }).catch((error) => error)
    expect(first.missing).toEqual({ from: 0, to: 36_000, head: true })
    expect(asked.length).toBeLessThanOrEqual(7)
    asked.length = 0
    await expect(
      store.read('a.log', { offset: 0, length: 10 }, { ifMatch: '"life-1-40000"' }),
    ).rejects.toThrow()
    expect(asked).toEqual([])
  })

  it('gives the whole of an expired life from its first segment on', async () => {
    const { put, store } = home()
    const text = pattern(300)
    putSegment(put, text, [100, 300])
    const read = (await store.read('a.log'))!
    expect([read.offset, read.length, read.missing?.head]).toEqual([100, 200, true])
  })

  it('shows the newest life under the name of the log, and older ones by number', async () => {
    const { put, store } = home()
    for (const life of [1, 2, 11]) {
      await putYoung(put, new Uint8Array(0), [0, 0], { life })
      putSegment(put, pattern(100 + life), [0, 100 + life], { life })
      if (life < 11) putEnd(put, pattern(100 + life), { life, how: life === 2 ? 'lost' : 'end' })
    }
    const entries = []
    for await (const { key, size, id, gap } of store.list()) entries.push({ key, size, id, gap })
    expect(entries).toEqual([
      { key: 'a.log', size: 111, id: '11', gap: undefined },
      { key: 'a.log@000001', size: 101, id: '1', gap: undefined },
      { key: 'a.log@000002', size: 102, id: '2', gap: true },
    ])
    expect((await store.stat('a.log@000002'))?.size).toBe(102)
    expect(await store.stat('a.log@000011')).toBeNull()
    expect(await store.stat('a.log@000005')).toBeNull()
    expect((await store.stat('a.log'))?.etag).toBe('"life-11-111"')
  })

  it('shows lives that were shipped after newer ones, and those that a killed shipper left open', async () => {
    const { put, store } = home()
    for (const life of [3, 2, -1, -2]) putSegment(put, pattern(100 + life), [0, 100 + life], { life })
    putEnd(put, pattern(98), { life: -2 })
    putEnd(put, pattern(102), { life: 2 })
    const open = { host: 'h', run: 'r', logs: {}, open: { 'a.log': [3, -1] } }
    put('ship.json', JSON.stringify(open))
    const listed: [string, number][] = []
    for await (const { key, size } of store.list()) listed.push([key, size])
    expect(listed).toEqual([
      ['a.log', 103],
      ['a.log@000002', 102],
      ['a.log@older-000001', 99],
      ['a.log@older-000002', 98],
    ])
    const read = await store.read('a.log@older-000001', { suffix: 10 })
    expect(await textOf(read)).toBe(new TextDecoder().decode(pattern(99).subarray(-10)))
    const again = await store.read('a.log@older-000001', { suffix: 10 }, { ifMatch: read!.entry.etag })
    expect(again!.entry.key).toBe('a.log@older-000001')
  })

  it('prefers segments to mirrors of the same log, always', async () => {
    const { put, store, mirror } = home()
    mirror.put('a.log', 'mirror')
    mirror.put('b.log', 'other')
    expect(await textOf(await store.read('a.log'))).toBe('mirror')
    putSegment(put, pattern(5), [0, 5])
    expect(await textOf(await store.read('a.log'))).toBe(new TextDecoder().decode(pattern(5)))
    expect(await textOf(await store.read('b.log'))).toBe('other')
    const keys = []
    for await (const { key, size } of store.list()) keys.push([key, size])
    expect(keys).toEqual([
      ['a.log', 5],
      ['b.log', 5],
    ])
  })

  it('hides the rotated mirrors of a shipped log', async () => {
    const { put, mirror, files } = home()
    const store = segmentStore(files, mirror, { stemOf: (name) => name.replace(/\.\d+$/, '') })
    mirror.put('a.log.1', 'old')
    expect(await textOf(await store.read('a.log.1'))).toBe('old')
    putSegment(put, pattern(5), [0, 5])
    expect(await store.read('a.log.1')).toBeNull()
    expect(await store.stat('a.log.1')).toBeNull()
    const keys = []
    for await (const { key } of store.list()) keys.push(key)
    expect(keys).toEqual(['a.log'])
  })

  it('refuses a segment that is not what its name says', async () => {
    const { put, store } = home()
    const key = putSegment(put, pattern(100), [0, 100])
    for (const bytes of [
      gzipSync(pattern(100, 8)),
      gzipSync(pattern(99)),
      gzipSync(pattern(101)),
      'no gzip',
      gzipSync(pattern(100)).subarray(0, 40),
    ]) {
      put(key, bytes)
      const error = await store.read('a.log').catch((error) => error)
      expect(error).toBeInstanceOf(StoreError)
      expect(error.code).toBe('bad-segment')
    }
  })

  it('takes sizes from a fresh heartbeat in a list, and looks itself in a view', async () => {
    const { put, store, asked } = home()
    putSegment(put, pattern(100), [0, 100])
    const logs = { 'a.log': { life: 1, size: 60, lagBytes: 0, lagSeconds: 0 } }
    put('ship.json', JSON.stringify({ host: 'h', run: 'r', version: '1', node: null, logs, error: null }))
    const entries = []
    for await (const entry of store.list()) entries.push(entry.size)
    expect(entries).toEqual([60])
    expect(asked).toHaveLength(3)
    expect((await store.stat('a.log'))?.size).toBe(100)
  })

  it('answers a follower from a look of the last two seconds', async () => {
    const { put, store, asked } = home()
    putSegment(put, pattern(100), [0, 50])
    await store.stat('a.log')
    putSegment(put, pattern(100), [50, 100])
    asked.length = 0
    const known = { ifNoneMatch: '"life-1-50"', maxAge: 2000 }
    await expect(store.read('a.log', { suffix: 1 }, known)).rejects.toThrow('unchanged')
    expect(asked).toEqual([])
    expect((await store.read('a.log', { suffix: 1 }, { ifNoneMatch: '"life-1-50"' }))?.entry.size).toBe(100)
  })

  it.each(['file=a.log', 'file=a.log&file=b.log'])(
    'goes on from a place that its node gave, which has other identities: %s',
    async (files) => {
      const lines = (log: string, numbers: readonly number[]) =>
        numbers.map((n) => `2026-11-15T02:00:0${n}Z INFO ${log} ${n}\n`).join('')
      const { put, store } = home()
      const folder = mkdtempSync(join(tmpdir(), 'nodestate-copied-'))
      for (const log of ['a.log', 'b.log'])
        for (const [life, numbers] of [[1, 2, 3], [4]].entries()) {
          const text = Buffer.from(lines(log, numbers))
          putSegment(put, text, [0, text.length], { log, life: life + 1 })
          if (life === 0) putEnd(put, text, { log, life: life + 1 })
          writeFileSync(join(folder, life === 0 ? `${log}.1` : log), text)
        }
      const [node, copy] = [fsStore(folder), store].map((logs) => createApp({ logs, config: '' }))
      const first = await node!.request(`/api/v1/log/view?${files}&rotated=true&first=2`)
      rmSync(folder, { recursive: true })
      const next = /<[^?>]*([^>]+)>; rel="next"/.exec(first.headers.get('Link')!)![1]!
      const rest = await copy!.request(`/api/v1/log/view${next.replace('first=2', 'first=9')}`)
      expect([rest.status, rest.headers.get('X-Nodestate-Note')]).toEqual([200, null])
      const numbers = ((await first.text()) + (await rest.text())).match(/[ab]\.log \d/g)!
      expect(numbers.filter((line) => line.startsWith('a.log'))).toEqual(
        [1, 2, 3, 4].map((n) => `a.log ${n}`),
      )
      expect(numbers).toHaveLength(files.includes('b.log') ? 8 : 4)
    },
  )

  it('counts requests: a tail of 10,000 segments', async () => {
    const { put, store, asked } = home()
    const text = pattern(100_000)
    for (let i = 0; i < 10_000; i++) putSegment(put, text, [i * 10, i * 10 + 10])
    await store.read('a.log', { suffix: 15 })
    // A LIST, the young text, two segments.
    expect(asked.length).toBeLessThanOrEqual(4)
    asked.length = 0
    await store.read('a.log', { offset: 5_005, length: 20 })
    expect(asked.filter((line) => line.startsWith('LIST')).length).toBeLessThanOrEqual(2)
    expect(asked.filter((line) => line.startsWith('GET'))).toHaveLength(4)
  })

  it('streams what is large', async () => {
    const { put, store } = home()
    const text = pattern(3 * 1024 * 1024)
    for (let at = 0; at < text.length; at += 256 * 1024) putSegment(put, text, [at, at + 256 * 1024])
    const read = (await store.read('a.log', { offset: 1000 }))!
    expect(read.body).toBeInstanceOf(ReadableStream)
    expect(
      Buffer.compare(new Uint8Array(await new Response(read.body).arrayBuffer()), text.subarray(1000)),
    ).toBe(0)
  })
})
