import { expect, it } from 'vitest'
import { createFleet } from '../../../src/fleet/fleet.ts'
import { logFiles } from '../../../src/log/files/files.ts'
import { levelCounter } from '../../../src/ship/home/levels.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { contextOf } from '../../log/context.ts'

const NOW = Date.now()
const line = (minutesAgo: number, level: string) =>
  `${new Date(NOW - minutesAgo * 60_000).toISOString().replace('T', ' ').slice(0, 23)}\t${level}\ta.go:1\t[A]: x\n`

it('counts the errors and warnings of the last hour by the minute, again only where a log has changed', async () => {
  const old = line(90, 'ERROR') + line(30, 'ERROR') + line(20, 'WARN') + line(20, 'INFO')
  const store = memoryStore({
    'a.log': old,
    'plain.txt': 'nothing\n',
    'b.log': line(5, 'FATAL') + line(1, 'INFO'),
  })
  let reads = 0
  const files = logFiles({
    ...store,
    read: (...args) => {
      reads++
      return store.read(...args)
    },
  })
  const countsOf = levelCounter(contextOf(files))
  const sums = async () => {
    const counts = await countsOf()
    return Object.fromEntries(
      Object.entries(counts).map(([name, { minutes }]) => [
        name,
        Object.values(minutes).reduce((sum, [e, w]) => [sum[0]! + e, sum[1]! + w], [0, 0]),
      ]),
    )
  }
  expect(await sums()).toEqual({ 'a.log': [1, 1], 'b.log': [1, 0] })
  const before = reads
  expect(await sums()).toEqual({ 'a.log': [1, 1], 'b.log': [1, 0] })
  expect(reads - before).toBeLessThan(4)
  store.put('a.log', old + line(0, 'ERROR'))
  await new Promise((resolve) => setTimeout(resolve, 1100))
  expect(await sums()).toEqual({ 'a.log': [2, 1], 'b.log': [1, 0] })
  expect((await countsOf())['b.log']!.lastLine).toBe(NOW - 60_000)
})

it('counts what the clock has reached: a year ahead of it is no minute of the last hour', async () => {
  const ahead = -365 * 24 * 60
  const store = memoryStore({ 'a.log': line(3, 'ERROR') + line(2, 'WARN') + line(ahead, 'ERROR') })
  const counts = await levelCounter(contextOf(logFiles(store)))()
  expect(Object.values(counts['a.log']!.minutes)).toEqual([
    [1, 0],
    [0, 1],
  ])
})

it('shows them in the list of nodes, within the files of a token', async () => {
  const minute = Math.floor(NOW / 60_000)
  const counts = {
    'a.log': { lastLine: NOW - 5000, minutes: { [minute - 3]: [2, 7], [minute - 100]: [50, 50] } },
    'b.log': { lastLine: NOW - 9000, minutes: { [minute - 4]: [1, 0], broken: 'x' } },
  }
  const beat = { host: 'h', run: 'r', logs: {}, counts }
  const tokens = [{ name: 'b', token: 'secret-of-b', files: ['b.log'] }]
  const store = memoryStore({ 'db-4/ship.json': JSON.stringify(beat), 'db-7/node.json': '{}' })
  const app = createFleet({ store, tokens: () => tokens, token: 'all' })
  const nodes = async (token: string) => {
    const response = await app.request('/api/v1/nodes', { headers: { Authorization: `Bearer ${token}` } })
    return (await response.json()) as object[]
  }
  expect((await nodes('all'))[0]).toMatchObject({ errors: 3, warnings: 7, lastLine: NOW - 5000 })
  expect((await nodes('secret-of-b'))[0]).toMatchObject({ errors: 1, warnings: 0, lastLine: NOW - 9000 })
})
