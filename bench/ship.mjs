// Measures a shipper: a log is written at a steady rate and rotated, and shipped to a bucket at the same time.
//
//   npm run bench:ship [-- --seconds 60] [--rate 50] [--file 200] [--write]
//
// --rate is in MB/s, --file in MB. The bucket is the radosgw that NODESTATE_TEST_RADOSGW names, or else one in a local
// process that stores files. Lag is the age of the oldest byte that is not in the bucket. At the end the text in the
// bucket is compared with what was written. --write puts the figures into bench/results.json and the docs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { crc32, gunzipSync } from 'node:zlib'
import { AwsClient } from 'aws4fetch'
import { s3Store } from '../dist/store/s3.js'
import { parseKey } from '../dist/store/segment/names.js'
import { SHIP_BARS } from './bars.mjs'
import { saveResults } from './results.mjs'
import { BLOCKS } from './tables.mjs'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '50' },
    file: { type: 'string', default: '200' },
    write: { type: 'boolean', default: false },
  },
})
const root = mkdtempSync(join(tmpdir(), 'nodestate-bench-ship-'))
const logs = join(root, 'logs')
mkdirSync(logs)
const here = (name) => new URL(name, import.meta.url).pathname
const bucket = await openBucket()
try {
  await measure()
} finally {
  await bucket.close()
  rmSync(root, { recursive: true, force: true })
}

async function measure() {
  const shipper = await startShipper()
  const writer = startWriter()
  let greatestLag = 0
  let lag = 0
  while (writer.crc() === null) {
    await new Promise((resolve) => setTimeout(resolve, 250))
    lag = writer.lagOf(await shipper.shippedBytes())
    greatestLag = Math.max(greatestLag, lag)
  }
  const { cpu, rss } = await shipper.stop()
  const late = (Date.now() - writer.endedAt()) / 1000
  const { crc, bytes, objects, stored } = await readBack()
  const isSame = crc === writer.crc() && bytes === writer.written()
  const ship = {
    bucket: bucket.name,
    writtenMb: writer.written() / 1e6,
    mbs: writer.written() / 1e6 / Number(values.seconds),
    lagAtEnd: lag,
    greatestLag,
    stoppedAfter: late,
    rssMb: rss / 1e6,
    cpuSeconds: cpu,
    core: cpu / (Number(values.seconds) + late),
    segments: objects,
    storedMb: stored / 1e6,
    isSame,
  }
  console.log(BLOCKS.ship({ ship }))
  if (values.write) saveResults('ship', () => ship)
  if (!isSame || lag >= SHIP_BARS.lagAtEnd || ship.rssMb > SHIP_BARS.rssMb) process.exitCode = 1
}

/** Runs until it is stopped; its metrics say how far it is. */
async function startShipper() {
  const cli = here('../dist/entry/cli.js')
  const args = [cli, 'ship', '--logs', logs, '--metrics-listen', '127.0.0.1:0', bucket.target]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...bucket.env },
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  const exited = once(child, 'close').then(([code]) => code)
  const url = await new Promise((resolve, reject) => {
    exited.then((code) => reject(new Error(`The shipper exited with ${code}`)))
    createInterface({ input: child.stderr }).on('line', (line) => {
      const found = /http:\S+\/metrics/.exec(line)
      if (found) resolve(found[0])
      else console.error(line)
    })
  })
  return {
    async shippedBytes() {
      const text = await (await fetch(url)).text()
      return Number(/^nodestate_ship_shipped_bytes_total (\d+)$/m.exec(text)[1])
    },
    /** Stops it when all is shipped; what it used until then. */
    async stop() {
      let last = usage(child.pid)
      const watch = setInterval(() => {
        last = usage(child.pid) ?? last
      }, 20)
      child.kill('SIGTERM')
      const code = await exited
      clearInterval(watch)
      if (code !== 0) throw new Error(`The shipper exited with ${code}`)
      return last
    },
  }
}

/** The CPU seconds and the greatest memory of a process; null when it is gone. */
function usage(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    // After the name in parentheses, user and system time are the 12th and 13th field, in hundredths of a second.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return { rss: 1024 * /VmHWM:\s+(\d+)/.exec(status)[1], cpu: (Number(stat[11]) + Number(stat[12])) / 100 }
  } catch {
    return null
  }
}

function startWriter() {
  const { rate, seconds, file } = values
  const child = spawn(process.execPath, [here('log-writer.mjs'), logs, rate, seconds, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  /** When how many bytes were written. */
  const steps = []
  let crc = null
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [at, bytes] = line.split(' ')
    if (at === 'end') crc = Number(bytes)
    else steps.push({ at: Number(at), bytes: Number(bytes) })
  })
  let first = 0
  return {
    written: () => steps.at(-1)?.bytes ?? 0,
    crc: () => crc,
    endedAt: () => steps.at(-1).at,
    /** Seconds since the first byte after `shipped` was written. */
    lagOf(shipped) {
      while (first < steps.length && steps[first].bytes <= shipped) first++
      return first < steps.length ? (Date.now() - steps[first].at) / 1000 : 0
    },
  }
}

/** The checksum of the text in the bucket, life by life, read without any of the reader's code. */
async function readBack() {
  const segments = []
  for await (const { key, size } of bucket.store.list('segments/')) {
    const found = parseKey(key)
    if (found?.segment) segments.push({ key, size, life: found.life, ...found.segment })
  }
  segments.sort((a, b) => a.life - b.life || a.start - b.start || b.end - a.end)
  let [crc, bytes, life, at] = [0, 0, 0, 0]
  for (const segment of segments) {
    if (segment.life !== life) [life, at] = [segment.life, 0]
    if (segment.end <= at) continue
    const read = await bucket.store.read(segment.key)
    const text = gunzipSync(new Uint8Array(await new Response(read.body).arrayBuffer()))
    const rest = text.subarray(at - segment.start)
    crc = crc32(rest, crc)
    bytes += rest.length
    at = segment.end
  }
  const stored = segments.reduce((sum, { size }) => sum + size, 0)
  return { crc, bytes, objects: segments.length, stored }
}

async function openBucket() {
  const ceph = process.env.NODESTATE_TEST_RADOSGW?.replace(/^.*AWS_ENDPOINT_URL=(\S+).*$/s, '$1')
  const name = `ship-${Date.now().toString(36)}`
  const keys = { accessKeyId: 'testkey', secretAccessKey: 'testsecret', region: 'default' }
  let endpoint = ceph
  let close
  if (ceph) {
    const client = new AwsClient({ ...keys, service: 's3' })
    const made = await client.fetch(`${ceph}/${name}`, { method: 'PUT' })
    if (!made.ok) throw new Error(`Cannot make the bucket ${name}: ${made.status}`)
    // Its storage is in memory.
    close = async () => {
      for await (const { key } of s3Store({ ...keys, endpoint, bucket: name }).list())
        await client.fetch(`${ceph}/${name}/${key}`, { method: 'DELETE' })
      await client.fetch(`${ceph}/${name}`, { method: 'DELETE' })
    }
  } else {
    const child = spawn(process.execPath, [here('plain-bucket.mjs'), join(root, 'bucket')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const [port] = await once(child.stdout, 'data')
    endpoint = `http://127.0.0.1:${String(port).trim()}`
    close = () => child.stdin.end()
  }
  return {
    name: ceph ? "Ceph's radosgw" : 'a local process',
    target: `s3://${name}/db-4`,
    env: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
      AWS_REGION: keys.region,
    },
    store: s3Store({ ...keys, endpoint, bucket: name, prefix: 'db-4' }),
    close,
  }
}
