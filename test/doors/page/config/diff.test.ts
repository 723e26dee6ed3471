import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changedParts } from '../../../../src/doors/page/config/diff.ts'

const shown = (before: string, after: string, around?: number) =>
  changedParts(before, after, around).map((part) =>
    part.map(({ kind, text, number }) => `${{ same: ' ', before: '-', after: '+' }[kind]}${number} ${text}`),
  )

describe('a change in its context', () => {
  it('has the lines around it', () => {
    const before = '[a]\nb = 1\nc = 2\nd = 3\ne = 4\nf = 5\n'
    expect(shown(before, before.replace('3', '30'))).toEqual([
      [' 2 b = 1', ' 3 c = 2', '-4 d = 3', '+4 d = 30', ' 5 e = 4', ' 6 f = 5'],
    ])
  })

  it('has stretches that do not touch apart, and those that touch together', () => {
    const lines = Array.from({ length: 20 }, (_, i) => `k${i} = 1`)
    const text = lines.join('\n')
    const far = lines.with(2, 'k2 = 2').with(12, 'k12 = 2').join('\n')
    expect(shown(text, far, 1).map((part) => part.length)).toEqual([4, 4])
    const near = lines.with(2, 'k2 = 2').with(4, 'k4 = 2').join('\n')
    expect(shown(text, near, 1)).toHaveLength(1)
  })

  it('has lines that came and went', () => {
    expect(shown('a\nc', 'a\nb\nc', 0)).toEqual([['+2 b']])
    expect(shown('a\nb\nc', 'a\nc', 0)).toEqual([['-2 b']])
    expect(shown('a', 'a')).toEqual([])
  })

  it('leads from one text to the other, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((all) => all.join('\n'))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const all = changedParts(before, after, 100)
        expect(all).toHaveLength(before === after ? 0 : 1)
        if (before === after) return
        const side = (kind: string) =>
          all[0]!.filter((line) => line.kind === 'same' || line.kind === kind).map((line) => line.text)
        expect(side('before').join('\n')).toBe(before)
        expect(side('after').join('\n')).toBe(after)
      }),
    )
  })
})
