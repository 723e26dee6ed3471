import { strict as assert } from 'node:assert'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alignedTail } from '../data.mjs'
import { ask, drain } from '../measure.mjs'
import { startNodestate } from '../servers.mjs'
import { ratioOf, takeTurns } from '../turns.mjs'
import { MIB } from './contenders.mjs'

const FILES = 32
const SIZE = 16 * MIB

/** A directory with `all.log`, and with the same lines dealt to 32 logs, each in order. */
function dealtLogs(bench) {
  const directory = join(bench.data.root, 'timeline')
  if (existsSync(directory)) return directory
  mkdirSync(directory)
  const all = alignedTail(join(bench.data.logs, 'big.log'), SIZE)
  writeFileSync(join(directory, 'all.log'), all)
  const dealt = Array.from({ length: FILES }, () => [])
  for (const [i, line] of all
    .toString()
    .split(/(?<=\n)/)
    .entries())
    dealt[i % FILES].push(line)
  for (const [i, lines] of dealt.entries())
    writeFileSync(join(directory, `part-${String(i).padStart(2, '0')}.log`), lines.join(''))
  return directory
}

const pathOf = (file, size = SIZE) => `/api/v1/log/view?file=${file}&size=${size}&format=ndjson`

/** The records of 32 local files in order, next to the same records in one file. */
export async function timelineRow(bench) {
  const directory = dealtLogs(bench)
  const lines = readFileSync(join(directory, 'all.log'), 'utf8').split('\n').length - 1
  const server = await bench.start('nodestate', directory, () => startNodestate(directory))
  const all = [
    { name: 'one file', path: pathOf('all.log') },
    { name: '32 files', path: pathOf('part-*.log') },
  ]
  const [one, merged] = await Promise.all(all.map(async ({ path }) => timesOf(await ask(server, path))))
  assert.equal(merged.length, lines)
  assert.deepEqual(merged, one, 'the records of 32 files are in another order than in one')
  const once = async ({ path }) => {
    const before = server.cpu()
    const { ms, status, head } = await drain(server, path)
    assert.equal(status, 200, head)
    return {
      rps: lines / (ms / 1000),
      p50: ms * 1000,
      cpu: (server.cpu() - before) / lines,
      rss: server.rss(),
    }
  }
  const results = await takeTurns(all, once, { rounds: 5, spare: bench.spare })
  const figures = Object.fromEntries(all.map(({ name }, i) => [name, results[i]]))
  const ratios = [['32 files / one', ratioOf('rps', results[1], results[0])]]
  return { title: 'records of 32 files to NDJSON, in order', figures, ratios }
}

function timesOf({ status, body }) {
  assert.equal(status, 200, body.subarray(0, 300).toString())
  return body
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).time)
}

/** The greatest memory during a page of 32 logs, beyond what the server had and what it answers. */
export async function timelineMemoryRow(bench) {
  const directory = dealtLogs(bench)
  // On a separate server: what other rows left in memory would be used again.
  const server = await startNodestate(directory)
  try {
    // The first pages load modules and let the heap grow.
    for (let i = 0; i < 8; i++) await ask(server, pathOf('part-0*.log', 4 * MIB))
    const before = server.rss()
    server.forgetPeak()
    const { status, body } = await ask(server, pathOf('part-*.log', 4 * MIB))
    assert.equal(status, 200)
    const peak = server.peakRss()
    const ratios = [['MiB beyond the answer', (peak - before - body.length) / MIB]]
    return { title: 'memory, a page of 4 MiB of 32 logs', figures: { nodestate: { rss: peak } }, ratios }
  } finally {
    await server.stop()
  }
}
