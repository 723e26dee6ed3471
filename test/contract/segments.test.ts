import * as vitest from 'vitest'
import { storeContract } from '../../src/store/contract.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { parseKey } from '../../src/store/segment/names.ts'
import { segmentStore } from '../../src/store/segments.ts'
import { putLife } from '../support/segments.ts'

storeContract(
  vitest,
  'segments',
  async () => {
    const home = memoryStore()
    const lives = new Map<string, number>()
    const remove = async (log: string) => {
      for await (const { key } of home.list('segments/')) if (parseKey(key)?.log === log) home.delete(key)
    }
    return {
      store: segmentStore(home, memoryStore()),
      // Shipped bytes never change: other bytes are the next life.
      async put(log, bytes) {
        const life = (lives.get(log) ?? 0) + 1
        lives.set(log, life)
        await putLife(home.put, bytes, { log, life, size: 1024 * 1024 })
      },
      remove,
    }
  },
  {
    flat: 'a log is a folder of segments, and its name has no slash',
    pinned: 'an etag names a life, whose bytes never change',
    alwaysThere: 'memory is always there',
  },
)

storeContract(
  vitest,
  'segments, where only mirrors lie,',
  async () => {
    const home = memoryStore()
    const mirror = memoryStore()
    return { store: segmentStore(home, mirror), put: mirror.put, remove: mirror.delete }
  },
  { alwaysThere: 'memory is always there' },
)
