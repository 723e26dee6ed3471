// Measures round trips to a bucket that is 30 ms away and gives 100 MB/s per connection.
//
//   npm run bench:bucket [-- --delay 30] [--rate 100] [--size 1024] [--on node,bun,deno,workerd]
//                           [--rows TEXT] [--write]
//
// A round trip is a link in the longest chain of requests of which each had to wait for the one before; parallel
// requests count once. Buckets speak TLS, so Node searches once over it, too. --delay is in ms, --rate in MB/s, --size in
// MiB; --rows measures only rows with this text in their name; --write puts the figures into bench/results.json and the
// docs.
// Takes about two minutes for all runtimes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { findPart } from '../test/parts/parts.mjs'
import { isBucketMet, TIMELINE_BARS } from './bars.mjs'
import { longestChain } from './chain.mjs'
import { saveResults } from './results.mjs'
import { startBucketService, stopAll } from './servers.mjs'
import { ROOT } from './tools.mjs'

const { values } = parseArgs({
  options: {
    delay: { type: 'string', default: '30' },
    rate: { type: 'string', default: '100' },
    size: { type: 'string', default: '1024' },
    on: { type: 'string', default: 'node,bun,deno,workerd' },
    rows: { type: 'string', default: '' },
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

/** What is asked; bars.mjs has the bars. Names in capitals are new ones. */
const ROWS = [
  ['tail of 256 KiB', 'view?file=NEW&size=262144'],
  ['`lines=100`', 'view?file=NEW&lines=100'],
  ['10 s of the log', `view?file=NEW&${window}`],
  ['the same again', `view?file=SAME&${window}`],
  ['10 s, `level=error`', `view?file=NEW&level=error&${window}`],
  ['`level=error&lines=100`', 'view?file=NEW&level=error&lines=100'],
  ['`q` without a hit', 'view?file=NEW&q=nowhere'],
  ['histogram, exact', 'histogram?file=NEW'],
  ['export of all records with `q`', 'view?file=NEW&download=true&q=nowhere'],
  ['download', 'download?file=NEW'],
  ['`list?detail=true`, 206 files', 'list?detail=true'],
]
const TLS_ROWS = [['`q` without a hit, TLS', 'view?file=NEW&q=nowhere']]
/** Pages of several logs, each of logs that were not read before: the letter, how many on this runtime, the rest. */
const AT_ONCE = { workerd: 6 }
const NEWEST = 'size=262144'
const TIMELINE_ROWS = [
  ['newest page of as many logs as are read at once', 'b', (on) => AT_ONCE[on] ?? 16, NEWEST],
  ['newest page of 32 logs', 'c', onNode, NEWEST],
  ['newest page of 32 logs, bytes', 'd', onNode, NEWEST],
  ['`level=error&lines=100` of 32 logs, bytes', 'e', onNode, 'level=error&lines=100&format=ndjson'],
]

const bucket = spawn(
  process.execPath,
  [join(ROOT, 'bench/far-bucket.mjs'), JSON.stringify({ delay, rate, size, tls: true })],
  { stdio: ['pipe', 'pipe', 'inherit'] },
)
const [port, tlsPort, certificate] = (await once(bucket.stdout, 'data')).toString().trim().split(' ')
const rows = []
try {
  for (const runtime of values.on.split(',')) {
    await measure(runtime, ROWS, { endpoint: `http://127.0.0.1:${port}` })
    await measureTimeline(runtime, { endpoint: `http://127.0.0.1:${port}` })
    if (runtime === 'node')
      await measure(runtime, TLS_ROWS, { endpoint: `https://127.0.0.1:${tlsPort}`, certificate })
  }
} finally {
  await stopAll()
  bucket.stdin.end()
}
if (values.write)
  saveResults('bucket', (before) => ({
    delay,
    rate: rate / 1e6,
    size: size / MIB,
    rows: values.rows ? replaced(before.rows) : rows,
  }))

/** The rows of an earlier run, with those of this one. */
function replaced(before) {
  const isAgain = (old) => rows.some(({ request, on }) => request === old.request && on === old.on)
  return [...before.filter((old) => !isAgain(old)), ...rows]
}

function isAsked([name]) {
  return name.includes(values.rows)
}

function onNode(runtime) {
  return runtime === 'node' ? 32 : 0
}

function start(runtime, place) {
  return startBucketService(runtime, findPart(runtime), { bucket: 'logs', ...place, scanBytes: 2 * size })
}

async function measure(runtime, all, place) {
  const asked = all.filter(isAsked)
  if (asked.length === 0) return
  const service = await start(runtime, place)
  try {
    // The first request loads modules.
    await ask(service, 'view?file=big.log&lines=1&q=request')
    let file = 0
    for (const [name, query] of asked) {
      if (query.includes('NEW')) file++
      const { kib, body, ...row } = await measureRow(service, query.replace(/NEW|SAME/, `big-${file}.log`))
      rows.push({ request: name, on: runtime, ...row })
      console.log(lineOf(rows.at(-1)))
    }
  } finally {
    await service.stop()
  }
}

/** Pages of several logs, next to a page of one. */
async function measureTimeline(runtime, place) {
  const asked = TIMELINE_ROWS.filter(isAsked).filter(([, , count]) => count(runtime) > 0)
  if (asked.length === 0) return
  const service = await start(runtime, { ...place, bucket: 'timeline' })
  try {
    await ask(service, 'view?file=a-00.log&file=a-01.log&level=error&lines=1')
    const one = await measureRow(service, `view?file=a-02.log&${NEWEST}`)
    for (const [name, letter, count, query] of asked) {
      const logs = Array.from({ length: count(runtime) }, (_, i) => logName(letter, i))
      const { body, ...row } = await measureRow(
        service,
        `view?${logs.map((log) => `file=${log}`).join('&')}&${query}`,
      )
      const known = query.includes('level') ? await bytesSince(service, logs, body) : 0
      const most = TIMELINE_BARS[name]({ one, answer: body.length, logs: logs.length, known })
      rows.push({ request: name, on: runtime, ...row, most })
      console.log(lineOf(rows.at(-1)))
    }
  } finally {
    await service.stop()
  }
}

function logName(letter, i) {
  return `${letter}-${String(i).padStart(2, '0')}.log`
}

/** How many bytes the logs have from the oldest record of a page on. */
async function bytesSince(service, logs, page) {
  const { time } = JSON.parse(page.toString().split('\n')[0])
  let bytes = 0
  for (const log of logs)
    bytes += (await ask(service, `view?file=${log}&since=${time}&size=60000000`)).body.length
  return bytes
}

async function measureRow(service, query) {
  await report()
  const cpu = service.cpu()
  const start = performance.now()
  const { note, body } = await ask(service, query)
  const ms = performance.now() - start
  const cpuMs = Math.round((service.cpu() - cpu) / 1000)
  const requests = await report()
  const bytes = requests.reduce((sum, request) => sum + request.bytes, 0)
  return {
    trips: longestChain(requests),
    requests: requests.length,
    mib: Number((bytes / MIB).toFixed(1)),
    kib: Math.round(bytes / 1024),
    ms: Math.round(ms),
    mbs: Math.round(bytes / 1e3 / ms),
    cpuMs,
    ...(note && { note }),
    body,
  }
}

function lineOf(row) {
  const { request, on, trips, requests, mib, ms, mbs, cpuMs, note, kib, most } = row
  const figures = `${trips} round trips, ${requests} requests, ${mib} MiB, ${ms} ms, ${mbs} MB/s, ${cpuMs} ms CPU`
  const bar = most ? ` [${most.trips ?? `${kib} of ${Math.round(most.kib)} KiB`} at most]` : ''
  const missed = isBucketMet(row) === false ? '  NOT MET' : ''
  return `${on.padEnd(8)} ${request.padEnd(32)} ${figures}${note ? ` (${note})` : ''}${bar}${missed}`
}

/** Asks, reads the whole answer, and returns it with its note. */
async function ask(service, query) {
  const response = await fetch(`http://127.0.0.1:${service.port}/api/v1/log/${query}`)
  if (!response.ok) throw new Error(`${query}: ${response.status} ${await response.text()}`)
  const body = Buffer.from(await response.arrayBuffer())
  return { body, note: response.headers.get('X-Nodestate-Note') }
}

/** What was asked of the bucket since the last report. */
async function report() {
  // Requests that were ended by their client need a moment to end there, too.
  await sleep(100)
  return (await fetch(`http://127.0.0.1:${port}/-/report`)).json()
}
