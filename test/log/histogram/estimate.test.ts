import { describe, expect, it } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { memoryStore } from '../../../src/store/memory.ts'

const START = Date.UTC(2026, 10, 15)
const COUNT = 60_000

const levelOf = (i: number) => (i % 5 === 0 ? 'error' : i % 7 === 0 ? 'warn' : 'info')
const lineOf = (i: number) => {
  const time = new Date(START + i * 1000).toISOString().replace('T', ' ').slice(0, 23)
  return `${time}\t${levelOf(i)}\ta.go:1\t[Broker]: number ${i} ${i % 3 === 0 ? 'third' : 'other'}\t{"code":${i % 4}}\n`
}

describe('an estimated histogram', () => {
  const text = Array.from({ length: COUNT }, (_, i) => lineOf(i)).join('')
  const app = createApp({ logs: memoryStore({ 'a.log': text }), config: '', timezone: 'UTC' })
  const ask = async (query: string) => {
    const response = await app.request(`/api/v1/log/histogram?file=a.log&estimate=true&${query}`)
    const body = await response.text()
    expect(response.status, body).toBe(200)
    const { buckets, estimated, complete } = JSON.parse(body)
    const counts: number[] = buckets.flatMap(({ counts }: { counts: number[] }) => counts)
    return { sum: counts.reduce((all, count) => all + count, 0), estimated, complete }
  }
  const numbers = Array.from({ length: COUNT }, (_, i) => i)

  it.each<[query: string, (i: number) => boolean]>([
    ['', () => true],
    ['level=error', (i) => levelOf(i) === 'error'],
    ['level=warn', (i) => levelOf(i) !== 'info'],
    ['q=third', (i) => i % 3 === 0],
    ['not=third', (i) => i % 3 !== 0],
    ['regex=number%20%5Cd*7%20', (i) => i % 10 === 7],
    [`where=${encodeURIComponent('code:3')}`, (i) => i % 4 === 3],
    ['q=third&level=error', (i) => i % 15 === 0],
  ])('honours the filter %j', async (query, isWanted) => {
    const exact = numbers.filter(isWanted).length
    const { sum, estimated } = await ask(query)
    expect(estimated).toBe(true)
    expect(sum).toBeGreaterThan(0.85 * exact)
    expect(sum).toBeLessThan(1.15 * exact)
  })

  it.each([
    ['q=number%2031415%20', 1],
    ['q=nowhere', 0],
    ['q=number%20314&level=error', 22],
  ])('of few records is a count: %s', async (query, count) => {
    expect(await ask(query)).toEqual({ sum: count, complete: true, estimated: undefined })
  })

  it.each([1, 20])('of %d records of many KiB is a count', async (count) => {
    const lines = Array.from(
      { length: count },
      (_, i) => `${lineOf(i).trimEnd()} ${'x'.repeat(3e6 / count)}\n`,
    )
    const long = createApp({ logs: memoryStore({ 'b.log': lines.join('') }), config: '' })
    const response = await long.request('/api/v1/log/histogram?file=b.log&estimate=true&buckets=1')
    const { buckets, estimated } = (await response.json()) as {
      buckets: { counts: number[] }[]
      estimated?: boolean
    }
    expect(estimated).toBe(undefined)
    expect(buckets[0]!.counts.reduce((all, each) => all + each)).toBe(count)
  })

  it('of a short log is a count', async () => {
    for (const count of [1, 3, 100]) {
      const short = createApp({
        logs: memoryStore({ 'b.log': Array.from({ length: count }, (_, i) => lineOf(i)).join('') }),
        config: '',
      })
      const response = await short.request('/api/v1/log/histogram?file=b.log&estimate=true&buckets=1')
      const { buckets } = (await response.json()) as { buckets: { counts: number[] }[] }
      expect(buckets[0]!.counts.reduce((all, each) => all + each)).toBe(count)
    }
  })
})
