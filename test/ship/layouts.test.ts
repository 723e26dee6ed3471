import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fsStore } from '../../src/store/fs.ts'
import { createFleet } from '../support/app.ts'

const HOMES = 'test/ship/homes'
const file = (layout: string, name: string) => readFileSync(join(HOMES, layout, 'files', name), 'utf8')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodestate-layouts-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** What a fleet answers about the home that a release wrote with this layout. */
function reader(layout: string) {
  cpSync(join(HOMES, layout, 'home'), join(folder, 'db-4'), { recursive: true })
  const app = createFleet({ store: fsStore(folder, { nested: true, linkDepth: 2 }), timezone: 'UTC' })
  return async (path: string) => {
    const response = await app.request(path)
    expect([response.status, response.headers.get('X-Nodestate-Note')], path).toEqual([200, null])
    return response
  }
}

describe('a home of the layout that is written now', () => {
  const at = '/nodes/db-4/api/v1'

  it('has its logs, whole and in order', async () => {
    const ask = reader('layout-3')
    const list = (await (await ask(`${at}/log/list`)).json()) as { name: string; size: number }[]
    expect(Object.fromEntries(list.map(({ name, size }) => [name, size]))).toEqual({
      'broker.log': Buffer.byteLength(file('layout-3', 'broker.log')),
      'broker.log@000001': Buffer.byteLength(file('layout-3', 'broker.log.1')),
      'slow.log': Buffer.byteLength(file('layout-3', 'slow.log')),
    })
    for (const name of ['broker.log', 'slow.log'])
      expect(await (await ask(`${at}/log/view?file=${name}`)).text(), name).toBe(file('layout-3', name))
    const all = await (await ask(`${at}/log/view?file=broker.log&rotated=true`)).text()
    expect(all).toBe(file('layout-3', 'broker.log.1') + file('layout-3', 'broker.log'))
    const errors = await (await ask(`${at}/log/view?file=broker.log&rotated=true&level=error`)).text()
    expect(errors.match(/line \d+/g)).toEqual(Array.from({ length: 10 }, (_, i) => `line ${i * 10}`))
  })

  it('has its configuration, masked, with its history, and its node', async () => {
    const ask = reader('layout-3')
    const { config, node } = await (await ask(`${at}/config`)).json()
    expect(config).toMatch(/concurrency = 64\npassword = "\*+"/)
    expect(node).toMatchObject({ hostIp: '10.0.0.7', hostName: 'db-4', grpcPort: 9001, version: '1.2.3' })
    const history = await (await ask(`${at}/config/history`)).json()
    expect(history.map(({ changes }: { changes: object[] }) => changes)).toEqual([
      [{ key: 'broker.concurrency', before: '16', after: '64' }],
      [],
    ])
    const [shown] = await (await ask('/api/v1/nodes')).json()
    expect(shown).toMatchObject({ id: 'db-4', described: true, lag: 0, error: null })
  })

  it('is read the same if a newer shipper wrote more into its ship.json and node.json', async () => {
    const ask = reader('layout-3')
    for (const name of ['ship.json', 'node.json']) {
      const path = join(folder, 'db-4', name)
      const more = { ...JSON.parse(readFileSync(path, 'utf8')), added: { later: [1, 'x'] } }
      writeFileSync(path, JSON.stringify(more))
    }
    expect(await (await ask(`${at}/log/view?file=broker.log`)).text()).toBe(file('layout-3', 'broker.log'))
    expect((await (await ask(`${at}/config`)).json()).node.hostName).toBe('db-4')
  })
})
