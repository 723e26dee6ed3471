import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loki } from '../../../src/doors/loki.ts'
import { fsStore } from '../../../src/store/fs.ts'
import { createApp } from '../../support/app.ts'
import { FIXTURES, linesOf } from './fixtures.ts'

/** Every question about a record gets the same answer: as JSON, by `where`, in `/fields`, in the chart and by Loki. */

interface Record {
  time?: string
  level?: string
  tags?: string[]
  source?: { file: string; line: number }
  message: string
  context?: { [name: string]: unknown }
  raw: string
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal']
let folder: string
let app: ReturnType<typeof createApp>
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodestate-agree-'))
  for (const fixture of FIXTURES) {
    const path = join(folder, `${fixture.id}.log`)
    writeFileSync(path, linesOf(fixture))
    utimesSync(path, Date.UTC(2026, 10, 16) / 1000, Date.UTC(2026, 10, 16) / 1000)
  }
  app = createApp({ logs: fsStore(folder), config: '', loki })
})
afterAll(() => rmSync(folder, { recursive: true }))

async function get(path: string): Promise<string> {
  const response = await app.request(path)
  const text = await response.text()
  expect(response.status, `${path}: ${text.slice(0, 200)}`).toBe(200)
  return text
}

const view = (file: string, more = '') => get(`/api/v1/log/view?file=${file}&size=10000000${more}`)

async function recordsOf(file: string, more = ''): Promise<Record[]> {
  const text = await view(file, `&format=ndjson&raw=true${more}`)
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/** The fields of a record with values that are no objects, by their paths. */
function fieldsOf({ context = {} }: Record, prefix = ''): [name: string, value: string][] {
  return Object.entries(context).flatMap(([key, value]): [string, string][] => {
    const path = `${prefix}${key}`
    if (typeof value === 'string') return [[path, value]]
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [[path, JSON.stringify(value)]]
    return fieldsOf({ context: value as Record['context'] } as Record, `${path}.`)
  })
}

describe.each(FIXTURES)('$id', ({ id }) => {
  const file = `${id}.log`

  it('is found by each of its fields', async () => {
    const records = await recordsOf(file)
    const all = records.map((record) => fieldsOf(record))
    const pairs = new Map(all.flat().map((pair) => [pair.join(':'), pair]))
    for (const [name, value] of [...pairs.values()].slice(0, 40)) {
      const found = await recordsOf(file, `&where=${encodeURIComponent(`${name}:${value}`)}`)
      const expected = records.filter((_, i) => all[i]!.some(([key, own]) => key === name && own === value))
      expect([name, value, found.map(({ raw }) => raw)]).toEqual([
        name,
        value,
        expected.map(({ raw }) => raw),
      ])
      const present = await recordsOf(file, `&where=${encodeURIComponent(`${name}:*`)}`)
      expect([name, present.length]).toEqual([
        name,
        all.filter((own) => own.some(([key]) => key === name)).length,
      ])
    }
  })

  it('has them in its list of fields', async () => {
    const records = await recordsOf(file)
    const { fields } = JSON.parse(await get(`/api/v1/log/fields?file=${file}`)) as {
      fields: { name: string; count: number }[]
    }
    const counts = new Map<string, number>()
    for (const record of records)
      for (const name of new Set(fieldsOf(record).map(([name]) => name)))
        counts.set(name, (counts.get(name) ?? 0) + 1)
    const own = ['level', 'source', 'tag']
    const listed = fields.filter(({ name }) => !own.includes(name) || counts.has(name))
    expect(new Map(listed.map(({ name, count }) => [name, count]))).toEqual(counts)
    const leveled = fields.find(({ name }) => name === 'level')?.count ?? 0
    expect(leveled).toBe(
      records.filter(({ level }) => level !== undefined).length + (counts.has('level') ? leveled : 0),
    )
  })

  it('has the levels of its records in every answer', async () => {
    const records = await recordsOf(file)
    const isLeveled = records.some(({ level }) => level !== undefined)
    for (const level of isLeveled ? LEVELS : []) {
      const expected = records.filter((record) => record.level === level)
      const found = await recordsOf(file, `&level==${level}`)
      expect([level, found.map(({ raw }) => raw)]).toEqual([level, expected.map(({ raw }) => raw)])
    }
    const timed = records.filter(({ time }) => time !== undefined).map(({ time }) => Date.parse(time!))
    if (timed.length === 0) return
    const [since, until] = [Math.floor(Math.min(...timed)), Math.floor(Math.max(...timed)) + 1]
    const { levels, buckets } = JSON.parse(
      await get(`/api/v1/log/histogram?file=${file}&since=${since}&until=${until}&exact=true`),
    ) as { levels: string[]; buckets: { counts: number[] }[] }
    for (const [column, level] of levels.entries()) {
      if (level === 'none') continue
      const count = buckets.reduce((sum, { counts }) => sum + counts[column]!, 0)
      expect([level, count]).toEqual([level, records.filter((record) => record.level === level).length])
    }
    const query = encodeURIComponent(`{file="${file}"}`)
    const { data } = JSON.parse(
      await get(`/loki/api/v1/query_range?query=${query}&start=${since}000000&end=${until}000000&limit=5000`),
    ) as { data: { result: { stream: { level?: string }; values: [string, string][] }[] } }
    const entries = data.result.flatMap(({ stream, values }) =>
      values.map(([, line]) => [line.trimEnd(), stream.level]),
    )
    const within = records.slice(records.findIndex(({ time }) => time !== undefined))
    expect(entries.sort()).toEqual(within.map(({ raw, level }) => [raw.trimEnd(), level]).sort())
  })
})
