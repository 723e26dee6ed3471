import { describe, expect, it } from 'vitest'
import { openHome } from '../../../src/core/node/home.ts'
import type { Clock } from '../../../src/kit/limits/clock.ts'
import { createMetrics } from '../../../src/kit/observe/metrics.ts'
import { ShipMetrics } from '../../../src/ship/metrics.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { versionKey } from '../../../src/store/segment/configs.ts'
import type { Store } from '../../../src/store/store.ts'
import { createApp, createFleet } from '../../support/app.ts'
import { manualClock } from '../../support/manual-clock.ts'

const T = Date.UTC(2026, 10, 14, 2)
const NAME = 'nodestate_config_changed_timestamp_seconds'

function scraped(store: Store, clock?: Clock) {
  const metrics = createMetrics({ clock })
  const app = createApp({ logs: memoryStore(), ...openHome(store), metrics, onError() {} })
  return async () => {
    const text = await (await app.request('/metrics')).text()
    return new RegExp(`^${NAME} (\\S+)$`, 'm').exec(text)?.[1]
  }
}

describe(NAME, () => {
  it('is the time of the newest version, at most a minute old', async () => {
    const store = memoryStore({ [versionKey({ time: T, crc: 1 })]: 'a = 1', 'config.toml': 'a = 1' })
    const clock = manualClock()
    const scrape = scraped(store, clock)
    expect(await scrape()).toBe(String(T / 1000))
    store.put(versionKey({ time: T + 1500, crc: 2 }), 'a = 2')
    expect(await scrape()).toBe(String(T / 1000))
    clock.skip(60_000)
    expect(await scrape()).toBe(String((T + 1500) / 1000))
  })

  it('is the time of the file where no versions are kept', async () => {
    const store = memoryStore({ 'config.toml': 'a = 1' })
    expect(await scraped(store)()).toBe(String((await store.stat('config.toml'))!.modified / 1000))
  })

  it('is left out if it is not known, and does not hold up a scrape', async () => {
    expect(await scraped(memoryStore())()).toBeUndefined()
    const plain = createApp({ logs: memoryStore(), config: '', metrics: createMetrics() })
    expect(await (await plain.request('/metrics')).text()).not.toContain(NAME)
    const fleet = createFleet({ store: memoryStore({ 'a/config.toml': '' }), metrics: createMetrics() })
    await fleet.request('/nodes/a/api/v1/config/history')
    expect(await (await fleet.request('/metrics')).text()).not.toContain(NAME)
    const hanging: Store = {
      ...memoryStore(),
      list: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }),
    }
    const clock = manualClock()
    const scrape = scraped(hanging, clock)()
    await clock.pass(1000)
    expect(await scrape).toBeUndefined()
  })

  it('is also told by a shipper', () => {
    const metrics = new ShipMetrics()
    const text = () => metrics.render(new Map(), { files: 0, bytes: 0, left: [] })
    expect(text()).not.toContain(NAME)
    metrics.configChanged = T
    expect(text()).toContain(`# TYPE ${NAME} gauge\n${NAME} ${T / 1000}\n`)
  })
})
