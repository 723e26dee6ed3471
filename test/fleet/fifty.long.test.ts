import { describe, expect, it } from 'vitest'
import type { PeerOptions } from '../../src/fleet/peer.ts'
import { type Clock, systemClock } from '../../src/kit/limits/clock.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp, createFleet, type FleetOptions } from '../support/app.ts'

const START = Date.parse('2026-11-14T02:00:00Z')
const LOGS = ['broker.log', 'query.log', 'storage.log']
const RECORDS = 8
/** Fifty nodes in one process have one processor, and a busy machine is not a dead peer. */
const PATIENT = { scanMillis: 120_000 }
const CLOCK: Clock = { ...systemClock, after: (ms, then) => systemClock.after(20 * ms, then) }

const nameOf = (node: number) => `db-${String(node).padStart(2, '0')}`
const timeOf = (at: number) => new Date(at).toISOString().replace('T', ' ').slice(0, 23)

/** A log of one node; no two records of the fleet have the same time. */
function logOf(node: number, log: number): string {
  return Array.from({ length: RECORDS }, (_, i) => {
    const at = START + i * 60_000 + node * 100 + log
    return `${timeOf(at)}\t${i % 4 ? 'INFO' : 'ERROR'}\ta.go:1\t[A] [B]: ${nameOf(node)} ${LOGS[log]} ${i}\n`
  }).join('')
}

/** Peers with three logs each, of which those in `dead` do not answer. */
function fleetOf(count: number, options: Partial<FleetOptions> = {}, dead: ReadonlySet<number> = new Set()) {
  const load = { now: 0, most: 0 }
  const peers = Array.from({ length: count }, (_, node): PeerOptions => {
    const files = Object.fromEntries(LOGS.map((name, log) => [name, logOf(node, log)]))
    const app = createApp({ logs: memoryStore(files), config: '', limits: PATIENT, onError() {} })
    return {
      id: nameOf(node),
      url: `http://${nameOf(node)}.example`,
      async fetch(url, { connectMillis: _, ...init }) {
        if (dead.has(node)) throw new TypeError('refused')
        load.most = Math.max(load.most, ++load.now)
        return Promise.resolve(app.fetch(new Request(url, init))).finally(() => load.now--)
      },
    }
  })
  const fleet = createFleet({ peers, limits: PATIENT, clock: CLOCK, onError() {}, ...options })
  const get = async (path: string) => fleet.request(`/api/v1/log/${path}`)
  return { get, load }
}

describe('a timeline of fifty nodes with three logs each', () => {
  const { get, load } = fleetOf(50)
  const total = 50 * LOGS.length * RECORDS

  it('is paged in order, each record once, with links that a server takes', async () => {
    const found: string[] = []
    for (let search: string | undefined = '?node=*&file=*&lines=300'; search; ) {
      const response = await get(`view${search}`)
      expect(response.status).toBe(200)
      found.unshift(...(await response.text()).trimEnd().split('\n'))
      const links = response.headers.get('Link')!
      expect(links.length).toBeLessThan(11_000)
      search = /<([^>]*)>; rel="prev"/.exec(links)?.[1]
    }
    expect(found).toHaveLength(total)
    const times = found.map((text) => text.split('\t')[1]!)
    expect(times).toEqual(times.toSorted())
    expect(new Set(found).size).toBe(total)
    expect(load.most).toBeLessThanOrEqual(96)
  })

  it('is searched, counted, grouped, sampled and compared', async () => {
    const errors = await (await get('view?node=*&file=*&lines=100&level=error')).text()
    expect(errors.trimEnd().split('\n')).toHaveLength(100)
    const chart = (await (await get('histogram?node=*&file=*&by=node')).json()) as {
      nodes: string[]
      buckets: { counts: number[] }[]
    }
    expect(chart.nodes).toHaveLength(50)
    expect(chart.buckets.flatMap(({ counts }) => counts).reduce((sum, count) => sum + count, 0)).toBe(total)
    expect(await (await get('groups?node=*&file=*&by=level')).json()).toMatchObject({
      records: total,
      complete: true,
    })
    expect(await (await get('fields?node=*&file=*')).json()).toMatchObject({ records: total })
    const periods = 'since=2026-11-14T02:04:00Z&until=2026-11-14T02:08:00Z'
    const compared = await get(`compare?node=*&file=*&${periods}&base-since=2026-11-14T02:00:00Z`)
    expect(await compared.json()).toMatchObject({ range: { records: total / 2 } })
  })

  it('is followed from where it ends', async () => {
    const response = await get('view?node=*&file=*&lines=3&follow=true')
    expect(response.status).toBe(200)
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    expect(new TextDecoder().decode(value)).toContain(`${nameOf(49)} broker.log ${RECORDS - 1}`)
    await reader.cancel()
  })

  it('names every node that is dead', async () => {
    const dead = new Set(Array.from({ length: 25 }, (_, i) => 2 * i))
    const { get } = fleetOf(50, {}, dead)
    const response = await get('view?node=*&file=*&lines=10')
    expect(response.status).toBe(200)
    const missing = response.headers.get('X-Nodestate-Missing')!.split(', ')
    expect(missing).toEqual([...dead].map((node) => `${nameOf(node)};storage-unavailable`))
  })

  it('takes no more memory than one answer has', async () => {
    // 256 MiB leave 32 MiB for one answer, of which 150 logs may read half ahead.
    const { get } = fleetOf(50, { limits: { ...PATIENT, memory: 256 * 1024 * 1024 } })
    expect((await (await get('view?node=*&file=*&lines=1000')).text()).trimEnd().split('\n')).toHaveLength(
      1000,
    )
  })
})

it('says which nodes to name where the links of more would be too long', async () => {
  const { get } = fleetOf(100)
  const refused = await get('view?node=*&file=*&lines=10')
  expect(refused.status).toBe(400)
  const { detail } = (await refused.json()) as { detail: string }
  const [, first, last] = /name fewer nodes, such as those from (\S+) to (\S+),/.exec(detail)!
  const nodes = Array.from({ length: 100 }, (_, node) => nameOf(node)).filter(
    (id) => id >= first! && id < last!,
  )
  expect(nodes.length).toBeGreaterThan(50)
  const query = nodes.map((id) => `node=${id}`).join('&')
  expect((await get(`view?${query}&file=*&lines=10`)).status).toBe(200)
  expect((await get('histogram?node=*&file=*')).status).toBe(200)
})
