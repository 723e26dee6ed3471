import { describe, expect, it } from 'vitest'
import { loki } from '../../../src/doors/loki.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { constructs } from './constructs.ts'

const START = Date.UTC(2026, 10, 15, 2)
const at = (i: number) => new Date(START + i * 1000).toISOString()
const USERS = ['ann', 'bob', 'cy']

interface Row {
  line: string
  level?: string
  user?: string
  cost?: unknown
  took?: string
  size?: string
}
const row = (i: number, more: Omit<Row, 'line'>): Row => {
  const fields = { time: at(i), ...more, disk: { id: `d${i % 2}`, tags: ['a'] }, none: null }
  return { ...more, line: JSON.stringify(fields) }
}
const ROWS: Row[] = Array.from({ length: 60 }, (_, i) =>
  row(i, {
    level: ['info', 'warn'][i % 2]!,
    ...(i % 10 !== 9 && { user: USERS[i % 3]! }),
    ...(i % 7 !== 6 && { cost: i }),
    took: `${i * 50}ms`,
    size: `${i}KB`,
  }),
)
const BROKEN = `{"time":"${at(60)}","level":"error","user":"dan","cost":}`
const TEXT = row(61, { level: 'warn', cost: 'n/a' })

const app = createApp({
  logs: memoryStore({
    'good.log': ROWS.map(({ line }) => `${line}\n`).join(''),
    'bad.log': `${ROWS.map(({ line }) => `${line}\n`).join('')}${BROKEN}\n${TEXT.line}\n`,
    'pairs.log': ROWS.map(
      ({ cost, user }, i) => `time=${at(i)} level=info cost=${cost ?? 0} user=${user ?? ''}\n`,
    ).join(''),
    'stack.log': `${at(0).replace('T', ' ').slice(0, 23)} ERROR failed\n\tat sync\n\tat end\n`,
    'plain.txt': 'no times here\n',
  }),
  config: '',
  node: { hostName: 'db-4' },
  loki,
})

async function get(path: string, params: Record<string, string>) {
  const response = await app.request(`/loki/api/v1/${path}?${new URLSearchParams(params)}`)
  return { status: response.status, text: await response.text() }
}
interface Result {
  stream: Record<string, string>
  metric: Record<string, string>
  value: [number, string]
  values: [string, string][]
}
async function ask(path: string, params: Record<string, string>): Promise<Result[]> {
  const { status, text } = await get(path, params)
  expect(status, text).toBe(200)
  return JSON.parse(text).data.result
}
const RANGE = {
  start: `${START}000000`,
  end: `${START + 100_000}000000`,
  limit: '5000',
  direction: 'forward',
}
const streams = (query: string) => ask('query_range', { query, ...RANGE })
async function lines(query: string): Promise<string[]> {
  const values = (await streams(query)).flatMap((stream) => stream.values)
  return values.sort((a, b) => Number(BigInt(a[0]) - BigInt(b[0]))).map(([, line]) => line)
}
async function vector(query: string, time = START + 100_000): Promise<Record<string, number>> {
  const found = await ask('query', { query, time: `${time}000000` })
  return Object.fromEntries(
    found.map(({ metric, value }) => [Object.values(metric).join() || '{}', Number(value[1])]),
  )
}
function counted(rows: Row[], key: keyof Row): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const each of rows) {
    const name = String(each[key] ?? '{}')
    sums[name] = (sums[name] ?? 0) + 1
  }
  return sums
}

describe('fields', () => {
  it('are labels after a parser, under the names that Loki gives them', async () => {
    const [first] = await streams('{file="good.log"} | json | cost = 3')
    expect(first!.stream).toEqual({
      node: 'db-4',
      file: 'good.log',
      level: 'warn',
      level_extracted: 'warn',
      time: at(3),
      user: 'ann',
      cost: '3',
      took: '150ms',
      size: '3KB',
      disk_id: 'd1',
    })
  })

  it('do not exist before it', async () => {
    expect(await lines('{file="good.log"} | user="ann"')).toEqual([])
    expect(await lines('{file="good.log"} | cost > 1 | json')).toEqual([])
    expect(await lines('{file="good.log"} | user="" | json')).toHaveLength(60)
  })

  it.each<[string, (row: Row) => boolean]>([
    ['cost > 44', ({ cost }) => Number(cost) > 44],
    ['cost >= 44', ({ cost }) => Number(cost) >= 44],
    ['cost < 9.5', ({ cost }) => Number(cost) < 9.5],
    ['cost <= -1', () => false],
    ['cost == 5.0', ({ cost }) => cost === 5],
    ['cost != 5', ({ cost }) => cost !== undefined && cost !== 5],
    ['cost="5"', ({ cost }) => cost === 5],
    ['cost!="5"', ({ cost }) => cost !== 5],
    ['took > 1.5s', ({ took }) => Number.parseInt(took!, 10) > 1500],
    ['took > 0s', ({ took }) => took !== '0ms'],
    ['took <= 1s500ms', ({ took }) => Number.parseInt(took!, 10) <= 1500],
    [
      'size >= 10KB and size < 0.02MB',
      ({ size }) => Number.parseInt(size!, 10) >= 10 && Number.parseInt(size!, 10) < 20,
    ],
    ['size < 10KiB', ({ size }) => Number.parseInt(size!, 10) <= 10],
    ['user=~"a.*|bob"', ({ user }) => user === 'ann' || user === 'bob'],
    ['user=~"a"', () => false],
    ['user!~"a.*"', ({ user }) => user !== 'ann'],
    ['user=""', ({ user }) => user === undefined],
    ['user="ann" or cost > 44', ({ user, cost }) => user === 'ann' || Number(cost) > 44],
    [
      '(user="ann" or cost > 44) and level="warn"',
      ({ user, cost, level }) => (user === 'ann' || Number(cost) > 44) && level === 'warn',
    ],
    [
      'user="ann", cost < 10 | level="info"',
      ({ user, cost, level }) => user === 'ann' && Number(cost) < 10 && level === 'info',
    ],
    ['disk_id="d1" != "cy"', ({ line, user }) => line.includes('"d1"') && user !== 'cy'],
    ['level_extracted="warn"', ({ level }) => level === 'warn'],
  ])('are compared: %s', async (condition, keep) => {
    const wanted = ROWS.filter(keep).map(({ line }) => line)
    expect(await lines(`{file="good.log"} | json | ${condition}`)).toEqual(wanted)
  })

  it('are compared in logfmt', async () => {
    const found = await lines('{file="pairs.log"} | logfmt | cost > 44 | user="bob"')
    expect(found).toHaveLength(ROWS.filter(({ cost, user }) => Number(cost) > 44 && user === 'bob').length)
    expect(found.every((line) => line.includes('user=bob'))).toBe(true)
  })
})

describe('errors', () => {
  it('mark records that are not JSON', async () => {
    expect(await lines('{file="bad.log"} | json | __error__="JSONParserErr"')).toEqual([BROKEN])
    expect(await lines('{file="bad.log"} | json | __error__=""')).toHaveLength(61)
    expect(await lines('{file="good.log"} | json | __error__!=""')).toEqual([])
    const [stream] = await streams('{file="bad.log"} |= "dan" | json')
    expect(stream!.stream).toMatchObject({ __error__: 'JSONParserErr', user: 'dan' })
  })

  it('mark values that are no numbers, and let them pass', async () => {
    const query = '{file="bad.log"} | json | cost > 57'
    expect(await lines(query)).toEqual([ROWS[58]!.line, ROWS[59]!.line, TEXT.line])
    expect(await lines(`${query} | __error__=""`)).toEqual([ROWS[58]!.line, ROWS[59]!.line])
    expect(await lines(`${query} | __error__="LabelFilterErr"`)).toEqual([TEXT.line])
  })

  it('refuse a count unless it leaves them out', async () => {
    const time = `${START + 100_000}000000`
    const refused = await get('query', {
      query: 'sum by (user) (count_over_time({file="bad.log"} | json [2h]))',
      time,
    })
    expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('JSONParserErr') })
    expect(
      await vector('sum by (user) (count_over_time({file="bad.log"} | json | __error__="" [2h]))'),
    ).toEqual(counted([...ROWS, TEXT], 'user'))
    expect(await vector('sum(count_over_time({file="bad.log"} | json [2h]))')).toEqual({ '{}': 62 })
    expect(
      await vector('sum by (level) (count_over_time({file="bad.log"} | json | drop __error__ [2h]))'),
    ).toEqual({
      info: 30,
      warn: 31,
      error: 1,
    })
  })
})

describe('drop and keep', () => {
  it('change the labels', async () => {
    const one = await streams('{file="good.log"} | drop level')
    expect(one.map(({ stream }) => stream)).toEqual([{ file: 'good.log', node: 'db-4' }])
    const kept = await streams('{file="good.log"} | json | keep user, level="warn"')
    expect(new Set(kept.map(({ stream }) => Object.keys(stream).join()))).toEqual(
      new Set(['user', 'level,user', 'level']),
    )
    const dropped = await streams('{file="good.log"} | drop level="warn"')
    expect(dropped.map(({ stream }) => stream.level)).toEqual(['info', undefined])
  })

  it('work in their order', async () => {
    expect(await lines('{file="good.log"} | drop level | level="warn"')).toEqual([])
    expect(await lines('{file="good.log"} | level="warn" | drop level')).toHaveLength(30)
    expect(await lines('{file="good.log"} | drop user | json | user="ann" | file="good.log"')).toHaveLength(
      ROWS.filter(({ user }) => user === 'ann').length,
    )
  })
})

describe('counts', () => {
  it('are summed by fields', async () => {
    expect(await vector('sum by (user) (count_over_time({file="good.log"} | json [2h]))')).toEqual(
      counted(ROWS, 'user'),
    )
    expect(
      await vector('sum by (user) (count_over_time({file="good.log"} | json | cost > 44 [2h]))'),
    ).toEqual(
      counted(
        ROWS.filter(({ cost }) => Number(cost) > 44),
        'user',
      ),
    )
    expect(await vector('sum by (user) (count_over_time({file="good.log"} [2h]))')).toEqual({ '{}': 60 })
    expect(await vector('sum without (file, node) (count_over_time({file="good.log"} [2h]))')).toEqual({
      info: 30,
      warn: 30,
    })
    expect(await vector('sum(count_over_time({file="good.log"} | json [2h])) by (disk_id)')).toEqual({
      d0: 30,
      d1: 30,
    })
  })

  it('have a series for each set of labels without sum', async () => {
    const found = await ask('query', {
      query: 'count_over_time({file="good.log"} | json | keep user [2h])',
      time: `${START + 100_000}000000`,
    })
    expect(found).toHaveLength(4)
  })

  it('are of bytes, too', async () => {
    const bytes = ROWS.reduce((sum, { line }) => sum + line.length, 0)
    expect(await vector('sum(bytes_over_time({file="good.log"}[2h]))')).toEqual({ '{}': bytes })
    expect(await vector('sum(bytes_rate({file="good.log"}[200s]))')).toEqual({ '{}': bytes / 200 })
  })

  it('are open at the start of a range, closed at its end, and may look ahead', async () => {
    const query = 'sum(count_over_time({file="good.log"}[10s]))'
    expect(await vector(query, START + 20_000)).toEqual({ '{}': 10 })
    expect(await vector(query.replace('[10s]', '[10s] offset 5s'), START + 10_000)).toEqual({ '{}': 6 })
    expect(await vector(query.replace('[10s]', '[10s] offset -5s'), START + 60_000)).toEqual({ '{}': 4 })
    const [series] = await ask('query_range', {
      query: query.replace('[10s]', '[7s]'),
      start: `${START}000000`,
      end: `${START + 70_000}000000`,
      step: '5',
    })
    const wanted = Array.from({ length: 15 }, (_, i) => [
      START / 1000 + i * 5,
      String(ROWS.filter((_, second) => second > i * 5 - 7 && second <= i * 5).length),
    ]).filter(([, count]) => count !== '0')
    expect(series!.values).toEqual(wanted)
  })

  it('refuse more series than Loki allows', async () => {
    const many = Array.from({ length: 501 }, (_, i) =>
      JSON.stringify({ time: at(i), level: 'info', id: `n${i}` }),
    )
    const wide = createApp({ logs: memoryStore({ 'a.log': `${many.join('\n')}\n` }), config: '', loki })
    const query = 'sum by (id) (count_over_time({file="a.log"} | json [2h]))'
    const answer = await wide.request(
      `/loki/api/v1/query?${new URLSearchParams({ query, time: String((START + 3_600_000) / 1000) })}`,
    )
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('at most 500 series')
  })
})

describe('what a client is told', () => {
  it('series are the streams that occur', async () => {
    const { text } = await get('series', { 'match[]': '{file=~".+"}' })
    const level = (file: string, name: string) => ({ file, level: name, node: 'db-4' })
    expect(JSON.parse(text)).toEqual({
      status: 'success',
      data: expect.arrayContaining([
        ...['info', 'warn'].map((name) => level('good.log', name)),
        ...['info', 'warn', 'error'].map((name) => level('bad.log', name)),
        level('pairs.log', 'info'),
        level('stack.log', 'error'),
      ]),
    })
    expect(JSON.parse(text).data).toHaveLength(7)
    const errors = await get('series', { match: '{level=~"error|fatal"}' })
    expect(JSON.parse(errors.text).data.map(({ file }: { file: string }) => file)).toEqual([
      'bad.log',
      'stack.log',
    ])
  })

  it('series have a warning when the logs could not be searched', async () => {
    const logs = memoryStore({ 'a.log': ROWS.map(({ line }) => `${line}\n`.repeat(1000)).join('') })
    const poor = createApp({ logs, config: '', loki, limits: { scanBytes: 65_536 } })
    const body = await (await poor.request('/loki/api/v1/series')).json()
    expect(body.warnings).toEqual([expect.stringContaining('a.log')])
    const broken = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3)
    const damaged = createApp({
      logs: memoryStore({ 'a.log': `${ROWS[0]!.line}\n`, 'b.log.gz': broken }),
      config: '',
      loki,
    })
    const partial = await (await damaged.request('/loki/api/v1/series')).json()
    expect(partial.warnings).toEqual([expect.stringContaining('b.log.gz')])
    expect(partial.data).toHaveLength(1)
  })

  it('statistics count the lines and bytes of what matched', async () => {
    const { text } = await get('query_range', { query: '{file="good.log"} |= "ann"', ...RANGE })
    const wanted = ROWS.filter(({ user }) => user === 'ann')
    expect(JSON.parse(text).data.stats.summary).toMatchObject({
      totalLinesProcessed: wanted.length,
      totalBytesProcessed: wanted.reduce((sum, { line }) => sum + line.length, 0),
      totalEntriesReturned: wanted.length,
    })
  })

  it('a pattern matches at the ends of an entry, not of its lines', async () => {
    expect(await lines('{file="stack.log"} |~ "^\\\\tat"')).toEqual([])
    expect(await lines('{file="stack.log"} |~ "sync$"')).toEqual([])
    expect(await lines('{file="stack.log"} |~ "end$"')).toHaveLength(1)
    expect(await lines('{file="stack.log"} |~ "(?m)sync$"')).toHaveLength(1)
    expect(await lines('{file="stack.log"} |~ "at s.nc"')).toHaveLength(1)
    expect(await lines('{file="stack.log"} |~ "failed.*end"')).toEqual([])
    expect(await lines('{file="stack.log"} |~ "\\\\Aat|end\\\\z"')).toHaveLength(1)
  })

  it('where or stands beside and, there must be brackets', async () => {
    const query = '{file="good.log"} | json | cost > 44 or user="ann" and level="warn"'
    expect(await get('query_range', { query, ...RANGE })).toMatchObject({
      status: 400,
      text: expect.stringContaining('brackets'),
    })
    expect(await lines('{file="good.log"} | json | file="x" or cost > 57')).toHaveLength(2)
    expect(await lines('{file=~".+"} | json | file="stack.log" or cost > 57')).toHaveLength(
      // In two files, and in one a value that is not a number; and in pairs.log.
      2 + 3 + 2 + 1,
    )
  })

  it.each(constructs)('$query', async ({ query, isSupported }) => {
    const { status, text } = await get('query_range', { query, ...RANGE })
    expect(status, text).toBe(isSupported ? 200 : 400)
    if (!isSupported) expect(text).toMatch(/^[^\n]+\n$/)
  })

  it('more than thirty constructs, of either kind', () => {
    expect(constructs.filter(({ isSupported }) => isSupported).length).toBeGreaterThan(20)
    expect(constructs.filter(({ isSupported }) => !isSupported).length).toBeGreaterThan(15)
  })
})
