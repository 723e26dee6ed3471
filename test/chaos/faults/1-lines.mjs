// Lines, archives and files that are made to be slow.
import { execFileSync } from 'node:child_process'
import { setMaxListeners } from 'node:events'
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import {
  beside,
  folder,
  get,
  MB,
  memoryLimit,
  serve,
  settled,
  sleep,
  stalled,
  watchMemory,
} from '../service.mjs'

const line = (i, message = `sync ${i}`) =>
  `${new Date(Date.UTC(2026, 10, 15) + i * 10).toISOString().replace('T', ' ').slice(0, 23)}\t${i % 10 ? 'INFO' : 'ERROR'}\twal.go:${i % 99}\t[Storage]: ${message}\t{"shard":${i % 7}}\n`
const lines = (from, to) => Array.from({ length: to - from }, (_, i) => line(from + i)).join('')
const ms = (value) => `${Math.round(value)} ms`
const PROBE = '/api/v1/log/view?file=probe.log&size=4096'

/** A log directory with a file to probe with. */
function logs(files = {}) {
  const path = folder('logs')
  writeFileSync(join(path, 'probe.log'), lines(0, 200))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content)
  return path
}

/** A sparse log: records, a hole of NULs, records. */
function sparse(path, name, size) {
  const fd = openSync(join(path, name), 'w')
  writeSync(fd, lines(0, 1000))
  ftruncateSync(fd, size)
  writeSync(fd, lines(1000, 2000), size)
  closeSync(fd)
}

/** About `size` bytes of log. */
function large(path, name, size) {
  const block = lines(0, 20_000)
  const fd = openSync(join(path, name), 'w')
  for (let written = 0; written < size; written += block.length) writeSync(fd, block)
  closeSync(fd)
}

export const faults = [
  {
    name: 'JSON nested 5,000 deep in a line',
    async run() {
      const deep = `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`
      const path = logs({
        'a.log': line(1).replace('{"shard":1}', deep) + line(2),
        'b.log': `${deep}\n${line(3)}`,
      })
      const node = await serve(['--logs', path])
      const answers = []
      for (const file of ['a.log', 'b.log'])
        for (const query of ['format=ndjson', 'format=ndjson&level=info', 'q=sync'])
          answers.push(await get(node.url, `/api/v1/log/view?file=${file}&${query}`))
      const good = answers.filter(({ status, cut }) => status === 200 && !cut).length
      return {
        tried: 'views as JSON, by level and by text',
        count: answers.length,
        figure: `${good} answered`,
        held: good === answers.length,
      }
    },
  },
  {
    name: 'a JSON line with 300,000 keys, one nested 5 million deep',
    async run() {
      const wide = `{"time":"2026-11-15T00:00:00Z",${Array.from({ length: 300_000 }, (_, i) => `"k${i}":${i}`).join(',')}}`
      const deep = `{"time":"2026-11-15T00:00:01Z","a":${'['.repeat(5e6)}${']'.repeat(5e6)}}`
      const path = logs({ 'wide.log': `${wide}\n`, 'deep.log': `${deep}\n` })
      const node = await serve(['--logs', path])
      const seen = await beside(node.url, PROBE, async () => {
        const answers = []
        for (const file of ['wide.log', 'deep.log'])
          for (let i = 0; i < 3; i++)
            answers.push(await get(node.url, `/api/v1/log/view?file=${file}&size=20000000&format=ndjson`))
        return answers.every(({ status, cut }) => status === 200 && !cut)
      })
      return {
        tried: 'views as JSON',
        count: 6,
        figure: `a tail beside it: p99 ${ms(seen.p99)}, slowest ${ms(seen.slowest)}`,
        held: seen.result,
      }
    },
  },
  {
    name: 'archives of many members',
    async run() {
      const empty = Buffer.concat(Array(300_000).fill(gzipSync('')))
      const single = Buffer.concat(Array.from({ length: 60_000 }, (_, i) => gzipSync(line(i), { level: 1 })))
      const path = logs({ 'empty.log.gz': empty, 'single.log.gz': single })
      const node = await serve(['--logs', path])
      const seen = await beside(node.url, PROBE, async () => [
        await get(node.url, '/api/v1/log/view?file=empty.log.gz'),
        await get(node.url, '/api/v1/log/view?file=single.log.gz&lines=10'),
      ])
      const [nothing, tail] = seen.result
      const held =
        nothing.status === 200 && nothing.body.length === 0 && tail.body.toString() === lines(59_990, 60_000)
      return {
        tried: '300,000 empty ones; 60,000 of a line each',
        count: 2,
        figure: `${ms(nothing.ms)} and ${ms(tail.ms)}; a tail beside it: p99 ${ms(seen.p99)}`,
        held: held,
      }
    },
  },
  {
    name: 'a hole of 4 GiB in a log',
    // 300 requests look for a time behind it.
    waits: 200,
    async run() {
      const path = logs()
      sparse(path, 'hole.log', 4096 * MB)
      const node = await serve(['--logs', path, '--scan-seconds', '2'])
      const since = '/api/v1/log/view?file=hole.log&since=2026-11-15T00:00:12Z&lines=5&timezone=UTC'
      const one = await get(node.url, since)
      const seen = await beside(node.url, PROBE, async () => {
        const answers = []
        for (let round = 0; round < 10; round++)
          answers.push(...(await Promise.all(Array.from({ length: 30 }, () => get(node.url, since)))))
        return answers
      })
      const statuses = seen.result.map(({ status }) => status)
      const slowest = Math.max(...seen.result.map((answer) => answer.ms))
      const told = statuses.every((status) => status === 200 || status === 503)
      return {
        tried: '`since` behind the hole, once and ten times 30 at a time',
        count: 301,
        figure: `${ms(one.ms)}; ${statuses.filter((s) => s === 200).length} answered and ${statuses.filter((s) => s === 503).length} refused within ${ms(slowest)}; a tail beside it: p99 ${ms(seen.p99)}`,
        held: one.status === 200 && told && slowest < 15_000,
      }
    },
  },
  {
    name: 'four searches of a sparse file of 10 GiB',
    waits: 200,
    async run() {
      const path = logs()
      sparse(path, 'hole.log', 10_240 * MB)
      const node = await serve(['--logs', path])
      const seen = await beside(node.url, PROBE, () =>
        Promise.all(
          Array.from({ length: 4 }, (_, i) => get(node.url, `/api/v1/log/view?file=hole.log&q=nothing${i}`)),
        ),
      )
      const held = seen.result.every(({ status }) => status === 200)
      return {
        tried: 'a text that is not there',
        count: 4,
        figure: `a tail beside it: p99 ${ms(seen.p99)} of ${seen.probes}`,
        held: held,
      }
    },
  },
  {
    name: 'a directory of 50,000 files',
    nightly: true,
    waits: 300,
    async run() {
      const path = logs()
      execFileSync('sh', ['-c', 'seq -f "f%06g.log" 50000 | xargs touch'], { cwd: path })
      const node = await serve(['--logs', path])
      const seen = await beside(node.url, PROBE, async () => {
        const work = Array.from({ length: 16 }, async (_, who) => {
          for (let i = 0; i < 10; i++)
            await get(
              node.url,
              who % 2
                ? `/api/v1/log/view?file=none${i}.log`
                : `/api/v1/log/view?file=f00000${i}.log&rotated=true`,
            )
        })
        await Promise.all(work)
      })
      return {
        tried: '16 clients ask for names that are not there and for rotated files',
        count: 160,
        figure: `a tail beside it: p50 ${ms(seen.p50)}, p99 ${ms(seen.p99)}`,
        held: node.isAlive(),
      }
    },
  },
  {
    name: 'a forged cursor on 31 archives',
    async run() {
      const path = logs({ 'a.log': lines(0, 100) })
      // Archives of two members, of which the second is the same in all: compressing each takes ten seconds.
      const rest = gzipSync(lines(100_000, 200_000), { level: 1 })
      for (let i = 1; i <= 31; i++)
        writeFileSync(join(path, `a.log.${i}.gz`), Buffer.concat([gzipSync(line(100_000 - i)), rest]))
      const node = await serve(['--logs', path, '--scan-seconds', '2'])
      const { encodeCursor } = await import(resolve('dist/log/text/cursor.js'))
      let slowest = 0
      const statuses = []
      const seen = await beside(node.url, PROBE, async () => {
        for (let i = 1; i <= 5; i++) {
          // Every check digit is right; only no file has these bytes at this place.
          const print = { offset: i * 1_000_000, length: 64, hash: 1234567 + i }
          const cursor = encodeCursor({
            name: 'a.log',
            id: null,
            offset: print.offset + 64,
            print,
            splitsRecord: false,
          })
          const answer = await get(node.url, `/api/v1/log/view?file=a.log&rotated=true&after=${cursor}`)
          // Found in no archive, or not within the budget: an answer without a note would be wrong.
          const isTold = answer.headers['x-nodestate-note'] === 'scan-budget'
          statuses.push(answer.status === 200 && !isTold ? 0 : answer.status)
          slowest = Math.max(slowest, answer.ms)
        }
      })
      return {
        tried: 'places and prints that no file has',
        count: 5,
        figure: `${statuses.join(', ')} within ${ms(slowest)}; a tail beside it: p99 ${ms(seen.p99)}`,
        held: slowest < 10_000 && statuses.every((status) => [200, 410].includes(status)),
      }
    },
  },
  {
    name: 'searches of an archive under --scan-seconds 1',
    nightly: true,
    async run() {
      const path = logs()
      large(path, 'big.log', 600 * MB)
      execFileSync('gzip', ['-1', join(path, 'big.log')])
      const node = await serve(['--logs', path, '--scan-seconds', '1', '--archive-bytes', String(2048 * MB)])
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) => get(node.url, `/api/v1/log/view?file=big.log.gz&q=nothing${i}`)),
      )
      const slowest = Math.max(...answers.map((answer) => answer.ms))
      const told = answers.every(
        ({ status, headers }) =>
          status === 503 ||
          status === 413 ||
          (status === 200 && String(headers['x-nodestate-note']).includes('budget')),
      )
      return {
        tried: 'eight at once, of 600 MB of text',
        count: 8,
        figure: `${answers.map(({ status }) => status).join(', ')} within ${ms(slowest)}`,
        held: told && slowest < 12_000,
      }
    },
  },
  {
    name: 'the sidecar’s 256 MiB',
    async run() {
      const path = logs()
      large(path, 'a.log', 367 * MB)
      large(path, 'a.log.1', 380 * MB)
      execFileSync('gzip', ['-1', join(path, 'a.log.1')])
      const wrap = memoryLimit(256 * MB)
      const node = await serve(['--logs', path, ...(wrap ? [] : ['--memory', String(256 * MB)])], {
        wrap: wrap ?? [],
      })
      const most = watchMemory(node.pid)
      const query = '/api/v1/log/view?file=a.log&rotated=true&level=error&size=60000000&q='
      const answers = await Promise.all(
        Array.from({ length: 4 }, (_, i) => get(node.url, `${query}sync%20${i}`)),
      )
      const alive = node.isAlive()
      const statuses = answers.map(({ status }) => status)
      return {
        tried: `four searches of 367 MB and an archive, ${wrap ? 'in a cgroup' : 'by --memory'}`,
        count: 4,
        figure: `${statuses.join(', ')}; ${Math.round(most())} MB`,
        held: alive && statuses.every((status) => status === 200 || status === 503),
      }
    },
  },
  {
    name: 'a fleet in 256 MiB',
    async run() {
      const path = folder('fleet')
      const ids = Array.from({ length: 8 }, (_, i) => `db-${i}`)
      const source = logs()
      large(source, 'a.log', 60 * MB)
      execFileSync(process.execPath, [
        resolve('dist/entry/cli.js'),
        'ship',
        '--once',
        '--logs',
        source,
        join(path, ids[0]),
      ])
      for (const id of ids.slice(1)) execFileSync('cp', ['-al', join(path, ids[0]), join(path, id)])
      const huge = join(path, 'huge')
      mkdirSync(huge)
      sparse(huge, 'ship.json', 600 * MB)
      const wrap = memoryLimit(256 * MB)
      const node = await serve(['--fleet', path, ...(wrap ? [] : ['--memory', String(256 * MB)])], {
        wrap: wrap ?? [],
      })
      const most = watchMemory(node.pid)
      const list = await get(node.url, '/api/v1/nodes')
      const bad = JSON.parse(String(list.body)).filter(({ error }) => error === 'bad-object')
      const answers = await Promise.all(
        ids.map((id) => get(node.url, `/nodes/${id}/api/v1/log/view?file=a.log&q=nothing`)),
      )
      const statuses = answers.map(({ status }) => status)
      return {
        tried: `eight nodes searched at once and a ship.json of 600 MB, ${wrap ? 'in a cgroup' : 'by --memory'}`,
        count: 9,
        figure: `${statuses.join(', ')}; ${Math.round(most())} MB`,
        held:
          node.isAlive() &&
          bad.length === 1 &&
          statuses.includes(200) &&
          statuses.every((status) => status === 200 || status === 503),
      }
    },
  },
  {
    name: 'answers that nobody reads',
    async run() {
      const path = logs()
      large(path, 'a.log', 1024 * MB)
      const node = await serve(['--logs', path, '--stall-seconds', '5', '--memory', String(512 * MB)])
      const most = watchMemory(node.pid)
      const sockets = []
      for (let i = 0; i < 64; i++)
        sockets.push(stalled(node.url, `/api/v1/log/view?file=a.log&size=60000000&q=sync%20${i % 10}`))
      await sleep(12_000)
      const peak = most()
      for (const socket of sockets) socket.destroy()
      const after = await settled(
        () => get(node.url, '/api/v1/log/view?file=a.log&q=sync%2019999&lines=1'),
        ({ status }) => status === 200,
      )
      return {
        tried: '64 clients ask for 60 MB each and stop reading',
        count: 64,
        figure: `${Math.round(peak)} MB; the next search ${after.status}`,
        held: peak < 600 && after.status === 200,
      }
    },
  },
  {
    name: 'searches whose clients left',
    async run() {
      const path = logs()
      large(path, 'a.log', 1024 * MB)
      const node = await serve(['--logs', path])
      const abort = new AbortController()
      setMaxListeners(20, abort.signal)
      const left = Array.from({ length: 20 }, (_, i) =>
        get(node.url, `/api/v1/log/view?file=a.log&regex=x%5B0-9%5D%2By${i}`, { signal: abort.signal }),
      )
      await sleep(300)
      abort.abort()
      await Promise.all(left)
      const next = await get(node.url, '/api/v1/log/view?file=a.log&q=sync%2019999&lines=1')
      return {
        tried: '4 running and 16 waiting, then one more',
        count: 20,
        figure: `${next.status} after ${ms(next.ms)}`,
        held: next.status === 200 && next.ms < 2000,
      }
    },
  },
]
