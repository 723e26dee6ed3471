import { describe, expect, it } from 'vitest'
import { regexMatcher, textMatcher } from '../../../src/log/pattern/pattern.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { wholes } from '../../support/random.mjs'
import { type Asked, ask, makeLogs, START } from './logs.ts'

const MIB = 1024 * 1024
const EVERYTHING = { size: 1 << 24, lines: null }
const DIRECTIONS = ['before', 'after'] as const
type Direction = (typeof DIRECTIONS)[number]
type Part = { before?: string; after?: string; first?: boolean }

/** All pages in one direction. */
async function pagesOf(direction: Direction, page: (part: Part) => Promise<Asked>): Promise<Asked[]> {
  const pages: Asked[] = []
  for (let part: Part = { first: direction === 'after' }; pages.length < 1000; ) {
    const asked = await page(part)
    pages.push(asked)
    if (direction === 'before' ? asked.prev === null : asked.complete) return pages
    part = direction === 'before' ? { before: asked.prev! } : { after: asked.next }
  }
  throw new Error('The pages do not end')
}

function textsOf(pages: readonly Asked[], direction: Direction): string[] {
  const texts = pages.map((page) => page.texts)
  return (direction === 'before' ? texts.reverse() : texts).flat()
}

describe('a search of random logs', () => {
  it.each(Array.from({ length: 6 }, (_, seed) => seed + 3))(
    'finds the records of their timeline, in its order (%i)',
    async (seed) => {
      const random = wholes(seed + 300)
      const made = { sources: 2 + random(8), records: 400, gap: 30, strays: [0, 1, 3][seed % 3]! }
      const { store } = makeLogs(seed, made)
      const { texts: all } = await ask(store, ['*'], { fit: EVERYTHING })
      const [wanted, lines] =
        seed % 2 === 0 ? (['number \\d*7\\D', 20] as const) : (['number \\d*[13]\\d\\D', 60] as const)
      const matcher = await regexMatcher(wanted)
      const expected = all.filter((text) => new RegExp(wanted).test(text))
      expect((await ask(store, ['*'], { matcher, fit: EVERYTHING })).texts).toEqual(expected)
      for (const direction of DIRECTIONS) {
        const pages = await pagesOf(direction, (part) =>
          ask(store, ['*'], { matcher, fit: { size: 1 << 20, lines: 1 + random(lines) }, ...part }),
        )
        expect(textsOf(pages, direction)).toEqual(expected)
      }
    },
  )
})

describe('a log whose clock stepped back an hour when it was rotated', () => {
  const HOUR = 3_600_000
  const lines = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => `${new Date(from + i * 100).toISOString()} INFO number ${i}\n`)
  const early = lines(START, 40)
  const late = lines(START + HOUR, 40)
  const store = memoryStore({ 'a.log.1': late.join(''), 'a.log': early.join('') })

  it.each(DIRECTIONS)('is found whole, page by page (%s)', async (direction) => {
    const period = { since: START + 2000, until: START + HOUR + 2000 }
    const expected = [...late.slice(0, 20), ...early.slice(20)]
    for (const count of [1, 3, 7, 25]) {
      const fit = { size: MIB, lines: count }
      const pages = await pagesOf(direction, (part) => ask(store, ['a.log'], { ...period, fit, ...part }))
      expect(textsOf(pages, direction)).toEqual(expected)
    }
  })
})

describe('a log without a match', () => {
  const line = (time: number, text: string) => `${new Date(START + time).toISOString()} INFO ${text}\n`
  const quiet = Array.from({ length: 60_000 }, (_, i) =>
    line(i * 10, `nothing happened ${'.'.repeat(60)}`),
  ).join('')
  const noisy = Array.from({ length: 3000 }, (_, i) =>
    line(i * 200 + 1, i % 10 === 3 ? `needle ${i}` : 'hay'),
  )
  const expected = noisy.filter((text) => text.includes('needle'))
  const names = Array.from({ length: 31 }, (_, i) => `quiet-${i}.log`)
  const store = memoryStore({
    ...Object.fromEntries(names.map((name) => [name, quiet])),
    'noisy.log': noisy.join(''),
  })
  const matcher = textMatcher('needle')

  it.each(DIRECTIONS)(
    'does not hold back the matches of others (%s)',
    { timeout: 60_000 },
    async (direction) => {
      expect(quiet.length).toBeGreaterThan(5 * MIB)
      const pages = await pagesOf(direction, (part) =>
        ask(store, ['*.log'], { matcher, fit: { size: MIB, lines: 120 }, ...part }, { scanBytes: MIB }),
      )
      expect(textsOf(pages, direction)).toEqual(expected)
      // 4 MiB of each log are two thirds of it.
      expect(pages.length).toBeLessThanOrEqual(4)
      for (const { texts, notes } of pages) if (texts.length === 0) expect(notes).toContain('scan-budget')
      expect(pages.slice(0, -1).every(({ texts }) => texts.length > 0)).toBe(true)
    },
  )

  it('is searched for at least 4 MiB, however small the budget and however many share it', async () => {
    const part = quiet.slice(0, 3.9 * MIB).replace(/[^\n]*$/, '')
    const texts = Object.fromEntries(
      Array.from({ length: 5 }, (_, i) => [`${i}.log`, line(-1, `needle ${i}`) + part]),
    )
    const found = await ask(memoryStore(texts), ['*.log'], { matcher }, { scanBytes: 1000 })
    expect(found.texts).toHaveLength(5)
    expect(found.notes).toEqual([])
  })
})
