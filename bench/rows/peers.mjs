import { strict as assert } from 'node:assert'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { alignedTail, COMMON, GIB } from '../data.mjs'
import { ask } from '../measure.mjs'
import { startCoordinator, startNodestate } from '../servers.mjs'
import { ratioOf, takeTurns } from '../turns.mjs'
import { MIB, nodestate } from './contenders.mjs'

const NOWHERE = 'what no line has'
const PEERS = 8
const IDLE = 100
const IDLE_SECONDS = 10
const COUNTING_SECONDS = 15

async function timed(server, path, cpu) {
  const before = cpu()
  const start = performance.now()
  const { status, headers, body, ended } = await ask(server, path)
  assert.equal(status, 200, body.subarray(0, 300).toString())
  assert.equal(headers['x-nodestate-missing'], undefined)
  return { body, ms: ended - start, cpu: cpu() - before }
}

/** A search of 1 GiB without a hit: asked of the node itself, and of a coordinator as a timeline of its peers. */
export async function peerSearchRow(bench) {
  const { size } = statSync(join(bench.data.logs, 'big.log'))
  const node = await nodestate(bench)
  const coordinator = await startCoordinator([node])
  try {
    const query = `file=big.log&rotated=true&q=${encodeURIComponent(NOWHERE)}`
    const all = [
      { name: 'node', server: node, path: `/api/v1/log/view?${query}` },
      { name: 'peer', server: coordinator, path: `/api/v1/log/view?node=*&${query}` },
      { name: 'below /nodes/', server: coordinator, path: `/nodes/db-000/api/v1/log/view?${query}` },
    ]
    const once = async ({ server, path }) => {
      const { ms, cpu } = await timed(server, path, () => node.cpu() + coordinator.cpu())
      return { mbs: size / ms / 1000, p50: ms * 1000, cpu, perCpu: size / cpu }
    }
    const results = await takeTurns(all, once, { rounds: 5, spare: bench.spare })
    const figures = Object.fromEntries(all.map(({ name }, i) => [name, results[i]]))
    const ratios = [
      ['peer / node', ratioOf('mbs', results[1], results[0])],
      ['below /nodes/ / node', ratioOf('mbs', results[2], results[0])],
      ['peer / node, by CPU', ratioOf('perCpu', results[1], results[0])],
    ]
    return { title: `text search over ${Math.round(size / GIB)} GiB of a peer, no hits`, figures, ratios }
  } finally {
    await coordinator.stop()
  }
}

/** A page of a timeline of 8 peers, next to the slowest of them when all are asked at once. */
export async function peerPageRow(bench) {
  const text = alignedTail(join(bench.data.logs, 'big.log'), PEERS * 8 * MIB)
    .toString()
    .split(/(?<=\n)/)
  const peers = []
  for (let i = 0; i < PEERS; i++) {
    const directory = join(bench.data.root, `peer-${i}`)
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'a.log'), text.filter((_, line) => line % PEERS === i).join(''))
    peers.push(await startNodestate(directory))
  }
  const coordinator = await startCoordinator(peers)
  try {
    const cpuOf = () => [coordinator, ...peers].reduce((sum, server) => sum + server.cpu(), 0)
    const query = `file=a.log&format=ndjson&lines=100&q=${encodeURIComponent(COMMON)}`
    const own = (server) => timed(server, `/api/v1/log/view?${query}`, () => 0)
    const all = [
      {
        name: 'slowest peer',
        once: async () => Math.max(...(await Promise.all(peers.map(own))).map(({ ms }) => ms)),
      },
      {
        name: 'page of all',
        once: async () => (await timed(coordinator, `/api/v1/log/view?node=*&${query}`, () => 0)).ms,
      },
    ]
    const once = async ({ once }) => {
      const before = cpuOf()
      let ms = 0
      for (let i = 0; i < 10; i++) ms += (await once()) / 10
      return { p50: ms * 1000, cpu: (cpuOf() - before) / 10 }
    }
    const results = await takeTurns(all, once, { rounds: 6, spare: bench.spare })
    const figures = Object.fromEntries(all.map(({ name }, i) => [name, results[i]]))
    const ratios = [['page / slowest peer', ratioOf('p50', results[1], results[0])]]
    return { title: `a page of ${PEERS} peers with a filter`, figures, ratios }
  } finally {
    await coordinator.stop()
    for (const peer of peers) await peer.stop()
  }
}

/** What a coordinator of 100 peers takes that nobody asks, after all of them were listed once. */
export async function peerIdleRow(bench) {
  const node = await nodestate(bench)
  const figures = {}
  for (const [name, count] of [
    ['one', 1],
    ['100', IDLE],
  ]) {
    const coordinator = await startCoordinator(Array.from({ length: count }, () => node))
    try {
      for (let i = 0, alive = 0; i < 5 || alive < count; i++) {
        assert.ok(i < 20, `${alive} of ${count} peers answer`)
        alive = JSON.parse((await ask(coordinator, '/api/v1/nodes')).body).filter(({ live }) => live).length
        await ask(coordinator, '/metrics')
        if (alive < count) await sleep(1000)
      }
      // The peers count their errors for the lists that were asked for.
      await sleep(COUNTING_SECONDS * 1000)
      const before = coordinator.cpu()
      await sleep(IDLE_SECONDS * 1000)
      figures[name] = { cpu: coordinator.cpu() - before, rss: coordinator.rss() }
    } finally {
      await coordinator.stop()
    }
  }
  const ratios = [
    ['% of a core', (100 * figures['100'].cpu) / (IDLE_SECONDS * 1e6)],
    ['MiB', (figures['100'].rss - figures.one.rss) / MIB],
  ]
  return { title: `${IDLE} idle peers`, figures, ratios }
}
