import { describe, expect, it } from 'vitest'
import { readParams } from '../../src/http/params.ts'

const url = (query: string) => `http://a.example/view?${query}`

describe('the parameters of a request', () => {
  it('are those of its own URL, whatever was asked before', () => {
    const queries = [
      'file=a&size=1',
      'file=b&size=1',
      'file=a&size=2',
      'file=a',
      '',
      'file=a&size=1',
      'file=a&size=1',
    ]
    for (const query of [...queries, ...queries.toReversed()]) {
      const params = readParams(url(query))
      const expected = new URLSearchParams(query)
      expect(params.text('file')).toBe(expected.get('file') ?? undefined)
      expect(params.integer('size')).toBe(expected.has('size') ? Number(expected.get('size')) : undefined)
      expect(params.hasAny(new Set(['size']))).toBe(expected.has('size'))
    }
  })

  it('are refused every time when they are wrong', () => {
    for (let i = 0; i < 3; i++) {
      expect(() => readParams(url('size=x')).integer('size')).toThrow('decimal integer')
      expect(() => readParams(url('size=1&size=2')).integer('size')).toThrow('2 times')
    }
  })

  it('are judged by who asks, not by who asked first', () => {
    expect(readParams(url('size=10')).integer('size')).toBe(10)
    expect(() => readParams(url('size=10')).integer('size', { max: 5 })).toThrow('maximum is 5')
    expect(readParams(url('size=10')).text('size')).toBe('10')
  })
})
