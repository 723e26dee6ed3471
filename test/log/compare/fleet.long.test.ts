import { expect, it } from 'vitest'
import type { LogComparison } from '../../../src/kit/answers.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { versionKey } from '../../../src/store/segment/configs.ts'
import { createFleet } from '../../support/app.ts'
import { wholes } from '../../support/random.mjs'
import { noise } from './noise.ts'
import { expectedBetween, expectedKeys, lineOf, type MadeRecord, type MadeVersion } from './reference.ts'

const HOUR = 3_600_000
const START = Date.UTC(2026, 10, 15)
const base = { from: START, to: START + HOUR }
const range = { from: START + HOUR, to: START + 2 * HOUR }
const RANGE = `since=${new Date(range.from).toISOString()}&until=${new Date(range.to).toISOString()}`
const NODES = ['db-1', 'db-2', 'db-3']
const FILES = ['a.log', 'b.log']

interface Made {
  records: Map<string, MadeRecord[]>
  versions: Map<string, MadeVersion[]>
}

/** Noise on three nodes; on db-1, the differences that a seed decides. */
function made(seed: number): Made {
  const pick = wholes(seed)
  const records = new Map(
    NODES.map((id, i) => [
      id,
      noise(seed * 10 + i, { from: base.from, to: range.to, records: 1200, files: FILES }),
    ]),
  )
  const own = records.get('db-1')!
  const isLate = ({ time }: MadeRecord) => time >= range.from
  if (pick(2))
    for (let i = 0; i < 60; i++)
      own.push({
        ...own[i]!,
        time: range.from + pick(HOUR),
        level: 'error',
        pattern: 'disk failure on device <*>',
        message: `disk failure on device ${pick(1000)}`,
        fields: {},
      })
  if (pick(2)) for (const one of own.filter(isLate)) one.fields.shard = pick(2) ? 's7' : one.fields.shard!
  if (pick(2))
    records.set(
      'db-1',
      own.filter((one) => one.file !== 'b.log' || !isLate(one)),
    )
  const first = { workers: 8, queue: 64, 'max-age': 7 }
  const versions = new Map(NODES.map((id) => [id, [{ time: START - HOUR, values: { ...first } }]]))
  const changed = versions.get('db-1')!
  for (let i = pick(4); i > 0; i--) {
    const values = { ...changed.at(-1)!.values }
    values[(['workers', 'queue', 'max-age'] as const)[pick(3)]!] = 1 + pick(3)
    changed.push({ time: changed.at(-1)!.time + HOUR + pick(HOUR / 2), values })
  }
  return { records, versions }
}

function storeOf({ records, versions }: Made) {
  const files: Record<string, string> = {}
  const toml = (values: object) =>
    Object.entries(values)
      .map(([key, value]) => `${key} = ${value}\n`)
      .join('')
  for (const id of NODES) {
    files[`${id}/node.json`] = JSON.stringify({
      hostIp: '',
      hostName: id,
      grpcPort: 1,
      httpPort: 2,
      version: '1',
      onlineTime: 3,
    })
    for (const record of records.get(id)!.toSorted((a, b) => a.time - b.time)) {
      const key = `${id}/logs/${record.file}`
      files[key] = (files[key] ?? '') + lineOf(record)
    }
    for (const [i, { time, values }] of versions.get(id)!.entries())
      files[`${id}/${versionKey({ time, crc: i })}`] = toml(values)
    files[`${id}/config.toml`] = toml(versions.get(id)!.at(-1)!.values)
  }
  return memoryStore(files)
}

async function compare(made: Made, query: string) {
  const fleet = createFleet({ store: storeOf(made), onError: () => {} })
  const response = await fleet.request(`/api/v1/log/compare?file=*.log&${RANGE}&${query}`)
  expect(response.status, await response.clone().text()).toBe(200)
  const { findings } = (await response.json()) as LogComparison
  return findings.map(({ kind, what, count, base }) => ({ kind, what, count, base }))
}

const within = (records: readonly MadeRecord[]) =>
  records.filter(({ time }) => time >= range.from && time < range.to)

it.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'agrees with the reference on settings and other nodes (seed %d)',
  async (seed) => {
    const all = made(seed)
    const versions = all.versions.get('db-1')!
    const keys = expectedKeys(versions, range, base)
    const before = await compare(all, 'node=db-1')
    expect(before.filter(({ kind }) => kind === 'config').sort(byName)).toEqual(keys.sort(byName))

    const others = NODES.slice(1).flatMap((id) => within(all.records.get(id)!))
    const expected = expectedBetween({ range: within(all.records.get('db-1')!), base: others }, 1 / 2)
    const [now, usual] = [versions.at(-1)!.values, all.versions.get('db-2')!.at(-1)!.values]
    const different = Object.entries(now)
      .filter(([key, value]) => usual[key] !== value)
      .map(([what]) => ({ kind: 'config', what, count: 1, base: 0 }))
    const sisters = await compare(all, 'node=db-1&base-node=*')
    expect(sisters).toEqual(expect.arrayContaining(expected))
    expect(sisters.filter(({ kind }) => kind === 'config').sort(byName)).toEqual(different.sort(byName))
  },
)

const byName = (a: { what: string }, b: { what: string }) => (a.what < b.what ? -1 : 1)
