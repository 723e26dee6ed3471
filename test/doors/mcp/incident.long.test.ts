import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { mcp } from '../../../src/doors/mcp.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { versionKey } from '../../../src/store/segment/configs.ts'
import { createFleet } from '../../support/app.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { ERAS, toolsOf } from '../../support/mcp.ts'

/**
 * The incident of docs/integrations.md: at 02:41, clients of db-4 see timeouts. The cause is a setting of db-7 that was
 * changed at 02:35. Three logs of two nodes have 20,000 records of that night, most of them about something else.
 */
const NOW = Date.UTC(2026, 10, 16, 3)
const at = (clock: string) => Date.parse(`2026-11-16T${clock}Z`)
const lineAt = (ms: number, level: string, text: string) =>
  `${new Date(ms).toISOString().replace('T', ' ').slice(0, 23)}\t${level}\t${text}\n`

type Line = [ms: number, level: string, text: string]
const logOf = (...parts: Line[][]) =>
  parts
    .flat()
    .sort(([a], [b]) => a - b)
    .map((line) => lineAt(...line))
    .join('')
const every = (seconds: number, from: string, level: string, text: (i: number) => string): Line[] =>
  Array.from({ length: Math.floor((NOW - at(from)) / (seconds * 1000)) }, (_, i) => [
    at(from) + i * seconds * 1000,
    level,
    text(i),
  ])

const query = (i: number) =>
  `query/broker.go:12\t[Broker] [Query]: query ${i} took ${(i * 7) % 90} ms\t{"rows":${i % 500}}`
const noise = (i: number) =>
  `rpc/conn.go:77\t[Broker] [RPC]: client 10.0.3.${i % 250} closed the connection early`
const BROKER_4 = logOf(
  every(1, '00:30:00', 'INFO', query),
  every(47, '00:30:00', 'WARN', noise),
  every(
    9,
    '02:41:05',
    'ERROR',
    (i) => `query/broker.go:31\t[Broker] [Query]: timeout of shard 17 on db-7 after 30s, try ${i % 3}`,
  ),
)
const BROKER_7 = logOf(
  every(1, '00:30:00', 'INFO', query),
  every(53, '00:30:00', 'WARN', noise),
  every(20, '02:39:02', 'ERROR', () => 'query/task.go:12\t[Broker] [Query]: shard 17 rejects writes'),
)
const STORAGE_7 = logOf(
  every(
    5,
    '00:30:00',
    'INFO',
    (i) => `tsdb/flush.go:40\t[Storage] [TSDB]: flushed memtable ${i} in ${i % 70} ms`,
  ),
  [[at('02:35:30'), 'INFO', 'cmd/reload.go:9\t[Storage] [Config]: configuration reloaded']],
  every(
    30,
    '02:36:10',
    'WARN',
    (i) => `tsdb/flush.go:88\t[Storage] [TSDB]: flush queue has ${40 + i} memtables, 1 worker`,
  ),
)
const NODE = {
  hostIp: '192.0.2.7',
  hostName: 'db',
  grpcPort: 1,
  httpPort: 2,
  version: '0.4.1',
  onlineTime: at('00:00:00'),
}
const configWith = (workers: number) =>
  `[storage]\nflush-workers = ${workers}\nmax-memtables = 64\n\n[query]\ntimeout = "30s"\n`

function fleet() {
  const store = memoryStore({
    'db-4/node.json': JSON.stringify(NODE),
    'db-4/config.toml': configWith(8),
    'db-4/logs/broker.log': BROKER_4,
    'db-7/node.json': JSON.stringify(NODE),
    'db-7/config.toml': configWith(1),
    'db-7/logs/broker.log': BROKER_7,
    'db-7/logs/storage.log': STORAGE_7,
    [`db-7/${versionKey({ time: at('00:00:00'), crc: 1 })}`]: configWith(8),
    [`db-7/${versionKey({ time: at('02:35:30'), crc: 2 })}`]: configWith(1),
  })
  return createFleet({ store, mcp, clock: manualClock(NOW), onError: () => {} })
}

it.each(ERAS)('an assistant finds the cause in five calls and 20,000 characters (%s)', async (era) => {
  const app = fleet()
  const tools = toolsOf((request) => app.fetch(request), { era })
  let calls = 0
  let characters = 0
  /** Everything that is known of the incident comes from here. */
  const call = async (name: string, args: object) => {
    const text = await tools.call(name, args)
    calls++
    characters += text.length
    return text
  }

  // What sets the last half hour apart?
  const different = await call('what_is_different', { since: '30m' })
  const patterns = [...different.matchAll(/^pattern: (.+)\n.*all in (\S+)$/gm)]
  expect(patterns.map(([, pattern, place]) => `${place}: ${pattern}`)).toEqual([
    'db-4/broker.log: timeout of shard <*> on <*> after <*>, try <*>',
    'db-7/broker.log: shard <*> rejects writes',
    'db-7/storage.log: flush queue has <*> memtables, <*> worker',
  ])
  const [, key, node, from, to] = /^config: (\S+)\n.*all in (\S+)\n {4}values (\S+) → (\S+)$/m.exec(
    different,
  )!

  // Since when?
  const history = await call('get_config', { node: [node], history: true })
  const [, changed] = new RegExp(`^(\\S+)\\n +${key!.replace('.', '\\.')}: ${from} -> ${to}`, 'm').exec(
    history,
  )!

  // Which of the messages came first, and how long after the change?
  const found = await call('search_logs', {
    since: changed,
    level: 'warn',
    not: ['closed the connection'],
    order: 'oldest',
    limit: 5,
  })
  expect(/^\S+ WARN .*$/m.exec(found)![0]).toMatch(/^02:36:10\.000 .*flush queue has 40 memtables, 1 worker/)

  // Did the node take the setting then?
  const context = await call('log_context', { node: [node], time: changed, before: 3, after: 8 })
  expect(context).toContain('configuration reloaded')

  // Is it the only one that is set so?
  const compared = await call('compare_config', {})
  expect(compared).toMatch(new RegExp(`^${key!.replace('.', '\\.')}\n(?: .*\\n)*  ${to} +on ${node}$`, 'm'))

  expect({ node, key, changed, from, to }).toEqual({
    node: 'db-7',
    key: 'storage.flush-workers',
    changed: '2026-11-16T02:35:30.000Z',
    from: '8',
    to: '1',
  })
  expect(calls).toBeLessThanOrEqual(5)
  expect(characters).toBeLessThanOrEqual(20_000)
})

it('docs/integrations.md tells this incident', () => {
  const docs = readFileSync('docs/integrations.md', 'utf8')
  for (const words of [
    'what_is_different',
    'search_logs',
    'log_context',
    'compare_config',
    'get_config',
    'flush-workers',
    'db-7',
  ])
    expect(docs).toContain(words)
})
