import { describe, expect, it } from 'vitest'
import type { LogComparison } from '../../../src/kit/answers.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { wholes } from '../../support/random.mjs'
import { noise } from './noise.ts'
import { expectedDifferences, lineOf, type MadeRecord } from './reference.ts'

const HOUR = 3_600_000
const START = Date.UTC(2026, 10, 15)
const base = { from: START, to: START + HOUR }
const range = { from: START + HOUR, to: START + 2 * HOUR }
const both = { from: base.from, to: range.to }
const RANGE = `since=${new Date(range.from).toISOString()}&until=${new Date(range.to).toISOString()}`

function appOf(records: readonly MadeRecord[]) {
  const files: Record<string, string> = {}
  for (const record of records.toSorted((a, b) => a.time - b.time))
    files[record.file] = (files[record.file] ?? '') + lineOf(record)
  return createApp({ logs: memoryStore(files), config: '' })
}

async function compare(app: ReturnType<typeof appOf>, query: string) {
  const response = await app.request(`/api/v1/log/compare?${query}`)
  expect(response.status, await response.clone().text()).toBe(200)
  const notes = response.headers.get('X-Nodestate-Note')
  return { ...((await response.json()) as LogComparison), notes }
}

const FILES = ['a.log', 'b.log', 'c.log']
const all = FILES.map((file) => `file=${file}`).join('&')

/** Changes some of the records of one side, as an incident would. */
function plant(seed: number, records: MadeRecord[]): void {
  const pick = wholes(seed)
  const at = (span: { from: number; to: number }) => span.from + pick(span.to - span.from)
  const more = (span: { from: number; to: number }, count: number, words: string, level = 'info') => {
    for (let i = 0; i < count; i++)
      records.push({
        ...records[pick(records.length)]!,
        time: at(span),
        level,
        pattern: `${words} <*>`,
        message: `${words} ${pick(100_000)}`,
        fields: {},
        file: FILES[pick(2)]!,
      })
  }
  const isIn = (time: number) => time >= range.from
  if (pick(2)) more(range, 30 + pick(100), 'disk failure on device', ['error', 'warn', 'info'][pick(3)]!)
  if (pick(2)) more(base, 30 + pick(100), 'heartbeat from peer')
  if (pick(2)) {
    more(base, 3, 'retry of batch')
    more(range, 60, 'retry of batch', 'warn')
  }
  const late = records.filter(({ time }) => isIn(time))
  if (pick(2)) for (const one of late) one.fields.shard = pick(2) === 1 ? 's7' : one.fields.shard!
  if (pick(2)) for (const one of late) one.level = one.level === 'info' && pick(2) === 1 ? 'fatal' : one.level
  if (pick(2))
    records.splice(0, records.length, ...records.filter((one) => one.file !== 'c.log' || !isIn(one.time)))
}

describe('a comparison', () => {
  it.each([0, 25, 50, 75])('finds nothing in steady noise (25 seeds from %d)', async (from) => {
    for (let seed = from; seed < from + 25; seed++) {
      const records = noise(seed, {
        ...both,
        records: 150 + (seed % 4) * 150,
        files: FILES.slice(0, 1 + (seed % 3)),
      })
      const { findings, complete } = await compare(
        appOf(records),
        `file=${seed % 3 ? '*.log' : 'a.log'}&${RANGE}`,
      )
      expect(findings, `seed ${seed}`).toEqual([])
      expect(complete).toBe(true)
    }
  })

  it.each([100, 110, 120])(
    'agrees with the reference on what was planted (4 seeds from %d)',
    async (from) => {
      let planted = 0
      for (let seed = from; seed < from + 4; seed++) {
        const records = noise(seed, { ...both, records: 1200, files: FILES })
        plant(seed, records)
        const app = appOf(records)
        const { findings, ...rest } = await compare(app, `${all}&${RANGE}`)
        expect(rest.range.records).toBe(records.filter(({ time }) => time >= range.from).length)
        const shown = findings.map(({ kind, what, count, base }) => ({ kind, what, count, base }))
        const expected = expectedDifferences(records, range, base)
        planted += expected.length
        expect(shown, `seed ${seed}`).toEqual(expect.arrayContaining(expected))
        for (const { query, count, base } of findings) {
          const view = await app.request(`/api/v1/log/view?${query}&format=ndjson&size=100000000`)
          expect(view.status).toBe(200)
          const text = (await view.text()).trimEnd()
          expect([count, base], query).toContain(text === '' ? 0 : text.split('\n').length)
        }
      }
      expect(planted).toBeGreaterThan(3)
    },
  )

  it('compares rates where the periods differ in length', async () => {
    const records = noise(7, { from: START - 6 * HOUR, to: range.to, records: 4000 })
    const long = `base-since=${new Date(START - 6 * HOUR).toISOString()}`
    expect((await compare(appOf(records), `file=a.log&${RANGE}&${long}`)).findings).toEqual([])
    // Ten minutes are compared with an hour.
    const short = `since=${new Date(range.from).toISOString()}&until=${new Date(range.from + 600_000).toISOString()}`
    const found = await compare(appOf(records), `file=a.log&${short}`)
    expect(found.base.to - found.base.from).toBe(HOUR)
    expect(found.findings).toEqual([])
  })

  it('finds numbers that moved, and none that only count', async () => {
    const records = noise(8, { ...both, records: 2000 })
    for (const one of records) if (one.time >= range.from) one.fields.took = Number(one.fields.took) * 3 + 200
    const app = appOf(records)
    const { findings } = await compare(app, `file=a.log&${RANGE}`)
    expect(findings).toMatchObject([{ kind: 'field', what: 'took' }])
    const [{ query, count, base: before }] = findings as [LogComparison['findings'][number]]
    expect(count).toBeGreaterThan(5 * before)
    const view = await (await app.request(`/api/v1/log/view?${query}&size=100000000`)).text()
    expect(view.trimEnd().split('\n').length).toBe(count)
  })

  it('applies the filters, and repeats them in its queries', async () => {
    const records = noise(9, { ...both, records: 2000 })
    plant(1, records)
    for (let i = 0; i < 40; i++)
      records.push({
        ...records[i]!,
        time: range.from + i,
        message: `odd thing ${i}`,
        pattern: 'odd thing <*>',
        level: 'error',
        file: 'a.log',
      })
    const { findings } = await compare(appOf(records), `file=a.log&${RANGE}&level=error&q=odd&not=other`)
    expect(findings).toMatchObject([
      {
        kind: 'pattern',
        what: 'odd thing <*>',
        count: 40,
        base: 0,
        example: expect.stringContaining('odd thing'),
      },
      { kind: 'level', what: 'error' },
    ])
    const [pattern, level] = findings.map(({ query }) => query)
    expect(Object.fromEntries(new URLSearchParams(pattern))).toMatchObject({
      level: 'error',
      q: 'odd',
      not: 'other',
    })
    expect(new URLSearchParams(level).getAll('level')).toEqual(['=error'])
  })

  it('reads a part of many records, says so, and still finds what is rare and severe', async () => {
    const records = noise(10, { ...both, records: 22_000 })
    for (let i = 0; i < 25; i++)
      records.push({
        ...records[i]!,
        time: range.from + i * 1000,
        message: `corrupt page ${i}`,
        pattern: 'corrupt page <*>',
        level: 'error',
        file: 'a.log',
      })
    const { findings, notes, complete, range: counted } = await compare(appOf(records), `file=a.log&${RANGE}`)
    expect([notes, complete]).toEqual(['sampled', true])
    expect(counted.records).toBe(records.filter(({ time }) => time >= range.from).length)
    expect(findings).toMatchObject([{ kind: 'pattern', what: 'corrupt page <*>', count: 25, base: 0 }])
  })

  it('says that it is not complete when a budget runs out', async () => {
    const records = noise(11, { ...both, records: 5000 })
    const text = records
      .toSorted((a, b) => a.time - b.time)
      .map(lineOf)
      .join('')
    const app = createApp({ logs: memoryStore({ 'a.log': text }), config: '', limits: { scanBytes: 65_536 } })
    const { complete, notes } = await compare(app, `file=a.log&${RANGE}`)
    expect(complete).toBe(false)
    expect(notes).toContain('scan-budget')
  })
})
