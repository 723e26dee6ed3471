import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { respond, streamOf } from '../../src/http/sliced.ts'
import { Budget } from '../../src/kit/limits/budget.ts'
import { systemClock } from '../../src/kit/limits/clock.ts'
import { MemoryBudget } from '../../src/kit/limits/memory-budget.ts'
import { watchBody } from '../../src/kit/observe/observer.ts'
import { logFiles } from '../../src/log/files/files.ts'
import { PLAIN } from '../../src/log/format/detect.ts'
import { NdjsonWriter } from '../../src/log/render/ndjson.ts'
import { recordsBody } from '../../src/log/render/rendered.ts'
import { MAX_RECORD } from '../../src/log/search/records.ts'
import { Series } from '../../src/log/text/series.ts'
import { PlainText } from '../../src/log/text/text.ts'
import { UTC } from '../../src/log/time.ts'
import { SlicedStream, type Slices, slicesOf } from '../../src/store/fast.ts'
import { memoryStore } from '../../src/store/memory.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const slices = (): Slices => ({ next: () => new Uint8Array(1), release() {}, cancel() {} })

describe('SlicedStream', () => {
  it('is not held by those who read its slices', async () => {
    const streams: WeakRef<ReadableStream>[] = []
    const wrapped = () => {
      const inner = new SlicedStream(slices())
      const response = watchBody(respond(inner, {}), () => {})
      const outer = streamOf(response) as SlicedStream
      streams.push(new WeakRef(inner), new WeakRef(outer))
      return slicesOf(outer)
    }
    const held = wrapped()
    await new Promise((resolve) => setTimeout(resolve, 1))
    collect()
    expect(streams.map((stream) => stream.deref())).toEqual([undefined, undefined])
    expect(held.next()).toEqual(new Uint8Array(1))
  })

  it('leaves the memory of records to those who read its slices', async () => {
    const files = logFiles(memoryStore({ a: `${'x'.repeat(3 * MAX_RECORD)}\n` }))
    const series = await Series.open([new PlainText(files, await files.stat('a'), new Budget())])
    const memory = new MemoryBudget(100 * MAX_RECORD).lease(0)!
    const range = { series, from: 0, to: series.end, format: PLAIN, memory }
    const taken = slicesOf(
      recordsBody(range, new NdjsonWriter(PLAIN, UTC), MAX_RECORD, systemClock) as ReadableStream<Uint8Array>,
    )
    let length = 0
    for (let slice = await taken.next(); slice; slice = await taken.next()) {
      length += slice.length
      taken.release(slice)
      await new Promise((resolve) => setTimeout(resolve, 1))
      collect()
    }
    expect(length).toBeGreaterThan(3 * MAX_RECORD)
  })
})
