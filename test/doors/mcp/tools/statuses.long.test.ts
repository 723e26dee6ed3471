import { expect, it } from 'vitest'
import { mcp } from '../../../../src/doors/mcp.ts'
import { memoryStore } from '../../../../src/store/memory.ts'
import { createApp, createFleet } from '../../../support/app.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { messageOf, toolsOf } from '../../../support/mcp.ts'

const NOW = Date.UTC(2026, 10, 16, 3)
const HOUR = 3_600_000
const PER_HOUR = 11_000

/** Two hours of requests; in the second hour, 44 of 11,000 fail. */
function accessLog(): string {
  let log = ''
  for (let i = 0; i < 2 * PER_HOUR; i++) {
    const ms = NOW - 2 * HOUR + Math.floor((i * 2 * HOUR) / (2 * PER_HOUR))
    const status = i > PER_HOUR && i % 250 === 0 ? 503 : 204
    const time = new Date(ms).toISOString().slice(11, 19)
    log += `10.0.0.${i % 250} - - [16/Nov/2026:${time} +0000] "PUT /write?id=${i} HTTP/1.1" ${status} ${i % 5000} "-" "x/1"\n`
  }
  return log
}
const lines = Array.from(
  { length: 20 },
  (_, i) =>
    `${new Date(NOW - 60_000 + i).toISOString().replace('T', ' ').slice(0, 23)}\tWARN\ta.go:1\t[A]: context deadline exceeded after ${i}\n`,
).join('')

const files = { 'access.log': accessLog(), 'broker.log': lines }
const clock = manualClock(NOW)
const app = createApp({ logs: memoryStore(files), config: '', mcp, clock })
const tools = toolsOf((request) => app.fetch(request))

it('what_is_different finds 44 failures among 11,000 requests by their status', async () => {
  const text = await tools.call('what_is_different', { since: '1h', file: ['access.log'] })
  expect(text).toMatch(/status:503/)
})

it('log_patterns says which statuses there are, and which log a pattern is from', async () => {
  const text = await tools.call('log_patterns', { since: '30m' })
  expect(text).toMatch(/values of status: 204 \d+×, 503 \d+×/)
  expect(text).toMatch(/context deadline exceeded after <\*>\n.*, broker\.log\n/)
  expect(text).toMatch(/PUT <\*>.*\n.*, access\.log\n/)
})

it('the node stands before the log on a fleet', async () => {
  const store = memoryStore({ 'db-1/logs/broker.log': lines, 'db-2/logs/access.log': files['access.log'] })
  const fleet = createFleet({ store, mcp, clock })
  const text = await toolsOf((request) => fleet.fetch(request)).call('log_patterns', { since: '5m' })
  expect(text).toContain(', db-1/broker.log\n')
})

it('says that a text finds records in small letters', async () => {
  const text = await tools.call('search_logs', { since: '1h', q: ['Deadline Exceeded'] })
  expect(text).toContain('q="deadline exceeded" finds records')
  const none = await tools.call('search_logs', { since: '1h', q: ['Nothing Like It'] })
  expect(none).not.toContain('finds records')
})

it('the list of tools takes at most 12,000 characters, and says what each parameter means once', async () => {
  const fleet = createFleet({ store: memoryStore({}), mcp, clock })
  for (const service of [app, fleet]) {
    const response = await service.fetch(
      messageOf('http://localhost/mcp', 'tools/list', {}, { era: 'legacy' }),
    )
    const text = await response.text()
    expect(text.length).toBeLessThanOrEqual(12_000)
    for (const name of ['since', 'where', 'max_chars', 'cursor'])
      expect(
        text
          .split(`"${name}":{`)
          .slice(1)
          .some((property) => /^(?:[^{}]|\{[^{}]*\})*"description"/.test(property)),
      ).toBe(true)
  }
})
