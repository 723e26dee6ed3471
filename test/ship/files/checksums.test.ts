import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nativeOf } from '../../../src/entry/ship/disk.ts'
import { readBeginnings } from '../../../src/ship/files/checksums.ts'
import { crc32 } from '../../../src/store/codec/crc32.ts'

const textOf = (bytes: Uint8Array) => ({
  id: '',
  name: 'a.log',
  compressed: false,
  size: async () => bytes.length,
  read: async (from: number, to: number) => new Uint8Array(bytes.slice(from, to)),
})

describe('the checksums of a text’s beginnings', () => {
  it('give the checksum of any region between two places', async () => {
    const length = 3_000_000
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31) ^ (i >> 7))
    const place = fc.integer({ min: 0, max: length + 10 })
    await fc.assert(
      fc.asyncProperty(fc.array(place, { minLength: 2, maxLength: 20 }), async (places) => {
        const read = await readBeginnings(textOf(bytes), places, nativeOf(), true)
        expect(read.size).toBe(length)
        const [from, to] = [Math.min(places[0]!, places[1]!), Math.max(places[0]!, places[1]!)]
        const crc = crc32(bytes.subarray(from, to))
        expect(read.holds({ from, to, crc })).toBe(to <= length)
        expect(read.holds({ from, to, crc: crc ^ 1 })).toBe(false)
      }),
      { numRuns: 30 },
    )
  })

  it('are read no further than asked', async () => {
    const read = await readBeginnings(textOf(new Uint8Array(9_000_000)), [5, 70], nativeOf(), false)
    expect(read.size).toBe(70)
    expect(read.sum(71)).toBe(null)
  })
})
