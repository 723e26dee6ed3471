import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { countReads } from './bisection.mjs'
import { alignedTail, COMMON, expectedList, GIB, lastBytes, RARE } from './data.mjs'
import { measureFollowers } from './followers.mjs'
import { ask, interleave, median, stall } from './measure.mjs'
import { startBaseline, startBun, startNginx, startNodestate } from './servers.mjs'

const KIB = 1024
const MIB = 1024 * KIB

/**
 * The rows of the table. Each gives figures: `value` next to its `bar`, and whether more or less is better.
 * `bench` holds the data, the tools and the options of a run, and starts servers.
 */
export const ROWS = {
  'view-4k': (bench) => viewRow(bench, 4 * KIB, { nginx: 0.22, baseline: 1.3, bun: 0.35, workers: 0.3 }),
  'view-64k': (bench) => viewRow(bench, 64 * KIB, { nginx: 0.22, baseline: 1.3, bun: 0.32, workers: 0.3 }),
  'view-256k': (bench) => viewRow(bench, 256 * KIB, { nginx: 0.27, baseline: 1.3, bun: 0.34 }),
  'view-1m': (bench) => viewRow(bench, MIB, { nginx: 0.38, baseline: 1.6, bun: 0.34 }),
  'view-5m': (bench) => viewRow(bench, 5 * MIB, { nginx: 0.45, baseline: 2, bun: 0.75 }),
  fairness: fairnessRow,
  memory: memoryRow,
  unchanged: unchangedRow,
  'list-10': (bench) => listRow(bench, 'ten', 'list, 10 files', { nginx: 0.45, baseline: 1.5, bun: 0.5 }),
  'list-10k': (bench) =>
    listRow(bench, 'many', 'list, 10,000 files, asked again', { nginx: 10, baseline: 1, bun: 10 }),
  'list-10k-new': listAnewRow,
  huge: hugeRow,
  'access-log': accessLogRow,
  follow: followRow,
  'search-rare': (bench) => searchRow(bench, RARE, 'rare hits', 1),
  'search-common': (bench) => searchRow(bench, COMMON, '10 % hits', 1.5),
  bisection: bisectionRow,
  ndjson: ndjsonRow,
}

const viewPath = (size, file = 'big.log') => `/api/v1/log/view?file=${file}&size=${size}`

/** What is asked of nodestate, Bun and the baseline, and what must come. */
function tailOf(bench, size, file = 'big.log') {
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
function rangeOf(bench, size) {
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
async function contenders(bench, directory, theirs, ours) {
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

async function viewRow(bench, size, bars) {
  const ours = tailOf(bench, size)
  const all = await contenders(bench, bench.data.logs, rangeOf(bench, size), ours)
  if (bars.workers) {
    const start = () => startNodestate(bench.data.logs, ['--workers', '2'])
    all.push({
      name: 'workers',
      server: await bench.start('workers', bench.data.logs, start),
      target: ours(),
    })
  }
  const figures = await interleave(bench.load, all, bench.options)
  const label = size < MIB ? `${size / KIB} KiB` : `${size / MIB} MiB`
  return { title: `view ${label}, 16 connections`, figures, ratios: rates(figures, bars) }
}

/** Requests per second, against nginx and against the baseline. */
function rates(figures, bars) {
  const { nginx, baseline, nodestate, bun, workers } = figures
  return [
    ['Node / nginx', nodestate.rps / nginx.rps, bars.nginx],
    ...(workers ? [['Node, 2 workers / nginx', workers.rps / nginx.rps, bars.workers]] : []),
    ['Node / node:http', nodestate.rps / baseline.rps, bars.baseline],
    ...(bun ? [['Bun / nginx', bun.rps / nginx.rps, bars.bun]] : []),
  ]
}

async function fairnessRow(bench) {
  const size = 5 * MIB
  const all = await contenders(bench, bench.data.logs, rangeOf(bench, size), tailOf(bench, size))
  const options = { ...bench.options, connections: 64, seconds: Math.max(2, bench.options.seconds) }
  const figures = await interleave(bench.load, all, options)
  const { nginx, baseline, nodestate, bun } = figures
  const ratios = [
    ['p99 Node / nginx', nodestate.p99 / nginx.p99, 4, 'most'],
    ['p99 Node / node:http', nodestate.p99 / baseline.p99, 1, 'most'],
    ...(bun ? [['p99 Bun / nginx', bun.p99 / nginx.p99, 2, 'most']] : []),
  ]
  return { title: 'view 5 MiB, 64 connections: p99', figures, ratios }
}

/** On servers of its own: what other rows left in memory says nothing here. */
async function memoryRow(bench) {
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
    ['Node, MB', figures.nodestate.rss / 1e6, 90, 'most'],
    ...(figures.bun ? [['Bun, MB', figures.bun.rss / 1e6, 60, 'most']] : []),
  ]
  return { title: 'memory, 64 × 5 MiB, all stalled', figures, ratios }
}

async function unchangedRow(bench) {
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
  const figures = await interleave(bench.load, all, bench.options)
  const bars = { nginx: 0.25, baseline: 1, bun: 0.4 }
  return { title: 'view 256 KiB unchanged, If-None-Match', figures, ratios: rates(figures, bars) }
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

function listTargets(directory) {
  const expected = expectedList(directory)
  const check = ({ status, body }, name) => {
    assert.equal(status, 200, name)
    const listed = JSON.parse(body).map(({ name, size }) => ({ name, size }))
    assert.deepEqual(listed, expected, `${name} lists other files`)
  }
  return [{ path: '/', check }, () => ({ path: '/api/v1/log/list', check })]
}

async function listRow(bench, which, title, bars) {
  const directory = bench.data[which]
  const all = await contenders(bench, directory, ...listTargets(directory))
  const figures = await interleave(bench.load, all, bench.options)
  return { title: `${title}, 16 connections`, figures, ratios: rates(figures, bars) }
}

/** One request at a time, each after a file came: nothing that was remembered holds. */
async function listAnewRow(bench) {
  const directory = bench.data.many
  const all = await contenders(bench, directory, ...listTargets(directory))
  const times = all.map(() => [])
  for (let round = 0; round < 15; round++)
    for (const [i, { server, target }] of all.entries()) {
      const path = join(directory, `new-${round}-${i}.log`)
      writeFileSync(path, '')
      const cpu = server.cpu()
      const start = performance.now()
      const { body } = await ask(server, target.path)
      times[i].push({ ms: performance.now() - start, cpu: server.cpu() - cpu })
      assert.ok(body.includes(`new-${round}-${i}.log`), `${server.name} does not list a new file`)
      rmSync(path)
    }
  const figures = Object.fromEntries(
    all.map(({ server }, i) => {
      const ms = median(times[i].map((time) => time.ms))
      const cpu = times[i].reduce((sum, time) => sum + time.cpu, 0) / times[i].length
      return [server.name, { rps: 1000 / ms, p50: ms * 1000, cpu, rss: server.rss() }]
    }),
  )
  const bars = { nginx: 0.5, baseline: 1, bun: 0.5 }
  return { title: 'list, 10,000 files, after a change, one at a time', figures, ratios: rates(figures, bars) }
}

async function hugeRow(bench) {
  const { logs } = bench.data
  const node = await bench.start('nodestate', logs, () => startNodestate(logs))
  const bun = bench.tools.bun && (await bench.start('bun', logs, () => startBun(bench.tools.bun, logs)))
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
  const figures = await interleave(bench.load, all, {
    ...bench.options,
    rounds: bench.options.rounds * 2,
    seconds: bench.options.seconds / 2,
  })
  const ratio = (name) => figures[`${name}, 20 GiB`].rps / figures[`${name}, 1 MiB`].rps
  const ratios = [['Node', ratio('nodestate'), 0.95], ...(bun ? [['Bun', ratio('bun'), 0.95]] : [])]
  return { title: 'tail (64 KiB) of a 20 GiB file against a 1 MiB file', figures, ratios }
}

async function accessLogRow(bench) {
  const { logs } = bench.data
  const ours = tailOf(bench, 4 * KIB)
  const all = [
    {
      name: 'nodestate, warn',
      server: await bench.start('nodestate', logs, () => startNodestate(logs)),
      target: ours(),
    },
    {
      name: 'nodestate, info',
      server: await bench.start('info', logs, () => startNodestate(logs, ['--log-level', 'info'])),
      target: ours(),
    },
  ]
  const figures = await interleave(bench.load, all, bench.options)
  const ratio = figures['nodestate, info'].rps / figures['nodestate, warn'].rps
  return { title: 'view 4 KiB with the access log against without', figures, ratios: [['Node', ratio, null]] }
}

async function followRow(bench) {
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
      ['p99, ms', result.p99 / 1000, 1000, 'most'],
      ['lines missing', result.missing, 0, 'most'],
      ['cores', result.cores, 1, 'most'],
    ]
    return { title: 'follow: 1,000 followers, 1,000 lines/s appended', figures, ratios }
  } finally {
    await server.stop()
  }
}

/** All hits, page by page, next to grep on the same file. */
async function searchRow(bench, text, what, bar) {
  const { logs, root } = bench.data
  const file = join(logs, 'big.log')
  const { size } = statSync(file)
  const output = join(root, 'grep.out')
  const grep = () =>
    new Promise((resolve, reject) => {
      // Into a file: into /dev/null grep would stop at the first hit.
      const fd = openSync(output, 'w')
      const start = performance.now()
      spawn(bench.tools.grep, ['-F', text, file], {
        stdio: ['ignore', fd, 'inherit'],
        env: { ...process.env, LC_ALL: 'C' },
      })
        .on('error', reject)
        .on('close', () => {
          closeSync(fd)
          resolve(performance.now() - start)
        })
    })
  const servers = { nodestate: await bench.start('nodestate', logs, () => startNodestate(logs)) }
  if (bench.tools.bun) servers.bun = await bench.start('bun', logs, () => startBun(bench.tools.bun, logs))
  await grep()
  const expected = await hashOf(createReadStream(output))
  for (const name in servers) {
    const pages = (await searchPages(servers[name], text, true)).pages.reverse()
    assert.equal(await hashOf(pages), expected, `${name} finds other lines than grep`)
  }
  const times = { grep: [], nodestate: [], ...(servers.bun && { bun: [] }) }
  const cpu = {}
  for (let round = 0; round < 3; round++) {
    times.grep.push(await grep())
    for (const name in servers) {
      const before = servers[name].cpu()
      times[name].push((await searchPages(servers[name], text, false)).ms)
      cpu[name] = servers[name].cpu() - before
    }
  }
  const figures = {}
  for (const name in times) {
    const ms = median(times[name])
    figures[name] = {
      mbs: size / ms / 1000,
      p50: ms * 1000,
      ...(cpu[name] && { cpu: cpu[name], rss: servers[name].rss() }),
    }
  }
  const ratios = [
    ['Node / grep -F', figures.nodestate.mbs / figures.grep.mbs, bar],
    ...(figures.bun ? [['Bun / grep -F', figures.bun.mbs / figures.grep.mbs, 1]] : []),
  ]
  return { title: `text search over ${Math.round(size / GIB)} GiB, ${what}`, figures, ratios }
}

async function searchPages(server, text, keep) {
  let ms = 0
  const pages = []
  let query = `file=big.log&size=100000000&q=${encodeURIComponent(text)}`
  for (;;) {
    const start = performance.now()
    const { status, headers, body, ended } = await ask(server, `/api/v1/log/view?${query}`)
    ms += ended - start
    assert.equal(status, 200, body.subarray(0, 300).toString())
    if (keep) pages.push(body)
    const older = /<\?([^>]*)>; rel="prev"/.exec(headers.link ?? '')
    if (!older) return { ms, pages }
    query = older[1]
  }
}

async function hashOf(parts) {
  const hash = createHash('sha1')
  for await (const part of parts) hash.update(part)
  return hash.digest('hex')
}

async function bisectionRow() {
  const ratios = [
    ['reads in 1 GiB', await countReads(GIB), 18, 'most'],
    ['reads in 20 GiB', await countReads(20 * GIB), 23, 'most'],
  ]
  return { title: 'bisection by time', figures: {}, ratios }
}

async function ndjsonRow(bench) {
  const { logs } = bench.data
  const server = await bench.start('nodestate', logs, () => startNodestate(logs))
  const size = 32 * MIB
  const tail = alignedTail(join(logs, 'big.log'), size)
  const expected = tail.toString().split('\n').length - 1
  const rates = []
  let cpu = 0
  for (let round = 0; round < 4; round++) {
    const before = server.cpu()
    const start = performance.now()
    const { status, body, ended } = await ask(
      server,
      `/api/v1/log/view?file=big.log&size=${size}&format=ndjson`,
    )
    const seconds = (ended - start) / 1000
    assert.equal(status, 200)
    const lines = body.toString().split('\n').slice(0, -1)
    assert.equal(lines.length, expected)
    for (const line of [lines[0], lines.at(-1)]) assert.equal(typeof JSON.parse(line).time, 'string')
    if (round > 0) rates.push(lines.length / seconds)
    cpu = (server.cpu() - before) / lines.length
  }
  const figures = { nodestate: { rps: median(rates), cpu, rss: server.rss() } }
  return { title: 'records to NDJSON', figures, ratios: [['million lines/s', median(rates) / 1e6, 0.8]] }
}
