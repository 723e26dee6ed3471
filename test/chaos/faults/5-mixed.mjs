// Everything at once, in a container of 256 MiB.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { confined, large, lines, SKIPPED } from '../logs.mjs'
import { beside, folder, get, MB, serve, settled, sleep, stalled, watchMemory } from '../service.mjs'

const view = (query) => `/api/v1/log/view?${query}`
const LOKI = `/loki/api/v1/query_range?query=${encodeURIComponent('{file=~".+"}')}&limit=5000&start=1794700800&end=1794711600`

/** Every kind of answer that may be long. */
const KINDS = [
  (i) => view(`file=c${i % 20}.log&size=5000000`),
  () => '/api/v1/log/download?file=b.log',
  () => view('file=a.log&size=50000000'),
  () => view('file=a.log&lines=300000'),
  () => view('file=a.log&size=40000000&format=ndjson'),
  () => view('file=a.log&since=2026-11-15T00:00:05Z&size=40000000'),
  () => view('file=a.log&q=number&size=40000000'),
  () => view('file=z.log.gz&size=40000000'),
  () => view('file=z.log.gz&size=40000000&format=ndjson'),
  () => view('file=a.log&download=true&q=number'),
  () => view('file=b.log&download=true&format=ndjson'),
  () => view('file=z.log.gz&download=true'),
  () => view('file=a.log&file=b.log&size=20000000'),
  () => view('file=a.log&file=b.log&download=true'),
  () => view('file=a.log&follow=true&size=5000000'),
  () => view('file=a.log&follow=true&size=5000000&format=ndjson'),
  () => view('file=a.log&file=b.log&follow=true&size=5000000'),
  () => '/api/v1/log/histogram?file=a.log&q=number',
  () => LOKI,
]

export const faults = [
  {
    name: '600 clients of every kind that never read, in 256 MiB',
    async run() {
      const path = folder('logs')
      for (const name of ['a.log', 'b.log']) large(join(path, name), 60 * MB)
      for (let i = 0; i < 20; i++) large(join(path, `c${i}.log`), 6 * MB)
      writeFileSync(join(path, 'z.log.gz'), gzipSync(readFileSync(join(path, 'a.log')), { level: 1 }))
      const node = await confined(['--logs', path, '--loki', '--timezone', 'UTC'])
      if (node === null) return SKIPPED
      const most = watchMemory(node.pid)
      const sockets = []
      for (let i = 0; i < 600; i++) {
        const range = i % 2 ? `Range: bytes=${1000 * i}-${1000 * i + 5_000_000}\r\n` : ''
        sockets.push(stalled(node.url, KINDS[i % KINDS.length](i), range))
        if (i % 100 === 99) await sleep(50)
      }
      await sleep(8000)
      const tail = await get(node.url, view('file=a.log&size=4096'), { timeout: 60_000 })
      const more = await get(node.url, view('file=z.log.gz&size=40000000'), { timeout: 60_000 })
      const isTold = more.status === 200 || (more.status === 503 && more.headers['retry-after'] !== undefined)
      for (const socket of sockets) socket.destroy()
      const after = await settled(
        () => get(node.url, view('file=a.log&q=number%2019999&lines=1')),
        ({ status }) => status === 200,
      )
      return {
        tried: `tails, ranges, texts, records, searches, archives, exports, merged and followed logs, charts and Loki, ${KINDS.length} kinds`,
        count: 600,
        figure: `${Math.round(most())} MB; a tail beside them ${tail.status}, a long one ${more.status}; the next search ${after.status}`,
        held: node.isAlive() && tail.status === 200 && isTold && after.status === 200,
      }
    },
  },
  {
    name: 'a directory of 250,000 files, in 256 MiB',
    nightly: true,
    async run() {
      const path = folder('logs')
      execFileSync('sh', ['-c', 'seq -f "f%06g.log" 250000 | xargs touch'], { cwd: path })
      for (let i = 1; i <= 300; i++)
        writeFileSync(join(path, `f${String(i).padStart(6, '0')}.log`), lines(i, i + 3))
      const node = await confined(['--logs', path, '--loki'])
      if (node === null) return SKIPPED
      const most = watchMemory(node.pid)
      const all = encodeURIComponent('{file=~".+"}')
      const detail = '/api/v1/log/list?detail=true'
      const asks = [
        detail,
        detail,
        LOKI,
        `/loki/api/v1/series?match[]=${all}`,
        '/loki/api/v1/label/file/values',
      ]
      const statuses = []
      for (let i = 0; i < 2; i++) {
        const answers = await Promise.all(asks.map((ask) => get(node.url, ask)))
        statuses.push(...answers.map(({ status }) => status))
      }
      const first = await get(node.url, detail)
      const link = /<([^>]*)>; rel="next"/.exec(first.headers.link ?? '')?.[1]
      const second = await get(node.url, `/api/v1/log/list${link}`)
      const names = [first, second].flatMap(({ body }) => JSON.parse(String(body)).map(({ name }) => name))
      const isOn = names.every((name, i) => name === `f${String(i + 1).padStart(6, '0')}.log`)
      const isTold = String(first.headers['x-nodestate-note']).includes('list-cut')
      return {
        tried:
          'two detailed lists, a Loki query of all files, its series and values at once, twice; then the next page',
        count: 2 * asks.length + 2,
        figure: `${statuses.join(', ')}; the next page goes on: ${isOn}, cut with a note: ${isTold}; ${Math.round(most())} MB`,
        held:
          node.isAlive() && isTold && isOn && statuses.every((status) => [200, 503, 504].includes(status)),
      }
    },
  },
  {
    name: 'a bucket of 900,000 keys that lists slowly',
    async run() {
      const { url, pages, close } = await slowBucket(900_000, 140)
      const env = {
        AWS_ACCESS_KEY_ID: 'chaos',
        AWS_SECRET_ACCESS_KEY: 'chaos',
        AWS_ENDPOINT_URL: url,
        AWS_REGION: 'us-east-1',
      }
      const node = await serve(['--logs', 's3://logs'], { env })
      const seen = await beside(node.url, '/healthz', async () => {
        const answers = []
        for (let path = '/api/v1/log/list'; path !== null && answers.length < 4; ) {
          const answer = await get(node.url, path)
          answers.push(answer)
          const link = /<([^>]*)>; rel="next"/.exec(answer.headers.link ?? '')?.[1]
          path = link ? `/api/v1/log/list${link}` : null
        }
        const end = await get(node.url, '/api/v1/log/list?after=k895000')
        const detail = await get(node.url, '/api/v1/log/list?detail=true')
        return { answers, end, detail }
      })
      close()
      const { answers, end, detail } = seen.result
      const names = answers.flatMap(({ body }) => JSON.parse(String(body)).map(({ name }) => name))
      const isOn = names.length > 3 && names.every((name, i) => name === keyOf(i))
      const isTold = [...answers, detail].every(({ headers }) =>
        headers['x-nodestate-note']?.includes('list-cut'),
      )
      const rest = JSON.parse(String(end.body)).length
      const slowest = Math.max(...[...answers, end, detail].map(({ ms }) => ms))
      return {
        tried: 'pages of 1,000 keys after 140 ms each: four parts of the list, its end, and with details',
        count: answers.length + 2,
        figure: `${names.length} names in order: ${isOn}, cut with a note: ${isTold}; the last ${rest}; slowest ${Math.round(slowest)} ms, ${pages()} pages read`,
        held: node.isAlive() && isOn && isTold && rest === 5000 && !end.headers.link && slowest < 15_000,
      }
    },
  },
]

const keyOf = (i) => `k${String(i).padStart(6, '0')}.log`

/** A bucket that can only be listed, with a pause before each page. */
async function slowBucket(count, pause) {
  let pages = 0
  const server = createServer(async (request, response) => {
    const query = new URL(request.url, 'http://bucket').searchParams
    if (!query.has('list-type')) return response.writeHead(404).end()
    pages++
    await sleep(pause)
    const after = query.get('continuation-token') ?? query.get('start-after') ?? ''
    const from = after === '' ? 0 : Number(after.slice(1, 7)) + (after.length > 7 ? 1 : 0)
    const to = Math.min(count, from + Number(query.get('max-keys') ?? 1000))
    const item = (_, i) =>
      `<Contents><Key>${keyOf(from + i)}</Key><Size>0</Size><ETag>"e"</ETag><LastModified>2026-11-15T00:00:00Z</LastModified></Contents>`
    const more = to < count ? `<NextContinuationToken>${keyOf(to - 1)}</NextContinuationToken>` : ''
    const body = Array.from({ length: Math.max(0, to - from) }, item).join('')
    response.writeHead(200, { 'Content-Type': 'application/xml' })
    response.end(
      `<ListBucketResult><IsTruncated>${to < count}</IsTruncated>${more}${body}</ListBucketResult>`,
    )
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}`, pages: () => pages, close: () => server.close() }
}
