import { describe, expect, it } from 'vitest'
import { loki } from '../../../src/doors/loki.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'

const START = Date.UTC(2026, 10, 15, 2)
const LEVELS = ['INFO', 'DEBUG', 'WARN', 'ERROR']
/** Three records share each millisecond; one in ten has a stack trace. */
const millisOf = (i: number) => START + Math.floor(i / 3) * 20
const record = (i: number) => {
  const stamp = new Date(millisOf(i)).toISOString().replace('T', ' ').slice(0, 23)
  return `${stamp}\t${LEVELS[i % 4]}\twal.go:${i % 9}\t[Storage]: sync ${i % 5 === 0 ? 'Timeout' : 'ok'}\t{"shard":${i % 7},"disk":{"id":"d${i % 3}"}}${i % 10 === 0 ? '\n\tat sync()' : ''}`
}
const RECORDS = Array.from({ length: 3000 }, (_, i) => record(i))
const END = millisOf(RECORDS.length - 1)
const ns = (millis: number) => `${millis}000000`

const app = createApp({
  logs: memoryStore({
    'broker.log': `${RECORDS.join('\n')}\n`,
    'other.log': `${record(0)}\n${record(1)}\n`,
    'plain.txt': 'no times here\n',
  }),
  config: '',
  node: { hostName: 'db-4' },
  loki,
})

type Streams = { stream: Record<string, string>; values: [string, string][] }[]
async function get(path: string, params: Record<string, string> = {}) {
  const response = await app.request(`/loki/api/v1/${path}?${new URLSearchParams(params)}`)
  const text = await response.text()
  return { status: response.status, text, body: response.status === 200 ? JSON.parse(text) : null }
}
const RANGE = { start: ns(START), end: ns(END + 1), limit: '5000' }
async function lines(query: string, params: Record<string, string> = {}) {
  const { body, text } = await get('query_range', { query, ...RANGE, ...params })
  expect(body, text).not.toBeNull()
  const values = (body.data.result as Streams).flatMap(({ values }) => values)
  const sign = params.direction === 'forward' ? 1n : -1n
  return values.sort((a, b) => Number(sign * (BigInt(a[0]) - BigInt(b[0]))))
}

describe('what there is', () => {
  it('labels, their values and series', async () => {
    expect((await get('labels')).body).toEqual({ status: 'success', data: ['file', 'level', 'node'] })
    expect((await get('label/file/values')).body.data).toEqual(['broker.log', 'other.log', 'plain.txt'])
    expect((await get('label/node/values')).body.data).toEqual(['db-4'])
    expect((await get('label/level/values')).body.data).toEqual(['debug', 'info', 'warn', 'error', 'fatal'])
    expect((await get('label/nothing/values')).body.data).toEqual([])
    for (const name of ['match', 'match[]']) {
      const { body } = await get('series', { [name]: '{file="broker.log",level=~"err.*"}' })
      expect(body.data).toEqual([{ file: 'broker.log', level: 'error', node: 'db-4' }])
    }
  })

  it('the health check of Grafana, the build and the size of a query', async () => {
    const { body } = await get('query', { query: 'vector(1)+vector(1)', time: '4000000000000' })
    expect(body.data).toMatchObject({ resultType: 'vector', result: [{ metric: {}, value: [4000, '2'] }] })
    expect((await get('status/buildinfo')).body.version).toMatch(/^2\.\d+\.\d+/)
    const stats = (await get('index/stats', { query: '{file="broker.log"}' })).body
    expect(stats).toMatchObject({ streams: 1, bytes: RECORDS.join('\n').length + 1 })
  })
})

describe('streams', () => {
  it('are every record of the file, its text as it stands there', async () => {
    const forward = await lines('{file="broker.log"}', { direction: 'forward' })
    expect(forward.map(([, line]) => line)).toEqual(RECORDS)
    const backward = await lines('{file="broker.log"}')
    expect(backward).toEqual([...forward].reverse())
    expect(new Set(forward.map(([at]) => at)).size).toBe(RECORDS.length)
    expect(forward[4]![0]).toBe(String(BigInt(ns(millisOf(4))) + 1n))
  })

  it.each(['forward', 'backward'])(
    'page by time, %s, without losing or repeating a record',
    async (direction) => {
      const seen: string[] = []
      let { start, end } = RANGE
      for (;;) {
        const page = await lines('{file="broker.log"} |= "ok"', { start, end, direction, limit: '100' })
        seen.push(...page.map(([, line]) => line))
        if (page.length < 100) break
        const last = BigInt(page.at(-1)![0])
        if (direction === 'forward') start = String(last + 1n)
        else end = String(last)
      }
      const wanted = RECORDS.filter((line) => line.includes('ok'))
      expect(seen).toEqual(direction === 'forward' ? wanted : wanted.reverse())
    },
  )

  it.each<[string, (line: string, i: number) => boolean]>([
    ['|= "Timeout"', (line) => line.includes('Timeout')],
    ['|= "timeout"', () => false],
    ['!= "Timeout"', (line) => !line.includes('Timeout')],
    ['|~ "wal.go:[12]\\t"', (line) => /wal.go:[12]\t/.test(line)],
    ['!~ `wal.go:[0-7]`', (line) => !/wal.go:[0-7]/.test(line)],
    ['|= "wal.go:1" or "wal.go:2"', (line) => /wal.go:[12]/.test(line)],
    ['|= "at sync"', (_, i) => i % 10 === 0],
    ['| json | shard="3"', (_, i) => i % 7 === 3],
    ['| json | shard!="3" | level="error"', (_, i) => i % 7 !== 3 && i % 4 === 3],
    ['| json | shard == 3, level="error"', (_, i) => i % 7 === 3 && i % 4 === 3],
    ['| json | disk_id="d1"', (_, i) => i % 3 === 1],
    ['| level=~"warn|error" |= "Timeout"', (line, i) => i % 4 > 1 && line.includes('Timeout')],
    ['| nothing="x"', () => false],
  ])('%s', async (stages, keep) => {
    const found = await lines(`{file="broker.log"} ${stages}`, { direction: 'forward' })
    expect(found.map(([, line]) => line)).toEqual(RECORDS.filter(keep))
  })

  it('are labelled by node, file and level', async () => {
    const { body } = await get('query_range', { query: '{node="db-4",level="error"}', ...RANGE })
    const streams = body.data.result as Streams
    expect(streams.map(({ stream }) => stream)).toEqual([
      { file: 'broker.log', level: 'error', node: 'db-4' },
    ])
    expect(streams[0]!.values).toHaveLength(750)
    expect(await lines('{node="db-5"}')).toEqual([])
    expect(await lines('{pod="x"}')).toEqual([])
    const both = await get('query_range', {
      query: '{file=~".+"}',
      ...RANGE,
      limit: '10',
      direction: 'forward',
    })
    const files = (both.body.data.result as Streams).map(({ stream }) => stream.file)
    expect(new Set(files)).toEqual(new Set(['broker.log', 'other.log']))
  })
})

describe('metrics', () => {
  const seconds = (millis: number) => String(millis / 1000)

  it('count records by level, at each step', async () => {
    const step = 2000
    const params = { start: ns(START), end: ns(END + step), step: '2' }
    const { body } = await get('query_range', {
      query: 'sum by (level) (count_over_time({file="broker.log"} |= "ok" [4s]))',
      ...params,
    })
    expect(body.data.resultType).toBe('matrix')
    for (const { metric, values } of body.data.result as {
      metric: { level: string }
      values: [number, string][]
    }[]) {
      for (const [at, value] of values) {
        const wanted = RECORDS.filter(
          (line, i) =>
            millisOf(i) > at * 1000 - 4000 &&
            millisOf(i) <= at * 1000 &&
            line.includes('ok') &&
            LEVELS[i % 4]!.toLowerCase() === metric.level,
        )
        expect([at, metric.level, value]).toEqual([at, metric.level, String(wanted.length)])
      }
    }
    expect(body.data.result).toHaveLength(4)
  })

  it('give rates, sums and instants', async () => {
    const all = { query: 'sum(count_over_time({file="broker.log"}[1h]))', time: seconds(END) }
    expect((await get('query', all)).body.data.result).toEqual([{ metric: {}, value: [END / 1000, '3000'] }])
    const rate = { query: 'sum(rate({file="broker.log"} | level="error" [10s]))', time: seconds(END) }
    const errors = RECORDS.filter((_, i) => i % 4 === 3 && millisOf(i) > END - 10_000).length
    expect((await get('query', rate)).body.data.result[0].value[1]).toBe(String(errors / 10))
    const streams = await get('query', { ...all, query: 'count_over_time({file="broker.log"}[1h])' })
    expect(streams.body.data.result).toHaveLength(4)
  })
})

describe('refusals are a sentence of text', () => {
  it.each([
    ['query_range', { query: '{' }, 400],
    ['query_range', { query: '{file="a"} | line_format "x"' }, 400],
    ['query_range', { query: '{file="a"}', limit: '0' }, 400],
    ['query_range', { query: '{file="a"}', direction: 'up' }, 400],
    ['query_range', { query: '{file="a"}', interval: '5s' }, 400],
    ['query_range', { query: '{file="a"}', start: 'x' }, 400],
    ['query_range', { query: '{file=~"("}' }, 400],
    ['query_range', { query: 'rate({file="a"}[1m])', step: '0.0001' }, 400],
    ['tail', {}, 404],
  ])('%s %j', async (path, params, status) => {
    const answer = await get(path, params as Record<string, string>)
    expect(answer.status).toBe(status)
    expect(answer.text).toMatch(/^[^\n{]+\n$/)
  })

  it('without it, there is no Loki', async () => {
    const plain = createApp({ logs: memoryStore({}), config: '' })
    expect((await plain.request('/loki/api/v1/labels')).status).toBe(501)
  })

  it('needs the token, and the scope logs', async () => {
    const guarded = createApp({
      logs: memoryStore({ 'a.log': '', 'b.log': '' }),
      config: '',
      loki,
      tokens: () => [
        { name: 'metrics', token: 'm'.repeat(20), scopes: ['metrics'] },
        { name: 'a', token: 'a'.repeat(20), files: ['a*'] },
      ],
    })
    const ask = (token: string) =>
      guarded.request('/loki/api/v1/label/file/values', { headers: { Authorization: `Bearer ${token}` } })
    expect((await guarded.request('/loki/api/v1/labels')).status).toBe(401)
    expect((await ask('m'.repeat(20))).status).toBe(403)
    expect(await (await ask('a'.repeat(20))).json()).toEqual({ status: 'success', data: ['a.log'] })
  })
})
