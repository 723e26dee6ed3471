import { describe, expect, it } from 'vitest'
import { patternTerm } from '../../../../../src/doors/page/log/find/terms.ts'

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
})
