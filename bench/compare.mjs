// What a comparison of an hour with the hour before costs, next to the exact chart of both: npm run build && node bench/compare.mjs
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { full } from '../dist/full.js'
import { createApp } from '../dist/index.js'
import { fsStore } from '../dist/store/fs.js'

const HOUR = 3_600_000
const START = Date.UTC(2026, 10, 15)
const SIZE = Number(process.argv[2] ?? 1024) * 1024 * 1024
/** The bar: times the CPU time of the chart. */
const MOST = 3

/** Two hours of a log with some fifty patterns, of `SIZE` bytes. */
function writeLog(path) {
  const fd = openSync(path, 'w')
  const lines = Math.floor(SIZE / 128)
  const kinds = Array.from(
    { length: 50 },
    (_, i) => `step ${'abcdefghij'[i % 10]}${'klmno'[i % 5]} of task reached`,
  )
  for (let i = 0; i < lines; ) {
    let chunk = ''
    for (const end = Math.min(lines, i + 10_000); i < end; i++) {
      const time = new Date(START + Math.floor((i * 2 * HOUR) / lines)).toISOString()
      const level = i % 100 === 0 ? 'ERROR' : i % 10 === 0 ? 'WARN' : 'INFO'
      const text = `${kinds[(i * 7919) % 50]} ${i}`
      chunk += `${time.slice(0, 10)} ${time.slice(11, 23)}\t${level}\tbroker/query.go:${i % 300}\t[Broker] [Query]: ${text}\t{"shard":${i % 12},"took":${(i * 31) % 900}}\n`
    }
    writeSync(fd, chunk)
  }
  closeSync(fd)
}

async function cpuOf(app, path) {
  const before = process.cpuUsage()
  const response = await app.request(path)
  const body = await response.json()
  const { user, system } = process.cpuUsage(before)
  if (response.status !== 200 || body.complete !== true)
    throw new Error(`${path}: ${response.status} ${JSON.stringify(body).slice(0, 200)}`)
  return { ms: (user + system) / 1000, body }
}

const directory = mkdtempSync(join(tmpdir(), 'nodestate-compare-'))
try {
  writeLog(join(directory, 'big.log'))
  const limits = { scanBytes: 2 ** 40, scanMillis: 600_000 }
  const iso = (ms) => encodeURIComponent(new Date(ms).toISOString())
  const chart = `/api/v1/log/histogram?file=big.log&since=${iso(START)}&until=${iso(START + 2 * HOUR)}`
  const compare = `/api/v1/log/compare?file=big.log&since=${iso(START + HOUR)}&until=${iso(START + 2 * HOUR)}`
  // A new app each time, so that nothing is remembered.
  const cold = () => createApp({ logs: fsStore(directory), config: '', limits, with: full() })
  await cpuOf(cold(), chart)
  const ratios = []
  for (let round = 0; round < 3; round++) {
    const one = await cpuOf(cold(), chart)
    const two = await cpuOf(cold(), compare)
    ratios.push(two.ms / one.ms)
    console.log(
      `chart ${Math.round(one.ms)} ms, compare ${Math.round(two.ms)} ms of CPU: ${(two.ms / one.ms).toFixed(2)} × (${two.body.findings.length} findings)`,
    )
  }
  const median = ratios.sort((a, b) => a - b)[1]
  console.log(`compare / chart ${median.toFixed(2)} (at most ${MOST}): ${median <= MOST ? 'met' : 'not met'}`)
  if (median > MOST) process.exitCode = 1
} finally {
  rmSync(directory, { recursive: true })
}
