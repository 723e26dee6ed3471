import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { alignedTail, lastBytes } from '../data.mjs'
import { startBaseline, startBun, startNginx, startNodestate } from '../servers.mjs'
import { ratioOf } from '../turns.mjs'

export const KIB = 1024
export const MIB = 1024 * KIB

export const viewPath = (size, file = 'big.log') => `/api/v1/log/view?file=${file}&size=${size}`

/** What is asked of nodestate, Bun and the baseline, and what must come. */
export function tailOf(bench, size, file = 'big.log') {
  const expected = alignedTail(join(bench.data.logs, file), size)
  return () => ({
    path: viewPath(size, file),
    check({ status, body }, name) {
      assert.equal(status, 200, name)
      assert.ok(body.equals(expected), `${name} gave other bytes`)
    },
  })
}

/** The same bytes of nginx, which knows no lines. */
export function rangeOf(bench, size) {
  const expected = lastBytes(join(bench.data.logs, 'big.log'), size)
  return {
    path: '/big.log',
    headers: { Range: `bytes=-${size}` },
    status: 206,
    check({ status, body }, name) {
      assert.equal(status, 206, name)
      assert.ok(body.equals(expected), `${name} gave other bytes`)
    },
  }
}

/** nginx, the baseline, nodestate and, if wanted, Bun on a directory. */
export async function contenders(bench, directory, theirs, ours) {
  const all = [
    {
      server: await bench.start('nginx', directory, () =>
        startNginx(bench.tools.nginx, directory, bench.data.root),
      ),
      target: theirs,
    },
    { server: await bench.start('baseline', directory, () => startBaseline(directory)), target: ours() },
    { server: await bench.start('nodestate', directory, () => startNodestate(directory)), target: ours() },
  ]
  if (bench.tools.bun)
    all.push({
      server: await bench.start('bun', directory, () => startBun(bench.tools.bun, directory)),
      target: ours(),
    })
  return all
}

/** nodestate on the logs, started once for all rows. */
export function nodestate(bench) {
  const { logs } = bench.data
  return bench.start('nodestate', logs, () => startNodestate(logs))
}

/** nodestate on Bun, serving the logs, or null if Bun is not requested. */
export async function onBun(bench) {
  const { logs } = bench.data
  return bench.tools.bun ? bench.start('bun', logs, () => startBun(bench.tools.bun, logs)) : null
}

/** Requests per second, against nginx and against the baseline. */
export function rates({ nginx, baseline, nodestate, bun }) {
  return [
    ['Node / nginx', ratioOf('rps', nodestate, nginx)],
    ['Node / node:http', ratioOf('rps', nodestate, baseline)],
    ...(bun ? [['Bun / nginx', ratioOf('rps', bun, nginx)]] : []),
  ]
}
