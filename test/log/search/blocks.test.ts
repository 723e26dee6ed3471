import { describe, expect, it } from 'vitest'
import { Budget } from '../../../src/kit/limits/budget.ts'
import { systemClock } from '../../../src/kit/limits/clock.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { LoadedRecords } from '../../../src/log/merge/records/long.ts'
import { BLOCK, takeBlock } from '../../../src/log/search/blocks.ts'
import { ReadAhead } from '../../../src/log/search/read-ahead.ts'
import { Series } from '../../../src/log/text/series.ts'
import { PlainText } from '../../../src/log/text/text.ts'
import { withFastReads } from '../../../src/store/fast.ts'
import { memoryStore } from '../../../src/store/memory.ts'

const LENGTH = BLOCK / 2 + 1

/** A log of which reads write into the caller's memory, as a file system does, once they may `go`. */
async function slowLog() {
  const store = memoryStore({ 'a.log': new Uint8Array(LENGTH).fill(0x61) })
  let go = () => {}
  const mayGo = new Promise<void>((resolve) => {
    go = resolve
  })
  withFastReads(store, {
    listAll: async () => [],
    revision: () => null,
    keptTail: () => undefined,
    async readInto(key, range, buffer, options) {
      const got = await store.read(key, range, options)
      await mayGo
      buffer.set(got!.body as Uint8Array)
      return { ...got!, body: buffer.subarray(0, got!.length) }
    },
  })
  const files = logFiles(store)
  const text = new PlainText(files, await files.stat('a.log'), new Budget())
  return { series: await Series.open([text]), go }
}

describe('memory that is read into when a client disconnects', () => {
  it.each(['one log', 'several logs'])('is nobody else’s before the read has ended: %s', async (which) => {
    const { series, go } = await slowLog()
    const reading = { chunk: 1024, clock: systemClock }
    const range = { series, lo: 0, hi: LENGTH, forward: true, budget: new Budget(), reading }
    const reader = new ReadAhead(range, { step: 1024, largest: 1024, buffers: [] })
    const records = new LoadedRecords(systemClock)
    const isOne = which === 'one log'
    const all = { start: 0, end: LENGTH }
    const loading = isOne ? reader.chunk(0, LENGTH, 0) : records.load(series, all, undefined)
    await new Promise(setImmediate)
    if (isOne) void reader.end()
    else records.release()
    const block = takeBlock().fill(0)
    go()
    const loaded = await loading
    expect((loaded instanceof Uint8Array ? loaded : loaded.bytes).length).toBe(LENGTH)
    expect(block.indexOf(0x61)).toBe(-1)
  })
})
