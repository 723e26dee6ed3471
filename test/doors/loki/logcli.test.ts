import { expect, it } from 'vitest'
import { loki } from '../../../src/doors/loki.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'

// What logcli asks, in its order, replayed: the program itself is asked in logcli.parts.test.ts where it is at hand.

const START = Date.UTC(2026, 10, 15, 2)
/** Ten records share each millisecond. */
const record = (i: number) => {
  const stamp = new Date(START + Math.floor(i / 10)).toISOString().replace('T', ' ').slice(0, 23)
  return `${stamp}\t${i % 4 === 3 ? 'ERROR' : 'INFO'}\twal.go:${i % 9}\t[Storage]: sync ${i}\t{"shard":${i % 7}}`
}
const RECORDS = Array.from({ length: 3000 }, (_, i) => record(i))
const RANGE = { start: `${START}000000`, end: `${START + 10_000}000000` }
const app = createApp({
  logs: memoryStore({ 'broker.log': `${RECORDS.join('\n')}\n` }),
  config: '',
  node: { hostName: 'db-4' },
  loki,
})

interface Entry {
  at: bigint
  line: string
}

async function get<T>(path: string, query: Record<string, string>): Promise<T> {
  const answer = await app.request(`/loki/api/v1/${path}?${new URLSearchParams(query)}`, {
    headers: { 'User-Agent': 'loki-logcli/3.5.0' },
  })
  const body = await answer.json()
  expect([answer.status, body.status]).toEqual([200, 'success'])
  return body.data
}

/**
 * `logcli query --limit --batch`: a batch begins with the entries that ended the one before, because others may have their
 * time; these are printed once. It stops at a batch that is not full.
 */
async function query(text: string, direction: 'BACKWARD' | 'FORWARD', batch: number): Promise<string[]> {
  let { start, end } = RANGE
  const printed: string[] = []
  let last: Entry[] = []
  for (;;) {
    const limit = batch + last.length
    const { resultType, result, stats } = await get<{
      resultType: string
      result: { stream: Record<string, string>; values: [string, string][] }[]
      stats: { summary: object }
    }>('query_range', { query: text, start, end, limit: String(limit), direction })
    expect(resultType).toBe('streams')
    expect(stats.summary).toBeTypeOf('object')
    const sign = direction === 'FORWARD' ? 1 : -1
    const entries = result
      .flatMap(({ values }) => values.map(([at, line]) => ({ at: BigInt(at), line })))
      .sort((a, b) => sign * Number(a.at - b.at))
    const isOld = (entry: Entry) => last.some(({ at, line }) => at === entry.at && line === entry.line)
    printed.push(...entries.filter((entry) => !isOld(entry)).map(({ line }) => line))
    if (entries.length < limit) return printed
    const { at } = entries.at(-1)!
    last = entries.filter((entry) => entry.at === at)
    // It would give up: the overlap must be shorter than a batch.
    expect(last.length).toBeLessThan(batch)
    // The end is exclusive.
    if (direction === 'FORWARD') start = String(at)
    else end = String(at + 1n)
  }
}

it('labels, their values, and series', async () => {
  expect(await get('labels', RANGE)).toEqual(['file', 'level', 'node'])
  expect(await get('label/file/values', RANGE)).toEqual(['broker.log'])
  expect(await get('series', { ...RANGE, match: '{level="error"}' })).toEqual([
    { file: 'broker.log', level: 'error', node: 'db-4' },
  ])
})

it.each([
  ['BACKWARD', RECORDS.toReversed()],
  ['FORWARD', RECORDS],
] as const)('batches %s through records that share their milliseconds', async (direction, wanted) => {
  expect(await query('{file="broker.log"}', direction, 700)).toEqual(wanted)
})

it('filters over batches', async () => {
  const found = await query('{file="broker.log"} |= "sync 1" | json | level="error"', 'BACKWARD', 50)
  expect(found).toEqual(RECORDS.filter((line) => /sync 1/.test(line) && /ERROR/.test(line)).reverse())
})

it('an instant query', async () => {
  const { result } = await get<{ result: { value: [number, string] }[] }>('query', {
    query: 'sum(count_over_time({file="broker.log"}[1m]))',
    time: RANGE.end,
    limit: '30',
    direction: 'BACKWARD',
  })
  expect(result[0]!.value[1]).toBe('3000')
})
