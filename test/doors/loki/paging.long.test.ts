import { describe, expect, it } from 'vitest'
import { loki } from '../../../src/doors/loki.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { wholes } from '../../support/random.mjs'

const START = Date.UTC(2026, 10, 15, 2)
const stamp = (millis: number) => new Date(millis).toISOString().replace('T', ' ').slice(0, 23)
const line = (millis: number, text: string) => `${stamp(millis)}\tINFO\twal.go:1\t[Storage]: ${text}\t{"a":1}`

/** Files whose records share their times, with each other and within; `jitter` ms late at most. */
function logs(files: number, records: number, jitter: number): Record<string, string[]> {
  const below = wholes(7)
  const names = Array.from({ length: files }, (_, i) => `f${i}.log`)
  return Object.fromEntries(
    names.map((name) => [
      name,
      Array.from({ length: records }, (_, i) =>
        line(START + Math.floor(i / 4) * 10 - below(jitter + 1), `${name} ${i}`),
      ),
    ]),
  )
}

type Value = [at: string, line: string]
async function pageThrough(
  app: ReturnType<typeof createApp>,
  query: string,
  { direction, limit }: { direction: string; limit: number },
): Promise<Value[]> {
  const seen: Value[] = []
  let start = `${START - 60_000}000000`
  let end = `${START + 600_000}000000`
  for (;;) {
    const params = new URLSearchParams({ query, start, end, direction, limit: String(limit) })
    const response = await app.request(`/loki/api/v1/query_range?${params}`)
    expect(response.status).toBe(200)
    const { data } = await response.json()
    const sign = direction === 'forward' ? 1 : -1
    const page = (data.result as { values: Value[] }[])
      .flatMap(({ values }) => values)
      .sort((a, b) => sign * Number(BigInt(a[0]) - BigInt(b[0])))
    seen.push(...page)
    if (page.length < limit) return seen
    const last = BigInt(page.at(-1)![0])
    if (direction === 'forward') start = String(last + 1n)
    else end = String(last)
  }
}

describe.each([
  ['in order', 0],
  ['with late records', 60],
])('pages over files that share their times, %s', (_, jitter) => {
  it.each([
    [9, 40, 7],
    [2, 12, 1],
    [40, 6, 33],
  ])('%i files of %i records, %i at once', async (files, records, limit) => {
    const all = logs(files, records, jitter)
    const contents = Object.entries(all).map(([name, lines]) => [name, `${lines.join('\n')}\n`])
    const app = createApp({ logs: memoryStore(Object.fromEntries(contents)), config: '', loki })
    const forward = await pageThrough(app, '{file=~".+"}', { direction: 'forward', limit })
    expect(forward.map(([, text]) => text).sort()).toEqual(Object.values(all).flat().sort())
    expect(new Set(forward.map(([at]) => at)).size).toBe(forward.length)
    const backward = await pageThrough(app, '{file=~".+"}', { direction: 'backward', limit })
    expect(backward).toEqual(forward.toReversed())
    for (const [at, text] of forward) expect(text).toContain(stamp(Number(BigInt(at) / 1_000_000n)))
    const odd = await pageThrough(app, '{file=~".+"} |~ "log [0-9]*[37]\\t"', {
      direction: 'backward',
      limit,
    })
    expect(odd.map(([, text]) => text).sort()).toEqual(
      Object.values(all)
        .flat()
        .filter((text) => /log \d*[37]\t/.test(text))
        .sort(),
    )
  })
})
