import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import { type Store, StoreError } from '../../../src/store/store.ts'
import { createApp } from '../../support/app.ts'

function appOn(store: Store) {
  return createApp({ logs: store, config: '', token: 't', onError() {} })
}

describe('GET /readyz', () => {
  it('is 200 while the store answers, without a token and without files', async () => {
    const answer = await appOn(memoryStore({})).request('/readyz')
    expect([answer.status, await answer.text()]).toEqual([200, 'ready\n'])
    expect((await appOn(memoryStore({})).request('/readyz', { method: 'POST' })).status).toBe(405)
  })

  it('is a problem while it does not, and many probes are one look', async () => {
    let looks = 0
    const app = appOn({
      ...memoryStore({}),
      // biome-ignore lint/correctness/useYield: it fails before it has anything to give
      async *list() {
        looks++
        throw new StoreError('denied', '/secret/path')
      },
    })
    const answers = await Promise.all(Array.from({ length: 20 }, () => app.request('/readyz')))
    for (const answer of answers) {
      expect(answer.status).toBe(503)
      const text = await answer.text()
      expect(JSON.parse(text).type).toBe('/problems/storage-denied')
      expect(text).not.toContain('secret')
    }
    expect(looks).toBe(1)
    expect((await app.request('/healthz')).status).toBe(200)
  })
})
