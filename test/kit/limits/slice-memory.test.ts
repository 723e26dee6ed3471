import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { heldBySlices, isCrowded, SliceMemory } from '../../../src/kit/limits/slice-memory.ts'
import { slicesOf } from '../../../src/store/fast.ts'
import { fsStore } from '../../../src/store/fs.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'

const KIB = 1024
const SLICE = 512 * KIB

describe('SliceMemory', () => {
  it('gives whole slices to few, smaller ones to many, and the smallest to a crowd', () => {
    const crowd = Array.from({ length: 600 }, () => new SliceMemory())
    const sizes = crowd.map((memory) => memory.take(SLICE))
    const count = (size: number) => sizes.filter((one) => one === size).length
    expect([count(SLICE), count(64 * KIB), count(16 * KIB)]).toEqual([16, 128, 456])
    expect(isCrowded(SLICE)).toBe(true)
    // What is small anyway is never refused.
    expect(isCrowded(4096)).toBe(false)
    expect(new SliceMemory().take(4096)).toBe(4096)
    for (const memory of crowd) memory.release()
    expect(isCrowded(SLICE)).toBe(false)
    expect(crowd[0]!.take(SLICE)).toBe(SLICE)
    crowd[0]!.release()
  })

  it('counts the slice that an answer holds, not those before it', () => {
    const memory = new SliceMemory()
    for (let i = 0; i < 100; i++) expect(memory.take(SLICE)).toBe(SLICE)
    memory.release()
    memory.release()
    expect(isCrowded(8 * 1024 * KIB)).toBe(false)
  })
})

describe('answers that are not read', () => {
  const line = (i: number) => `2026-11-15 00:00:00.000\tINFO\ta.go:1\t[A]: number ${i}\n`
  const text = Array.from({ length: 180_000 }, (_, i) => line(i)).join('')

  it.each([
    ['a tail beyond what is kept in memory', 'view?file=a.log&size=20000000'],
    ['a tail of what is kept in memory', 'view?file=a.log&size=5000000'],
    ['a short tail', 'view?file=a.log&size=900000'],
    ['a download', 'download?file=a.log'],
    ['records', 'view?file=a.log&size=9000000&format=ndjson'],
    ['lines', 'view?file=a.log&lines=90000'],
  ])('%s: holds little in a crowd, and is the same', async (_, path) => {
    const directory = mkdtempSync(join(tmpdir(), 'nodestate-crowd-'))
    writeFileSync(join(directory, 'a.log'), text)
    const app = createApp({ logs: fsStore(directory), config: '' })
    const ask = async () => (await app.request(`/api/v1/log/${path}`)).body!
    const alone = Buffer.from(await new Response(await ask()).arrayBuffer())

    const crowd = Array.from({ length: 200 }, () => new SliceMemory())
    for (const memory of crowd) memory.take(SLICE)
    const slices = slicesOf(await ask())
    const parts: Uint8Array[] = []
    for (let slice = await slices.next(); slice; slice = await slices.next()) {
      expect(slice.buffer.byteLength).toBeLessThanOrEqual(80 * KIB)
      parts.push(slice.slice())
      slices.release(slice)
    }
    expect(Buffer.concat(parts).equals(alone)).toBe(true)
    for (const memory of crowd) memory.release()
    expect(isCrowded(7 * 1024 * KIB)).toBe(false)
    rmSync(directory, { recursive: true })
  })

  it.each([
    ['its tail', 'size=5000000', {}],
    ['what it missed', 'size=1000', { 'Last-Event-ID': '' }],
  ])('a follower reads %s in small parts in a crowd', async (_, query, headers) => {
    const directory = mkdtempSync(join(tmpdir(), 'nodestate-crowd-'))
    writeFileSync(join(directory, 'a.log'), text)
    const app = createApp({ logs: fsStore(directory), config: '' })
    const left = new AbortController()
    const url = `/api/v1/log/view?file=a.log&follow=true&${query}`
    const start = await app.request('/api/v1/log/view?file=a.log&first=1')
    const after = /after=([^>&]*)>; rel="next"/.exec(start.headers.get('Link')!)![1]!
    const id = 'Last-Event-ID' in headers ? { 'Last-Event-ID': after } : {}
    const crowd = Array.from({ length: 200 }, () => new SliceMemory())
    for (const memory of crowd) memory.take(SLICE)
    const response = await app.request(url, { headers: { ...headers, ...id }, signal: left.signal })
    const slices = slicesOf(response.body!)
    let got = 0
    let sent = ''
    while (got < 4_000_000) {
      const slice = (await slices.next())!
      expect(slice.buffer.byteLength).toBeLessThanOrEqual(80 * KIB)
      got += slice.length
      sent += Buffer.from(slice).toString()
      slices.release(slice)
    }
    expect(text).toContain(sent)
    left.abort()
    slices.cancel()
    for (const memory of crowd) memory.release()
    expect(isCrowded(7 * 1024 * KIB)).toBe(false)
    rmSync(directory, { recursive: true })
  })

  it.each([1, 4])(
    'a follower of a log far away holds nothing once it has left, after %i slices',
    async (count) => {
      const app = createApp({ logs: memoryStore({ 'a.log': text }), config: '' })
      const left = new AbortController()
      const url = '/api/v1/log/view?file=a.log&follow=true&size=900000'
      const slices = slicesOf((await app.request(url, { signal: left.signal })).body!)
      for (let i = 0; i < count; i++) slices.release((await slices.next())!)
      left.abort()
      slices.cancel()
      expect(heldBySlices()).toBe(0)
    },
  )
})
