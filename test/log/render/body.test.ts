import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/limits/clock.ts'
import { piecesBody } from '../../../src/log/render/body.ts'
import { BLOCK, giveBack, takeBlock } from '../../../src/log/search/blocks.ts'
import { SlicedStream } from '../../../src/store/fast.ts'
import { manualClock } from '../../support/manual-clock.ts'

const SLICE = 512 * 1024

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
