// Many clients that follow the same logs of living nodes.
import { expect, it, onTestFinished } from 'vitest'
import type { PeerOptions } from '../../src/fleet/peer.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp, createFleet } from '../support/app.ts'

const START = Date.parse('2026-11-14T02:00:00Z')
const NODES = ['db-1', 'db-2', 'db-3']
const line = (node: string, i: number) =>
  `${new Date(START + i * 1000).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:1\t[A]: ${node} ${i}\n`

function room() {
  let asked = 0
  const follow = { pollMillis: [20, 50] as const }
  const logs = new Map(
    NODES.map((id) => [id, { store: memoryStore({ 'a.log': line(id, 0) }), text: line(id, 0) }]),
  )
  const peers = NODES.map((id): PeerOptions => {
    const app = createApp({ logs: logs.get(id)!.store, config: '', follow, onError() {} })
    return {
      id,
      url: `http://${id}.example`,
      async fetch(url, { connectMillis: _, ...init }) {
        asked++
        return app.fetch(new Request(url, init))
      },
    }
  })
  const fleet = createFleet({ peers, follow, onError() {} })
  const write = (i: number) => {
    for (const [id, log] of logs) {
      log.text += line(id, i)
      log.store.put('a.log', log.text)
    }
  }
  /** A client, which reads until it has a number of records of each node. */
  const client = async (query: string, headers: Record<string, string> = {}) => {
    const left = new AbortController()
    onTestFinished(() => left.abort())
    const init = { headers: { Accept: 'text/event-stream', ...headers }, signal: left.signal }
    const response = await fleet.request(`/api/v1/log/view?node=*&file=*&follow=true&${query}`, init)
    const reader = response.body!.getReader()
    const decoder = new TextDecoder()
    let text = ''
    const records = () =>
      [...text.matchAll(/^id: (\S+)\ndata: .*?(db-\d \d+)$/gm)].map(([, id, name]) => [id!, name!])
    const until = async (last: number) => {
      while (!NODES.every((id) => records().some(([, name]) => name === `${id} ${last}`)))
        text += decoder.decode((await reader.read()).value, { stream: true })
      return records()
    }
    return { until, leave: () => left.abort() }
  }
  return { client, write, asked: () => asked }
}

const namesOf = (records: readonly string[][]) => records.map(([, name]) => name)
const written = (from: number, to: number) =>
  NODES.flatMap((id) => Array.from({ length: to - from + 1 }, (_, i) => `${id} ${from + i}`)).sort()

it('asks the nodes no more often for many clients than for one, and each gets every line once', async () => {
  const { client, write, asked } = room()
  const clients = await Promise.all(Array.from({ length: 20 }, () => client('lines=3')))
  for (const each of clients) await each.until(0)
  const before = asked()
  for (let i = 1; i <= 10; i++) {
    write(i)
    await clients[0]!.until(i)
  }
  const requests = asked() - before
  for (const each of clients) expect(namesOf(await each.until(10)).sort()).toEqual(written(0, 10))
  // Ten times three logs, each of which may be read, found unchanged and listed.
  expect(requests).toBeLessThan(20 * 30)
})

it('lets clients that come back go on after their last record, with others or first of all', async () => {
  const { client, write } = room()
  const first = await client('lines=3')
  await first.until(0)
  write(1)
  const records = await first.until(1)
  const stays = await client('lines=1')
  first.leave()
  write(2)
  // Some come back to what is followed, and some at a record in the middle of what was sent at once.
  const others = await Promise.all(
    records.slice(-3).map(([id]) => client('lines=3', { 'Last-Event-ID': id! })),
  )
  write(3)
  await stays.until(3)
  for (let i = 0; i < others.length; i++) {
    write(4 + i)
    const seen = namesOf(records).slice(0, records.length - 2 + i)
    const got = namesOf(await others[i]!.until(4 + i))
    expect([...seen, ...got].sort()).toEqual(written(0, 4 + i))
  }
})
