import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { crc32 } from '../../../src/store/codec/crc32.ts'
import { inflate } from '../../../src/store/codec/member.ts'
import { inflateMember as native } from '../../../src/store/codec/native.ts'
import { inflateMember as portable } from '../../../src/store/codec/portable.ts'
import { wholes } from '../../support/random.mjs'

const bytes = (seed: number, length: number) => {
  const random = wholes(seed)
  return Uint8Array.from({ length }, () => random(seed % 2 ? 256 : 4))
}

it('gives the text of a member, in each decoder', async () => {
  for (const length of [0, 1, 63, 64, 65, 4096, 300_000]) {
    const text = bytes(length + 1, length)
    const packed = gzipSync(text)
    for (const decode of [native, portable]) expect(await decode(packed, length)).toEqual(text)
    expect(Buffer.compare(await inflate(packed, { length, crc: crc32(text) }), text)).toBe(0)
  }
})

it('refuses another text, another length, two members, garbage behind it, and any damaged byte', async () => {
  const text = bytes(5, 5000)
  const packed = gzipSync(text)
  const of = { length: text.length, crc: crc32(text) }
  await expect(inflate(packed, { ...of, crc: of.crc ^ 1 })).rejects.toThrow('another text')
  await expect(inflate(packed, { ...of, length: 4999 })).rejects.toThrow('another text')
  await expect(inflate(packed.subarray(0, 19), of)).rejects.toThrow('ends early')
  await expect(inflate(packed.subarray(0, -1), of)).rejects.toThrow()
  await expect(inflate(Buffer.concat([packed, Buffer.from('x')]), of)).rejects.toThrow()
  const halves = [text.subarray(0, 2500), text.subarray(2500)].map((half) => gzipSync(half))
  await expect(inflate(Buffer.concat(halves), of)).rejects.toThrow()
  await expect(inflate(Buffer.concat([packed, packed]), of)).rejects.toThrow()
  for (let i = 0; i < packed.length; i += 13) {
    const damaged = Uint8Array.from(packed)
    damaged[i]! ^= 16
    const found = await inflate(damaged, of).catch(() => null)
    // Some bytes of the header mean nothing.
    if (found) expect([i < 10, Buffer.compare(found, text)]).toEqual([true, 0])
  }
})
