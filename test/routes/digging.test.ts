import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp } from '../support/app.ts'

const LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']
/** 1,000 records, one a second: levels, shards and messages in turn. */
const line = (i: number) => {
  const time = new Date(Date.UTC(2026, 10, 15, 2) + i * 1000).toISOString()
  const text = i % 10 === 0 ? `heartbeat from 10.0.0.${i}` : `query ${i} took ${i * 3} ms`
  return `${time.slice(0, 10)} ${time.slice(11, 23)}\t${LEVELS[i % 5]}\tbroker/x.go:${i % 3}\t[Broker] [Query]: ${text}\t{"shard":${i % 20},"user":"u${i % 2}"}\n`
}
const LINES = Array.from({ length: 1000 }, (_, i) => line(i))
const app = createApp({
  logs: memoryStore({ 'a.log': LINES.join(''), 'plain.log': 'one\ntwo\nthree\n', 'empty.log': '' }),
  config: '',
})
const ask = (path: string) => app.request(`/api/v1/log/${path}`)
async function view(query: string): Promise<string> {
  const response = await ask(`view?file=a.log&${query}`)
  expect(response.status, query).toBe(200)
  return response.text()
}
const chosen = (test: (i: number) => boolean) => LINES.filter((_, i) => test(i)).join('')

describe('filters', () => {
  it('leave out what not and notregex name, each of them', async () => {
    expect(await view('not=heartbeat')).toBe(chosen((i) => i % 10 !== 0))
    expect(await view('not=heartbeat&not=u1')).toBe(chosen((i) => i % 10 !== 0 && i % 2 === 0))
    expect(await view('not=HEARTBEAT')).toBe(chosen(() => true))
    expect(await view('notregex=took+%5Cd%2B+ms')).toBe(chosen((i) => i % 10 === 0))
    expect(await view('q=took&not=INFO')).toBe(chosen((i) => i % 10 !== 0 && i % 5 !== 1))
  })
  it('q and regex given more than once must all match', async () => {
    expect(await view('q=query&q=u1&regex=shard%22%3A7%2C')).toBe(chosen((i) => i % 20 === 7))
  })
  it('choose by a field', async () => {
    expect(await view('where=shard:7')).toBe(chosen((i) => i % 20 === 7))
    expect(await view('where=!shard:7&where=user:u1')).toBe(chosen((i) => i % 20 !== 7 && i % 2 === 1))
    expect(await view('where=source:broker/x.go:2&where=level:error')).toBe(
      chosen((i) => i % 3 === 2 && i % 5 === 3),
    )
    expect(await view('where=tag:Query&lines=1')).toBe(LINES[999])
    expect(await view('where=shard:*')).toBe(LINES.join(''))
    expect(await view('where=shard~1?&where=!user~*1')).toBe(chosen((i) => i % 20 >= 10 && i % 2 === 0))
    expect(await view('where=source~broker/*:2&lines=1')).toBe(LINES[998])
  })
  it('say when a log has no such field', async () => {
    const unknown = await ask('view?file=a.log&where=planet:mars')
    expect([await unknown.text(), unknown.headers.get('X-Nodestate-Note')]).toEqual(['', 'unknown-field'])
    const glob = await ask('view?file=a.log&where=planet~m*')
    expect(glob.headers.get('X-Nodestate-Note')).toBe('unknown-field')
    const none = await ask('view?file=a.log&where=shard:99')
    expect([await none.text(), none.headers.get('X-Nodestate-Note')]).toEqual(['', null])
    expect(await view('where=!planet:mars&lines=1')).toBe(LINES[999])
    const plain = await ask('view?file=plain.log&where=planet:mars')
    expect([plain.status, await plain.text(), plain.headers.get('X-Nodestate-Note')]).toEqual([
      200,
      '',
      'unknown-field',
    ])
  })
  it.each(['where=shard', 'where=:x', 'level==', 'level==warn,loud', 'level=loud'])(
    '%s is a 400',
    async (query) => {
      const response = await ask(`view?file=a.log&${query}`)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ type: '/problems/bad-parameter' })
    },
  )
  it('choose exactly the levels behind =', async () => {
    expect(await view('level=error')).toBe(chosen((i) => i % 5 >= 3))
    expect(await view('level==warn')).toBe(chosen((i) => i % 5 === 2))
    expect(await view('level==warn,fatal')).toBe(chosen((i) => i % 5 === 2 || i % 5 === 4))
    expect(await view('level=%3Ddebug')).toBe(chosen((i) => i % 5 === 0))
  })
  it('hold for the histogram, the follow and all pages', async () => {
    const histogram = await (
      await ask('histogram?file=a.log&level==warn,fatal&not=heartbeat&buckets=1')
    ).json()
    const { levels, buckets } = histogram as { levels: string[]; buckets: { counts: number[] }[] }
    expect(Object.fromEntries(levels.map((level, i) => [level, buckets[0]!.counts[i]]))).toMatchObject({
      debug: 0,
      warn: 200,
      error: 0,
      fatal: 200,
    })
    let url: string | null = 'view?file=a.log&where=user:u1&not=WARN&level==warn,error&lines=50'
    let all = ''
    while (url) {
      const response = await ask(url)
      all = (await response.text()) + all
      const prev: RegExpExecArray | null = /<([^>]*)>; rel="prev"/.exec(response.headers.get('Link') ?? '')
      url = prev && `view${prev[1]}`
    }
    expect(all).toBe(chosen((i) => i % 2 === 1 && i % 5 === 3))
  })
})

describe('first', () => {
  it('gives the first lines after since, or from the start', async () => {
    expect(await view('first=3')).toBe(LINES.slice(0, 3).join(''))
    expect(await view('first=2&since=2026-11-15T02:10:00Z')).toBe(LINES.slice(600, 602).join(''))
    expect(await view('first=2&since=2026-11-15T02:10:00Z&level=fatal')).toBe(LINES[604]! + LINES[609])
    expect(await view('first=2&q=heartbeat&format=ndjson')).toMatch(
      /^\{.*from 10\.0\.0\.0".*\}\n\{.*0\.10".*\}\n$/,
    )
  })
  it('goes on by next, and back by prev', async () => {
    const one = await ask('view?file=a.log&first=3&since=2026-11-15T02:10:00Z')
    const next = /<([^>]*)>; rel="next"/.exec(one.headers.get('Link')!)![1]
    const two = await ask(`view${next}`)
    expect(await two.text()).toBe(LINES.slice(603, 606).join(''))
    const prev = /<([^>]*)>; rel="prev"/.exec(two.headers.get('Link')!)![1]
    expect(await (await ask(`view${prev}`)).text()).toBe(LINES.slice(600, 603).join(''))
  })
  it('and lines together are a 400', async () => {
    expect((await ask('view?file=a.log&first=3&lines=3')).status).toBe(400)
  })
  it('of an empty log is empty', async () => {
    const response = await ask('view?file=empty.log&first=3')
    expect([response.status, await response.text()]).toEqual([200, ''])
  })
})

it('raw=true gives each JSON record its text, too', async () => {
  const text = await view('lines=2&format=ndjson&raw=true')
  const records = text
    .trimEnd()
    .split('\n')
    .map((record) => JSON.parse(record))
  expect(records.map(({ raw }) => `${raw}\n`).join('')).toBe(LINES[998]! + LINES[999])
  expect(records[1]).toMatchObject({ level: 'fatal', context: { shard: 19 } })
})

describe('step', () => {
  const chart = async (query: string) => {
    const response = await ask(`histogram?file=a.log&${query}`)
    expect(response.status, query).toBe(200)
    return (await response.json()) as { step: number; buckets: { time: number; counts: number[] }[] }
  }
  it.each([
    ['40s', 40_000],
    ['40000', 40_000],
    ['5m', 300_000],
  ])('%s is the width of a bucket', async (text, step) => {
    const { step: got, buckets } = await chart(`step=${text}`)
    expect(got).toBe(step)
    expect(buckets).toHaveLength(Math.ceil(1_000_000 / step))
    expect(buckets[0]!.counts.reduce((sum, count) => sum + count)).toBe(step / 1000)
  })
  it.each(['0', 'x', '-5s', '0.5ms', '1ms'])('%s is a 400', async (text) => {
    const response = await ask(`histogram?file=a.log&step=${text}`)
    expect(response.status).toBe(400)
    expect(((await response.json()) as { detail: string }).detail).toMatch(/step/)
  })
})

describe('fields', () => {
  interface Fields {
    records: number
    sampled: boolean
    fields: { name: string; count: number; values: { value: string; count: number }[]; numbers?: object }[]
    patterns: {
      pattern: string
      count: number
      level: string | null
      first: string
      last: string
      over: number[]
    }[]
  }
  const fields = async (query: string) => {
    const response = await ask(`fields?file=a.log&${query}`)
    expect(response.status, query).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('application/json')
    return (await response.json()) as Fields
  }
  it('are counted with their values', async () => {
    const { records, sampled, fields: all } = await fields('')
    expect([records, sampled]).toEqual([1000, false])
    expect(all.map(({ name, count }) => [name, count])).toEqual([
      ['level', 1000],
      ['shard', 1000],
      ['source', 1000],
      ['tag', 1000],
      ['user', 1000],
    ])
    expect(all.find(({ name }) => name === 'level')!.values).toHaveLength(5)
    expect(all.find(({ name }) => name === 'shard')!.values).toHaveLength(10)
    expect(all.find(({ name }) => name === 'user')!.values).toEqual([
      { value: 'u0', count: 500 },
      { value: 'u1', count: 500 },
    ])
  })
  it('that are numbers have their distribution, in ms or in bytes where they have a unit', async () => {
    const mixed = Array.from({ length: 100 }, (_, i) =>
      JSON.stringify({
        time: '2026-11-15T02:00:00Z',
        level: 'info',
        msg: 'x',
        took: i < 50 ? `${i + 1}ms` : `${(i + 1) / 1000}s`,
        size: i,
        ratio: -i,
        sent: i % 3 === 0 ? '-' : '2KB',
        half: i % 2 === 0 ? 'none' : i,
        name: `n${i}`,
        huge: '1e999',
      }),
    )
    const one = createApp({ logs: memoryStore({ 'b.log': `${mixed.join('\n')}\n` }), config: '' })
    const got = (await (await one.request('/api/v1/log/fields?file=b.log')).json()) as Fields
    const numbers = Object.fromEntries(got.fields.map(({ name, numbers }) => [name, numbers]))
    expect(numbers).toEqual({
      level: undefined,
      took: {
        count: 100,
        min: 1,
        median: expect.closeTo(50, 0),
        p95: expect.closeTo(95, 0),
        max: 100,
        unit: 'ms',
      },
      size: {
        count: 100,
        min: 0,
        median: expect.closeTo(49, 0),
        p95: expect.closeTo(94, 0),
        max: 99,
        unit: 'bytes',
      },
      ratio: { count: 100, min: -99, median: expect.closeTo(-50, 0), p95: -5, max: 0, unit: null },
      sent: { count: 66, min: 2000, median: 2000, p95: 2000, max: 2000, unit: 'bytes' },
      half: undefined,
      name: undefined,
      huge: undefined,
    })
  })
  it('each value finds as many records as it says', async () => {
    const { fields: all } = await fields('level=warn')
    for (const { name, values } of all)
      for (const { value, count } of values.slice(0, 2)) {
        const found = await view(`level=warn&where=${encodeURIComponent(`${name}:${value}`)}`)
        expect(found.split('\n').length - 1, `${name}:${value}`).toBe(count)
      }
  })
  it('come with the patterns of messages', async () => {
    const { patterns } = await fields('level=warn')
    const shown = patterns.map(({ pattern, count, level }) => [pattern, count, level])
    expect(shown).toContainEqual(['query <*> took <*> ms', 200, 'warn'])
    expect(shown).toContainEqual(['query <*> took <*> ms', 200, 'fatal'])
    expect(patterns[0]).toMatchObject({ first: expect.any(String), last: expect.any(String) })
    const heartbeat = (await fields('q=heartbeat')).patterns
    expect(heartbeat).toEqual([
      {
        pattern: 'heartbeat from <*>',
        example: 'heartbeat from 10.0.0.0',
        count: 100,
        level: 'debug',
        first: '2026-11-15T02:00:00.000Z',
        last: '2026-11-15T02:16:30.000Z',
        over: expect.any(Array),
      },
    ])
    expect(heartbeat[0]!.over.reduce((sum, count) => sum + count, 0)).toBe(100)
  })
  it('are those of the newest records that the filters choose', async () => {
    const some = await fields('where=shard:7&since=2026-11-15T02:10:00Z')
    expect(some.records).toBe(20)
    expect(some.fields.find(({ name }) => name === 'shard')!.values).toEqual([{ value: '7', count: 20 }])
  })
  it('of a long log are a sample, and say so', async () => {
    const text = Array.from({ length: 12_000 }, (_, i) => line(i)).join('')
    const long = createApp({ logs: memoryStore({ 'b.log': text }), config: '' })
    const got = (await (await long.request('/api/v1/log/fields?file=b.log')).json()) as Fields
    expect([got.records, got.sampled]).toEqual([10_000, true])
  })
  it('of an empty log and of plain text are none', async () => {
    const empty = await (await ask('fields?file=empty.log')).json()
    expect(empty).toEqual({ records: 0, sampled: false, complete: true, fields: [], patterns: [] })
    const plain = (await (await ask('fields?file=plain.log')).json()) as Fields
    expect(plain).toMatchObject({ records: 3, fields: [] })
  })
  it.each([
    'since=2026-11-15T03:00:00Z',
    'since=2026-11-15T02:05:00Z&until=2026-11-15T02:04:00Z',
    'until=1970-01-01',
  ])('of a time without records (%s) are none', async (range) => {
    for (const filter of ['', '&level=error', '&q=query'])
      expect(await fields(range + filter)).toMatchObject({ records: 0, fields: [], patterns: [] })
  })
  it('are not sent again to a client that knows them', async () => {
    const first = await ask('fields?file=a.log')
    const etag = first.headers.get('ETag')!
    const again = await app.request('/api/v1/log/fields?file=a.log', { headers: { 'If-None-Match': etag } })
    expect(again.status).toBe(304)
  })
  it('need a file', async () => {
    expect((await ask('fields')).status).toBe(400)
    expect((await ask('fields?file=nothing.log')).status).toBe(404)
  })
})
