import { describe, expect, it } from 'vitest'
import { textMatcher } from '../../../src/log/pattern/pattern.ts'
import { wholes } from '../../support/random.mjs'
import { ask, type Made, makeLogs, reference } from './logs.ts'

/** The records of a timeline that are near a match of their own log. */
function around(logs: Map<string, Made[]>, word: string, count: number): Made[] {
  const near = new Set<Made>()
  for (const records of logs.values())
    for (const [i, record] of records.entries())
      if (record.text.includes(word))
        for (const other of records.slice(Math.max(0, i - count), i + count + 1)) near.add(other)
  return reference(logs).filter((record) => near.has(record))
}

describe('records around the matches of several logs', () => {
  it.each(Array.from({ length: 12 }, (_, seed) => seed))(
    'are those of their own logs, each once, in both directions (%i)',
    async (seed) => {
      const random = wholes(seed + 300)
      const { store, logs } = makeLogs(seed, {
        sources: 1 + random(6),
        records: 60,
        gap: [1, 3, 40][seed % 3]!,
      })
      const word = ['7', '13', 'number 5 ', 'deepest'][random(4)]!
      const count = random(6)
      const expected = around(logs, word, count)
      const matcher = textMatcher(word)
      const part = () => ({
        matcher,
        context: count,
        fit: { size: [300, 2000, 1 << 20][random(3)]!, lines: random(3) === 0 ? null : 1 + random(6) },
      })
      const limits = { scanChunk: 200, archiveWindow: 300 }
      const back: Awaited<ReturnType<typeof ask>>[] = []
      for (let before: string | null | undefined; before !== null && back.length < 1000; ) {
        back.unshift(await ask(store, ['*'], { ...part(), ...(before && { before }) }, limits))
        before = back[0]!.prev
      }
      const forth: typeof back = []
      for (let after = ''; forth.length < 1000; after = forth.at(-1)!.next) {
        const from = after ? { after } : { first: true }
        forth.push(await ask(store, ['*'], { ...part(), ...from }, limits))
        if (after && forth.at(-1)!.texts.length === 0) break
      }
      for (const pages of [back, forth]) {
        const records = pages.flatMap((page) => [...page.records])
        expect(pages.flatMap(({ texts }) => texts)).toEqual(expected.map(({ text }) => text))
        expect(records.map((record) => record.around!.isMatch)).toEqual(
          expected.map(({ text }) => text.includes(word)),
        )
      }
    },
  )
})
