import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/kit/limits/clock.ts'
import { isCrowded } from '../../../src/kit/limits/slice-memory.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { detectFormat, PLAIN } from '../../../src/log/format/detect.ts'
import { NdjsonWriter } from '../../../src/log/render/ndjson.ts'
import { recordsBody, renderedBody, renderedStream } from '../../../src/log/render/rendered.ts'
import { MAX_RECORD } from '../../../src/log/search/records.ts'
import { UTC } from '../../../src/log/time.ts'
import { viewOf } from '../../../src/log/view/view.ts'
import { type SlicedStream, withFastReads } from '../../../src/store/fast.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { contextOf, viewRequest } from '../context.ts'
import { toNdjson } from './whole.ts'

const line = (i: number, what = 'line') =>
  `2026-11-15 02:10:00.${String(i % 1000).padStart(3, '0')}\tINFO\tx.go:1\t[A]: ${what} ${i}\n`
const record = (i: number) => line(i) + '\tat a()\n'.repeat(i % 7 === 0 ? 5 : 0)
const bytes = (text: string) => new TextEncoder().encode(text)
const LINDB = detectFormat(bytes(line(1)))
const text = (all: Uint8Array) => new TextDecoder().decode(all)

describe('rendered records', () => {
  it.each([1, 10, 2000])('are the same whether they come at once or in turns (%i records)', async (count) => {
    const all = Array.from({ length: count }, (_, i) => record(i)).join('')
    const long = `${line(1)}${'\tat a trace that does not end\n'.repeat(3000)}`
    const pieces = [all, long, '', record(3)].map(bytes)
    const got = await new Response(
      renderedBody([...pieces], new NdjsonWriter(LINDB, UTC), null, systemClock),
    ).text()
    const once = pieces.map((piece) => text(toNdjson(piece, 0, piece.length, LINDB, UTC))).join('')
    expect(got === once).toBe(true)
    expect(got.split('\n').length - 1).toBe(count + 2)
  })

  it('let timers go on, however many there are', async () => {
    const piece = bytes('a\n'.repeat(500_000))
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    const got = await new Response(
      renderedBody([piece], new NdjsonWriter(PLAIN, UTC), null, systemClock),
    ).text()
    clearInterval(timer)
    expect(got.split('\n').length - 1).toBe(500_000)
    expect(ticks).toBeGreaterThan(5)
  })
})

describe('memory that is used again', () => {
  const LOGS = ['one', 'two', 'three'].map((what) =>
    bytes(Array.from({ length: 20_000 }, (_, i) => line(i, `${what} ${'x'.repeat(i % 90)}`)).join('')),
  )
  const later = () => new Promise<unknown>(setImmediate)
  const sent = async (log: Uint8Array, wait = later) => {
    const store = memoryStore({ 'a.log': log as Uint8Array<ArrayBuffer> })
    // As a file system does: into the caller's buffer, and later than at once.
    withFastReads(store, {
      listAll: async () => [],
      revision: () => null,
      keptTail: () => undefined,
      async readInto(key, range, buffer, options) {
        const got = await store.read(key, range, options)
        if (!got || got.length > buffer.length) return undefined
        await wait()
        buffer.set(got.body as Uint8Array)
        return { ...got, body: buffer.subarray(0, got.length) }
      },
    })
    const request = viewRequest({ records: true, fit: { size: 1 << 25, lines: null } })
    const view = await viewOf(contextOf(logFiles(store)), request)
    const writer = new NdjsonWriter(view.format, UTC)
    return recordsBody(view, writer, MAX_RECORD, systemClock) as SlicedStream
  }

  it('holds no bytes of another answer, in whatever order slices come and are let go', async () => {
    for (let round = 0; round < 3; round++) {
      const bodies = await Promise.all(LOGS.map((log) => sent(log)))
      const found = bodies.map(() => '')
      const buffers = new Set<ArrayBufferLike>()
      let slices = 0
      const open = new Set(bodies.keys())
      while (open.size > 0) {
        const taken = await Promise.all([...open].map(async (i) => [i, await bodies[i]!.next()] as const))
        for (const [i, slice] of taken) {
          if (slice === null) open.delete(i)
          else {
            found[i] += text(slice)
            buffers.add(slice.buffer)
            slices++
            bodies[i]!.release(slice)
          }
        }
      }
      expect(slices).toBeGreaterThan(12)
      expect(buffers.size).toBeLessThan(slices)
      for (const [i, log] of LOGS.entries())
        expect(found[i] === text(toNdjson(log, 0, log.length, LINDB, UTC))).toBe(true)
    }
  })

  it('is not handed on by one who leaves while it is read to', async () => {
    let goOn = () => {}
    const stuck = new Promise<void>((resolve) => {
      goOn = resolve
    })
    let reads = 0
    const left = await sent(LOGS[0]!, () => (++reads === 2 ? stuck : later()))
    const slice = (await left.next())!
    const before = slice.slice()
    // On until it waits for its second read.
    let running: ReturnType<typeof left.next>
    do {
      running = left.next()
      for (let turns = 0; turns < 20 && reads < 2; turns++) await later()
    } while (reads < 2 && (await running) !== null)
    expect(reads).toBe(2)
    await left.cancel()
    // The read comes back when another answer is half rendered.
    const other = await sent(LOGS[1]!)
    let found = ''
    for (let next = await other.next(); next !== null; next = await other.next()) {
      found += text(next)
      other.release(next)
      goOn()
      await later()
    }
    expect(found === text(toNdjson(LOGS[1]!, 0, LOGS[1]!.length, LINDB, UTC))).toBe(true)
    // What was given out and not released is as it was.
    expect(Buffer.compare(slice, before)).toBe(0)
    await running
    expect(await left.next()).toBe(null)
  })

  it('holds nothing of the memory for slices once it has ended without a record', async () => {
    for (let i = 0; i < 40; i++) {
      const writer = new NdjsonWriter(LINDB, UTC)
      const body = renderedStream(
        async () => null,
        writer,
        () => {},
        systemClock,
      ) as SlicedStream
      expect(await body.next()).toBe(null)
    }
    expect(isCrowded(512 * 1024)).toBe(false)
  })
})
