import { strict as assert } from 'node:assert'
import { request } from 'node:http'
import { ask, interleave } from '../measure.mjs'
import { startNodestate } from '../servers.mjs'
import { ratioOf } from '../turns.mjs'
import { contenders, KIB, MIB, nodestate, onBun, rangeOf, rates, tailOf, viewPath } from './contenders.mjs'

export async function viewRow(bench, size) {
  const all = await contenders(bench, bench.data.logs, rangeOf(bench, size), tailOf(bench, size))
  const figures = await interleave(bench, all)
  const label = size < MIB ? `${size / KIB} KiB` : `${size / MIB} MiB`
  return { title: `view ${label}, 16 connections`, figures, ratios: rates(figures) }
}

export async function unchangedRow(bench) {
  const all = await contenders(bench, bench.data.logs, { path: '/big.log' }, () => ({
    path: viewPath(256 * KIB),
  }))
  for (const { server, target } of all) {
    // nginx would send the whole gigabyte for the sake of its tag: HEAD is enough for that.
    const { headers } = await head(server, target.path)
    const tag = headers.etag ?? (await ask(server, target.path)).headers.etag
    target.headers = { 'If-None-Match': tag }
    target.status = 304
    target.check = ({ status, body }, name) => {
      assert.equal(status, 304, name)
      assert.equal(body.length, 0, name)
    }
  }
  const figures = await interleave(bench, all)
  return { title: 'view 256 KiB unchanged, If-None-Match', figures, ratios: rates(figures) }
}

function head(server, path) {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: server.port, path, method: 'HEAD', agent: false }, (response) => {
      response.resume()
      response.on('end', () => resolve({ headers: response.headers }))
    })
      .on('error', reject)
      .end()
  })
}

export async function hugeRow(bench) {
  const node = await nodestate(bench)
  const bun = await onBun(bench)
  const large = tailOf(bench, 64 * KIB, 'huge.log')
  const small = tailOf(bench, 64 * KIB, 'small.log')
  const all = [
    { name: 'nodestate, 20 GiB', server: node, target: large() },
    { name: 'nodestate, 1 MiB', server: node, target: small() },
    ...(bun
      ? [
          { name: 'bun, 20 GiB', server: bun, target: large() },
          { name: 'bun, 1 MiB', server: bun, target: small() },
        ]
      : []),
  ]
  // The same work twice: what differs is noise, and needs more turns to even out.
  const figures = await interleave(bench, all, { rounds: Math.ceil(bench.options.rounds * 1.5) })
  const ratio = (name) => ratioOf('rps', figures[`${name}, 20 GiB`], figures[`${name}, 1 MiB`])
  const ratios = [['Node', ratio('nodestate')], ...(bun ? [['Bun', ratio('bun')]] : [])]
  return { title: 'tail (64 KiB) of a 20 GiB file against a 1 MiB file', figures, ratios }
}

export function accessLogRow(bench) {
  const title = 'view 4 KiB with the access log against without'
  return costRow(bench, title, { name: 'info', flags: ['--log-level', 'info'] }, { name: 'warn', flags: [] })
}

export function metricsRow(bench) {
  const title = 'view 4 KiB with metrics against without'
  return costRow(bench, title, { name: 'metrics', flags: [] }, { name: 'none', flags: ['--no-metrics'] })
}

/** The same requests with something on and with it off. */
async function costRow(bench, title, on, off) {
  const { logs } = bench.data
  const ours = tailOf(bench, 4 * KIB)
  const contender = async ({ name, flags }) => {
    const begin = () => startNodestate(logs, flags)
    const server = flags.length === 0 ? nodestate(bench) : bench.start(name, logs, begin)
    return { name: `nodestate, ${name}`, server: await server, target: ours() }
  }
  const figures = await interleave(bench, [await contender(off), await contender(on)])
  const ratio = ratioOf('rps', figures[`nodestate, ${on.name}`], figures[`nodestate, ${off.name}`])
  return { title, figures, ratios: [['Node', ratio]] }
}
