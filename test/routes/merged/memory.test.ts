// What a follower of a timeline holds while nothing happens.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'

const LOGS = 10
const FOLLOWERS = 8
const MIB = 1024 * 1024

const stamp = (i: number) =>
  new Date(Date.UTC(2026, 10, 15) + i * 1000).toISOString().replace('T', ' ').slice(0, 23)
const text = Array.from(
  { length: 1500 },
  (_, i) => `${stamp(i)}\tINFO\tx.go:1\t[A]: line ${i} ${'y'.repeat(60)}\n`,
)

it('keeps nothing of the page that it began with', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = () => {
    collect()
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return (heapUsed + arrayBuffers) / MIB
  }
  const logs = memoryStore(
    Object.fromEntries(Array.from({ length: LOGS }, (_, i) => [`${i}.log`, text.join('')])),
  )
  const app = createApp({ logs, config: '', limits: { memory: 256 * MIB } })
  const left = new AbortController()
  const follow = async () => {
    const { body } = await app.request('/api/v1/log/view?file=*.log&follow=true&lines=400', {
      headers: { Accept: 'text/event-stream' },
      signal: left.signal,
    })
    const reader = body!.getReader()
    for (let records = 0; records < 400; ) {
      const { value } = await reader.read()
      records += new TextDecoder().decode(value).match(/^data:/gm)?.length ?? 0
    }
    // Now it waits for what is appended.
    const next = reader.read().catch(() => {})
    await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 20))])
    return reader
  }
  await follow()
  const before = held()
  const readers = []
  for (let i = 0; i < FOLLOWERS; i++) readers.push(await follow())
  const each = (held() - before) / readers.length
  left.abort()
  // It was 0.7 MiB while the page was kept.
  expect(each).toBeLessThan(0.5)
})
