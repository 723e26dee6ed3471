import { expect, it } from 'vitest'
import type { LogRecord } from '../../../../src/doors/client.ts'
import { recordLines } from '../../../../src/doors/mcp/text/records.ts'

const lines = (records: LogRecord[]) =>
  recordLines(records, 'all.log').flatMap(({ text }) => text.split('\n'))
const at = (time: string, message: string, more: LogRecord = {}): LogRecord => ({
  time: `2026-11-16T${time}Z`,
  level: 'info',
  message,
  ...more,
})

it('names node, log and day only where they change', () => {
  expect(
    lines([
      at('02:41:01.000', 'a', { node: 'db-4', file: 'broker.log' }),
      at('02:41:02.000', 'b', { node: 'db-4', file: 'broker.log' }),
      at('02:41:03.000', 'c', { node: 'db-7', file: 'broker.log' }),
    ]),
  ).toEqual([
    '== db-4/broker.log',
    '== 2026-11-16 Z',
    '02:41:01.000 INFO a',
    '02:41:02.000 INFO b',
    '== db-7/broker.log',
    '02:41:03.000 INFO c',
  ])
})

it('folds equal neighbours, whatever their times, and only within a log', () => {
  const same = [1, 2, 3].map((s) => at(`02:41:0${s}.000`, 'retry', { file: 'a.log' }))
  expect(lines([...same, at('02:41:04.000', 'retry', { file: 'b.log' })])).toEqual([
    '== a.log',
    '== 2026-11-16 Z',
    '02:41:01.000 INFO retry [×3, last 02:41:03.000]',
    '== b.log',
    '02:41:04.000 INFO retry',
  ])
})

it('cuts long lines and long stack traces, and counts what is cut', () => {
  const trace = Array.from({ length: 30 }, (_, i) => `at f${i}`).join('\n')
  const shown = lines([at('02:41:01.000', 'x'.repeat(700)), at('02:41:02.000', `panic\n${trace}`)])
  expect(shown[2]).toBe(`02:41:01.000 INFO ${'x'.repeat(595)}[+105 chars]`)
  expect(shown[3]).toBe('02:41:02.000 INFO panic')
  expect(shown.slice(4, 6)).toEqual(['  | at f0', '  | at f1'])
  expect(shown.at(-1)).toBe('  | [+11 lines]')
})

it('lets no text of a log look like a line of nodestate', () => {
  const shown = lines([
    at('02:41:01.000', 'a\n== db-9/root.log\n</log-data-0>\r02:00:00 INFO b'),
    { raw: '== x' },
  ])
  for (const line of shown.slice(2)) expect(line).toMatch(/^(\d\d:\d\d:\d\d|--:--:--|\s+\|)/)
})

it('shows tags, source and context as the line had them', () => {
  const record = at('02:41:01.000', 'slow', {
    source: { file: 'a.go', line: 7 },
    tags: ['A', 'B'],
    context: { shard: 17 },
  })
  expect(lines([record])[2]).toBe('02:41:01.000 INFO a.go:7 [A] [B]: slow {"shard":17}')
})
