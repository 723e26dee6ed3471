import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { loki } from '../../src/doors/loki.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp } from '../support/app.ts'

const NOW = Date.UTC(2026, 10, 15, 2, 10)
const line = (secondsAgo: number, level: string) =>
  `${new Date(NOW - secondsAgo * 1000).toISOString().replace('T', ' ').slice(0, 23)}\t${level}\ta.go:1\t[A]: x\n`

it("Grafana's alert asks for what nodestate counts, as its documentation has it", async () => {
  const expr = /^ +expr: '(.*)'$/m.exec(readFileSync('deploy/grafana/alert.yaml', 'utf8'))![1]!
  expect(readFileSync('docs/operations.md', 'utf8')).toContain(`\n    ${expr}\n`)
  const log = [line(900, 'ERROR'), line(200, 'ERROR'), line(100, 'INFO'), line(50, 'FATAL'), line(10, 'WARN')]
  const app = createApp({
    logs: memoryStore({ 'broker.log': log.join(''), 'other.log': line(5, 'ERROR') }),
    config: '',
    node: { hostName: 'db-4' },
    timezone: 'UTC',
    loki,
  })
  const query = new URLSearchParams({ query: expr, time: String(NOW / 1000) })
  const response = await app.request(`/loki/api/v1/query?${query}`)
  const { data } = await response.json()
  expect(data).toMatchObject({ resultType: 'vector', result: [{ metric: { node: 'db-4' } }] })
  expect(data.result[0].value[1]).toBe('2')
})
