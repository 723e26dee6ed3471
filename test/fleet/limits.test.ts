import { describe, expect, it } from 'vitest'
import { createFleet, type FleetOptions } from '../../src/fleet/fleet.ts'
import { createMetrics } from '../../src/observe/metrics.ts'
import { memoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
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

  it('keeps the text of all homes within one bound', async () => {
    const store = memoryStore({})
    const text = new TextEncoder().encode(LINE.repeat(200))
    const reads: string[] = []
    for (const id of NODES) await putLife((key, bytes) => store.put(`${id}/${key}`, bytes), text)
    const counting: Store = {
      ...store,
      read(key, ...rest) {
        if (key.includes('/segments/')) reads.push(key)
        return store.read(key, ...rest)
      },
    }
    const app = createFleet({ store: counting, segments: { keepBytes: 2 * text.length } })
    const view = async (id: string) => {
      reads.length = 0
      const response = await app.request(`/nodes/${id}/api/v1/log/view?file=a.log`)
      expect(await response.text()).toBe(LINE.repeat(200))
      return reads.length
    }
    expect(await view('db-0')).toBeGreaterThan(0)
    expect(await view('db-1')).toBeGreaterThan(0)
    expect([await view('db-0'), await view('db-1')]).toEqual([0, 0])
    // The third takes the place of the first.
    expect(await view('db-2')).toBeGreaterThan(0)
    expect(await view('db-1')).toBe(0)
    expect(await view('db-0')).toBeGreaterThan(0)
  })
})
