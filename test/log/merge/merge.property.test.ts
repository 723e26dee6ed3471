import { describe, expect, it } from 'vitest'
import { wholes } from '../../support/random.mjs'
import { allBack, allForth, ask, makeLogs, reference } from './logs.ts'

const textsOf = (made: { text: string }[]) => made.map(({ text }) => text)

describe('the timeline of random logs', () => {
  it.each(Array.from({ length: 6 }, (_, seed) => seed))(
    'is the one of the reference merge (%i)',
    async (seed) => {
      const random = wholes(seed + 100)
      const made = { sources: 2 + random(31), records: 50, gap: [0, 3, 40][seed % 3]! }
      const { store, logs } = makeLogs(seed, made)
      const expected = textsOf(reference(logs))
      expect((await ask(store, ['*'], { fit: { size: 1 << 24, lines: null } })).texts).toEqual(expected)
      expect(await allBack(store, ['*'], () => 1 + random((made.records * made.sources) / 6))).toEqual(
        expected,
      )
      expect(await allForth(store, ['*'], () => 1 + random((made.records * made.sources) / 6))).toEqual(
        expected,
      )
    },
  )

  it.each(Array.from({ length: 4 }, (_, seed) => seed))(
    'is not disturbed by wrong times (%i)',
    async (seed) => {
      const random = wholes(seed + 200)
      const { store, logs } = makeLogs(seed, { sources: 2 + random(8), records: 80, gap: 400, strays: 2 })
      const expected = reference(logs)
      const strays = new Set(textsOf(expected.filter(({ isStray }) => isStray)))
      const found = (await ask(store, ['*'], { fit: { size: 1 << 24, lines: null } })).texts
      const others = (texts: string[]) => texts.filter((text) => !strays.has(text))
      expect(others(found)).toEqual(others(textsOf(expected)))
      expect([...found].sort()).toEqual(textsOf(expected).sort())
      expect(await allBack(store, ['*'], () => 1 + random(60))).toEqual(found)
      expect(await allForth(store, ['*'], () => 1 + random(60))).toEqual(found)
    },
  )
})
