import { describe, expect, it } from 'vitest'
import { Budget } from '../../../src/kit/limits/budget.ts'
import { systemClock } from '../../../src/kit/limits/clock.ts'
import { MemoryBudget } from '../../../src/kit/limits/memory-budget.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { ReadAhead } from '../../../src/log/search/read-ahead.ts'
import { FREE_READS } from '../../../src/log/search/reading.ts'
import { Series } from '../../../src/log/text/series.ts'
import { PlainText } from '../../../src/log/text/text.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import type { Store } from '../../../src/store/store.ts'

const TEXT = Uint8Array.from({ length: 10_000 }, (_, i) => i % 251)

/** A log whose reads are counted and take a turn of the event loop each. */
async function open(
  reading: { chunk: number; parallel: number; forward: boolean },
  memory = new MemoryBudget(1e9),
) {
  const reads: [number, number][] = []
  let running = 0
  let most = 0
  const inner = memoryStore({ 'a.log': TEXT })
  const store: Store = {
    ...inner,
    async read(key, range, options) {
      const { offset, length } = range as { offset: number; length: number }
      // Shorter ones only check that the file is the same.
      if (length === 100) reads.push([offset, offset + length])
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 1))
      running--
      options?.signal?.throwIfAborted()
      return inner.read(key, range, options)
    },
  }
  const files = logFiles(store)
  const entry = await files.stat('a.log')
  const budget = new Budget({ memory })
  const series = await Series.open([new PlainText(files, entry, budget)])
  const { chunk, forward } = reading
  const range = {
    series,
    lo: 0,
    hi: TEXT.length,
    forward,
    budget,
    reading: { ...reading, clock: systemClock },
  }
  const reader = new ReadAhead(range, { step: chunk, largest: chunk, buffers: [] })
  return { reader, forward, reads, memory, mostAtOnce: () => most }
}

type Opened = Awaited<ReturnType<typeof open>>

/** Reads as a walk does: each chunk begins a little before the end of the last one, or far before it. */
async function readAll({ reader, forward }: Opened, left: number) {
  for (let done = 0, n = 0; done < TEXT.length; n++) {
    const at = forward ? done : TEXT.length - done
    const { from, bytes } = await reader.chunk(
      at,
      n % 5 === 4 ? 300 : null,
      n === 0 ? 0 : Number.POSITIVE_INFINITY,
    )
    expect(Buffer.compare(bytes, TEXT.subarray(from, from + bytes.length))).toBe(0)
    expect(forward ? from : from + bytes.length).toBe(at)
    const isEnd = forward ? from + bytes.length === TEXT.length : from === 0
    done += isEnd ? bytes.length : Math.max(1, bytes.length - left)
  }
}

describe.each([true, false])('reading ahead, forward: %s', (forward) => {
  it.each([1, 6, 16])(
    'gives every byte with %i reads at once, whatever is left of a chunk',
    async (parallel) => {
      for (const left of [0, 7, 99]) {
        const opened = await open({ chunk: 100, parallel, forward })
        await readAll(opened, left)
        await opened.reader.end()
      }
    },
  )

  it('reads one part before the first answer, and many at once when it continues', async () => {
    const opened = await open({ chunk: 100, parallel: 16, forward })
    const { reader, reads, mostAtOnce } = opened
    await reader.chunk(forward ? 0 : TEXT.length, null, 0)
    expect(reads).toHaveLength(1)
    await readAll(opened, 7)
    expect(mostAtOnce()).toBeGreaterThan(8)
    expect(mostAtOnce()).toBeLessThanOrEqual(17)
    await reader.end()
  })

  it('reads no further ahead than is likely to be needed', async () => {
    const { reader, reads } = await open({ chunk: 100, parallel: 16, forward })
    await reader.chunk(forward ? 0 : TEXT.length, null, 250)
    expect(reads).toHaveLength(4)
    await reader.end()
  })

  it('reads only the parts ahead that always have memory when there is no other, and gives back what it leased', async () => {
    const opened = await open({ chunk: 100, parallel: 16, forward }, new MemoryBudget(0))
    await readAll(opened, 7)
    expect(opened.mostAtOnce()).toBeLessThanOrEqual(FREE_READS)
    await opened.reader.end()

    const { reader, memory } = await open({ chunk: 100, parallel: 16, forward })
    await reader.chunk(forward ? 0 : TEXT.length, null, 1000)
    await reader.chunk(forward ? 100 : TEXT.length - 100, null, 1000)
    expect(memory.used).toBeGreaterThan(0)
    await reader.end()
    expect(memory.used).toBe(0)
  })

  it('is right after a jump', async () => {
    const { reader } = await open({ chunk: 100, parallel: 6, forward })
    for (const at of [200, 300, 5000, 5050, 120, 9000]) {
      const { from, bytes } = await reader.chunk(at, null, 500)
      expect(forward ? from : from + bytes.length).toBe(at)
      expect(Buffer.compare(bytes, TEXT.subarray(from, from + bytes.length))).toBe(0)
    }
    await reader.end()
  })
})
