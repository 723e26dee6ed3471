import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { fetchMembers } from '../../../src/log/joined/member.ts'
import type { Text } from '../../../src/log/text/text.ts'

it('fetches no more members once one of them has failed', async () => {
  let asked = 0
  const pending: Promise<void>[] = []
  const parts = Array.from({ length: 500 }, (_, i) => ({
    entry: { key: `${i}`, size: 100, modified: 0, etag: '""' },
    size: async () => {
      asked++
      pending.push(sleep(1))
      await pending.at(-1)
      if (i === 3) throw new Error('away')
      return 100
    },
  })) as unknown as Text[]
  await expect(fetchMembers(parts, 16)).rejects.toThrow('away')
  const soon = asked
  await Promise.all(pending)
  await setImmediate()
  expect(asked).toBe(soon)
  expect(asked).toBeLessThan(200)
})
