// Clients: many, slow, rude and random.
import { appendFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import {
  descriptors,
  folder,
  get,
  MB,
  memory,
  raw,
  serve,
  settled,
  sleep,
  stalled,
  watchMemory,
} from '../service.mjs'

const stamp = (i) => new Date(Date.UTC(2026, 10, 15) + i).toISOString().replace('T', ' ').slice(0, 23)
const line = (i) => `${stamp(i)}\tINFO\ta.go:1\t[A]: number ${i}\n`

/** Numbers that look random and are the same every time. */
function random(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

export const faults = [
  {
    name: '2,000 followers, 500 of them never read',
    async run() {
      const path = folder('logs')
      writeFileSync(join(path, 'a.log'), line(0))
      const node = await serve(['--logs', path, '--followers', '2500'])
      const most = watchMemory(node.pid)
      const counts = new Array(1500).fill(0)
      const opened = []
      const requests = []
      for (let i = 0; i < 1500; i++)
        opened.push(
          new Promise((resolve) => {
            const req = request(
              `${node.url}/api/v1/log/view?file=a.log&follow=true&lines=0`,
              { agent: false },
              (response) => {
                response.on('data', (chunk) => {
                  for (let at = chunk.indexOf('number'); at >= 0; at = chunk.indexOf('number', at + 1))
                    counts[i]++
                })
                response.on('error', () => {})
                resolve()
              },
            )
            req.on('error', () => resolve())
            req.end()
            requests.push(req)
          }),
        )
      await Promise.all(opened)
      const deaf = Array.from({ length: 500 }, () =>
        stalled(node.url, '/api/v1/log/view?file=a.log&follow=true&lines=0'),
      )
      await sleep(2000)
      const total = 3000
      for (let i = 1; i <= total; i += 100) {
        appendFileSync(join(path, 'a.log'), Array.from({ length: 100 }, (_, k) => line(i + k)).join(''))
        await sleep(100)
      }
      for (let waited = 0; waited < 30_000 && counts.some((count) => count < total); waited += 200)
        await sleep(200)
      const peak = most()
      for (const socket of deaf) socket.destroy()
      for (const req of requests) req.destroy()
      const complete = counts.filter((count) => count === total).length
      return {
        tried: `${total} lines in 3 s`,
        count: 2000,
        figure: `${complete} of 1,500 readers got every line; ${Math.round(peak)} MB`,
        held: complete === 1500 && peak < 300,
      }
    },
  },
  {
    name: '256 stalled views of 5 MiB',
    async run() {
      const path = folder('logs')
      writeFileSync(join(path, 'a.log'), line(1).repeat(Math.ceil((8 * MB) / line(1).length)))
      const node = await serve(['--logs', path, '--stall-seconds', '4'])
      const most = watchMemory(node.pid)
      const before = descriptors(node.pid)
      const sockets = Array.from({ length: 256 }, () =>
        stalled(node.url, `/api/v1/log/view?file=a.log&size=${5 * MB}`),
      )
      await sleep(3000)
      const { status, ms } = await get(node.url, '/api/v1/log/view?file=a.log&size=4096')
      const peak = most()
      // The cut comes 4 s after the last byte that a socket took.
      const after = await settled(
        () => descriptors(node.pid),
        (open) => open <= before + 8,
      )
      for (const socket of sockets) socket.destroy()
      return {
        tried: 'and a tail beside them; --stall-seconds 4',
        count: 256,
        figure: `${Math.round(peak)} MB; the tail ${status} after ${Math.round(ms)} ms; descriptors ${before} before, ${after} after the cut`,
        held: status === 200 && peak < 300 && after <= before + 8,
      }
    },
  },
  {
    name: 'random and mutated requests',
    async run() {
      const path = folder('logs')
      writeFileSync(join(path, 'a.log'), Array.from({ length: 2000 }, (_, i) => line(i)).join(''))
      writeFileSync(join(path, 'a.log.1'), Array.from({ length: 2000 }, (_, i) => line(i)).join(''))
      const node = await serve(['--logs', path])
      const next = random(7)
      const pick = (list) => list[Math.floor(next() * list.length)]
      const names = [
        'file',
        'size',
        'lines',
        'since',
        'until',
        'level',
        'q',
        'regex',
        'not',
        'where',
        'before',
        'after',
        'rotated',
        'format',
        'first',
        'step',
        'raw',
        'ansi',
        'buckets',
        'download',
        'detail',
        'xyz',
      ]
      const values = [
        'a.log',
        'a.log.1',
        '..%2F..%2Fetc%2Fpasswd',
        '%00',
        '-1',
        '0',
        '1e9',
        '99999999999999999999',
        'true',
        'ndjson',
        'error',
        '==',
        '(((',
        '%5B%5Ba',
        '02:10',
        '15m',
        'shard%3A1',
        '!a%3Ab',
        '%F0%28%8C%28',
        'a%0Ab',
        '*',
        `${'x'.repeat(500)}`,
      ]
      const paths = [
        '/api/v1/config',
        '/api/v1/log/list',
        '/api/v1/log/view',
        '/api/v1/log/histogram',
        '/api/v1/log/fields',
        '/api/v1/log/download',
        '/healthz',
        '/readyz',
        '/metrics',
        '/openapi.json',
        '/',
        '/nothing',
        '/api/v1/%2e%2e/x',
      ]
      const before = { ...memory(node.pid), open: descriptors(node.pid) }
      const seen = {}
      let hangs = 0
      for (let i = 0; i < 10_000; i += 20)
        await Promise.all(
          Array.from({ length: 20 }, async () => {
            const query = Array.from(
              { length: Math.floor(next() * 5) },
              () => `${pick(names)}=${pick(values)}`,
            ).join('&')
            const { status, error } = await get(node.url, `${pick(paths)}?${query}`, { timeout: 20_000 })
            seen[status] = (seen[status] ?? 0) + 1
            if (error?.includes('timeout')) hangs++
          }),
        )
      for (let i = 0; i < 300; i++) {
        const bytes = Buffer.from(
          `GET /api/v1/log/view?file=a.log&size=10 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
        )
        for (let k = 0; k < 1 + next() * 6; k++)
          bytes[Math.floor(next() * bytes.length)] = Math.floor(next() * 256)
        await raw(node.url, bytes, 300)
      }
      const after = await settled(
        () => ({ ...memory(node.pid), open: descriptors(node.pid) }),
        ({ open }) => open <= before.open + 5,
      )
      const fatal = Object.keys(seen).filter((status) => status === '500' || status === '0')
      return {
        tried: '10,000 requests, 300 raw sockets',
        count: 10_300,
        figure: `${fatal.length === 0 ? 'no 500' : fatal.map((status) => `${seen[status]} × ${status}`).join(', ')}, ${hangs} hangs; descriptors ${before.open} and ${after.open}; ${Math.round(after.anonymous)} MB`,
        held:
          fatal.length === 0 &&
          hangs === 0 &&
          after.open <= before.open + 5 &&
          after.anonymous < 250 &&
          node.isAlive(),
      }
    },
  },
  {
    name: 'requests against the rules of HTTP',
    async run() {
      const path = folder('logs')
      writeFileSync(join(path, 'a.log'), line(1))
      const node = await serve(['--logs', path])
      const good = 'GET /api/v1/log/view?file=a.log HTTP/1.1\r\nHost: localhost\r\n\r\n'
      const cases = [
        [`GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`, (text) => / 400 /.test(text)],
        [
          `${good}\x00\x01garbage\r\n\r\n`,
          (text) => / 200 /.test(text.slice(0, 20)) && text.includes('number 1'),
        ],
        [`GET /api/v1/log/list HTTP/1.1\r\n\r\n`, (text) => / 400 /.test(text)],
        [
          `GET /${'x'.repeat(200_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
          (text) => / 4\d\d /.test(text) || text === '',
        ],
        [
          `POST /api/v1/log/list HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello`,
          (text) => / 405 /.test(text),
        ],
      ]
      let right = 0
      for (const [bytes, isRight] of cases)
        if (isRight(await raw(node.url, Buffer.from(bytes, 'latin1'), 1500))) right++
      return {
        tried: 'two Hosts, none, garbage behind a good request, a URL of 200 KB, a POST',
        count: cases.length,
        figure: `${right} right`,
        held: right === cases.length && node.isAlive(),
      }
    },
  },
]
