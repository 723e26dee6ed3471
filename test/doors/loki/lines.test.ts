import { describe, expect, it } from 'vitest'
import { lineMatchers } from '../../../src/doors/loki/lines.ts'
import { testInSteps } from '../../../src/log/pattern/pattern.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

describe('line filters', () => {
  it('test a long record in steps, with the same result', async () => {
    const { wanted } = await lineMatchers([
      { operator: '|~', values: ['\\pL!$', 'b.$'] },
      { operator: '|=', values: ['a'] },
    ])
    for (const [end, expected] of [
      ['é!\n', true],
      ['ab?\r\n', true],
      ['ab!?\n', false],
    ] as const) {
      const record = bytes(`a${'日é'.repeat(100_000)}\nx${end}`)
      const found = wanted.map((matcher) => {
        const steps = testInSteps(matcher, record, 0, record.length)
        for (let count = 0; ; count++) {
          const { done, value } = steps.next()
          if (done) return { value, count }
        }
      })
      expect(found[0]!.value, end).toBe(expected)
      expect(found[0]!.value).toBe(wanted[0]!.test(record, 0, record.length))
      expect(found[0]!.count).toBeGreaterThanOrEqual(7)
      expect(found[1]!.value).toBe(true)
    }
  })
})
