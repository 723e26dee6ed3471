import { strict as assert } from 'node:assert'
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  createReadStream,
  fsyncSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { alignedTail, GIB, RARE } from '../data.mjs'
import { ask, drain } from '../measure.mjs'
import { ratioOf, takeTurns } from '../turns.mjs'
import { MIB, nodestate, onBun, viewPath } from './contenders.mjs'

/** All hits, page by page, next to grep on the same file. */
export async function searchRow(bench, text, what) {
  const file = join(bench.data.logs, 'big.log')
  const { size } = statSync(file)
  const output = new GrepOutput(bench.data.root)
  try {
    await runGrep(bench.tools.grep, text, file, output)
    const expected = await hashOf(createReadStream(output.path))
    const all = [{ name: 'grep', once: () => runGrep(bench.tools.grep, text, file, output) }]
    for (const server of [await nodestate(bench), await onBun(bench)].filter(Boolean)) {
      const { pages, bytes } = await searchPages(server, text)
      assert.equal(await hashOf(pages.reverse()), expected, `${server.name} finds other lines than grep`)
      all.push({ name: server.name, once: () => searchAgain(server, text, bytes) })
    }
    const once = async (each) => {
      const { ms, ...rest } = await each.once()
      return { mbs: size / ms / 1000, p50: ms * 1000, ...rest }
    }
    const results = await takeTurns(all, once, { rounds: 4, spare: bench.spare })
    const figures = Object.fromEntries(all.map(({ name }, i) => [name, results[i]]))
    const ratios = [
      ['Node / grep -F', ratioOf('mbs', figures.nodestate, figures.grep)],
      ...(figures.bun ? [['Bun / grep -F', ratioOf('mbs', figures.bun, figures.grep)]] : []),
    ]
    return { title: `text search over ${Math.round(size / GIB)} GiB, ${what}`, figures, ratios }
  } finally {
    rmSync(output.path)
  }
}

/**
 * Where grep writes to: a file, for into /dev/null it would stop at the first hit. In memory if there is such a place,
 * else what was written goes to disk before the next turn: nobody pays for another's pages.
 */
class GrepOutput {
  constructor(root) {
    const inMemory = isWritable('/dev/shm')
    this.path = join(inMemory ? '/dev/shm' : root, `nodestate-grep-${process.pid}.out`)
    this.settle = (fd) => {
      if (!inMemory) fsyncSync(fd)
      closeSync(fd)
    }
  }
}

function isWritable(directory) {
  try {
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function runGrep(grep, text, file, output) {
  return new Promise((resolve, reject) => {
    const fd = openSync(output.path, 'w')
    const start = performance.now()
    spawn(grep, ['-F', text, file], {
      stdio: ['ignore', fd, 'inherit'],
      env: { ...process.env, LC_ALL: 'C' },
    })
      .on('error', reject)
      .on('close', () => {
        const ms = performance.now() - start
        output.settle(fd)
        resolve({ ms })
      })
  })
}

const searchPath = (text) => `${viewPath(100_000_000)}&q=${encodeURIComponent(text)}`
const olderPath = (link = '') => /<(\?[^>]*)>; rel="prev"/.exec(link)?.[1]

/** All pages, newest first, and how long their bodies are. */
async function searchPages(server, text) {
  const pages = []
  let bytes = 0
  for (let path = searchPath(text); path; ) {
    const { status, headers, body } = await ask(server, path)
    assert.equal(status, 200, body.subarray(0, 300).toString())
    pages.push(body)
    bytes += body.length
    const older = olderPath(headers.link)
    path = older && `/api/v1/log/view${older}`
  }
  return { pages, bytes }
}

/** The same search again, its pages only counted. */
async function searchAgain(server, text, expected) {
  const before = server.cpu()
  let ms = 0
  let bytes = 0
  for (let path = searchPath(text); path; ) {
    const page = await drain(server, path)
    assert.equal(page.status, 200, page.head)
    ms += page.ms
    bytes += page.bytes
    const older = olderPath(page.head)
    path = older && `/api/v1/log/view${older}`
  }
  assert.ok(bytes >= expected, `${server.name} found less when asked again`)
  return { ms, cpu: server.cpu() - before, rss: server.rss() }
}

async function hashOf(parts) {
  const hash = createHash('sha1')
  for await (const part of parts) hash.update(part)
  return hash.digest('hex')
}

/** A pattern of three words that no line has, next to ripgrep where it is installed. */
export async function wordsRow(bench) {
  const file = join(bench.data.logs, 'big.log')
  const { size } = statSync(file)
  const words = '(panic|fatal error|oom-killer)'
  const server = await nodestate(bench)
  const path = `/api/v1/log/view?file=big.log&regex=${encodeURIComponent(words)}`
  const ours = async () => {
    const { ms, status, head } = await drain(server, path)
    assert.equal(status, 200, head)
    return ms
  }
  const { rg } = bench.tools
  const theirs = async () => {
    const start = performance.now()
    const { status } = spawnSync(rg, ['-c', '--no-config', '-j1', words, file])
    // No line is found.
    assert.equal(status, 1)
    return performance.now() - start
  }
  const all = [{ name: 'nodestate', run: ours }, ...(rg ? [{ name: 'rg', run: theirs }] : [])]
  const once = async ({ run }) => {
    const ms = await run()
    return { mbs: size / ms / 1000, p50: ms * 1000 }
  }
  const results = await takeTurns(all, once, { rounds: 4, spare: bench.spare })
  const figures = Object.fromEntries(all.map(({ name }, i) => [name, results[i]]))
  const ratios = rg ? [['Node / rg', ratioOf('mbs', figures.nodestate, figures.rg)]] : []
  return { title: 'pattern of three words over 1 GiB, no hit', figures, ratios }
}

export async function bisectionRow() {
  // Not before: it needs what the build makes.
  const { countReads } = await import('../bisection.mjs')
  const ratios = [
    ['reads in 1 GiB', await countReads(GIB)],
    ['reads in 20 GiB', await countReads(20 * GIB)],
  ]
  return { title: 'bisection by time', figures: {}, ratios }
}

/** Lines as JSON, one process, one answer at a time. */
export async function ndjsonRow(bench) {
  const server = await nodestate(bench)
  const size = 32 * MIB
  const tail = alignedTail(join(bench.data.logs, 'big.log'), size)
  const expected = tail.toString().split('\n').length - 1
  const path = `${viewPath(size)}&format=ndjson`
  const { status, body } = await ask(server, path)
  assert.equal(status, 200)
  const lines = body.toString().split('\n').slice(0, -1)
  assert.equal(lines.length, expected)
  for (const line of [lines[0], lines.at(-1)]) assert.equal(typeof JSON.parse(line).time, 'string')
  const once = async () => {
    const before = server.cpu()
    const again = await drain(server, path)
    assert.equal(again.status, 200, again.head)
    assert.ok(again.bytes >= body.length, 'the records are not all there when asked again')
    const cpu = (server.cpu() - before) / expected
    return { rps: expected / (again.ms / 1000), cpu, rss: server.rss() }
  }
  const [result] = await takeTurns([server], once, { rounds: 5, spare: bench.spare })
  const ratios = [['million lines/s', result.rps / 1e6]]
  return { title: 'records to NDJSON', figures: { nodestate: result }, ratios }
}

/** Searches that look into records, next to a plain text over the same bytes: rare hits each, in one answer. */
export async function digRow(bench) {
  const server = await nodestate(bench)
  const { size } = statSync(join(bench.data.logs, 'big.log'))
  const view = (filter) => `/api/v1/log/view?file=big.log&lines=100000&size=60000000&${filter}`
  const paths = {
    q: view(`q=${encodeURIComponent(RARE)}`),
    not: view('not=request&not=slow'),
    where: view('where=ms:17&where=node:10.0.3.17'),
    fields: '/api/v1/log/fields?file=big.log&where=ms:17&where=node:10.0.3.17',
  }
  const all = Object.entries(paths).map(([name, path]) => ({ name, path }))
  const once = async ({ path }) => {
    const before = server.cpu()
    const { ms, status, head } = await drain(server, path)
    assert.equal(status, 200, head)
    return { mbs: size / ms / 1000, p50: ms * 1000, cpu: server.cpu() - before, rss: server.rss() }
  }
  const results = await takeTurns(all, once, { rounds: 3, spare: bench.spare })
  const figures = Object.fromEntries(all.map(({ name }, i) => [name, results[i]]))
  const ratios = ['not', 'where', 'fields'].map((name) => [
    `${name} / q`,
    ratioOf('mbs', figures[name], figures.q),
  ])
  return { title: `not, where and fields over ${Math.round(size / GIB)} GiB`, figures, ratios }
}
