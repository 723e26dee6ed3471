import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logFiles } from '../../../src/log/files/files.ts'
import { type Matcher, textMatcher } from '../../../src/log/pattern/pattern.ts'
import { decodeCursor, encodeCursor } from '../../../src/log/text/cursor.ts'
import type { View } from '../../../src/log/view/answer.ts'
import type { ViewContext } from '../../../src/log/view/context.ts'
import type { ViewRequest } from '../../../src/log/view/request.ts'
import { viewOf } from '../../../src/log/view/view.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { contextOf, type ViewPart, viewRequest } from '../context.ts'

const LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']
const START = Date.UTC(2026, 10, 14, 10)

interface Line {
  /** Milliseconds since the record before; negative where a clock stepped back. */
  step: number
  level: number
  text: string
  more: string[]
}

const words = fc.constantFrom('flush', 'needle', 'Needle', 'häystack 😀', '', 'x'.repeat(70))
const record = (steps: fc.Arbitrary<number>): fc.Arbitrary<Line> =>
  fc.record({
    step: steps,
    level: fc.nat(4),
    text: words,
    more: fc.array(fc.constantFrom('\tat needle()', '  caused by', 'goroutine 1:', ''), { maxLength: 3 }),
  })

const stamp = (time: number) => new Date(time).toISOString().replace('T', ' ').replace('Z', '')

interface Known {
  text: string
  time: number
  level: number
}

function render(lines: Line[]): Known[] {
  let time = START
  return lines.map(({ step, level, text, more }) => {
    time += step
    const first = `${stamp(time)}\t${LEVELS[level]}\tquery/a.go:12\t[Broker] [Query]: ${text}\n`
    return { text: first + more.map((line) => `${line}\n`).join(''), time, level }
  })
}

const textOf = async ({ series, from, to, pieces }: View) =>
  Buffer.concat(pieces ?? [await series.read(from, to)]).toString()
const pass = (cursor: View['next']) => decodeCursor(encodeCursor(cursor), 'before')

const request = (part: ViewPart) => viewRequest({ rotated: true, ...part })

/** All pages from the end to the beginning, and then all from the beginning to the end. */
async function allPages(context: ViewContext, base: ViewRequest) {
  const back: string[] = []
  const notes = new Set<string>()
  let view = await viewOf(context, base)
  for (let n = 0; n < 2000; n++) {
    back.unshift(await textOf(view))
    for (const note of view.notes) notes.add(note)
    if (!view.prev) break
    view = await viewOf(context, { ...base, cursor: { place: pass(view.prev), direction: 'before' } })
  }
  expect(view.prev).toBeNull()
  const forth = [await textOf(view)]
  for (let n = 0; n < 2000; n++) {
    const { next } = view
    view = await viewOf(context, { ...base, cursor: { place: pass(next), direction: 'after' } })
    forth.push(await textOf(view))
    if (encodeCursor(view.next) === encodeCursor(next)) break
  }
  return { back, forth, notes }
}

const filters = fc.record({
  level: fc.option(fc.nat(4)),
  q: fc.option(fc.constantFrom('needle', 'Needle', 'caused', '😀', 'nowhere')),
  since: fc.option(fc.nat(30)),
  until: fc.option(fc.nat(30)),
})

function storeOf(known: Known[], files: number) {
  const contents: Record<string, string> = {}
  for (let i = 0; i < files; i++) {
    const part = known.slice(
      Math.floor((known.length * i) / files),
      Math.floor((known.length * (i + 1)) / files),
    )
    contents[i === files - 1 ? 'a.log' : `a.log.${files - i}`] = part.map(({ text }) => text).join('')
  }
  return memoryStore(contents)
}

const runs = (steps: fc.Arbitrary<number>, ordered: boolean) =>
  fc.asyncProperty(
    fc.array(record(steps), { maxLength: 30 }),
    filters,
    fc.integer({ min: 20, max: 600 }),
    fc.option(fc.integer({ min: 1, max: 6 })),
    fc.integer({ min: 1, max: 300 }),
    fc.integer({ min: 1, max: ordered ? 3 : 1 }),
    fc.boolean(),
    fc.constantFrom(1, 3, 16, 64),
    async (lines, { level, q, since, until }, size, count, scanChunk, files, records, parallel) => {
      const known = render(lines)
      const wanted = known.filter(
        (one) =>
          (level === null || one.level >= level) &&
          (q === null || (q === 'needle' ? one.text.toLowerCase() : one.text).includes(q)) &&
          (since === null || one.time >= START + since * 1000) &&
          (until === null || one.time < START + until * 1000),
      )
      const context = contextOf(logFiles(storeOf(known, files)), { scanChunk }, { parallel })
      const { back, forth } = await allPages(
        context,
        request({
          level,
          matcher: q === null ? null : textMatcher(q),
          since: since === null ? null : START + since * 1000,
          until: until === null ? null : START + until * 1000,
          fit: { size, lines: count },
          records,
        }),
      )
      const expected = wanted.map(({ text }) => text).join('')
      expect(back.join('')).toBe(expected)
      expect(forth.join('')).toBe(expected)
      for (const page of [...back, ...forth]) {
        expect(Buffer.byteLength(page)).toBeLessThanOrEqual(size)
        if (count !== null && !records) expect(page.split('\n').length - 1).toBeLessThanOrEqual(count + 1)
      }
    },
  )

describe('filters', () => {
  it('keep what a naive reference keeps, at any page size, both ways, in files in order of time', async () => {
    await fc.assert(runs(fc.nat(3000), true), { numRuns: 400 })
  })
  it('and in files whose clock steps back', async () => {
    await fc.assert(runs(fc.integer({ min: -4000, max: 5000 }), false), { numRuns: 300 })
  })

  const text = render([
    { step: 0, level: 1, text: 'one', more: [] },
    { step: 1000, level: 3, text: 'two', more: ['\tat a()', '\tat b()'] },
    { step: 1000, level: 1, text: 'three', more: [] },
  ]).map((known) => known.text)

  it('page within a record that is longer than the page, and lose nothing of it', async () => {
    const context = contextOf(logFiles(memoryStore({ 'a.log': text.join('') })))
    const { back, forth } = await allPages(context, request({ level: 3, fit: { size: 10, lines: null } }))
    expect(back.join('')).toBe(text[1])
    expect(forth.join('')).toBe(text[1])
    expect(back.length).toBeGreaterThan(5)
  })

  it('page within a line that is JSON only by its far end, and take nothing before it along', async () => {
    const line = (level: string, msg: string) =>
      `${JSON.stringify({ time: '2026-11-14T10:00:00Z', level, msg })}\n`
    const long = line('error', 'needle'.padEnd(300_000, 'x'))
    const lines = [line('error', 'needle'), line('info', 'no'), line('info', 'no'), long]
    const files = logFiles(memoryStore({ 'a.log': lines.join('') }))
    const base = request({ level: 3, matcher: textMatcher('needle'), fit: { size: 80_000, lines: null } })
    const { back, forth } = await allPages(contextOf(files), base)
    // Without what fills it: a failure should be readable.
    const brief = (text: string) => text.replace(/x+/g, (fill) => `(${fill.length})`)
    for (const pages of [back, forth]) expect(brief(pages.join(''))).toBe(brief(lines[0]! + long))
  })
  it('give the lines that are appended to a record after it was seen', async () => {
    const store = memoryStore({ 'a.log': text[0]! + text[1]! })
    const context = contextOf(logFiles(store))
    let view = await viewOf(context, request({ level: 3 }))
    expect(await textOf(view)).toBe(text[1])
    store.put('a.log', `${text[0]! + text[1]!}\tat c()\n${text[2]}`)
    const after = async (part: ViewPart, from: View) => {
      const cursor = { place: pass(from.next), direction: 'after' as const }
      return viewOf(context, request({ ...part, cursor }))
    }
    view = await after({ level: 3 }, view)
    expect(await textOf(view)).toBe('\tat c()\n')
  })

  it('give a record whole when only the lines that were appended make it a match', async () => {
    const store = memoryStore({ 'a.log': text[0]! + text[1]! })
    const context = contextOf(logFiles(store))
    const q = { matcher: textMatcher('at c()') }
    const view = await viewOf(context, request(q))
    expect(await textOf(view)).toBe('')
    store.put('a.log', `${text[0]! + text[1]!}\tat c()\n${text[2]}`)
    const cursor = { place: pass(view.next), direction: 'after' as const }
    expect(await textOf(await viewOf(context, request({ ...q, cursor })))).toBe(`${text[1]}\tat c()\n`)
  })

  it('match no more than 8 MiB in one step, however long a line is', async () => {
    const long = `${stamp(START)}\tINFO\ta.go:1\t[A] [B]: ${'x'.repeat(30 * 2 ** 20)}\n`
    const files = { 'a.log': text[0]! + long + text[2]!, 'b.log.gz': gzipSync(text[0]! + long + text[2]!) }
    const context = contextOf(logFiles(memoryStore(files)))
    let longest = 0
    const matcher: Matcher = {
      test(_bytes, from, to) {
        longest = Math.max(longest, to - from)
        return false
      },
    }
    for (const file of Object.keys(files))
      for (const first of [false, true]) {
        await viewOf(context, viewRequest({ file, matcher, first }))
        expect(longest).toBeGreaterThan(2 ** 20)
        expect(longest).toBeLessThanOrEqual(8 * 2 ** 20)
      }
  })

  it('end at the budget, say so, and go on from there', async () => {
    const known = render(
      Array.from({ length: 500 }, (_, i) => ({
        step: 10,
        level: 1,
        text: i === 20 ? 'needle' : 'hay',
        more: [],
      })),
    )
    const files = logFiles(memoryStore({ 'a.log': known.map((one) => one.text).join('') }))
    const context = contextOf(files, { scanBytes: 5000, scanChunk: 2000 })
    const base = request({ matcher: textMatcher('needle') })
    const first = await viewOf(context, base)
    expect(await textOf(first)).toBe('')
    expect(first.notes).toEqual(['scan-budget'])
    expect(first.prev).not.toBeNull()
    const { back, notes } = await allPages(context, base)
    expect(back.join('')).toBe(known[20]!.text)
    expect(back.length).toBeGreaterThan(5)
    expect([...notes]).toEqual(['scan-budget'])
  })

  it('are refused where the file has no levels or times, but an empty file is just empty', async () => {
    const context = contextOf(logFiles(memoryStore({ 'a.log': 'plain\ntext\n', 'b.log': '' })))
    await expect(viewOf(context, request({ level: 2 }))).rejects.toMatchObject({ code: 'no-level' })
    await expect(viewOf(context, request({ since: 1 }))).rejects.toMatchObject({ code: 'no-time' })
    const view = await viewOf(context, request({ file: 'b.log', level: 2, since: 5, until: 7 }))
    expect(await textOf(view)).toBe('')
    expect(view.prev).toBeNull()
  })
})
