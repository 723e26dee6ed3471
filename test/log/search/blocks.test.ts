import { describe, expect, it } from 'vitest'
import { Budget } from '../../../src/limits/budget.ts'
import { systemClock } from '../../../src/limits/clock.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { LoadedRecords } from '../../../src/log/merge/records/long.ts'
import { BLOCK, takeBlock } from '../../../src/log/search/blocks.ts'
import { Forward } from '../../../src/log/search/forward.ts'
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
    const forward = new Forward(series, LENGTH, { chunk: 1024, clock: systemClock }, null)
    const records = new LoadedRecords(systemClock)
    const isOne = which === 'one log'
    const all = { start: 0, end: LENGTH }
    const reading = isOne ? forward.read(0, LENGTH) : records.load(series, all, undefined)
    await new Promise(setImmediate)
    if (isOne) forward.end()
    else records.release()
    const block = takeBlock().fill(0)
    go()
    expect((await reading).length).toBe(LENGTH)
    expect(block.indexOf(0x61)).toBe(-1)
  })
})
