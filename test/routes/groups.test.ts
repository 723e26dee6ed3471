import { describe, expect, it } from 'vitest'
import type { LogGroup, LogGroups } from '../../src/kit/answers.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp, createFleet } from '../support/app.ts'
import { NODE_JSON } from '../support/node.ts'
import { fractions } from '../support/random.mjs'

const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const

interface Made {
  time: number
  level: (typeof LEVELS)[number]
  path: string | null
  took: number | null
  tags: string[]
}

/** The same records in three formats: how a field is written must not matter. */
const FORMATS: Record<string, (record: Made) => string> = {
  json: ({ time, level, path, took, tags }) =>
    `${JSON.stringify({ time: new Date(time).toISOString(), level, logger: tags[0], msg: 'done', path: path ?? undefined, took: took === null ? 'never' : `${took}ms` })}\n`,
  logfmt: ({ time, level, path, took }) =>
    `time=${new Date(time).toISOString()} level=${level} msg=done${path === null ? '' : ` path="${path}"`}${took === null ? '' : ` took=${took / 1000}s`}\n`,
  lindb: ({ time, level, path, took, tags }) =>
    `${new Date(time).toISOString().replace('T', ' ').slice(0, 23)}\t${level.toUpperCase()}\ta/b.go:7\t${tags.map((tag) => `[${tag}]`).join(' ')}: done\n  at a continuation\t${JSON.stringify({ ...(path !== null && { path }), took: took === null ? null : `${took}ms` })}\n`,
}

function madeOf(seed: number, count: number): Made[] {
  const random = fractions(seed)
  return Array.from({ length: count }, (_, i) => ({
    time: Date.UTC(2026, 10, 15, 2) + i * 100,
    level: LEVELS[Math.floor(random() ** 2 * 5)]!,
    path: random() < 0.1 ? null : `/api/${Math.floor(random() ** 3 * 40)}`,
    took: random() < 0.2 ? null : Math.round(Math.exp(random() * 10)),
    tags: random() < 0.5 ? ['A'] : ['A', 'B'],
  }))
}

/** The plain way: everything in memory, and exact. */
function expectedOf(records: readonly Made[], sort: keyof LogGroup, hasNumbers: boolean): LogGroup[] {
  const values = [...new Set(records.flatMap(({ path }) => path ?? []))]
  const groups = values.map((value) => {
    const own = records.filter(({ path }) => path === value)
    const errors = own.filter(({ level }) => level === 'error' || level === 'fatal').length
    const took = own.flatMap(({ took }) => took ?? []).sort((a, b) => a - b)
    const at = (share: number) => took[Math.ceil(share * took.length) - 1] ?? null
    const numbers = { min: took[0] ?? null, median: at(0.5), p95: at(0.95), max: took.at(-1) ?? null }
    return { value, count: own.length, errors, ...(hasNumbers && numbers) }
  })
  const rank = (group: LogGroup) => (group[sort] as number | null) ?? -1
  return groups.sort((a, b) => rank(b) - rank(a) || (a.value < b.value ? -1 : 1))
}

const isNear = (actual: number | null | undefined, exact: number | null | undefined) =>
  actual === exact || (actual != null && exact != null && Math.abs(actual - exact) <= 0.02 * exact)

function compare(actual: readonly LogGroup[], expected: readonly LogGroup[], sort: keyof LogGroup) {
  const isExact = sort === 'count' || sort === 'errors' || sort === 'max'
  if (isExact) expect(actual.map(({ value }) => value)).toEqual(expected.map(({ value }) => value))
  for (const [i, group] of actual.entries()) {
    const { median, p95, ...exact } = expected.find(({ value }) => value === group.value)!
    expect(group).toMatchObject(exact)
    expect(isNear(group.median, median), `median ${group.median}, ${median}`).toBe(true)
    expect(isNear(group.p95, p95), `p95 ${group.p95}, ${p95}`).toBe(true)
    expect(isNear(group[sort] as number, expected[i]![sort] as number)).toBe(true)
  }
}

const made = madeOf(1, 1000)
const files = Object.fromEntries(
  Object.entries(FORMATS).map(([name, write]) => [`${name}.log`, made.map(write).join('')]),
)
const second = madeOf(2, 300)
const app = createApp({
  logs: memoryStore({
    ...files,
    'second.log': second.map(FORMATS.json!).join(''),
    'plain.txt': 'took=5ms path=/a\ntook=7ms path=/b\ntook=9ms path=/b\nnothing\n',
    'empty.log': '',
  }),
  config: '',
})

async function ask(query: string, from: Pick<typeof app, 'request'> = app) {
  const response = await from.request(`/api/v1/log/groups?${query}`)
  return { response, body: (await response.json()) as LogGroups & { detail?: string } }
}

describe.each(Object.keys(FORMATS))('groups of %s', (name) => {
  it.each(['count', 'errors', 'median', 'p95', 'max'] as const)(
    'by %s are those of a plain count',
    async (sort) => {
      const { response, body } = await ask(`file=${name}.log&by=path&of=took&sort=${sort}&limit=1000`)
      expect(response.status).toBe(200)
      const { groups, ...rest } = body
      const records = made.filter(({ path }) => path !== null).length
      expect(rest).toEqual({ by: 'path', of: 'took', unit: 'ms', records, complete: true })
      expect(response.headers.get('X-Nodestate-Note')).toBe(null)
      const expected = expectedOf(made, sort, true)
      expect(groups.length).toBe(expected.length)
      compare(groups, expected, sort)
    },
  )

  it.each<[query: string, isWanted: (record: Made) => boolean]>([
    ['level=warn', ({ level }) => LEVELS.indexOf(level) >= 2],
    ['level==info,fatal', ({ level }) => level === 'info' || level === 'fatal'],
    ['where=path~/api/1*', ({ path }) => path?.startsWith('/api/1') ?? false],
    ['where=took>100ms&where=!path:/api/0', ({ took, path }) => (took ?? 0) > 100 && path !== '/api/0'],
    [
      'since=2026-11-15T02:01:00Z&until=2026-11-15T02:01:20Z',
      ({ time }) => time >= Date.UTC(2026, 10, 15, 2, 1) && time < Date.UTC(2026, 10, 15, 2, 1, 20),
    ],
    [
      'since=2026-11-15T02:01:10Z&level=error',
      ({ time, level }) => time >= Date.UTC(2026, 10, 15, 2, 1, 10) && LEVELS.indexOf(level) >= 3,
    ],
    ['q=nowhere', () => false],
  ])('with %s have exactly these records', async (query, isWanted) => {
    const { body } = await ask(`file=${name}.log&by=path&of=took&limit=1000&${query}`)
    const chosen = made.filter(isWanted)
    expect(body.records).toBe(chosen.filter(({ path }) => path !== null).length)
    compare(body.groups, expectedOf(chosen, 'count', true), 'count')
  })
})

describe('groups', () => {
  it('have no numbers without of, and the rest in other', async () => {
    const { response, body } = await ask('file=json.log&by=path&limit=3')
    const expected = expectedOf(made, 'count', false)
    const rest = expected.slice(3)
    expect(body).toEqual({
      by: 'path',
      of: null,
      unit: null,
      records: expected.reduce((sum, { count }) => sum + count, 0),
      complete: true,
      groups: expected.slice(0, 3),
      other: {
        count: rest.reduce((sum, { count }) => sum + count, 0),
        errors: rest.reduce((sum, { errors }) => sum + errors, 0),
      },
    })
    expect(response.headers.get('X-Nodestate-Note')).toBe(null)
  })
  it('have 20 groups unless told otherwise', async () => {
    expect((await ask('file=json.log&by=path')).body.groups.length).toBe(20)
  })
  it('count a record in the group of each of its tags', async () => {
    const { body } = await ask('file=lindb.log&by=tag')
    const both = made.filter(({ tags }) => tags.length === 2).length
    expect(body.groups.map(({ value, count }) => [value, count])).toEqual([
      ['A', 1000],
      ['B', both],
    ])
    expect(body.records).toBe(1000)
  })
  it('are by level, source and message, too', async () => {
    const { body } = await ask('file=lindb.log&by=level')
    expect(new Map(body.groups.map(({ value, errors }) => [value, errors > 0]))).toEqual(
      new Map(LEVELS.map((level) => [level, level === 'error' || level === 'fatal'])),
    )
    const source = (await ask('file=lindb.log&by=source')).body
    expect(source.groups).toMatchObject([{ value: 'a/b.go:7', count: 1000 }])
    const message = (await ask('file=json.log&by=message')).body
    expect(message.groups).toMatchObject([{ value: 'done', count: 1000 }])
  })
  it('of a log without times and levels', async () => {
    const { body } = await ask('file=plain.txt&by=path&of=took&sort=p95')
    expect(body).toEqual({
      by: 'path',
      of: 'took',
      unit: 'ms',
      records: 3,
      complete: true,
      groups: [
        { value: '/b', count: 2, errors: 0, min: 7, median: 7, p95: 9, max: 9 },
        { value: '/a', count: 1, errors: 0, min: 5, median: 5, p95: 5, max: 5 },
      ],
    })
    for (const [query, code] of [
      ['since=1h', 'no-time'],
      ['level=warn', 'no-level'],
    ]) {
      const { response, body } = await ask(`file=plain.txt&by=path&${query}`)
      expect([response.status, body]).toMatchObject([400, { type: `/problems/${code}` }])
    }
  })
  it('of an empty log are none', async () => {
    const { response, body } = await ask('file=empty.log&by=path&of=took')
    expect(body).toEqual({ by: 'path', of: 'took', unit: null, records: 0, complete: true, groups: [] })
    expect(response.headers.get('X-Nodestate-Note')).toBe(null)
  })
  it('say that no record has the field', async () => {
    for (const query of ['by=pth', 'by=path&of=tok']) {
      const { response } = await ask(`file=json.log&${query}`)
      expect([response.status, response.headers.get('X-Nodestate-Note')]).toEqual([200, 'unknown-field'])
    }
  })
  it('say that the budget ran out', async () => {
    const short = createApp({
      logs: memoryStore({ 'a.log': made.map(FORMATS.json!).join('').repeat(15) }),
      config: '',
      limits: { scanBytes: 300_000 },
    })
    const { response, body } = await ask('file=a.log&by=path', short)
    expect(body.complete).toBe(false)
    expect(body.records).toBeGreaterThan(0)
    expect(body.records).toBeLessThan(made.length * 15)
    expect(response.headers.get('X-Nodestate-Note')).toBe('scan-budget')
    expect(response.headers.get('ETag')).toBe(null)
  })
  it('say that there are more values than they keep', async () => {
    const lines = Array.from(
      { length: 12_000 },
      (_, i) => `{"time":"2026-11-15T02:00:00Z","level":"info","msg":"x","id":${i}}\n`,
    )
    const wide = createApp({ logs: memoryStore({ 'a.log': lines.join('') }), config: '' })
    const { response, body } = await ask('file=a.log&by=id&limit=1000', wide)
    expect([body.records, body.complete, body.other]).toEqual([12_000, true, { count: 11_000, errors: 0 }])
    expect(response.headers.get('X-Nodestate-Note')).toBe('groups-cut')
  })
  it('are not sent again to a client that knows them', async () => {
    const path = '/api/v1/log/groups?file=json.log&by=path'
    const etag = (await app.request(path)).headers.get('ETag')!
    expect((await app.request(path, { headers: { 'If-None-Match': etag } })).status).toBe(304)
  })
  it.each<[query: string, detail: RegExp]>([
    ['by=path', /file is missing/],
    ['file=json.log', /by is missing; it must be a field/],
    ['file=json.log&by=', /by is ""; it must be a field/],
    ['file=json.log&by=path&of=', /of is ""/],
    ['file=json.log&by=path&by=level', /by was given 2 times/],
    ['file=json.log&by=path&sort=min&of=took', /sort is "min"; it must be one of/],
    ['file=json.log&by=path&sort=p95', /sort is "p95", which needs numbers; add of/],
    ['file=json.log&by=path&sort=median', /needs numbers/],
    ['file=json.log&by=path&sort=max', /needs numbers/],
    ['file=json.log&by=path&limit=0', /limit is "0"; it must be 1 or more/],
    ['file=json.log&by=path&limit=1001', /the maximum is 1000/],
  ])('%s is a 400', async (query, detail) => {
    const { response, body } = await ask(query)
    expect([response.status, body]).toMatchObject([400, { type: '/problems/bad-parameter' }])
    expect(body.detail).toMatch(detail)
  })
  it('of an unknown file are a 404', async () => {
    expect((await ask('file=none.log&by=path')).response.status).toBe(404)
  })
})

describe('groups of several logs', () => {
  it.each(['count', 'p95'] as const)('are those of all their records, by %s', async (sort) => {
    const { response, body } = await ask(
      `file=json.log&file=second.log&by=path&of=took&sort=${sort}&limit=1000`,
    )
    compare(body.groups, expectedOf([...made, ...second], sort, true), sort)
    expect([body.complete, response.headers.get('X-Nodestate-Missing')]).toEqual([true, null])
  })
  it('name what is missing', async () => {
    const { response, body } = await ask('file=json.log&file=none.log&file=plain.txt&by=path&level=error')
    expect(response.headers.get('X-Nodestate-Missing')).toBe('none.log;unknown-file, plain.txt;no-level')
    compare(
      body.groups,
      expectedOf(
        made.filter(({ level }) => LEVELS.indexOf(level) >= 3),
        'count',
        false,
      ).slice(0, 20),
      'count',
    )
  })
  it('of a fleet are those of its nodes', async () => {
    const fleet = createFleet({
      store: memoryStore({
        'db-1/node.json': NODE_JSON,
        'db-1/logs/a.log': made.map(FORMATS.json!).join(''),
        'db-2/node.json': NODE_JSON,
        'db-2/logs/a.log': second.map(FORMATS.lindb!).join(''),
      }),
    })
    const { body } = await ask('node=*&file=a.log&by=path&of=took&limit=1000', fleet)
    compare(body.groups, expectedOf([...made, ...second], 'count', true), 'count')
    expect((await ask('file=a.log&by=path', fleet)).response.status).toBe(400)
    const own = await fleet.request('/nodes/db-2/api/v1/log/groups?file=a.log&by=path&limit=1000')
    compare(((await own.json()) as LogGroups).groups, expectedOf(second, 'count', false), 'count')
  })
})
