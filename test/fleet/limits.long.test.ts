import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../src/kit/observe/metrics.ts'
import { memoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { createFleet, type FleetOptions } from '../support/app.ts'
import { putLife } from '../support/segments.ts'

const NODES = Array.from({ length: 8 }, (_, i) => `db-${i}`)
const LINE = '2026-11-15 02:10:00.123\tINFO\ta.go:1\t[A] [B]: needle\n'

function fleet(options: Partial<FleetOptions>) {
  const files = NODES.map((id) => [`${id}/logs/a.log`, LINE.repeat(20_000)])
  const app = createFleet({ store: memoryStore(Object.fromEntries(files)), onError: () => {}, ...options })
  return async (path: string) => app.request(path)
}

describe('the limits of a fleet', () => {
  it('has one set of slots for the searches of all nodes, which is counted once', async () => {
    const metrics = createMetrics()
    const get = fleet({ limits: { scans: 1 }, metrics })
    // An export keeps its slot until it has been read.
    const search = (id: string) => get(`/nodes/${id}/api/v1/log/view?file=a.log&download=true`)
    const searches = NODES.slice(0, 5).map(search)
    // One runs and four wait: the fifth to wait is refused, whichever node it asks.
    await expect
      .poll(async () => (await get('/metrics')).text())
      .toMatch(/nodestate_scans_running 1\n[\s\S]*nodestate_scans_waiting 4\n/)
    for (const id of NODES.slice(5)) {
      const refused = await search(id)
      expect([refused.status, ((await refused.json()) as { type: string }).type]).toEqual([
        503,
        '/problems/too-busy',
      ])
    }
    for (const search of searches) expect(await (await search).text()).toBe(LINE.repeat(20_000))
    expect(await (await get('/metrics')).text()).toMatch(/nodestate_scans_running 0\n/)
  })

  it('counts the followers of all nodes together', async () => {
    const get = fleet({ follow: { followers: 3 } })
    const follow = (id: string) => get(`/nodes/${id}/api/v1/log/view?file=a.log&follow=true`)
    const open: Response[] = []
    for (const id of NODES.slice(0, 3)) open.push(await follow(id))
    expect(open.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await follow(NODES[3]!)).status).toBe(503)
    await open[0]!.body!.cancel()
    open[0] = await follow(NODES[3]!)
    expect(open[0].status).toBe(200)
    for (const response of open) await response.body!.cancel()
  })

  it('inflates as few segments at once as memory allows', async () => {
    const store = memoryStore({})
    const text = new TextEncoder().encode(LINE.repeat(200))
    for (const id of NODES) await putLife((key, bytes) => store.put(`${id}/${key}`, bytes), text)
    let running = 0
    let most = 0
    const counting: Store = {
      ...store,
      async read(key, ...rest) {
        if (!key.includes('/segments/')) return store.read(key, ...rest)
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 5))
        running--
        return store.read(key, ...rest)
      },
    }
    for (const [memory, expected] of [
      [256, 1],
      [1024, 5],
    ] as const) {
      most = 0
      const app = createFleet({ store: counting, limits: { memory: memory * 1024 * 1024 } })
      const view = async (id: string) =>
        (await app.request(`/nodes/${id}/api/v1/log/view?file=a.log`)).arrayBuffer()
      await Promise.all(NODES.map(view))
      expect(most).toBe(expected)
    }
  })
})

describe('nodes with very many files', () => {
  const many = Array.from({ length: 12_000 }, (_, i) => `f${String(i).padStart(5, '0')}.log`)
  const store = memoryStore(
    Object.fromEntries(
      ['db-0', 'db-1'].flatMap((id) => [
        [`${id}/node.json`, '{}'],
        ...many.map((name) => [`${id}/logs/${name}`, '']),
      ]),
    ),
  )
  const app = createFleet({ store, onError: () => {} })

  it('are listed in part, with a note, among others and in full alone', async () => {
    const plain = await app.request('/api/v1/log/list?node=*')
    expect(plain.headers.get('X-Nodestate-Note')).toBe('list-cut')
    expect(await plain.json()).toHaveLength(20_000)
    const detailed = await app.request('/api/v1/log/list?node=*&detail=true')
    expect(detailed.headers.get('X-Nodestate-Note')).toContain('list-cut')
    expect(await detailed.json()).toHaveLength(10_000)
    const alone = await app.request('/nodes/db-1/api/v1/log/list')
    expect(((await alone.json()) as { name: string }[]).map(({ name }) => name)).toEqual(many)
  })

  it('are not compared with a pattern, because some would be left out', async () => {
    const refused = await app.request('/api/v1/log/view?node=*&file=f0*')
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      type: '/problems/too-many-sources',
      detail: 'A pattern can be compared with 10000 files, and there are more; name the logs instead.',
    })
  })
})
