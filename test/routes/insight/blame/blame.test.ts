import { expect, it } from 'vitest'
import type { ConfigBlame } from '../../../../src/kit/answers.ts'
import { memoryStore } from '../../../../src/store/memory.ts'
import { versionKey } from '../../../../src/store/segment/configs.ts'
import { createFleet } from '../../../support/app.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { NODE_JSON } from '../../../support/node.ts'

const MINUTE = 60_000
const NOW = Date.UTC(2026, 10, 16, 3)
/** An error each ten minutes, and each minute in the last half hour. */
const LOG = Array.from({ length: 300 }, (_, i) => {
  const ago = 300 - i
  const level = ago % 10 === 0 || ago <= 30 ? 'ERROR' : 'INFO'
  const time = new Date(NOW - ago * MINUTE).toISOString().replace('T', ' ').slice(0, 23)
  return `${time}\t${level}\ta.go:1\t[A]: tick ${i}\n`
}).join('')
const config = (workers: number, more = '') =>
  `[storage]\nworkers = ${workers}\n${more}\n[db]\npassword = "hunter2-${workers}"\n`
const version = (ago: number, text: string) => ({
  [`db-7/${versionKey({ time: NOW - ago * MINUTE, crc: ago })}`]: text,
})
const store = memoryStore({
  'db-4/node.json': NODE_JSON,
  'db-4/config.toml': config(8),
  'db-4/logs/a.log': LOG,
  'db-7/node.json': NODE_JSON,
  'db-7/config.toml': config(1),
  'db-7/logs/a.log': LOG,
  ...version(9000, config(8, 'old = true\n')),
  ...version(120, config(8)),
  ...version(60, config(4)),
  ...version(30, config(1)),
})
const clock = manualClock(NOW)
const fleet = createFleet({ store, clock, onError: () => {} })
type App = ReturnType<typeof createFleet>
async function ask(path: string, headers: Record<string, string> = {}, app: App = fleet) {
  const response = await app.request(path, { headers })
  return { status: response.status, body: (await response.json()) as ConfigBlame & { detail: string } }
}

it('says when each setting last changed, and the errors before and after', async () => {
  const { status, body } = await ask('/nodes/db-7/api/v1/config/blame')
  expect(status).toBe(200)
  expect(body).toEqual({
    complete: true,
    keys: [
      {
        key: 'storage.workers',
        value: '1',
        changed: NOW - 30 * MINUTE,
        before: '4',
        // In half an hour, 30 errors.
        errors: { before: 6, after: 60 },
      },
      { key: 'storage.old', changed: NOW - 120 * MINUTE, before: 'true', errors: { before: 6, after: 6 } },
      { key: 'db.password', value: '"********"', changed: null },
    ],
  })
})

it('names the nodes of a fleet that are set otherwise', async () => {
  const { body } = await ask('/api/v1/config/blame?node=db-7')
  expect(body.keys[0]).toMatchObject({ key: 'storage.workers', others: [{ value: '8', nodes: ['db-4'] }] })
  expect(body.keys[2]).not.toHaveProperty('others')
  const other = await ask('/api/v1/config/blame?node=db-4')
  expect(other.body.keys.find(({ key }) => key === 'storage.workers')).toEqual({
    key: 'storage.workers',
    value: '8',
    changed: null,
    others: [{ value: '1', nodes: ['db-7'] }],
  })
})

it('refuses what it cannot answer, and says what it lacks', async () => {
  const detail = expect.stringContaining('must be the id of one node')
  expect(await ask('/api/v1/config/blame')).toMatchObject({ status: 400, body: { detail } })
  expect(await ask('/api/v1/config/blame?node=db-*')).toMatchObject({ status: 400, body: { detail } })
  expect((await ask('/api/v1/config/blame?node=db-9')).status).toBe(404)
  expect((await fleet.request('/api/v1/config/blame?node=db-7', { method: 'HEAD' })).status).toBe(200)
  const tokens = () => [
    { name: 'config', token: 'only-config', scopes: ['config' as const] },
    { name: 'logs', token: 'only-logs', scopes: ['logs' as const] },
  ]
  const app = createFleet({ store, clock, tokens, onError: () => {} })
  const as = (token: string) =>
    ask('/nodes/db-7/api/v1/config/blame', { Authorization: `Bearer ${token}` }, app)
  expect((await as('only-logs')).status).toBe(403)
  const { body } = await as('only-config')
  expect([body.complete, body.keys[0]!.errors]).toEqual([false, undefined])
})
