// Measures round trips to a bucket that is 30 ms away and gives 100 MB/s per connection.
//
//   npm run bench:bucket [-- --delay 30] [--rate 100] [--size 1024] [--on node,bun,deno,workerd] [--write]
//
// A round trip is a link in the longest chain of requests of which each had to wait for the one before; parallel
// requests count once. --delay is in ms, --rate in MB/s, --size in MiB; --write puts the table into docs/performance.md.
// Takes about two minutes for all runtimes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { findPart } from '../test/parts/parts.mjs'
import { longestChain } from './chain.mjs'
import { startBucketService, stopAll } from './servers.mjs'
import { ROOT } from './tools.mjs'

const { values } = parseArgs({
  options: {
    delay: { type: 'string', default: '30' },
    rate: { type: 'string', default: '100' },
    size: { type: 'string', default: '1024' },
    on: { type: 'string', default: 'node,bun,deno,workerd' },
    write: { type: 'boolean', default: false },
  },
})
const MIB = 2 ** 20
const delay = Number(values.delay)
const rate = Number(values.rate) * 1e6
const size = Number(values.size) * MIB
const START = Date.UTC(2026, 0, 1)
// Somewhere in the second half.
const since = new Date(START + Math.floor((size / 1.25e6) * 0.6) * 60_000 + 12_340)
const window = `since=${since.toISOString()}&until=${new Date(since.getTime() + 10_000).toISOString()}`

/** What is asked, with the bars: round trips at most, or connections' worth at least. Names in capitals are new ones. */
const ROWS = [
  ['tail of 256 KiB', 'view?file=NEW&size=262144', { trips: 1 }],
  ['`lines=100`', 'view?file=NEW&lines=100', { trips: 1 }],
  ['10 s of the log', `view?file=NEW&${window}`, { trips: 6 }],
  ['the same again', `view?file=SAME&${window}`, { trips: 3 }],
  ['10 s, `level=error`', `view?file=NEW&level=error&${window}`, { trips: 7 }],
  ['`level=error&lines=100`', 'view?file=NEW&level=error&lines=100', { trips: 5 }],
  ['`q` without a hit', 'view?file=NEW&q=nowhere', { connections: 6, edge: 4 }],
  ['histogram, `estimate=true`', 'histogram?file=NEW&estimate=true', { trips: 10 }],
  ['histogram, exact', 'histogram?file=NEW', {}],
  ['export of all records with `q`', 'view?file=NEW&download=true&q=nowhere', {}],
  ['`list?detail=true`, 206 files', 'list?detail=true', { trips: 12 }],
]

const bucket = spawn(
  process.execPath,
  [join(ROOT, 'bench/far-bucket.mjs'), JSON.stringify({ delay, rate, size })],
  { stdio: ['pipe', 'pipe', 'inherit'] },
)
const port = Number((await once(bucket.stdout, 'data')).toString())
const lines = [
  '| request | on | round trips | requests | MiB | ms | MB/s | CPU ms | bar |',
  '|---|---|---|---|---|---|---|---|---|',
]
console.log(lines.join('\n'))
try {
  for (const runtime of values.on.split(',')) {
    const service = await startBucketService(runtime, findPart(runtime), {
      endpoint: `http://127.0.0.1:${port}`,
      scanBytes: 2 * size,
    })
    try {
      await measure(runtime, service)
    } finally {
      await service.stop()
    }
  }
} finally {
  await stopAll()
  bucket.stdin.end()
}
if (values.write) write(lines.join('\n'))

async function measure(runtime, service) {
  // The first request loads modules.
  await ask(service, 'view?file=big.log&lines=1&q=request')
  let file = 0
  for (const [name, query, bar] of ROWS) {
    if (query.includes('NEW')) file++
    await report()
    const cpu = service.cpu()
    const start = performance.now()
    const note = await ask(service, query.replace(/NEW|SAME/, `big-${file}.log`))
    const ms = performance.now() - start
    const cpuMs = (service.cpu() - cpu) / 1000
    const requests = await report()
    const bytes = requests.reduce((sum, request) => sum + request.bytes, 0)
    const trips = longestChain(requests)
    const speed = bytes / 1e3 / ms
    const wanted = runtime === 'workerd' ? (bar.edge ?? bar.connections) : bar.connections
    const [text, isMet] = bar.trips
      ? [`≤ ${bar.trips} round trips`, trips <= bar.trips]
      : wanted
        ? [`≥ ${wanted} connections' worth`, speed >= wanted * (rate / 1e6)]
        : ['', true]
    const figures = [
      trips,
      requests.length,
      (bytes / MIB).toFixed(1),
      ms.toFixed(0),
      speed.toFixed(0),
      cpuMs.toFixed(0),
    ]
    const cells = [
      name + (note ? ` (${note})` : ''),
      runtime,
      ...figures,
      text + (isMet ? '' : ' **missed**'),
    ]
    lines.push(`| ${cells.join(' | ')} |`)
    console.log(lines.at(-1))
  }
}

/** Asks, reads the whole answer, and returns its note. */
async function ask(service, query) {
  const response = await fetch(`http://127.0.0.1:${service.port}/api/v1/log/${query}`)
  if (!response.ok) throw new Error(`${query}: ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
  return response.headers.get('X-Nodestate-Note')
}

/** What was asked of the bucket since the last report. */
async function report() {
  // Requests that were ended by their client need a moment to end there, too.
  await sleep(100)
  return (await fetch(`http://127.0.0.1:${port}/-/report`)).json()
}

/** Puts the table between its marks in docs/performance.md. */
function write(table) {
  const path = join(ROOT, 'docs/performance.md')
  const text = readFileSync(path, 'utf8')
  const date = new Date().toISOString().slice(0, 10)
  const said = `Measured on ${date}: a bucket ${delay} ms away, ${values.rate} MB/s per connection, a log of ${values.size} MiB.`
  const [before, rest] = text.split('<!-- bucket -->\n')
  const after = rest?.split('<!-- /bucket -->')[1]
  if (after === undefined) throw new Error('docs/performance.md has no <!-- bucket --> … <!-- /bucket -->')
  writeFileSync(path, `${before}<!-- bucket -->\n${said}\n\n${table}\n<!-- /bucket -->${after}`)
}
