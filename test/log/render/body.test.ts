import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/kit/limits/clock.ts'
import { heldBySlices } from '../../../src/kit/limits/slice-memory.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { bytesOf, piecesBody } from '../../../src/log/render/body.ts'
import { NdjsonWriter } from '../../../src/log/render/ndjson.ts'
import { recordsBody } from '../../../src/log/render/rendered.ts'
import { BLOCK, giveBack, takeBlock } from '../../../src/log/search/blocks.ts'
import { MAX_RECORD } from '../../../src/log/search/records.ts'
import { UTC } from '../../../src/log/time.ts'
import { viewOf } from '../../../src/log/view/view.ts'
import { SlicedStream } from '../../../src/store/fast.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { StoreError } from '../../../src/store/store.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { contextOf, viewRequest } from '../context.ts'

const SLICE = 512 * 1024
const KIB = 1024

describe('a part of a log', () => {
  const text = Array.from({ length: 60_000 }, (_, i) => `line ${i} of a log\n`).join('')
  const chosen = (size: number) => viewRequest({ fit: { size, lines: null } })

  it.each([
    ['a short part', 250 * KIB, 'text'],
    ['a long part', 900 * KIB, 'text'],
    ['records', 900 * KIB, 'ndjson'],
  ] as const)('%s of an archive is sent although choosing it took all the time', async (_, size, form) => {
    const clock = manualClock()
    const files = logFiles(memoryStore({ 'a.log.gz': gzipSync(text) }))
    const context = contextOf(files, { archiveWindow: 16 * KIB, scanMillis: 10_000 }, { clock })
    const view = await viewOf(context, { ...chosen(size), file: 'a.log.gz' })
    await clock.pass(20_000)
    const { series, from, to } = view
    const body =
      form === 'text'
        ? await bytesOf(series, from, to)
        : recordsBody(view, new NdjsonWriter(view.format, UTC), MAX_RECORD, clock)
    const got = await new Response(body).text()
    const lines = form === 'text' ? got : got.replaceAll(/.*"line (\d+) of a log".*/g, 'line $1 of a log')
    expect(lines.length).toBeGreaterThan(size - 100)
    expect(text.endsWith(lines)).toBe(true)
    expect(heldBySlices()).toBe(0)
  })

  it.each([
    ['sent', 'text', 100 * KIB],
    ['sent', 'text', 900 * KIB],
    ['sent', 'ndjson', 900 * KIB],
    ['left by its client', 'text', 900 * KIB],
    ['left by its client', 'ndjson', 900 * KIB],
    ['gone', 'text', 900 * KIB],
    ['gone', 'ndjson', 900 * KIB],
  ] as const)('holds no memory for slices once it is %s (%s, %i bytes)', async (how, form, size) => {
    const store = memoryStore({ 'a.log': new TextEncoder().encode(text) })
    let isGone = false
    const read: typeof store.read = async (...asked) => {
      if (isGone) throw new StoreError('unavailable', 'It is gone')
      return store.read(...asked)
    }
    const view = await viewOf(contextOf(logFiles({ ...store, read })), chosen(size))
    const { series, from, to } = view
    // Read before, so that there is something to keep.
    await series.read(from, from + 50 * KIB)
    const body =
      form === 'text'
        ? await bytesOf(series, from, to)
        : recordsBody(view, new NdjsonWriter(view.format, UTC), MAX_RECORD, systemClock)
    isGone = how === 'gone'
    const response = new Response(body)
    if (how === 'sent') await response.arrayBuffer()
    else if (how === 'gone') await expect(response.arrayBuffer()).rejects.toThrow('gone')
    else {
      const reader = response.body!.getReader()
      await reader.read()
      await reader.cancel()
    }
    expect(heldBySlices()).toBe(0)
  })
})

describe('found records', () => {
  const lengths = fc.array(
    fc.oneof(fc.nat(300), fc.constantFrom(0, 1, SLICE - 1, SLICE, SLICE + 1), fc.nat(3 * SLICE)),
    { minLength: 1, maxLength: 8 },
  )
  it('property: go out in their order, slice by slice or as a stream', async () => {
    await fc.assert(
      fc.asyncProperty(lengths, async (lengths) => {
        const pieces = lengths.map((length, i) => new Uint8Array(length).fill(i + 1))
        const all = Buffer.concat(pieces)
        const body = piecesBody([...pieces], null, systemClock)
        if (body instanceof SlicedStream) {
          const slices: Uint8Array[] = []
          for (let slice = await body.next(); slice; slice = await body.next()) slices.push(slice)
          expect(Math.max(...slices.map((slice) => slice.length))).toBeLessThanOrEqual(SLICE)
          expect(Buffer.concat(slices).equals(all)).toBe(true)
        }
        const streamed = Buffer.from(
          await new Response(piecesBody([...pieces], null, systemClock)).arrayBuffer(),
        )
        expect(streamed.equals(all)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

describe('a block', () => {
  /** Takes all that wait. */
  function takeAll(): Uint8Array[] {
    const taken: Uint8Array[] = []
    // A fresh block is zero; what was used before is marked.
    for (let block = takeBlock(); block[BLOCK - 1] !== 0; block = takeBlock()) taken.push(block)
    return taken
  }
  const used = () => takeBlock().fill(7)

  it('is used again when its last slice is sent, not before', async () => {
    takeAll()
    const block = used()
    const body = piecesBody([block.subarray(3 * SLICE)], null, systemClock) as SlicedStream
    for (let slice = await body.next(); slice; slice = await body.next()) {
      expect(takeAll()).toEqual([])
      body.release(slice)
    }
    expect(takeAll().map(({ buffer }) => buffer)).toEqual([block.buffer])
  })

  it('is not used again when the client leaves, nor when it is taken as a stream', async () => {
    takeAll()
    const body = piecesBody([used().subarray(SLICE)], null, systemClock) as SlicedStream
    body.release((await body.next())!)
    await body.cancel()
    await new Response(piecesBody([used()], null, systemClock)).arrayBuffer()
    expect(takeAll()).toEqual([])
  })

  it('waits ten seconds at most, and no more than eight do', async () => {
    const clock = manualClock()
    takeAll()
    for (const block of Array.from({ length: 12 }, used)) giveBack(block, clock)
    giveBack(new Uint8Array(5).fill(7), clock)
    const waited = takeAll()
    expect(waited.length).toBe(8)
    for (const block of waited) giveBack(block, clock)
    await clock.pass(10_001)
    expect(takeAll()).toEqual([])
  })
})
