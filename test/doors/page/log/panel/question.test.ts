import { describe, expect, it } from 'vitest'
import type { LogFinding } from '../../../../../src/doors/client.ts'
import { clockOf } from '../../../../../src/doors/page/log/find/clock.ts'
import {
  baseOf,
  compareQueryOf,
  figuresText,
  findingLook,
  kindText,
  questionAt,
  timesOf,
  withBase,
} from '../../../../../src/doors/page/log/panel/question.ts'
import { NOTHING } from '../../../../../src/doors/page/url.ts'

const LOOK = {
  ...NOTHING,
  file: 'a.log',
  others: ['b.log'],
  since: '2026-01-10 02:00:00.000',
  until: '2026-01-10 03:00:00.000',
  terms: [{ kind: 'where' as const, value: 'shard:3' }],
}
const QUESTION = questionAt(LOOK, clockOf('UTC', 60))
const FINDING: LogFinding = { kind: 'pattern', what: 'a <*>', count: 40, base: 20 }

describe('the question of a comparison', () => {
  it('has the logs and filters of the look, and moments that last', () => {
    expect(compareQueryOf(QUESTION)).toMatchObject({
      file: ['a.log', 'b.log'],
      where: ['shard:3'],
      since: '2026-01-10T01:00:00.000Z',
      until: '2026-01-10T02:00:00.000Z',
    })
    const recent = compareQueryOf(questionAt({ ...LOOK, since: '1h', until: '' }, clockOf('UTC', 0)))
    expect(Math.abs(Date.now() - Date.parse(recent.until!))).toBeLessThan(60_000)
    expect(Date.parse(recent.until!) - Date.parse(recent.since)).toBeLessThanOrEqual(3_600_000 + 1000)
  })

  it.each(['before', 'day', 'week', 'others', 'only db 4'] as const)('remembers the base: %s', (base) => {
    expect(baseOf(withBase(QUESTION, base))).toBe(base)
    expect(withBase(withBase(QUESTION, base), 'before')).toBe(QUESTION)
  })

  it('compares one node of several with the others', () => {
    const query = compareQueryOf(withBase(`${QUESTION}&node=*`, 'only db-4'))
    expect(query).toMatchObject({ node: 'db-4', baseNode: '*' })
    expect(query).not.toHaveProperty('only')
  })
})

describe('a finding', () => {
  it('is a look at its records, with the columns of before', () => {
    const look = findingLook('file=a.log&since=x&pattern=a+%3C*%3E', { ...LOOK, columns: ['path'] })
    expect(look).toMatchObject({
      file: 'a.log',
      others: [],
      columns: ['path'],
      terms: [{ kind: 'pattern', value: 'a <*>' }],
    })
  })

  it('compares rates, not counts', () => {
    const answer = {
      range: { from: 0, to: 600_000, records: 1 },
      base: { from: 0, to: 3_600_000, records: 1 },
      complete: true,
      findings: [],
    }
    const times = timesOf(FINDING, answer)
    expect(times).toBeCloseTo(12)
    expect(kindText(FINDING, times)).toBe('Message more often')
    expect(figuresText(FINDING, times, answer)).toBe(
      '40 now (4 a minute), 20 before (0.33 a minute), 12 times as often',
    )
    const even = { ...answer, base: answer.range }
    expect(figuresText(FINDING, timesOf(FINDING, even), even)).toBe('40 now, 20 before, 2.0 times as often')
    const rare = { ...FINDING, count: 1 }
    expect(figuresText(rare, timesOf(rare, answer), answer)).toBe(
      '1 now (0.1 a minute), 20 before (0.33 a minute), 3.3 times as rare',
    )
  })

  it.each<[Partial<LogFinding>, string]>([
    [{ base: 0 }, 'New message'],
    [{ count: 0 }, 'Message gone'],
    [{ kind: 'field', what: 'shard:3', base: 0, query: 'where=shard%3A3' }, 'New value'],
    [{ kind: 'field', what: 'took', query: 'where=took%3E340ms' }, 'Larger numbers'],
    [{ kind: 'field', what: 'took', query: 'where=took%3C3' }, 'Smaller numbers'],
    [{ kind: 'level', what: 'error' }, 'Errors'],
    [{ kind: 'silent', what: 'a.log', count: 0 }, 'Log went quiet'],
    [{ kind: 'config', what: 'a.b' }, 'Setting changed'],
  ])('%o is called %s', (change, words) => {
    const finding = { ...FINDING, ...change }
    expect(kindText(finding, finding.count / finding.base)).toBe(words)
  })
})
