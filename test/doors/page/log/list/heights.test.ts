import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Heights } from '../../../../../src/doors/page/log/list/heights.ts'

const height = fc.integer({ min: 1, max: 400 })
const change = fc.oneof(
  fc.record({ do: fc.constant('append' as const), rows: fc.array(height, { maxLength: 40 }) }),
  fc.record({
    do: fc.constant('splice' as const),
    at: fc.nat(),
    removed: fc.nat(),
    rows: fc.array(height, { maxLength: 40 }),
  }),
  fc.record({ do: fc.constant('set' as const), at: fc.nat(), height }),
)

describe('Heights', () => {
  it('agrees with a plain array after any changes', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), fc.nat(20_000), (changes, offset) => {
        const heights = new Heights()
        let rows: number[] = []
        for (const each of changes) {
          if (each.do === 'append') {
            heights.splice(rows.length, 0, each.rows)
            rows = [...rows, ...each.rows]
          } else if (each.do === 'set') {
            if (rows.length === 0) continue
            heights.set(each.at % rows.length, each.height)
            rows[each.at % rows.length] = each.height
          } else {
            const at = each.at % (rows.length + 1)
            const removed = each.removed % (rows.length - at + 1)
            heights.splice(at, removed, each.rows)
            rows = rows.toSpliced(at, removed, ...each.rows)
          }
        }
        expect(heights.length).toBe(rows.length)
        const tops = rows.map((_, index) => rows.slice(0, index).reduce((sum, row) => sum + row, 0))
        const total = rows.reduce((sum, row) => sum + row, 0)
        expect(heights.total).toBe(total)
        tops.forEach((top, index) => {
          expect(heights.top(index)).toBe(top)
        })
        const last = Math.max(0, rows.length - 1)
        const at = offset >= total ? last : tops.findLastIndex((top) => top <= offset)
        expect(heights.at(offset)).toBe(Math.max(0, at))
      }),
    )
  })

  it('finds its way in a million rows', () => {
    const heights = new Heights()
    heights.reset(new Array<number>(1_000_000).fill(20))
    expect(heights.total).toBe(20_000_000)
    expect(heights.at(12_345_678)).toBe(617_283)
    heights.set(5, 120)
    expect(heights.top(1_000_000)).toBe(20_000_100)
    expect(heights.at(12_345_678)).toBe(617_278)
    heights.splice(5_000, 2_000, [1, 2, 3])
    expect([heights.length, heights.total]).toEqual([998_003, 19_960_106])
    expect([heights.top(5_003), heights.at(100_105), heights.at(100_106)]).toEqual([100_106, 5_002, 5_003])
    heights.splice(998_003, 0, [7])
    expect([heights.total, heights.at(19_960_106)]).toEqual([19_960_113, 998_003])
    heights.splice(0, 998_003, [])
    expect([heights.length, heights.total, heights.at(3)]).toEqual([1, 7, 0])
  })
})
