import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { concurrencyLimit } from '../../../src/kit/limits/concurrency-limit.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { histogramOf } from '../../../src/log/histogram/histogram.ts'
import { regexMatcher, textMatcher } from '../../../src/log/pattern/pattern.ts'
import { detailer } from '../../../src/log/view/detail.ts'
import { viewOf } from '../../../src/log/view/view.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import type { Store } from '../../../src/store/store.ts'
import { contextOf, viewRequest } from '../context.ts'

const START = Date.UTC(2026, 10, 1)
const stamp = (time: number) => new Date(time).toISOString().replace('T', ' ').slice(0, 23)
const line = (i: number) => `${stamp(START + i * 1000)}\tINFO\tquery/a.go:12\t[Broker] [Query]: ${i}\n`
const text = Array.from({ length: 60_000 }, (_, i) => line(i)).join('')
/** How many reads may still happen after a client disconnects: one in progress and one read ahead. */
const FEW = 2

/** A directory whose reads can't be interrupted: the client leaves during read number `leaveAt`. */
function leavingStore(files: Record<string, string | Uint8Array>, leaveAt: number) {
  const store = memoryStore(files)
  const leaving = new AbortController()
  const counted = { before: 0, after: 0 }
  const read: Store['read'] = async (key, range, options) => {
    if (leaving.signal.aborted) counted.after++
    else counted.before++
    const got = await store.read(key, range, options)
    if (counted.before >= leaveAt) leaving.abort(new Error('the client left'))
    return got
  }
  return { files: logFiles({ ...store, read }), signal: leaving.signal, counted }
}

const many = Object.fromEntries(
  Array.from({ length: 30 }, (_, i) => [i === 0 ? 'a.log' : `a.log.${i}`, text.slice(0, 300_000)]),
)

describe('a client that leaves', () => {
  it.each([
    ['a regular expression', async () => ({ matcher: await regexMatcher('no.*where') })],
    ['a text', async () => ({ matcher: textMatcher('nowhere') })],
    ['a text and a level', async () => ({ matcher: textMatcher('nowhere'), level: 1 })],
    ['records', async () => ({ matcher: textMatcher('nowhere'), records: true })],
  ])('ends a search for %s through a family, and its place is free at once', async (_, part) => {
    const { files, signal, counted } = leavingStore(many, 8)
    const scans = concurrencyLimit({ most: 1, queue: 0, busy: () => new Error('busy') })
    const context = contextOf(files, { scanChunk: 100_000 }, { scans })
    const request = viewRequest({ rotated: true, ...(await part()) })
    await expect(viewOf(context, request, signal)).rejects.toThrow('the client left')
    expect(counted.after).toBeLessThanOrEqual(FEW)
    expect(await scans.run(async () => 'free')).toBe('free')
  })

  it('ends a bisection', async () => {
    const big = { 'a.log': text.repeat(2) }
    const { files, signal, counted } = leavingStore(big, 4)
    const request = viewRequest({ since: START + 9_000_000 })
    await expect(viewOf(contextOf(files), request, signal)).rejects.toThrow('the client left')
    expect(counted.after).toBeLessThanOrEqual(FEW)
  })

  it('ends a search forward', async () => {
    const { files, signal, counted } = leavingStore({ 'a.log': text }, 12)
    const context = contextOf(files, { scanChunk: 100_000 })
    const start = await viewOf(context, viewRequest({ until: START + 5000 }))
    counted.before = 0
    const cursor = { place: start.next, direction: 'after' as const }
    const request = viewRequest({ cursor, matcher: textMatcher('nowhere') })
    await expect(viewOf(context, request, signal)).rejects.toThrow('the client left')
    expect(counted.after).toBeLessThanOrEqual(FEW)
  })

  it('ends the decompression of an archive', async () => {
    // Random text, so that the archive itself takes many reads.
    const noise = Array.from({ length: 400_000 }, () => Math.random().toString(36).slice(2)).join('\n')
    const { files, signal, counted } = leavingStore({ 'a.log.gz': gzipSync(noise) }, 1)
    const request = viewRequest({ file: 'a.log.gz', matcher: textMatcher('nowhere') })
    await expect(viewOf(contextOf(files), request, signal)).rejects.toThrow('the client left')
    expect(counted.after).toBe(0)
  })

  it('ends a histogram', async () => {
    const { files, signal, counted } = leavingStore({ 'a.log': text }, 6)
    const context = contextOf(files, { scanChunk: 100_000 })
    const request = { ...viewRequest({}), buckets: 10 }
    await expect(histogramOf(context, request, () => false, signal)).rejects.toThrow('the client left')
    expect(counted.after).toBeLessThanOrEqual(FEW)
  })

  it('ends the look into the files of a list', async () => {
    const { files, signal, counted } = leavingStore(many, 9)
    const { entries } = await files.list()
    await expect(detailer(contextOf(files))(entries, signal)).rejects.toThrow('the client left')
    // One read of each file that is looked into at the same time.
    expect(counted.after).toBeLessThanOrEqual(8)
  })
})
