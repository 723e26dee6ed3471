import { expect, it } from 'vitest'
import { mcp } from '../../../../src/doors/mcp.ts'
import { memoryStore } from '../../../../src/store/memory.ts'
import { createApp, createFleet } from '../../../support/app.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { toolsOf } from '../../../support/mcp.ts'
import { NODE_JSON } from '../../../support/node.ts'

const MINUTE = 60_000
const NOW = Date.UTC(2026, 10, 16, 3)
const line = (ms: number, text: string, level = 'INFO') =>
  `${new Date(ms).toISOString().replace('T', ' ').slice(0, 23)}\t${level}\ta.go:1\t[A]: ${text}\n`
/** Three hours with a record a minute, and what `extra` adds to the minutes before now. */
const logOf = (extra: (ago: number, ms: number) => string = () => '') =>
  Array.from({ length: 180 }, (_, i) => {
    const ms = NOW - (180 - i) * MINUTE
    return line(ms, `tick ${i}`) + extra(180 - i, ms + 1)
  }).join('')
const failing = logOf((ago, ms) => (ago <= 30 ? line(ms, `disk sda${ago} is full`, 'ERROR') : ''))
const gone = logOf((ago, ms) => (ago > 60 ? line(ms, `heartbeat ${ago} from peer`) : ''))

const clock = manualClock(NOW)
const app = createApp({ logs: memoryStore({ 'a.log': failing, 'b.log': gone }), config: '', mcp, clock })
const tools = toolsOf((request) => app.fetch(request))

it('tells what sets a range apart, and how to read its records', async () => {
  const text = await tools.call('what_is_different', { since: '30m', file: ['a.log'] })
  expect(text).toMatch(/^2 findings, the most telling first; 60 records in the range, 60 in the base\n/)
  expect(text).toContain('base: 2026-11-16T01:30:00.000Z to 2026-11-16T02:30:00.000Z\n')
  expect(text).toContain('range: 2026-11-16T02:30:00.000Z to 2026-11-16T03:00:00.000Z, zone UTC')
  expect(text).toContain('pattern: disk <*> is full\n    30 records in the range, 0 in the base')
  const [, pattern] = /search_logs with pattern="([^"]+)"/.exec(text)!
  const found = await tools.call('search_logs', { since: '30m', file: ['a.log'], pattern })
  expect(found).toMatch(/^30 records, all that match/)
})

it('says where records that are gone can be read', async () => {
  const text = await tools.call('what_is_different', { since: '1h', file: ['b.log'] })
  const [, pattern, since, until] =
    /^pattern: .*\n +0 records in the range, 60 in the base\n.*\n.* pattern="(.+)", since=(\S+), until=(\S+)$/m.exec(
      text,
    )!
  const found = await tools.call('search_logs', { file: ['b.log'], pattern, since, until, limit: 100 })
  expect(found).toMatch(/^60 records, all that match/)
})

it('takes another base, and says when nothing differs or nothing is there', async () => {
  const base = { base_since: '20m', base_until: '10m' }
  const same = await tools.call('what_is_different', { since: '10m', file: ['a.log'], ...base })
  expect(same).toContain('base: 2026-11-16T02:40:00.000Z to 2026-11-16T02:50:00.000Z')
  expect(same).toContain('The range resembles its base')
  const none = await tools.call('what_is_different', {
    since: '2026-11-01',
    until: '2026-11-02',
    file: ['a.log'],
  })
  expect(none).toContain('a.log has records from 2026-11-16T00:00:00.000Z')
  await expect(tools.call('what_is_different', { since: '10m', base_since: 'x' })).rejects.toThrow(
    'base-since is "x"; it must be a time',
  )
  await expect(tools.call('what_is_different', { base_node: ['*'] })).rejects.toThrow('base_node')
})

it('compares a node of a fleet with the others', async () => {
  const store = memoryStore({
    'db-4/node.json': NODE_JSON,
    'db-4/config.toml': 'workers = 8\n',
    'db-4/logs/a.log': logOf(),
    'db-7/node.json': NODE_JSON,
    'db-7/config.toml': 'workers = 1\n',
    'db-7/logs/a.log': failing,
  })
  const fleet = createFleet({ store, mcp, clock, onError: () => {} })
  const text = await toolsOf((request) => fleet.fetch(request)).call('what_is_different', {
    since: '30m',
    node: ['db-7'],
    base_node: ['*'],
  })
  expect(text).toContain(', on the nodes * but those of the range')
  expect(text).toContain('pattern: disk <*> is full\n    30 records in the range, 0 in the base')
  expect(text).toMatch(/^config: workers\n.*all in db-7\n +values 8 → 1/m)
})
