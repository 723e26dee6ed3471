import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logFiles } from '../../../../src/log/files/files.ts'
import { textMatcher } from '../../../../src/log/pattern/pattern.ts'
import { decodeCursor, encodeCursor } from '../../../../src/log/text/cursor.ts'
import type { View } from '../../../../src/log/view/answer.ts'
import type { ViewRequest } from '../../../../src/log/view/request.ts'
import { viewOf } from '../../../../src/log/view/view.ts'
import { memoryStore } from '../../../../src/store/memory.ts'
import { contextOf, selectionOf, viewRequest } from '../../context.ts'

const START = Date.UTC(2026, 10, 16, 2)

/** A record of a log that was made up: some match, some have several lines, some have a time that is out of order. */
interface Made {
  isMatch: boolean
  lines: number
  length: number
  back: boolean
}

const made = fc.record({
  isMatch: fc.boolean(),
  lines: fc.integer({ min: 1, max: 3 }),
  length: fc.integer({ min: 0, max: 60 }),
  back: fc.constant(false),
})
const rare = fc
  .record({ ...{ isMatch: fc.constantFrom(false, false, false, false, true) } })
  .chain(({ isMatch }) => made.map((record) => ({ ...record, isMatch })))

const textOf = ({ isMatch, lines, length, back }: Made, i: number) => {
  const time = new Date(START + (back ? i - 30 : i) * 1000).toISOString().replace('T', ' ').slice(0, 23)
  const more = Array.from({ length: lines - 1 }, (_, n) => `\tat deeper(${n})\n`).join('')
  return `${time}\tINFO\ta.go:1\t[A]: number ${i} ${isMatch ? 'needle' : 'straw'} ${'x'.repeat(length)}\n${more}`
}

interface Shown {
  text: string
  isMatch: boolean
}

/** What `grep -C` would show of the records [from, to), and of each record its own text. */
function reference(records: readonly Made[], count: number, [from, to]: readonly [number, number]): Shown[] {
  const isNear = (i: number) =>
    records.some((record, m) => record.isMatch && m >= from && m < to && Math.abs(m - i) <= count)
  return records.flatMap((record, i) =>
    i >= from && i < to && isNear(i) ? [{ text: textOf(record, i), isMatch: record.isMatch }] : [],
  )
}

const shown = (view: View): Shown[] =>
  (view.pieces ?? []).map((piece, i) => ({
    text: Buffer.from(piece).toString(),
    isMatch: view.distances![i] === 0,
  }))

/** The records of a log in files, the oldest first; some are compressed. */
function filesOf(records: readonly Made[], cuts: readonly number[], isPacked: boolean) {
  const places = [...new Set(cuts.map((cut) => cut % (records.length + 1)))].sort((a, b) => a - b)
  const borders = [0, ...places.filter((place) => place > 0 && place < records.length), records.length]
  const store = memoryStore()
  for (let i = 0; i + 1 < borders.length; i++) {
    const text = records
      .map((record, n) => [record, n] as const)
      .slice(borders[i], borders[i + 1])
      .map(([record, n]) => textOf(record, n))
      .join('')
    const age = borders.length - 2 - i
    if (age === 0) store.put('a.log', text)
    else if (isPacked) store.put(`a.log.${age}.gz`, gzipSync(text))
    else store.put(`a.log.${age}`, text)
  }
  return logFiles(store)
}

const pass = (cursor: View['next']) => decodeCursor(encodeCursor(cursor), 'before')

/** Pages in one direction, as a client asks for them. */
async function pagesOf(
  context: Parameters<typeof viewOf>[0],
  request: ViewRequest,
  forward: boolean,
): Promise<View[]> {
  const pages: View[] = []
  let cursor: ViewRequest['cursor'] = null
  for (let n = 0; n < 500; n++) {
    const view: View = await viewOf(context, { ...request, cursor, first: forward && cursor === null })
    pages.push(view)
    const place = forward ? view.next : view.prev
    if (place === null) return pages
    if (forward && view.pieces === null) return pages
    if (forward && view.from >= view.to) return pages
    cursor = { place: pass(place), direction: forward ? 'after' : 'before' }
  }
  throw new Error('the pages do not end')
}

const records = fc.oneof(
  fc.array(made, { minLength: 1, maxLength: 40 }),
  fc.array(rare, { minLength: 1, maxLength: 80 }),
)

describe('records around matches', () => {
  it('are those of the reference, each once, in pages in both directions', async () => {
    await fc.assert(
      fc.asyncProperty(
        records,
        fc.record({
          count: fc.integer({ min: 0, max: 6 }),
          lines: fc.option(fc.integer({ min: 1, max: 5 })),
          size: fc.constantFrom(20, 150, 400, 2000, 1 << 20),
          chunk: fc.constantFrom(100, 300, 1000, 1 << 20),
          window: fc.constantFrom(200, 1 << 20),
          cuts: fc.array(fc.nat(80), { maxLength: 3 }),
          isPacked: fc.boolean(),
          isRecords: fc.boolean(),
          forward: fc.boolean(),
          period: fc.option(fc.tuple(fc.nat(80), fc.nat(80))),
        }),
        async (all, asked) => {
          const { count, lines, size, cuts, isPacked, forward, period, isRecords } = asked
          const limits = { scanChunk: asked.chunk, archiveWindow: asked.window }
          const context = contextOf(filesOf(all, cuts, isPacked), limits)
          const [since, until] = period ? [Math.min(...period), Math.max(...period) + 1] : [0, all.length]
          const request: ViewRequest = {
            ...viewRequest({ rotated: true, fit: { size, lines }, records: isRecords, each: true }),
            context: count,
            selection: selectionOf({
              matcher: textMatcher('needle'),
              since: period ? START + since * 1000 : null,
              until: period ? START + until * 1000 : null,
            }),
          }
          const expected = reference(all, count, [since, until])
          const pages = await pagesOf(context, request, forward)
          const found = (forward ? pages : pages.toReversed()).map(shown)
          expect(
            found
              .flat()
              .map(({ text }) => text)
              .join(''),
          ).toBe(expected.map(({ text }) => text).join(''))
          for (const page of found) {
            const bytes = page.reduce((sum, { text }) => sum + text.length, 0)
            expect(bytes).toBeLessThanOrEqual(size)
            if (lines !== null)
              expect(page.filter(({ isMatch }) => isMatch).length).toBeLessThanOrEqual(lines)
          }
          // Where nothing is cut, records are whole, and it is known which of them match.
          if (size >= 400) expect(found.flat()).toEqual(expected)
        },
      ),
      { numRuns: 200 },
    )
  }, 120_000)

  it('are those that have a wanted time, where times are out of order', async () => {
    const stray = made.chain((record) =>
      fc.constantFrom(false, false, true).map((back) => ({ ...record, back })),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(stray, { minLength: 1, maxLength: 60 }),
        fc.tuple(fc.integer({ min: -30, max: 60 }), fc.integer({ min: -30, max: 60 })),
        fc.integer({ min: 0, max: 4 }),
        fc.option(fc.integer({ min: 1, max: 4 })),
        fc.boolean(),
        async (all, period, count, lines, forward) => {
          const context = contextOf(filesOf(all, [], false), { scanChunk: 300 })
          const since = START + Math.min(...period) * 1000
          const until = START + (Math.max(...period) + 1) * 1000
          const within = viewRequest({ since, until, records: true, each: true })
          const plain = (view: View) => (view.pieces ?? []).map((piece) => Buffer.from(piece).toString())
          const universe = plain(await viewOf(context, within))
          const isNear = (i: number) =>
            universe.slice(Math.max(0, i - count), i + count + 1).some((text) => text.includes('needle'))
          const request: ViewRequest = {
            ...within,
            fit: { size: 1 << 20, lines },
            context: count,
            selection: within.selection.with({ matcher: textMatcher('needle') }),
          }
          const pages = await pagesOf(context, request, forward)
          const found = (forward ? pages : pages.toReversed()).flatMap(plain)
          expect(found).toEqual(universe.filter((_, i) => isNear(i)))
        },
      ),
      { numRuns: 200 },
    )
  }, 120_000)
})
