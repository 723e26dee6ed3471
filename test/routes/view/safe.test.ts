import { expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { manualClock } from '../../support/manual-clock.ts'

const NOW = Date.UTC(2026, 10, 16, 12)
const line = (minutesAgo: number, value: string) =>
  `${JSON.stringify({ time: new Date(NOW - minutesAgo * 60_000).toISOString(), level: 'info', msg: value })}\n`
const appOf = (log: string) =>
  createApp({ logs: memoryStore({ 'a.log': log }), config: '', clock: manualClock(NOW) })

it('a table has no formula where a spreadsheet divides cells at ; and at line breaks', async () => {
  const values = [
    'x;=1+2',
    'x;-5',
    'x;-5+cmd',
    ';@a',
    'a\n=1',
    'stack\n\tat x (y)',
    'a;b;+c',
    'plain; text',
    'a;\t=1',
  ]
  const app = appOf(values.map((value, i) => line(10 - i, value)).join(''))
  const text = await (await app.request('/api/v1/log/view?file=a.log&format=csv&columns=message')).text()
  const cells = [
    "x;'=1+2",
    'x;-5',
    "x;'-5+cmd",
    ";'@a",
    '"a\n\'=1"',
    '"stack\n\tat x (y)"',
    "a;b;'+c",
    'plain; text',
    "a;'\t=1",
  ]
  expect(text).toBe(`message\r\n${cells.map((cell) => `${cell}\r\n`).join('')}`)
  // As a program reads it that divides at `;` and knows quotes only at the beginning of a cell.
  const cell = /(?:^|[;\r\n])([=+\-@][^;\r\n]*)/g
  for (const [, found] of text.matchAll(cell)) expect(Number(found)).not.toBeNaN()
})

it.each([
  '1h 30m ago',
  '1h30m',
  '1 h 30 m ago',
  '1 hour and 30 minutes ago',
  '1 hour, 30 minutes ago',
  '-1h 30m',
])('since=%s is an hour and a half ago', async (since) => {
  const app = appOf([100, 91, 89, 10].map((minutes) => line(minutes, `m${minutes}`)).join(''))
  const answer = await app.request(
    `/api/v1/log/view?file=a.log&format=ndjson&since=${encodeURIComponent(since)}`,
  )
  expect(answer.status).toBe(200)
  expect((await answer.text()).match(/m\d+"/g)).toEqual(['m89"', 'm10"'])
})

it.each(['1h 30', '1 5m ago', '1h and', 'h 30m', '1h 1h ago'])('since=%s is refused', async (since) => {
  const answer = await appOf(line(1, 'x')).request(
    `/api/v1/log/view?file=a.log&since=${encodeURIComponent(since)}`,
  )
  expect(answer.status).toBe(400)
})
