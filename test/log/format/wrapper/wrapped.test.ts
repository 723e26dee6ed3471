import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../../src/store/memory.ts'
import { createApp } from '../../../support/app.ts'
import { FIXTURES, linesOf } from '../fixtures.ts'

const text = (id: string) => linesOf(FIXTURES.find((fixture) => fixture.id === id)!)
const app = createApp({
  logs: memoryStore({
    'cri.log': text('cri'),
    'docker.log': text('docker'),
    'plain.log': text('docker-plain'),
  }),
  config: '',
})
const view = async (query: string) => {
  const response = await app.request(`/api/v1/log/view?${query}`)
  expect(response.status, query).toBe(200)
  return response.text()
}
const lines = (id: string, from: number, to: number) => `${text(id).split('\n').slice(from, to).join('\n')}\n`
const json = async (query: string) =>
  (await view(`${query}&format=ndjson`))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

describe('a log of a container', () => {
  it('is its bytes as text', async () => {
    expect(await view('file=cri.log')).toBe(text('cri'))
    expect(await view('file=docker.log')).toBe(text('docker'))
  })
  it('has a stack trace over many lines as one record', async () => {
    expect(await view('file=cri.log&level=error')).toBe(lines('cri', 1, 4))
    expect(await view('file=docker.log&level=error')).toBe(lines('docker', 1, 4))
  })
  it('is filtered by the times inside', async () => {
    expect(await view('file=cri.log&since=2026-11-15T02:10:02&until=2026-11-15T02:10:02.1')).toBe(
      lines('cri', 4, 6),
    )
  })
  it('is searched in the text inside: no key of the wrapper, no escape, no border between two parts', async () => {
    expect(await view('file=docker.log&q=stream')).toBe('')
    expect(await view('file=docker.log&q=it+%22broke%22')).toBe(lines('docker', 1, 4))
    expect(await view('file=docker.log&q=%3Cnil%3E')).toBe(lines('docker', 1, 4))
    expect(await view('file=docker.log&q=line+in+two+parts')).toBe(lines('docker', 4, 6))
    expect(await view('file=cri.log&regex=in+two+parts')).toBe(lines('cri', 4, 6))
    expect(await view('file=cri.log&q=stderr')).toBe('')
  })
  it('is taken apart as the lines inside', async () => {
    expect(await json('file=docker.log&lines=1')).toEqual([
      {
        time: '2026-11-15T02:10:02.000Z',
        level: 'warn',
        source: { file: 'broker/runtime.go', line: 3 },
        tags: ['Broker'],
        message: 'a long line in two parts',
      },
    ])
    expect(await json('file=plain.log')).toEqual([
      { time: '2026-11-15T02:10:00.123457Z', message: 'Listening on port 80' },
      { time: '2026-11-15T02:10:01.123457Z', message: 'bye' },
    ])
  })
  it('has its levels in the histogram', async () => {
    const response = await app.request('/api/v1/log/histogram?file=cri.log&buckets=1')
    const { levels, buckets } = (await response.json()) as {
      levels: string[]
      buckets: { counts: number[] }[]
    }
    expect(levels.map((level, i) => [level, buckets[0]!.counts[i]])).toEqual([
      ['debug', 0],
      ['info', 1],
      ['warn', 1],
      ['error', 1],
      ['fatal', 0],
      ['none', 0],
    ])
  })
})
