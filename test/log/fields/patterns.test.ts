import { expect, it } from 'vitest'
import { Patterns } from '../../../src/log/fields/patterns.ts'

const at = (i: number) => new Date(Date.UTC(2026, 10, 15, 2, 0, i)).toISOString()

function patternsOf(messages: string[], level: string | null = 'info') {
  const patterns = new Patterns()
  messages.forEach((message, i) => {
    patterns.add(message, level, at(i))
  })
  return patterns.top(10)
}

it('groups messages by their constant words', () => {
  expect(
    patternsOf([
      'user alice logged in from 10.0.0.1',
      'user bob logged in from 10.0.0.2',
      'disk /dev/sda1 is full',
      'user carol logged in from 10.0.0.3',
    ]).map(({ pattern, count }) => [pattern, count]),
  ).toEqual([
    ['user <*> logged in from <*>', 3],
    ['disk <*> is full', 1],
  ])
})

it('keeps keys and punctuation around what varies', () => {
  expect(patternsOf(['took 12ms, shard=17: ok'])[0]!.pattern).toBe('took <*>, shard=<*>: ok')
})

it('has the first and last time in any order of messages', () => {
  const patterns = new Patterns()
  for (const i of [5, 9, 1]) patterns.add(`n ${i} done`, null, at(i))
  patterns.add('n 7 done', null, null)
  expect(patterns.top(1)).toEqual([
    { pattern: 'n <*> done', count: 4, level: null, first: at(1), last: at(9), example: 'n 5 done' },
  ])
})

it('tells levels apart, and looks at the first line only', () => {
  const patterns = new Patterns()
  patterns.add('failed\n\tat a\n', 'error', null)
  patterns.add('failed\n\tat b\n', 'error', null)
  patterns.add('failed', 'warn', null)
  expect(patterns.top(5).map(({ pattern, count, level }) => [pattern, count, level])).toEqual([
    ['failed', 2, 'error'],
    ['failed', 1, 'warn'],
  ])
})

it('stays small, whatever comes', () => {
  const words = (i: number) => `${i.toString(26).replaceAll(/\d/g, (d) => 'abcdefghij'[Number(d)]!)} said`
  const patterns = new Patterns()
  for (let i = 0; i < 5000; i++) patterns.add(`${words(i)} ${words(i * 7)}`, 'info', null)
  expect(patterns.top(10_000).length).toBeLessThanOrEqual(2000)
  expect(patternsOf([''])[0]).toMatchObject({ pattern: '', count: 1 })
  expect(patternsOf([`${'w '.repeat(100)}`])[0]!.pattern.split(' ')).toHaveLength(41)
})
