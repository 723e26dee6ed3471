import { describe, expect, it } from 'vitest'
import { orderPatterns, patternSpan, patternTerm } from '../../../../../src/doors/page/log/panel/pattern.ts'

const pattern = (name: string, count: number, first: string | null, last = first) => ({
  pattern: name,
  count,
  level: null,
  first,
  last,
})

describe('message patterns', () => {
  it.each([
    [
      'write failed at <*>: disk (quota) exceeded',
      'write failed at 17: disk (quota) exceeded',
      'write failed at 17: disk quota',
    ],
    ['<*> took <num> ms', 'a query took 12 ms', 'a query takes 12 ms'],
  ])('find their messages: %s', (name, hit, miss) => {
    const term = patternTerm(name)
    expect(term.kind).toBe('regex')
    expect(new RegExp(term.value).test(hit)).toBe(true)
    expect(new RegExp(term.value).test(miss)).toBe(false)
  })

  it('without changing words are plain texts', () => {
    expect(patternTerm('a.b (c)')).toEqual({ kind: 'q', value: 'a.b (c)' })
    expect(patternTerm(`${'long word '.repeat(200)}<*>`).value.length).toBeLessThanOrEqual(1000)
  })

  it('come with the new ones first, on a line of time', () => {
    const all = [
      pattern('old', 9, '2026-01-10T00:00:00Z', '2026-01-10T10:00:00Z'),
      pattern('latest', 1, '2026-01-10T05:00:00Z'),
      pattern('timeless', 3, null),
    ]
    expect(orderPatterns(all, 'latest').map((each) => each.pattern)).toEqual(['latest', 'old', 'timeless'])
    expect(orderPatterns(all, 'frequent').map((each) => each.pattern)).toEqual(['old', 'timeless', 'latest'])
    expect(patternSpan(all[1]!, all)).toEqual({ left: 0.5, width: 0.02 })
    expect(patternSpan(all[2]!, all)).toBe(null)
  })
})
