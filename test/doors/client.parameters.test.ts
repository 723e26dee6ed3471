import { describe, expect, it } from 'vitest'
import { type Resource, rowsOf } from '../../src/core/parameter.ts'
import {
  type CompareQuery,
  type ConfigQuery,
  createClient,
  type GroupsQuery,
  type HistogramQuery,
  type LogQuery,
  type ViewQuery,
} from '../../src/doors/client.ts'
import { FLEET_PARAMETERS, PARAMETERS } from '../../src/routes/parameters/table.ts'

type Names<T> = { readonly [N in keyof Required<T>]: true }

const LOG: Names<LogQuery> = {
  node: true,
  file: true,
  since: true,
  until: true,
  level: true,
  q: true,
  regex: true,
  not: true,
  notregex: true,
  where: true,
  pattern: true,
  rotated: true,
  encoding: true,
  ansi: true,
  raw: true,
  lane: true,
}
const VIEW: Names<ViewQuery> = {
  ...LOG,
  size: true,
  lines: true,
  first: true,
  context: true,
  before: true,
  after: true,
}
const HISTOGRAM: Names<HistogramQuery> = {
  ...LOG,
  buckets: true,
  step: true,
  origin: true,
  by: true,
}
const GROUPS: Names<GroupsQuery> = { ...LOG, by: true, of: true, sort: true, limit: true }
const COMPARE: Names<CompareQuery> = {
  ...LOG,
  baseSince: true,
  baseUntil: true,
  baseNode: true,
}
const CONFIG: Names<ConfigQuery> = { detail: true, at: true }

/** What the client sends for each resource: its types, and what its methods stand for. */
const CLIENT: Record<Resource, readonly string[]> = {
  config: Object.keys(CONFIG),
  history: ['limit'],
  compare: ['node'],
  blame: ['node'],
  list: ['detail', 'etag', 'prefix', 'after'],
  view: [...Object.keys(VIEW), 'follow', 'format', 'columns', 'download'],
  histogram: Object.keys(HISTOGRAM),
  fields: Object.keys(LOG),
  groups: Object.keys(GROUPS),
  difference: Object.keys(COMPARE).map((name) =>
    name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  ),
  download: ['file'],
  nodes: ['limit', 'after'],
}

describe('the client', () => {
  it.each(Object.keys(CLIENT) as Resource[])('has every parameter of %s', (resource) => {
    const rows = resource === 'blame' ? FLEET_PARAMETERS : PARAMETERS
    const names = rowsOf(rows, resource).map(({ name }) => name)
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => !CLIENT[resource].includes(name))).toEqual([])
  })

  it('sends them', async () => {
    const asked: URL[] = []
    const client = createClient({
      base: 'http://node.example',
      fetch: async (url) => {
        asked.push(new URL(String(url)))
        return Response.json(/history|list/.test(String(url)) ? [] : { missing: {} })
      },
    })
    await client.histogram({ file: 'a.log', step: '40s', buckets: 7 })
    await client.histogram({ file: 'a.log', step: 500 })
    await client.groups({ file: 'a.log', by: 'path', of: 'took', sort: 'p95', limit: 5 })
    await client.config({ detail: true, at: '2h' })
    await client.list({ after: 'b.log', detail: true })
    await client.tagged({ prefix: 'b' })
    await client.history({ limit: 3 })
    await client.compareConfig(['db-1', 'x-*'])
    expect(asked.map(({ search }) => search)).toEqual([
      '?file=a.log&step=40s&buckets=7',
      '?file=a.log&step=500',
      '?file=a.log&by=path&of=took&sort=p95&limit=5',
      '?detail=true&at=2h',
      '?after=b.log&detail=true',
      '?prefix=b&etag=true',
      '?limit=3',
      '?node=db-1&node=x-*',
    ])
    expect(asked.slice(-2).map(({ pathname }) => pathname)).toEqual([
      '/api/v1/config/history',
      '/api/v1/config/compare',
    ])
  })
})
