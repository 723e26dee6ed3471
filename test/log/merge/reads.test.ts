import { expect, it } from 'vitest'
import { MemoryBudget } from '../../../src/kit/limits/memory-budget.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { Lane } from '../../../src/log/merge/lane.ts'
import { pickSources } from '../../../src/log/merge/source.ts'
import { EVERY_RECORD } from '../../../src/log/selection.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { contextOf } from '../context.ts'
import { ask, START } from './logs.ts'

const KIB = 1024
const line = (i: number, level = 'INFO') =>
  `${new Date(START + i * 10).toISOString().replace('T', ' ').slice(0, 23)}\t${level}\ta.go:1\t[A]: request ${i} was handled\n`

/** So many logs of the same times, and what is read of each. */
function countedLogs(count: number, text: string) {
  const names = Array.from({ length: count }, (_, i) => `${String(i).padStart(2, '0')}.log`)
  const store = memoryStore(Object.fromEntries(names.map((name) => [name, text])))
  const reads: { name: string; bytes: number }[] = []
  const read = store.read.bind(store)
  store.read = async (name, ...rest) => {
    const got = await read(name, ...rest)
    if (got) reads.push({ name, bytes: got.length })
    return got
  }
  return { store, reads }
}

it.each([16, 32])('a newest page of %i logs reads both ends of each, once', async (count) => {
  const text = Array.from({ length: 5000 }, (_, i) => line(i)).join('')
  const { store, reads } = countedLogs(count, text)
  const { texts } = await ask(store, ['*.log'], { fit: { size: 256 * KIB, lines: null } })
  const answer = texts.join('').length
  expect(answer).toBeGreaterThan(255 * KIB)
  expect(reads).toHaveLength(2 * count)
  expect(reads.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(3 * answer + 16 * KIB * count)
})

it.each([
  [850, 100],
  [850, 300],
  [4000, 60],
])(
  'a search with a match in %i records and %i on its page reads little more than that page',
  async (every, lines) => {
    const made = Array.from({ length: 12 * every }, (_, i) => line(i, i % every === 7 ? 'ERROR' : 'INFO'))
    const text = made.join('')
    const { store, reads } = countedLogs(32, text)
    const { texts } = await ask(store, ['*.log'], { level: 3, fit: { size: 1024 * KIB, lines } })
    expect(texts).toHaveLength(lines)
    const known = 32 * (text.length - text.indexOf(texts[0]!))
    expect(reads.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(1.5 * known)
  },
)

it('a page between two times reads a long record for its times, for both borders and for the page', async () => {
  const text = line(1) + line(2).replace('handled', 'y'.repeat(7000 * KIB)) + line(3)
  const { store, reads } = countedLogs(3, text)
  const { texts } = await ask(store, ['*.log'], {
    since: START,
    until: START + 1000,
    fit: { size: KIB, lines: 6 },
  })
  expect(texts).toHaveLength(3)
  expect(reads.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(3 * 4 * text.length)
})

it.each([1, 7, 40])('pages of %i matches hold each of them once', async (lines) => {
  const text = Array.from({ length: 400 }, (_, i) => line(i, i % 20 === 7 ? 'ERROR' : 'INFO')).join('')
  const { store } = countedLogs(3, text)
  const whole = await ask(store, ['*.log'], { level: 3, fit: { size: 1024 * KIB, lines: null } })
  expect(whole.texts).toHaveLength(60)
  let found: string[] = []
  for (let before: string | undefined; ; ) {
    const page = await ask(store, ['*.log'], {
      level: 3,
      fit: { size: 1024 * KIB, lines },
      ...(before && { before }),
    })
    expect(page.texts.length).toBeLessThanOrEqual(lines)
    found = [...page.texts, ...found]
    if (page.prev === null) break
    before = page.prev
  }
  expect(found).toEqual(whole.texts)
})

it('holds nothing of a log that is still being read when its client has left', async () => {
  const memory = new MemoryBudget(1024 * KIB)
  const context = contextOf(logFiles(memoryStore({ 'a.log': line(1) })), {}, { memory })
  const { sources } = await pickSources({ node: null, context }, ['a.log'])
  const lane = new Lane(sources[0]!, EVERY_RECORD, { forward: false, place: null })
  const reading = lane.read({ size: KIB, lines: null, stretch: KIB, count: 1 })
  lane.release()
  await reading
  expect(lane.found).toBe(1)
  expect(memory.used).toBe(0)
})
