// A distant bucket, in a process of its own: every response starts after a delay, and every connection has a rate limit.
//   node bench/far-bucket.mjs '{"delay": 30, "rate": 1e8, "size": 1073741824, "tls": false}'
// Prints its port. With "tls" it also listens for HTTPS, and prints that port and the path of its self-signed certificate.
// GET /-/report says what was asked of it since the last report. It ends with its parent.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const { delay, rate, size, tls = false } = JSON.parse(process.argv[2])
const SLICE = 1024 * 1024
const PER_MINUTE = 10_000
const START = Date.UTC(2026, 0, 1)
const MODIFIED = 'Thu, 01 Jan 2026 00:00:00 GMT'

/** A minute of log. All minutes are alike but for their time. */
const lines = Array.from({ length: PER_MINUTE }, (_, i) => {
  const seconds = new Date(i * 6).toISOString().slice(16, 23)
  const level = i % 850 === 7 ? 'ERROR' : 'INFO'
  const what =
    i === 17 ? 'shard 4711 lost its leader' : `request ${3_000_000 + i} handled by worker ${i % 61}`
  return `2026-01-01 00:00${seconds}\t${level}\tquery/executor.go:${i % 900}\t[Broker] [Query]: ${what}\t{"ms":${i % 997},"ok":true}\n`
})
const template = Buffer.from(lines.join(''))
const starts = []
for (let i = 0, at = 0; i < lines.length; at += lines[i].length, i++) starts.push(at)

/** The log as a file: made when it is read, it would cost more than what is measured. */
const folder = mkdtempSync(join(tmpdir(), 'nodestate-bucket-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const file = openSync(join(folder, 'big.log'), 'w+')
for (let minute = 0, left = size; left > 0; minute++, left -= template.length) {
  const time = Buffer.from(new Date(START + minute * 60_000).toISOString().slice(0, 16).replace('T', ' '))
  for (const start of starts) time.copy(template, start)
  writeSync(file, template, 0, Math.min(left, template.length))
}

const objects = new Map([['big.log', { size, at: 0 }]])
for (let i = 0; i < 205; i++)
  objects.set(`node-${String(i).padStart(3, '0')}.log`, { size: 3 * 2 ** 20, at: (i % 40) * template.length })

/** The bucket `timeline`: 32 logs of the same time for each row that merges them, so that none has been read before. */
const timeline = new Map()
for (const group of 'abcdef')
  for (let i = 0; i < 32; i++)
    timeline.set(`${group}-${String(i).padStart(2, '0')}.log`, { size: 12 * template.length, at: starts[i] })
const inBucket = (name) => (name === 'timeline' ? timeline : objects)

const requests = []
function receive(request, response) {
  if (request.url === '/-/report') return response.end(JSON.stringify(requests.splice(0)))
  const { url, headers } = request
  const entry = { url, range: headers.range ?? null, from: performance.now(), to: null, bytes: 0 }
  requests.push(entry)
  response.on('close', () => {
    entry.to = performance.now()
  })
  setTimeout(() => answer(request, response, entry), delay)
}

function answer(request, response, entry) {
  const url = new URL(request.url, 'http://bucket')
  const [, bucket, ...path] = url.pathname.split('/')
  const key = decodeURIComponent(path.join('/'))
  if (key === '') return list(response, inBucket(bucket), url.searchParams.get('prefix') ?? '')
  // big-1.log, big-2.log … are the same log under names that no answer has been remembered for.
  const object = inBucket(bucket).get(key.replace(/^big-\d+/, 'big'))
  if (!object) return response.writeHead(404).end()
  const headers = { ETag: `"${key}"`, 'Last-Modified': MODIFIED, 'Accept-Ranges': 'bytes' }
  const [, a, b] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? 'bytes=0-')
  const from = a === '' ? Math.max(0, object.size - Number(b)) : Number(a)
  const to = a === '' || b === '' ? object.size : Math.min(object.size, Number(b) + 1)
  if (request.method === 'HEAD')
    return response.writeHead(200, { ...headers, 'Content-Length': object.size }).end()
  const range = { 'Content-Range': `bytes ${from}-${to - 1}/${object.size}`, 'Content-Length': to - from }
  response.writeHead(request.headers.range ? 206 : 200, { ...headers, ...range })
  void send(response, object, { from, to }, entry)
}

/** Sends at the rate of a connection. */
async function send(response, { at: base }, { from, to }, entry) {
  const start = performance.now()
  for (let at = from; at < to; at += SLICE) {
    if (response.destroyed) return
    const bytes = Buffer.allocUnsafe(Math.min(SLICE, to - at))
    readSync(file, bytes, 0, bytes.length, base + at)
    entry.bytes += bytes.length
    await new Promise((resolve) => response.write(bytes, resolve))
    const ahead = start + ((at - from + bytes.length) / rate) * 1000 - performance.now()
    if (ahead > 1) await new Promise((resolve) => setTimeout(resolve, ahead))
  }
  response.end()
}

function list(response, objects, prefix) {
  const listed = [...objects].filter(([key]) => key.startsWith(prefix))
  const contents = listed.map(
    ([key, object]) =>
      `<Contents><Key>${key}</Key><Size>${object.size}</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"${key}"</ETag></Contents>`,
  )
  response.writeHead(200, { 'Content-Type': 'application/xml' })
  response.end(
    `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`,
  )
}

process.stdin.resume()
process.stdin.on('end', () => process.exit(0))
const printed = [await listen(createServer(receive))]
if (tls) {
  const cert = join(folder, 'bucket.crt')
  const key = join(folder, 'bucket.key')
  const subject = ['-subj', '/CN=bucket', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '1']
  const files = ['-nodes', '-keyout', key, '-out', cert]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...files, ...subject], { stdio: 'pipe' })
  printed.push(
    await listen(createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, receive)),
    cert,
  )
}
console.log(printed.join(' '))

function listen(server) {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server.address().port))
  })
}
