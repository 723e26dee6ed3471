// Measures round trips to a bucket that is 30 ms away and gives 100 MB/s per connection.
//
//   npm run bench:bucket [-- --delay 30] [--rate 100] [--size 1024]
//
// A round trip is a link in the longest chain of requests of which each had to wait for the one before; parallel
// requests count once. --delay is in ms, --rate in MB/s, --size in MiB. Takes less than a minute.
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { createApp } from '../dist/index.js'
import { s3Store } from '../dist/store/s3.js'

const { values } = parseArgs({
  options: {
    delay: { type: 'string', default: '30' },
    rate: { type: 'string', default: '100' },
    size: { type: 'string', default: '1024' },
  },
})
const MIB = 2 ** 20
const delay = Number(values.delay)
const rate = Number(values.rate) * 1e6
const size = Number(values.size) * MIB

const bucket = new Worker(new URL('far-bucket.mjs', import.meta.url), { workerData: { delay, rate, size } })
const [{ port }] = await once(bucket, 'message')
const START = Date.UTC(2026, 0, 1)
// Somewhere in the second half.
const since = new Date(START + Math.floor((size / 1.25e6) * 0.6) * 60_000 + 12_340)
const window = `since=${since.toISOString()}&until=${new Date(since.getTime() + 10_000).toISOString()}`

/** What is asked, with the bars of the issue: round trips at most, or connections' worth at least. */
const ROWS = [
  ['tail of 256 KiB', 'view?file=big.log&size=262144', { trips: 1 }],
  ['lines=100', 'view?file=big.log&lines=100', { trips: 1 }],
  ['10 s of the log', `view?file=big.log&${window}`, { trips: 6 }],
  ['the same again', `view?file=big.log&${window}`, { trips: 3, again: true }],
  ['10 s, level=error', `view?file=big.log&level=error&${window}`, { trips: 7 }],
  ['level=error&lines=100', 'view?file=big.log&level=error&lines=100', { trips: 5 }],
  ['q, nowhere in the log', 'view?file=big.log&q=nowhere', { connections: 6, edge: 4 }],
  ['histogram, estimate=true', 'histogram?file=big.log&estimate=true', { trips: 10 }],
  ['histogram, exact', 'histogram?file=big.log', {}],
  ['list?detail=true, 206 files', 'list?detail=true', { trips: 12 }],
]

console.log(
  `| request | where | round trips | requests | MiB | ms | MB/s | bar |\n|---|---|---|---|---|---|---|---|`,
)
for (const [where, parallelReads] of [
  ['16 at once', 16],
  ['6 at once, as at the edge', 6],
]) {
  let app
  for (const [name, query, bar] of ROWS) {
    if (!bar.again) app = newApp(parallelReads)
    await report()
    const start = performance.now()
    const response = await app.request(`/api/v1/log/${query}`)
    if (!response.ok) throw new Error(`${query}: ${response.status} ${await response.text()}`)
    await response.arrayBuffer()
    const ms = performance.now() - start
    const requests = await report()
    const bytes = requests.reduce((sum, request) => sum + request.bytes, 0)
    const trips = longestChain(requests)
    const speed = bytes / 1e3 / ms
    const wanted = parallelReads === 6 ? (bar.edge ?? bar.connections) : bar.connections
    const [text, met] = bar.trips
      ? [`≤ ${bar.trips} round trips`, trips <= bar.trips]
      : wanted
        ? [`≥ ${wanted} connections' worth`, speed >= wanted * (rate / 1e6)]
        : ['', true]
    const note = response.headers.get('X-Nodestate-Note')
    console.log(
      `| ${name}${note ? ` (${note})` : ''} | ${where} | ${trips} | ${requests.length} | ${(bytes / MIB).toFixed(1)} | ${ms.toFixed(0)} | ${speed.toFixed(0)} | ${text}${met ? '' : ' **missed**'} |`,
    )
  }
}
bucket.postMessage('stop')

function newApp(parallelReads) {
  const logs = s3Store({
    bucket: 'logs',
    endpoint: `http://127.0.0.1:${port}`,
    accessKeyId: 'bench',
    secretAccessKey: 'bench',
  })
  const limits = { parallelReads, scanBytes: 2 * size, scanMillis: 60_000 }
  return createApp({ logs, config: '', timezone: 'UTC', limits })
}

/** What was asked of the bucket since the last report. */
async function report() {
  // Requests that were ended by their client need a moment to end there, too.
  await new Promise((resolve) => setTimeout(resolve, 100))
  bucket.postMessage('report')
  return (await once(bucket, 'message'))[0].requests
}

/** The longest chain of requests of which each began after the one before had ended. */
function longestChain(requests) {
  const byEnd = [...requests].sort((a, b) => a.to - b.to)
  const lengths = new Map()
  let longest = 0
  for (const request of [...requests].sort((a, b) => a.from - b.from)) {
    let length = 1
    for (const earlier of byEnd) {
      if (earlier.to > request.from) break
      length = Math.max(length, (lengths.get(earlier) ?? 0) + 1)
    }
    lengths.set(request, length)
    longest = Math.max(longest, length)
  }
  return longest
}
