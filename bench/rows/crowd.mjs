import { join } from 'node:path'
import { measureFollowers } from '../followers.mjs'
import { interleave, stall } from '../measure.mjs'
import { measureMerged } from '../merged-follow.mjs'
import { startBaseline, startBun, startNodestate } from '../servers.mjs'
import { ratioOf } from '../turns.mjs'
import { contenders, MIB, rangeOf, tailOf, viewPath } from './contenders.mjs'

export async function fairnessRow(bench) {
  const size = 5 * MIB
  const all = await contenders(bench, bench.data.logs, rangeOf(bench, size), tailOf(bench, size))
  // A 99th percentile needs some hundred answers per turn.
  const figures = await interleave(bench, all, { connections: 64, seconds: 1.5, rounds: 3 })
  const { nginx, baseline, nodestate, bun } = figures
  const ratios = [
    ['p99 Node / nginx', ratioOf('p99', nodestate, nginx)],
    ['p99 Node / node:http', ratioOf('p99', nodestate, baseline)],
    ...(bun ? [['p99 Bun / nginx', ratioOf('p99', bun, nginx)]] : []),
  ]
  return { title: 'view 5 MiB, 64 connections: p99', figures, ratios }
}

/** On separate servers, because what other rows left in memory would distort the result. */
export async function memoryRow(bench) {
  const options = { connections: 64, seconds: 2 }
  const figures = {}
  const starts = {
    nodestate: () => startNodestate(bench.data.logs),
    baseline: () => startBaseline(bench.data.logs),
    ...(bench.tools.bun && { bun: () => startBun(bench.tools.bun, bench.data.logs) }),
  }
  for (const name in starts) {
    const server = await starts[name]()
    figures[name] = { rss: await stall(bench.load, server, viewPath(5 * MIB), options) }
    await server.stop()
  }
  const ratios = [
    ['Node, MB', figures.nodestate.rss / 1e6],
    ...(figures.bun ? [['Bun, MB', figures.bun.rss / 1e6]] : []),
  ]
  return { title: 'memory, 64 × 5 MiB, all stalled', figures, ratios }
}

export async function followRow(bench) {
  const { live } = bench.data
  const server = await startNodestate(live)
  try {
    const result = await measureFollowers(server, join(live, 'live.log'), {
      followers: 1000,
      perSecond: 1000,
      seconds: 8,
    })
    const figures = {
      nodestate: { p50: result.p50, p99: result.p99, rss: server.rss(), cpu: result.cpu / result.lines },
    }
    const ratios = [
      ['p99, ms', result.p99 / 1000],
      ['lines missing', result.missing],
      ['cores', result.cores],
    ]
    return { title: 'follow: 1,000 followers, 1,000 lines/s appended', figures, ratios }
  } finally {
    await server.stop()
  }
}

/** One timeline of three logs, as events. */
export async function followMergedRow(bench) {
  const { live } = bench.data
  const server = await startNodestate(live)
  try {
    const result = await measureMerged(server, live, {
      logs: 3,
      followers: 1,
      perSecond: 1000,
      seconds: 8,
    })
    const figures = {
      nodestate: { p50: result.p50, p99: result.p99, rss: server.rss(), cpu: result.cpu / result.lines },
    }
    const ratios = [
      ['p99, ms', result.p99 / 1000],
      ['headers, ms', result.headers],
      ['lines missing or twice', result.missing + result.wrong],
    ]
    return { title: 'follow: three logs as one, 1,000 lines/s appended to each', figures, ratios }
  } finally {
    await server.stop()
  }
}
