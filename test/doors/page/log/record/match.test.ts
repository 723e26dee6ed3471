import { describe, expect, it } from 'vitest'
import { matcher } from '../../../../../src/doors/page/log/record/match.ts'

describe('matcher', () => {
  it.each([
    [
      'a.b(c',
      'xA.B(C a.b(c aXb(c',
      [
        [1, 6],
        [7, 12],
      ],
    ],
    ['Ab', 'ab Ab', [[3, 5]]],
    ['ä-/', 'İ Ä-/', [[2, 5]]],
    [
      'aa',
      'aaaaa',
      [
        [0, 2],
        [2, 4],
      ],
    ],
  ])('finds %s by the rules of the service', async (find, text, ranges) => {
    const found = (await matcher(find, false))!
    expect(found.ranges(text)).toEqual(ranges)
    expect(found.test(text)).toBe(true)
    expect(found.test('another')).toBe(false)
  })

  it('finds patterns, nothing for none, and marks only so many', async () => {
    expect((await matcher('a+', true))!.ranges('xaax')).toEqual([[1, 3]])
    expect(await matcher('', false)).toBeNull()
    expect(await matcher('(', true)).toBeNull()
    expect((await matcher('a', false))!.ranges('a'.repeat(1000))).toHaveLength(500)
  })
})
