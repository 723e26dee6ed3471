import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../src/kit/limits/clock.ts'
import { concurrencyLimit } from '../../../src/kit/limits/concurrency-limit.ts'
import { MemoryBudget } from '../../../src/kit/limits/memory-budget.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { histogramOf } from '../../../src/log/histogram/histogram.ts'
import { sharesOf, viewContext } from '../../../src/log/options.ts'
import { regexMatcher, textMatcher } from '../../../src/log/pattern/pattern.ts'
import { piecesBody } from '../../../src/log/render/body.ts'
import { RECORD_COST } from '../../../src/log/search/sink.ts'
import type { View } from '../../../src/log/view/answer.ts'
import { viewOf } from '../../../src/log/view/view.ts'
import type { SlicedStream } from '../../../src/store/fast.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { readClock } from '../../support/manual-clock.ts'
import { contextOf, viewRequest } from '../context.ts'

const MIB = 2 ** 20
const START = Date.UTC(2026, 10, 1)
const stamp = (time: number) => new Date(time).toISOString().replace('T', ' ').slice(0, 23)
const line = (i: number) =>
  `${stamp(START + i * 1000)}\t${i % 10 ? 'INFO' : 'ERROR'}\ta.go:12\t[Broker] [Query]: ${i}\n`
const lines = Array.from({ length: 60_000 }, (_, i) => line(i))
const text = lines.join('')
const textOf = async ({ series, from, to, pieces }: View) =>
  Buffer.concat(pieces ?? [await series.read(from, to)]).toString()

/** A clock that advances by `step` ms each time it is read. */
function ticking(step: number): () => number {
  let time = START
  return () => {
    time += step
    return time
  }
}

describe('an archive that takes longer than a search may', () => {
  // Each test has its own: the size of an archive is remembered.
  const open = () => logFiles(memoryStore({ 'a.log.gz': gzipSync(text) }))

  it('is searched as far as the time goes, with a note and a cursor to go on', async () => {
    const files = open()
    // The archive's window is smaller than the text, so that it cannot be read backwards.
    const context = contextOf(
      files,
      { scanMillis: 400, archiveWindow: 64 * 1024 },
      { clock: readClock(ticking(25)) },
    )
    const request = viewRequest({ file: 'a.log.gz', level: 3, fit: { size: 1e7, lines: null } })
    const view = await viewOf(context, request)
    expect(view.notes).toEqual(['scan-budget'])
    const found = await textOf(view)
    const errors = lines.filter((_, i) => i % 10 === 0)
    expect(errors.join('').startsWith(found)).toBe(true)
    expect(found.length).toBeGreaterThan(0)
    expect(found.length).toBeLessThan(errors.join('').length)
    // With time enough, the cursor leads to the rest.
    const cursor = { place: view.next, direction: 'after' as const }
    const rest = await viewOf(contextOf(files), { ...request, cursor })
    expect(found + (await textOf(rest))).toBe(errors.join(''))
  })

  it('has no tail to give, and that is a problem, not another place of it', async () => {
    const context = contextOf(open(), { scanMillis: 100 }, { clock: readClock(ticking(10)) })
    for (const records of [false, true]) {
      const request = viewRequest({ file: 'a.log.gz', records })
      await expect(viewOf(context, request)).rejects.toMatchObject({ code: 'archive-budget' })
    }
  })

  it('leaves what is newer: the answer ends where the archive begins, with a cursor before it', async () => {
    const newer = lines.slice(0, 100).join('')
    const family = logFiles(memoryStore({ 'b.log.1.gz': gzipSync(text), 'b.log': newer }))
    const inTime = (scanMillis: number) =>
      contextOf(family, { scanMillis }, { clock: readClock(ticking(15)) })
    const request = viewRequest({ file: 'b.log', rotated: true, level: 3 })
    // The files are put in order, too.
    const view = await viewOf(inTime(580), request)
    expect(view.notes).toEqual(['scan-budget'])
    // The first record of a file may belong to the last one of the file before it.
    expect(await textOf(view)).toBe(lines.filter((_, i) => i > 0 && i < 100 && i % 10 === 0).join(''))
    expect(view.prev).not.toBeNull()
    // On its own it is too much, each time: that is said instead of the same cursor again and again.
    const cursor = { place: view.prev!, direction: 'before' as const }
    await expect(viewOf(inTime(150), { ...request, cursor })).rejects.toMatchObject({
      code: 'archive-budget',
    })
  })
})

it('a forged cursor cannot make a request decompress archive after archive', async () => {
  const noise = gzipSync(text.repeat(4))
  const archives = Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`a.log.${i + 1}.gz`, noise]))
  const files = logFiles(memoryStore({ ...archives, 'a.log': text.slice(0, 1000) }))
  const size = 4 * text.length
  let unpacked = 0
  const context = contextOf(files, { scanBytes: 2 * size, archiveBytes: 2 * size, archiveWindow: MIB })
  // The concurrency limit sees how many look into archives at once.
  const archivesLimit = concurrencyLimit({ most: 1, queue: 0, busy: () => new Error('busy') })
  const limited = {
    ...context,
    archives: {
      ...archivesLimit,
      run<T>(job: () => Promise<T>, signal?: AbortSignal) {
        unpacked++
        return archivesLimit.run(job, signal)
      },
    },
  }
  const print = { offset: size - 64, length: 64, hash: 12345 }
  const place = { name: 'a.log', id: null, offset: size, print, splitsRecord: false }
  const request = viewRequest({ cursor: { place, direction: 'after' } })
  await expect(viewOf(limited, request)).rejects.toMatchObject({ code: 'archive-budget' })
  expect(unpacked).toBe(1)
})

describe('memory', () => {
  const files = logFiles(memoryStore({ 'a.log': text, 'a.log.1.gz': gzipSync(text) }))
  const request = viewRequest({ matcher: textMatcher('Broker'), fit: { size: 3 * MIB, lines: null } })

  it('is held by an answer until it is sent', async () => {
    const memory = new MemoryBudget(16 * MIB)
    const context = contextOf(files, {}, { memory })
    const view = await viewOf(context, request)
    const length = view.pieces!.reduce((sum, piece) => sum + piece.length, 0)
    expect(length).toBeGreaterThan(2 * MIB)
    // Blocks have room for more than what was found, and all of it is in memory.
    const blocks = new Set(view.pieces!.map(({ buffer }) => buffer))
    expect(memory.used).toBe([...blocks].reduce((sum, { byteLength }) => sum + byteLength, 0))
    const body = piecesBody(view.pieces!, view.memory, systemClock) as ReadableStream<Uint8Array>
    const reader = body.getReader()
    await reader.read()
    expect(memory.used).toBeGreaterThan(0)
    for (let got = await reader.read(); !got.done; ) got = await reader.read()
    expect(memory.used).toBe(0)
  })

  it('is held for a whole block until the last slice of it is sent', async () => {
    const memory = new MemoryBudget(16 * MIB)
    const block = new Uint8Array(2 * MIB)
    const lease = memory.lease(block.length)
    const body = piecesBody([block], lease, systemClock) as SlicedStream
    for (let left = block.length; left > 0; ) {
      const slice = (await body.next())!
      expect(memory.used).toBe(block.length)
      left -= slice.length
      body.release(slice)
    }
    expect(memory.used).toBe(0)
  })

  it('is counted for what each record of a page takes, not only for its bytes', async () => {
    const memory = new MemoryBudget(16 * MIB)
    const { pieces, memory: lease } = await viewOf(contextOf(files, {}, { memory }), {
      ...request,
      each: true,
    })
    const bytes = pieces!.reduce((sum, piece) => sum + piece.length, 0)
    expect(memory.used).toBe(bytes + pieces!.length * RECORD_COST)
    lease?.release()
  })

  it('is free when the client leaves', async () => {
    const memory = new MemoryBudget(16 * MIB)
    const view = await viewOf(contextOf(files, {}, { memory }), request)
    const body = piecesBody(view.pieces!, view.memory, systemClock) as ReadableStream<Uint8Array>
    await body.cancel()
    expect(memory.used).toBe(0)
  })

  it('that others hold makes an answer shorter, with a note and a cursor, and then a refusal', async () => {
    const memory = new MemoryBudget(5 * MIB)
    const context = contextOf(files, {}, { memory })
    const views: View[] = []
    for (;;) {
      try {
        views.push(await viewOf(context, request))
      } catch (error) {
        expect(error).toMatchObject({ code: 'too-busy' })
        break
      }
      expect(views.length).toBeLessThan(10)
    }
    expect(memory.used).toBeLessThanOrEqual(5 * MIB)
    const short = views.at(-1)!
    expect(short.notes).toEqual(['answer-budget'])
    expect(short.prev).not.toBeNull()
    for (const { memory: lease } of views) lease?.release()
    expect(memory.used).toBe(0)
    expect((await viewOf(context, request)).notes).toEqual([])
  })

  it('limits what a pass through an archive keeps, too', async () => {
    const memory = new MemoryBudget(MIB)
    const context = contextOf(files, { archiveWindow: 100_000 }, { memory })
    const view = await viewOf(context, { ...request, file: 'a.log.1.gz' })
    expect(memory.used).toBeLessThanOrEqual(MIB)
    expect(text.endsWith(await textOf(view))).toBe(true)
    view.memory?.release()
    expect(memory.used).toBe(0)
  })

  it('is shared out so that everything at once stays within the limit of the sidecar', () => {
    for (const total of [128, 256, 512, 1024, 8192].map((mib) => mib * MIB)) {
      const { scans, window, answers, answer } = sharesOf(total)
      const runtime = Math.min(96 * MIB, 0.375 * total)
      expect(runtime + scans * (12 * MIB + 2 * window + 2 * MIB) + answers).toBeLessThanOrEqual(total)
      expect(answer).toBeLessThanOrEqual(answers)
      expect(scans).toBeGreaterThanOrEqual(1)
    }
    expect(sharesOf(8192 * MIB)).toMatchObject({ scans: 4, window: 32 * MIB, answer: 64 * MIB })
  })

  it('comes from the options', () => {
    const context = viewContext(files, { limits: { memory: 256 * MIB } })
    expect(context.memory!.total).toBe(sharesOf(256 * MIB).answers)
    expect(context.limits.archiveWindow).toBe(sharesOf(256 * MIB).window)
  })
})

it('a line of searches moves on: who waits longer than a search may take is refused', async () => {
  const context = viewContext(logFiles(memoryStore({ 'a.log': text })), {
    limits: { scanMillis: 20, scans: 1 },
  })
  let finish = () => {}
  const running = new Promise<void>((resolve) => {
    finish = resolve
  })
  const first = context.scans.run(() => running)
  await expect(viewOf(context, viewRequest({ level: 3 }))).rejects.toMatchObject({ code: 'too-busy' })
  finish()
  await first
  expect(
    (await viewOf(context, viewRequest({ level: 3, fit: { size: 50, lines: null } }))).pieces,
  ).not.toBeNull()
})

describe('others have their turn', () => {
  /** The most bytes that a matcher saw between two turns of the event loop. */
  async function mostBetweenTurns(text: string, slow: boolean): Promise<number> {
    const inner = await regexMatcher('no.*where')
    // The turn that compiled it began by the real clock.
    await new Promise((resolve) => setImmediate(resolve))
    let seen = 0
    let most = 0
    let time = START
    const matcher = {
      test(bytes: Uint8Array, from: number, to: number) {
        seen += to - from
        most = Math.max(most, seen)
        // A slow pattern takes 1 ms for 16 KiB, a quick one for 1 MiB.
        time += (to - from) / (slow ? 16 * 1024 : MIB)
        return inner.test(bytes, from, to)
      },
    }
    let running = true
    const turns = (async () => {
      while (running) {
        seen = 0
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const context = contextOf(logFiles(memoryStore({ 'a.log': text })), {}, { clock: readClock(() => time) })
    vi.spyOn(performance, 'now').mockImplementation(() => time)
    await viewOf(context, viewRequest({ matcher })).finally(() => vi.restoreAllMocks())
    running = false
    await turns
    return most
  }

  it('at least every 320 KiB of a slow pattern', async () => {
    expect(await mostBetweenTurns(text, true)).toBeLessThanOrEqual(320 * 1024)
  })

  it('at least every 8 MiB of a hole or of a line without end', async () => {
    expect(
      await mostBetweenTurns(`${lines[0]}${'\0'.repeat(40 * MIB)}\n${lines[1]}`, false),
    ).toBeLessThanOrEqual(20 * MIB)
  })
})

it('a hole is read once by a search and by a histogram', async () => {
  const size = 40 * MIB
  const store = memoryStore({ 'a.log': `${lines[0]}${'\0'.repeat(size)}${lines[1]}${lines[2]}` })
  let read = 0
  const files = logFiles({
    ...store,
    async read(...args) {
      const got = await store.read(...args)
      read += got?.length ?? 0
      return got
    },
  })
  const view = await viewOf(contextOf(files), viewRequest({ matcher: textMatcher('Broker') }))
  expect(await textOf(view)).toContain(lines[2])
  expect(read).toBeLessThan(1.3 * size)
  read = 0
  await histogramOf(contextOf(files), { ...viewRequest({}), buckets: 10 }, () => false)
  expect(read).toBeLessThan(1.3 * size)
})

it('a histogram of a file that begins with a hole counts what is behind it', async () => {
  for (const hole of [100_000, 6 * MIB]) {
    const files = logFiles(memoryStore({ 'a.log': '\0'.repeat(hole) + text.slice(0, 500_000) }))
    const request = { ...viewRequest({}), buckets: 10 }
    const histogram = (await histogramOf(contextOf(files), request, () => false))!
    const total = histogram.buckets.flatMap(({ counts }) => counts).reduce((sum, count) => sum + count, 0)
    const records = text.slice(0, 500_000).split('\n').length
    // The first line begins in the hole, so it is not a separate record.
    expect(total).toBeGreaterThanOrEqual(records - 2)
    expect(histogram.from).toBeGreaterThanOrEqual(START)
    expect(histogram.complete).toBe(true)
  }
})
