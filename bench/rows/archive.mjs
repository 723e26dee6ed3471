import { strict as assert } from 'node:assert'
import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { ARCHIVED, alignedTail, RARE } from '../data.mjs'
import { ask, drain } from '../measure.mjs'
import { startNodestate } from '../servers.mjs'
import { ratioOf, takeTurns } from '../turns.mjs'
import { KIB, MIB } from './contenders.mjs'

const SIZE = 64 * KIB

/** nodestate on the archive alone. */
const server = (bench) =>
  bench.start('nodestate', bench.data.archive, () => startNodestate(bench.data.archive))

/** A text in an archive of 256 MiB of log, next to zgrep. */
export async function searchArchiveRow(bench) {
  const path = join(bench.data.archive, 'big.log.gz')
  const expected = execFileSync('zgrep', ['-F', RARE, path], { maxBuffer: 64 * MIB })
  const url = `/api/v1/log/view?file=big.log.gz&size=60000000&q=${encodeURIComponent(RARE)}`
  return against(bench, {
    title: 'text search in a .gz of 256 MiB',
    theirs: { name: 'zgrep', run: () => shell('LC_ALL=C zgrep -F "$1" "$2" > /dev/null', RARE, path) },
    url,
    expected,
  })
}

/** The last 64 KiB of an archive, next to zcat and tail. */
export async function tailArchiveRow(bench) {
  const path = join(bench.data.archive, 'big.log.gz')
  return against(bench, {
    title: 'tail of 64 KiB of a .gz of 256 MiB',
    theirs: {
      name: 'zcat and tail',
      run: () => shell('zcat "$2" | tail -c "$1" > /dev/null', String(SIZE), path),
    },
    url: `/api/v1/log/view?file=big.log.gz&size=${SIZE}`,
    expected: alignedTail(join(bench.data.root, 'archived.log'), SIZE),
  })
}

async function against(bench, { title, theirs, url, expected }) {
  const node = await server(bench)
  const { status, body } = await ask(node, url)
  assert.equal(status, 200, body.subarray(0, 300).toString())
  assert.ok(body.equals(expected), `${title}: nodestate gave other bytes than ${theirs.name}`)
  const ours = {
    name: 'nodestate',
    async run() {
      const before = node.cpu()
      const { ms, status, head } = await drain(node, url)
      assert.equal(status, 200, head)
      return { ms, cpu: node.cpu() - before, rss: node.rss() }
    },
  }
  const all = [theirs, ours]
  const once = async (each) => {
    const { ms, ...rest } = await each.run()
    return { mbs: ARCHIVED / ms / 1000, p50: ms * 1000, ...rest }
  }
  const results = await takeTurns(all, once, { rounds: 4, spare: bench.spare })
  const figures = Object.fromEntries(all.map(({ name }, i) => [name, results[i]]))
  return { title, figures, ratios: [[`Node / ${theirs.name}`, ratioOf('mbs', results[1], results[0])]] }
}

function shell(script, ...args) {
  return new Promise((resolve, reject) => {
    const start = performance.now()
    spawn('sh', ['-c', script, 'sh', ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
      .on('error', reject)
      .on('close', () => resolve({ ms: performance.now() - start }))
  })
}
