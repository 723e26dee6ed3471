import { describe, expect, it } from 'vitest'
import { Budget } from '../../../src/kit/limits/budget.ts'
import { detectFormat } from '../../../src/log/format/detect.ts'
import { combined, type Matcher, regexMatcher, textMatcher } from '../../../src/log/pattern/pattern.ts'
import { type Filter, matches } from '../../../src/log/search/filter.ts'
import { BYTES_PER_TURN, matchesInTurns } from '../../../src/log/search/in-turns.ts'
import { UTC } from '../../../src/log/time.ts'
import { selectionOf } from '../context.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const line = (i: number, message: string) =>
  `2026-11-15 00:00:${String(i % 60).padStart(2, '0')}.000\t${['INFO', 'WARN'][i % 2]}\ta.go:1\t[A]: ${message}\n`

/** Counts what is tested between two calls of `step`. */
class CountingBudget extends Budget {
  tested = 0
  most = 0
  override step(): Promise<boolean> {
    this.most = Math.max(this.most, this.tested)
    this.tested = 0
    return super.step()
  }
}

function filterWith(matcher: Matcher, level: number | null = null): Filter {
  const format = detectFormat(bytes(line(0, 'x')))
  return { format, zone: UTC, selection: selectionOf({ level, matcher }), since: null, until: null }
}

const chunkOf = (all: Uint8Array) => ({ bytes: all, from: 0, to: all.length, base: 0 })

describe('matches in turns', () => {
  it('tests no more than some KiB of short records at once', async () => {
    const all = bytes(Array.from({ length: 20_000 }, (_, i) => line(i, `número ${i}`)).join(''))
    const budget = new CountingBudget()
    const test: Matcher['test'] = (_bytes, from, to) => {
      budget.tested += to - from
      return from % 3 === 0
    }
    await matchesInTurns(chunkOf(all), filterWith({ test }), budget)
    expect(budget.most).toBeGreaterThan(0)
    expect(budget.most).toBeLessThanOrEqual(2 * BYTES_PER_TURN)
  })

  it('goes through a long record step by step, also for one pattern of many', async () => {
    const all = bytes(line(0, 'short') + line(1, '日本語'.repeat(300_000)) + line(2, 'short'))
    const patterns = await Promise.all(['日本人', '\\p{Han}+!', '(?i)é!'].map(regexMatcher))
    let steps = 0
    const budget = new (class extends Budget {
      override step() {
        steps++
        return super.step()
      }
    })()
    const matcher = combined([textMatcher('日本語')], patterns)!
    const found = await matchesInTurns(chunkOf(all), filterWith(matcher), budget)
    expect(found).toHaveLength(2)
    // 2.7 MB for each pattern but the first, whose text is searched for: 41 slices of 64 KiB.
    expect(steps).toBeGreaterThan(80)
  })

  it('finds what is found at once, whatever is long, wanted first, or filtered besides', async () => {
    let wanted = 0
    for (let run = 0; run < 40; run++) {
      const sizes = Array.from({ length: 40 }, (_, i) =>
        ((i + run) * 7919) % 11 === 0 ? 90_000 : (i * 37) % 900,
      )
      const all = bytes(
        sizes
          .map((size, i) => line(i, `é${'日'.repeat(size / 3)}${i % 4 === run % 4 ? 'end 7' : ''}`))
          .join(''),
      )
      const matcher =
        run % 2
          ? await regexMatcher('日?end [0-9]')
          : combined([await regexMatcher('d \\d$')], [textMatcher('é日日日e')])!
      const filter = filterWith(matcher, run % 5 === 0 ? 2 : null)
      const options = { first: run % 3 === 0 }
      const expected = Array.from(matches(chunkOf(all), filter, options))
      expect(Array.from(await matchesInTurns(chunkOf(all), filter, new Budget(), options))).toEqual(expected)
      wanted += expected.length / 2
    }
    expect(wanted).toBeGreaterThan(200)
  })

  it('ends when the client leaves', async () => {
    const left = new AbortController()
    const all = bytes(line(0, 'é'.repeat(1_000_000)))
    const found = matchesInTurns(
      chunkOf(all),
      filterWith(await regexMatcher('\\pL!')),
      new Budget({ signal: left.signal }),
    )
    left.abort()
    await expect(found).rejects.toThrow()
  })
})
