import { describe, expect, it } from 'vitest'
import { Budget } from '../../../src/limits/budget.ts'
import { systemClock } from '../../../src/limits/clock.ts'
import { MemoryBudget } from '../../../src/limits/memory-budget.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { Forward } from '../../../src/log/search/forward.ts'
import { FREE_READS, leaseForReads } from '../../../src/log/search/reading.ts'
import { Series } from '../../../src/log/text/series.ts'
import { PlainText } from '../../../src/log/text/text.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import type { Store } from '../../../src/store/store.ts'

const TEXT = Uint8Array.from({ length: 10_000 }, (_, i) => i % 251)

/** A log whose reads are counted and take a turn of the event loop each. */
async function open(reading: { chunk: number; parallel: number }, memory = new MemoryBudget(1e9)) {
  const reads: [number, number][] = []
  let running = 0
  let most = 0
  const inner = memoryStore({ 'a.log': TEXT })
  const store: Store = {
    ...inner,
    async read(key, range, options) {
      const { offset, length } = range as { offset: number; length: number }
      reads.push([offset, offset + length])
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 1))
      running--
      options?.signal?.throwIfAborted()
      return inner.read(key, range, options)
    },
  }
  const files = logFiles(store)
  const entry = await files.stat('a.log')
  const series = await Series.open([new PlainText(files, entry, new Budget())])
  const reader = new Forward(series, TEXT.length, { ...reading, clock: systemClock }, leaseForReads(memory))
  return { reader, reads, memory, mostAtOnce: () => most }
}

/** Reads as a search does: each read begins a little before the end of the last one. */
async function readAll(reader: Forward, step: number) {
  for (let at = 0; at < TEXT.length; ) {
    const to = Math.min(at + step, TEXT.length)
    expect(Buffer.compare(await reader.read(at, to), TEXT.subarray(at, to))).toBe(0)
    at = to === TEXT.length ? to : to - 7
  }
}

describe('reading forward', () => {
  it.each([1, 6, 16])('gives every byte with %i reads at once, whatever is asked for', async (parallel) => {
    for (const step of [8, 100, 999, 5000]) {
      const { reader } = await open({ chunk: 100, parallel })
      await readAll(reader, step)
      reader.end()
    }
  })

  it('reads one part before the first answer, and many at once when it continues', async () => {
    const { reader, reads, mostAtOnce } = await open({ chunk: 100, parallel: 16 })
    await reader.read(0, 100)
    expect(reads).toHaveLength(1)
    await readAll(reader, 100)
    expect(mostAtOnce()).toBeGreaterThan(8)
    expect(mostAtOnce()).toBeLessThanOrEqual(17)
    reader.end()
  })

  it('reads only the parts ahead that always have memory when there is no other, and gives back what it leased', async () => {
    const memory = new MemoryBudget(0)
    const { reader, mostAtOnce } = await open({ chunk: 100, parallel: 16 }, memory)
    await readAll(reader, 100)
    expect(mostAtOnce()).toBeLessThanOrEqual(FREE_READS)
    reader.end()

    const enough = await open({ chunk: 100, parallel: 16 })
    await enough.reader.read(0, 100)
    await enough.reader.read(100, 200)
    expect(enough.memory.used).toBeGreaterThan(0)
    enough.reader.end()
    expect(enough.memory.used).toBe(0)
  })

  it('is right after a jump', async () => {
    const { reader } = await open({ chunk: 100, parallel: 6 })
    for (const at of [0, 100, 5000, 5050, 20, 9000])
      expect(Buffer.compare(await reader.read(at, at + 130), TEXT.subarray(at, at + 130))).toBe(0)
    reader.end()
  })
})
