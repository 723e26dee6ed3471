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

const PERIOD = 70 * MIB

/** Ten seconds of an archive of 70 MiB of log, asked a second time; next to zcat, which is what decompressing takes. */
export async function periodArchiveRow(bench) {
  const folder = join(bench.data.root, 'period')
  const path = join(folder, 'day.log.gz')
  const node = await bench.start('nodestate', folder, () => {
    const script = 'mkdir "$1" && head -c "$2" "$3" | gzip -6 > "$4"'
    const args = [folder, String(PERIOD), join(bench.data.root, 'archived.log'), path]
    execFileSync('sh', ['-c', script, 'sh', ...args])
    return startNodestate(folder)
  })
  const at = firstTime(path) + 90_000
  const url = `/api/v1/log/view?file=day.log.gz&since=${at}&until=${at + 10_000}`
  const first = await ask(node, url)
  assert.equal(first.status, 200, first.body.subarray(0, 300).toString())
  assert.ok(first.body.length > 100_000, 'ten seconds of the archive have no records')
  const ours = async () => {
    const { ms, status, head } = await drain(node, url)
    assert.equal(status, 200, head)
    return { ms }
  }
  const all = [
    { name: 'zcat', run: () => shell('zcat "$1" > /dev/null', path) },
    { name: 'nodestate', run: ours },
  ]
  const once = async ({ run }) => {
    const { ms } = await run()
    return { mbs: PERIOD / ms / 1000, p50: ms * 1000 }
  }
  const results = await takeTurns(all, once, { rounds: 4, spare: bench.spare })
  const figures = Object.fromEntries(all.map(({ name }, i) => [name, results[i]]))
  const ratios = [['asked again, s', figures.nodestate.p50 / 1e6]]
  return { title: 'ten seconds of a .gz of 70 MiB, asked again', figures, ratios }
}

/** The time of the first line, in milliseconds since the Unix epoch. */
function firstTime(path) {
  const line = execFileSync('sh', ['-c', 'zcat "$1" 2>/dev/null | head -c 23', 'sh', path], {
    encoding: 'utf8',
  })
  return Date.parse(`${line.replace(' ', 'T')}Z`)
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
