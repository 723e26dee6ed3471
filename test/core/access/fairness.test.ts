import { describe, expect, it } from 'vitest'
import type { ConcurrencyLimit } from '../../../src/kit/limits/concurrency-limit.ts'
import { createMetrics } from '../../../src/kit/observe/metrics.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp, createFleet } from '../../support/app.ts'

const LOG = '2026-11-15 02:10:00.100\tINFO\tx.go:1\t[A]: line\n'
const SEARCH = 'log/view?file=a.log&q=line'
const tokens = ['a', 'b', 'c'].map((name) => ({ name, token: `secret-${name}` }))

/** Options with a single slot, and the limit that has it. */
function oneSlot() {
  const metrics = createMetrics()
  const found: ConcurrencyLimit[] = []
  const scans = (limit: object) => void found.push(limit as ConcurrencyLimit)
  const logs = memoryStore({ 'a.log': LOG.repeat(10), 'b.log': LOG })
  return { options: { limits: { scans: 1 }, metrics: { ...metrics, scans } }, logs, found }
}

/** The order in which requests get the slot, if they come in this one while it is taken. */
async function served(found: ConcurrencyLimit[], ask: (owner: string) => Promise<Response>): Promise<string> {
  const leave = await found[0]!.enter()
  const order: string[] = []
  const asked: Promise<void>[] = []
  for (const owner of 'aabc') {
    const answered = async (response: Response) => {
      expect(response.status).toBe(200)
      await response.text()
      order.push(owner)
    }
    asked.push(ask(owner).then(answered))
    // Each is in line before the next comes.
    await expect.poll(() => found[0]!.load.waiting, { interval: 5, timeout: 10_000 }).toBe(asked.length)
  }
  leave()
  await Promise.all(asked)
  return order.join('')
}

const as = (owner: string) => ({ headers: { Authorization: `Bearer secret-${owner}` } })

describe('the next slot of a search', () => {
  it.each([SEARCH, 'log/histogram?file=a.log', `${SEARCH}&download=true`])(
    'goes to the token with the fewest running: %s',
    async (path) => {
      const { options, logs, found } = oneSlot()
      const app = createApp({ ...options, logs, config: '', tokens: () => tokens })
      expect(await served(found, async (owner) => app.request(`/api/v1/${path}`, as(owner)))).toBe('abca')
    },
  )

  it('goes to the address with the fewest running where there are no tokens', async () => {
    const { options, logs, found } = oneSlot()
    const app = createApp({ ...options, logs, config: '' })
    const ask = async (owner: string) =>
      app.request(`/api/v1/${SEARCH}`, {}, { address: `10.0.0.${owner.charCodeAt(0)}` })
    expect(await served(found, ask)).toBe('abca')
  })

  it('goes to the first that came where neither is known', async () => {
    const { options, logs, found } = oneSlot()
    const app = createApp({ ...options, logs, config: '' })
    expect(await served(found, async () => app.request(`/api/v1/${SEARCH}`))).toBe('aabc')
  })

  it('is shared by the nodes of a fleet', async () => {
    const { options, found } = oneSlot()
    const homes = ['db-1', 'db-2'].flatMap((id) => [
      [`${id}/node.json`, '{}'],
      [`${id}/logs/a.log`, LOG],
    ])
    const fleet = createFleet({
      ...options,
      store: memoryStore(Object.fromEntries(homes)),
      tokens: () => tokens,
    })
    let nth = 0
    const ask = async (owner: string) =>
      fleet.request(`/nodes/db-${1 + (nth++ % 2)}/api/v1/${SEARCH}`, as(owner))
    expect(await served(found, ask)).toBe('abca')
  })
})
