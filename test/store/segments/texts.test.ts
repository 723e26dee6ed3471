import { expect, it } from 'vitest'
import { TextCache } from '../../../src/store/segments/texts.ts'

const MIB = 1024 * 1024

it.each([
  [128, 16],
  [256, 16],
  [512, 32],
  [1024, 64],
  [8192, 128],
])('with %i MiB of memory, the texts of all homes together have %i MiB', (memory, most) => {
  const cache = new TextCache(memory * MIB)
  const [one, other] = [cache.addHome(), cache.addHome()]
  const text = () => new Uint8Array(MIB)
  const count = () =>
    [one, other].flatMap((home) =>
      Array.from({ length: 256 }, (_, i) => cache.get(`${home}${i}`)).filter(Boolean),
    ).length
  for (let i = 0; i < 256; i++) cache.set(`${i % 2 ? one : other}${i}`, text())
  expect(count()).toBe(most)
  // What was used stays, and what is larger than all of it is not kept.
  expect(cache.get(`${one}255`)).toBeDefined()
  cache.set(`${other}large`, new Uint8Array(most * MIB + 1))
  expect(count()).toBe(most)
  for (let i = 256; i < 255 + most; i++) {
    cache.get(`${one}255`)
    cache.set(`${other}${i}`, text())
  }
  expect(cache.get(`${one}255`)).toBeDefined()
})
