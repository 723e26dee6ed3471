// A client that reads more slowly than its log is written.
import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { manualClock } from '../../support/manual-clock.ts'

const START = Date.UTC(2026, 10, 15, 2, 10)
const stamp = (i: number) => new Date(START + i * 1000).toISOString().replace('T', ' ').slice(0, 23)
const isError = (i: number) => i % 4 === 0
const line = (i: number) =>
  `${stamp(i)}\t${isError(i) ? 'ERROR' : 'INFO'}\tx.go:1\t[A]: line ${i} ${'x'.repeat(2000)}\n`

/** A log that grows by 256 records at a time, and a client that takes the answer piece by piece. */
async function following(query: string, headers: Record<string, string> = { Accept: 'text/event-stream' }) {
  const clock = manualClock(START)
  let text = line(0)
  let written = 1
  const logs = memoryStore({ 'a.log': text, 'b.log': line(0) })
  const app = createApp({ logs, config: '', clock, follow: { pollMillis: [50, 50] } })
  const left = new AbortController()
  onTestFinished(() => left.abort())
  const opening = app.request(`/api/v1/log/view?follow=true&lines=1&${query}`, {
    headers,
    signal: left.signal,
  })
  await clock.pass(100)
  const reader = (await opening).body!.getReader()
  let seen = ''
  const decoder = new TextDecoder()
  let isReading = false
  /** Takes what is there. */
  const take = async (ms = 50) => {
    if (!isReading) void takeOne()
    await clock.pass(ms)
  }
  const takeOne = async () => {
    isReading = true
    const { value } = await reader.read()
    seen += decoder.decode(value, { stream: true })
    isReading = false
  }
  return {
    clock,
    take,
    seen: () => seen,
    /** The numbers of the records that came, in their order. */
    numbers: () => [...seen.matchAll(/line (\d+) /g)].map(([, number]) => Number(number)),
    gaps: () =>
      [...seen.matchAll(/^event: gap\nid: \S+\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!)),
    write: async (batches: number) => {
      for (let i = 0; i < batches; i++) {
        for (const end = written + 256; written < end; written++) text += line(written)
        logs.put('a.log', text)
        await clock.pass(120)
      }
      return written
    },
    takeUntil: async (isDone: () => boolean) => {
      for (let i = 0; i < 500 && !isDone(); i++) await take(20)
    },
  }
}

describe('a client that reads more slowly than its log is written', () => {
  it.each([
    // One log is read 256 KiB at a time, and several are sent 64 KiB at a time.
    ['one log', 'file=a.log', { batches: 6, pieces: 1, isWanted: () => true }],
    ['the errors of one log', 'file=a.log&level=error', { batches: 16, pieces: 1, isWanted: isError }],
    ['several logs', 'file=a.log&file=b.log', { batches: 20, pieces: 20, isWanted: () => true }],
  ])(
    'is told after ten seconds how many records of %s are left out, and goes on at the end',
    async (_, query, { batches, pieces, isWanted }) => {
      const client = await following(query)
      await client.takeUntil(() => client.seen().includes('line 0 '))
      await client.take()
      // Half a megabyte each. A mebibyte is kept for clients that are a little slow, and eight of several logs.
      await client.write(batches)
      for (let i = 0; i < pieces; i++) await client.take()
      await client.clock.pass(10_001)
      const end = await client.write(1)
      await client.takeUntil(() => client.gaps().length > 0)
      await client.take()
      await client.write(1)
      await client.takeUntil(() => client.numbers().at(-1)! >= end + 32)
      expect(client.gaps()).toHaveLength(1)
      const [{ file, records }] = client.gaps() as [{ file: string; records: number }]
      expect(file).toBe('a.log')
      expect(records).toBeGreaterThan(0)
      const got = [...new Set(client.numbers())]
      const wanted = Array.from({ length: got.at(-1)! + 1 }, (_, i) => i).filter(isWanted)
      // What came and what was left out is all that was written.
      expect(got.length + records).toBe(wanted.length)
      expect(got).toEqual(wanted.filter((number) => got.includes(number)))
    },
  )

  it('gets everything if it reads on within ten seconds', async () => {
    const client = await following('file=a.log')
    await client.takeUntil(() => client.seen().includes('line 0 '))
    await client.take()
    const end = await client.write(8)
    await client.takeUntil(() => client.numbers().at(-1) === end - 1)
    expect(client.gaps()).toEqual([])
    expect(client.numbers()).toEqual(Array.from({ length: end }, (_, i) => i))
  })

  it('gets everything without events, because it cannot be told', async () => {
    const client = await following('file=a.log&format=ndjson', {})
    await client.takeUntil(() => client.seen().includes('line 0 '))
    await client.take()
    const end = await client.write(8)
    await client.take()
    await client.clock.pass(20_000)
    await client.takeUntil(() => client.numbers().at(-1) === end - 1)
    expect(client.numbers()).toEqual(Array.from({ length: end }, (_, i) => i))
  })
})
