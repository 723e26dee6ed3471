// Crowds and odd files in a container of 256 MiB: what each client, file and node may hold.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { confined, large, line, lines, SKIPPED, stamp } from '../logs.mjs'
import { beside, folder, get, MB, memory, serve, settled, sleep, stalled, watchMemory } from '../service.mjs'

const countsOf = (seen) =>
  Object.entries(seen)
    .map(([what, count]) => `${count} × ${what}`)
    .join(', ')

export const faults = [
  {
    name: '2,000 stalled tails and downloads in 256 MiB',
    nightly: true,
    async run() {
      const path = folder('logs')
      large(join(path, 'a.log'), 60 * MB)
      const some = lines(0, 20_000)
      for (let i = 0; i < 100; i++) writeFileSync(join(path, `b${i}.log`), some)
      const node = await confined(['--logs', path])
      if (node === null) return SKIPPED
      await get(node.url, '/api/v1/log/view?file=a.log&size=4096')
      const before = memory(node.pid).anonymous
      const most = watchMemory(node.pid)
      const asks = [
        '/api/v1/log/view?file=a.log&size=50000000',
        '/api/v1/log/download?file=a.log',
        (i) => `/api/v1/log/view?file=b${i % 100}.log`,
        '/api/v1/log/view?file=a.log&size=40000000&format=ndjson',
        '/api/v1/log/view?file=a.log&lines=300000',
      ]
      const sockets = []
      for (let i = 0; i < 2000; i++) {
        const ask = asks[i % asks.length]
        sockets.push(stalled(node.url, typeof ask === 'string' ? ask : ask(i)))
        if (i % 100 === 99) await sleep(50)
      }
      await sleep(4000)
      const beside = await get(node.url, '/api/v1/log/view?file=a.log&size=4096')
      const more = most() - before
      for (const socket of sockets) socket.destroy()
      const after = await settled(
        () => get(node.url, '/api/v1/log/view?file=a.log&q=number%2019999&lines=1'),
        ({ status }) => status === 200,
      )
      return {
        tried: '50 MB each, as tail, download, records and lines; the ends of 100 files',
        count: 2000,
        figure: `${Math.round(more)} MB more than before; a tail beside them ${beside.status}; the next search ${after.status}`,
        held: node.isAlive() && more < 100 && beside.status === 200 && after.status === 200,
      }
    },
  },
  {
    name: 'more clients than fit into 64 MiB',
    async run() {
      const path = folder('logs')
      large(join(path, 'a.log'), 10 * MB)
      const node = await serve(['--logs', path, '--memory', '64MiB'])
      const sockets = Array.from({ length: 600 }, () =>
        stalled(node.url, '/api/v1/log/view?file=a.log&size=9000000'),
      )
      const ask = () => get(node.url, '/api/v1/log/list')
      const beyond = await settled(ask, ({ status }) => status === 503)
      const probe = await get(node.url, '/healthz')
      for (const socket of sockets) socket.destroy()
      const after = await settled(ask, ({ status }) => status === 200)
      const wait = beyond.headers['retry-after']
      return {
        tried: '600 clients that do not read, where 512 fit',
        count: 600,
        figure: `the next one ${beyond.status} with Retry-After: ${wait}, /healthz ${probe.status}; after they left ${after.status}`,
        held: beyond.status === 503 && wait === '5' && probe.status === 200 && after.status === 200,
      }
    },
  },
  {
    name: 'records of very long lines with their text, in 256 MiB',
    nightly: true,
    async run() {
      const path = folder('logs')
      writeFileSync(join(path, 'plain.log'), `${line(0)}${line(1, 'x'.repeat(30 * MB))}`)
      const json = `{"time":"2026-11-15T00:00:01Z","level":"info","msg":"${'\\u00e9'.repeat(1.5 * MB)}"}\n`
      writeFileSync(
        join(path, 'json.log'),
        `{"time":"2026-11-15T00:00:00Z","level":"info","msg":"a"}\n${json}`,
      )
      const node = await confined(['--logs', path])
      if (node === null) return SKIPPED
      const most = watchMemory(node.pid)
      const seen = {}
      for (const file of ['plain.log', 'json.log'])
        for (const query of ['size=200000000', 'lines=5', 'q=A', 'size=200000000&download=true'])
          await Promise.all(
            Array.from({ length: 6 }, async () => {
              const asked = `/api/v1/log/view?file=${file}&format=ndjson&raw=true&${query}`
              const { status, cut } = await get(node.url, asked.replace(/&size=\d+(&download)/, '$1'))
              const what = `${status}${cut ? ' cut' : ''}`
              seen[what] = (seen[what] ?? 0) + 1
            }),
          )
      return {
        tried: 'six at once of a line of 30 MB and of 9 MB of JSON, as view, lines, search and export',
        count: 48,
        figure: `${countsOf(seen)}; ${Math.round(most())} MB`,
        held: node.isAlive() && !seen['0 cut'],
      }
    },
  },
  {
    name: 'a directory of 105,000 files, in 256 MiB',
    nightly: true,
    async run() {
      const path = folder('logs')
      execFileSync('sh', ['-c', 'seq -f "f%06g.log" 105000 | xargs touch'], { cwd: path })
      const node = await confined(['--logs', path, '--loki'])
      if (node === null) return SKIPPED
      const most = watchMemory(node.pid)
      const list = await get(node.url, '/api/v1/log/list')
      const count = list.status === 200 ? JSON.parse(list.body).length : 0
      const detail = await get(node.url, '/api/v1/log/list?detail=true')
      const values = await get(node.url, '/loki/api/v1/label/file/values')
      const chosen = encodeURIComponent('{file=~"f0000.*"}')
      const series = await get(node.url, `/loki/api/v1/series?match[]=${chosen}`)
      const left = new AbortController()
      const asked = Array.from({ length: 8 }, () =>
        get(node.url, '/api/v1/log/list', { signal: left.signal }),
      )
      await sleep(300)
      left.abort()
      await Promise.all(asked)
      const next = await settled(
        () => get(node.url, '/healthz'),
        ({ ms }) => ms < 100,
      )
      const told = [
        String(detail.headers['x-nodestate-note']).includes('list-cut'),
        String(values.body).includes('"warnings"'),
        String(series.body).includes('"warnings"'),
      ]
      return {
        tried: 'the list, with details, Loki’s values and series; eight lists whose clients left',
        count: 12,
        figure: `${count} listed in ${Math.round(list.ms)} ms; ${[detail, values, series].map(({ status }) => status).join(', ')}, cut with a note: ${told.join(', ')}; ${Math.round(most())} MB; then /healthz after ${Math.round(next.ms)} ms`,
        held: node.isAlive() && count === 105_000 && told.every(Boolean) && next.status === 200,
      }
    },
  },
  {
    name: 'a log with 50,000 rotated files, in 256 MiB',
    nightly: true,
    waits: 400,
    async run() {
      const path = folder('logs')
      const line = (i) => `${new Date(Date.UTC(2026, 10, 1) - i * 60_000).toISOString()} INFO line ${i}\n`
      for (let i = 50_000; i > 0; i--) writeFileSync(join(path, `a.log.${i}`), line(i))
      writeFileSync(join(path, 'a.log'), line(0))
      const node = await confined(['--logs', path])
      if (node === null) return SKIPPED
      const most = watchMemory(node.pid)
      const asks = ['file=a.log&rotated=true', 'file=a.log&rotated=true&q=line', 'file=a*']
      const seen = await beside(node.url, '/healthz', async () => {
        const answers = []
        for (const ask of asks) answers.push(await get(node.url, `/api/v1/log/view?${ask}&lines=10`))
        return answers
      })
      const last = Array.from({ length: 10 }, (_, i) => line(9 - i)).join('')
      const isRight = seen.result.every(
        ({ status, body }) => status === 200 && body.toString().replaceAll('a.log\t', '') === last,
      )
      return {
        tried: 'its last ten lines, with a text and among several logs',
        count: asks.length,
        figure: `${seen.result.map(({ ms }) => Math.round(ms)).join(', ')} ms, as written: ${isRight}; ${Math.round(most())} MB; /healthz beside it: slowest ${Math.round(seen.slowest)} ms`,
        held: node.isAlive() && isRight,
      }
    },
  },
  {
    name: 'archives that end early, and one of 120,000 members, in 256 MiB',
    async run() {
      const path = folder('logs')
      const archive = gzipSync(lines(0, 30_000))
      for (const share of [0.2, 0.5, 0.9])
        writeFileSync(
          join(path, `cut${share}.log.gz`),
          archive.subarray(0, Math.floor(archive.length * share)),
        )
      const member = (i) => gzipSync(line(i), { level: 1 })
      writeFileSync(
        join(path, 'many.log.gz'),
        Buffer.concat(Array.from({ length: 120_000 }, (_, i) => member(i))),
      )
      const node = await confined(['--logs', path, '--loki', '--timezone', 'UTC'])
      if (node === null) return SKIPPED
      let told = 0
      for (const share of [0.2, 0.5, 0.9]) {
        const file = `cut${share}.log.gz`
        const view = await get(node.url, `/api/v1/log/view?file=${file}&q=number`)
        if (view.status === 200 && !view.cut && view.headers['x-nodestate-note'] === 'archive-cut') told++
        if ((await get(node.url, `/api/v1/log/view?file=${file}&download=true&q=number`)).cut) told++
        for (const resource of ['fields', 'histogram']) {
          const { body } = await get(node.url, `/api/v1/log/${resource}?file=${file}`)
          if (JSON.parse(body).complete === false) told++
        }
        const query = encodeURIComponent(`{file="${file}"}`)
        const { body } = await get(
          node.url,
          `/loki/api/v1/query_range?query=${query}&start=1794700800&end=1794711600`,
        )
        if (JSON.parse(body).warnings?.length === 1) told++
      }
      const many = JSON.parse((await get(node.url, '/api/v1/log/histogram?file=many.log.gz')).body)
      const counted = many.buckets.flatMap(({ counts }) => counts).reduce((sum, count) => sum + count, 0)
      return {
        tried: 'views, exports, fields, histograms and Loki of three; the histogram of the other',
        count: 16,
        figure: `${told} of 15 say that they are incomplete; ${counted} of 120000 counted, complete: ${many.complete}`,
        held: node.isAlive() && told === 15 && (counted === 120_000) === many.complete,
      }
    },
  },
  {
    name: 'exports that nobody reads, in 256 MiB',
    async run() {
      const path = folder('logs')
      large(join(path, 'a.log'), 40 * MB)
      large(join(path, 'b.log'), 40 * MB)
      const node = await confined(['--logs', path])
      if (node === null) return SKIPPED
      const most = watchMemory(node.pid)
      const asks = ['file=a.log&q=number', 'file=a.log&file=b.log', 'file=b.log&format=ndjson&raw=true']
      const sockets = Array.from({ length: 60 }, (_, i) =>
        stalled(node.url, `/api/v1/log/view?download=true&${asks[i % asks.length]}`),
      )
      await sleep(2000)
      const search = await get(node.url, '/api/v1/log/view?file=a.log&q=number%2019999&lines=1')
      const refused = await get(node.url, '/api/v1/log/view?file=a.log&download=true')
      for (const socket of sockets) socket.destroy()
      return {
        tried: '60 clients ask for exports of one log and of two, and stop reading',
        count: 60,
        figure: `a search beside them ${search.status} after ${Math.round(search.ms)} ms; the next export ${refused.status}; ${Math.round(most())} MB`,
        held: node.isAlive() && search.status === 200 && refused.status === 503,
      }
    },
  },
  {
    name: 'nodes with very many files, in 256 MiB',
    nightly: true,
    async run() {
      const path = folder('fleet')
      for (const id of ['db-0', 'db-1', 'db-2']) {
        const logs = join(path, id, 'logs')
        mkdirSync(logs, { recursive: true })
        writeFileSync(join(logs, 'app.log'), lines(0, 10))
        execFileSync(
          'sh',
          ['-c', 'seq -f "app.log.%g" 2000 | xargs touch; seq -f "f%06g.log" 9000 | xargs touch'],
          {
            cwd: logs,
          },
        )
      }
      const node = await confined(['--fleet', path])
      if (node === null) return SKIPPED
      const most = watchMemory(node.pid)
      const asks = [
        'list?node=*',
        'list?node=*&detail=true',
        'view?node=*&file=app.log&lines=3',
        'view?node=*&file=*.log',
      ]
      const answers = await Promise.all(asks.map((ask) => get(node.url, `/api/v1/log/${ask}`)))
      const [list, detail, view, pattern] = answers
      const told = [list, detail].every(({ headers }) => headers['x-nodestate-note']?.includes('list-cut'))
      return {
        tried: 'three nodes of 11,000 files each: their list, with details, a log of all of them, a pattern',
        count: 4,
        figure: `${answers.map(({ status }) => status).join(', ')}, cut with a note: ${told}; ${Math.round(most())} MB`,
        held:
          node.isAlive() &&
          told &&
          view.status === 200 &&
          pattern.status === 400 &&
          list.status === 200 &&
          detail.status === 200,
      }
    },
  },
  {
    name: 'several logs with very long records, in 256 MiB',
    async run() {
      const path = folder('logs')
      const long = 'y'.repeat(7 * MB)
      for (let i = 0; i < 24; i++) {
        const text = `${line(i)}${line(100 + i, long)}${line(200 + i)}`
        writeFileSync(join(path, `f${i}.log`), text)
        writeFileSync(join(path, `g${i}.gz`), gzipSync(text, { level: 1 }))
      }
      const node = await confined(['--logs', path])
      if (node === null) return SKIPPED
      const most = watchMemory(node.pid)
      const answers = []
      for (const query of ['lines=20', 'lines=20&format=ndjson&raw=true', 'q=number', 'size=100000000'])
        answers.push(
          ...(await Promise.all(
            Array.from({ length: 2 }, () => get(node.url, `/api/v1/log/view?file=*.log&${query}`)),
          )),
        )
      const pages = Math.round(most())
      const mostOfExports = watchMemory(node.pid)
      answers.push(await get(node.url, '/api/v1/log/view?file=*.gz&lines=20'))
      const bytes = 24 * long.length
      const exports = [
        ['*.log', bytes],
        ['*.log&format=ndjson', bytes],
        ['*.log&q=number', 48 * line(0).length],
        ['*.log&format=ndjson&raw=true', 2 * bytes],
        ['*.gz', bytes],
      ]
      const sizes = []
      for (const [query, least] of exports) {
        const { status, body, cut } = await get(node.url, `/api/v1/log/view?download=true&file=${query}`)
        sizes.push(status === 200 && !cut && body.length > least)
      }
      const isWhole = sizes.every(Boolean)
      return {
        tried:
          '24 logs with a record of 7 MB each: lines, records, a search and a long page, twice at once; five exports; the same compressed',
        count: answers.length + sizes.length,
        figure: `${answers.map(({ status }) => status).join(', ')}; ${pages} MB; exports whole: ${isWhole}, ${Math.round(mostOfExports())} MB`,
        held: node.isAlive() && isWhole && answers.every(({ status }) => status === 200 || status === 503),
      }
    },
  },
  {
    name: 'texts and conditions that nearly match everywhere',
    waits: 300,
    async run() {
      const path = folder('logs')
      writeFileSync(join(path, 'a.log'), lines(0, 100))
      writeFileSync(join(path, 'letters.log'), `${line(0)}${line(1, 'a'.repeat(20 * MB))}`)
      writeFileSync(join(path, 'umlauts.log'), `${line(0)}${line(1, 'ä'.repeat(10 * MB))}`)
      const logfmt = (i, rest) => `time=${stamp(i).replace(' ', 'T')}Z level=info msg=x ${rest}\n`
      writeFileSync(
        join(path, 'pairs.log'),
        `${logfmt(0, 'a=1').repeat(20)}${logfmt(1, 'a=1 '.repeat(2 * MB))}`,
      )
      const node = await serve(['--logs', path])
      const asks = [
        `letters.log&q=b${'a'.repeat(900)}`,
        `letters.log&q=${'a'.repeat(900)}ba`,
        `umlauts.log&q=b${encodeURIComponent('ä').repeat(900)}`,
        `letters.log&not=b${'a'.repeat(900)}&lines=1&size=1000`,
        'pairs.log&where=a:2',
        'pairs.log&where=!b:1&lines=1&size=1000',
      ]
      const seen = await beside(node.url, '/api/v1/log/view?file=a.log&size=4096', async () => {
        const answers = []
        for (const ask of asks) answers.push(await get(node.url, `/api/v1/log/view?file=${ask}`))
        return answers
      })
      const statuses = seen.result.map(({ status }) => status)
      return {
        tried: 'texts of 900 letters and conditions on lines of 8 to 20 MB',
        count: asks.length,
        figure: `${statuses.join(', ')}; a tail beside it: p99 ${Math.round(seen.p99)} ms, slowest ${Math.round(seen.slowest)} ms`,
        held: statuses.every((status) => status === 200),
      }
    },
  },
  {
    name: 'several logs with records that take more as JSON, in 256 MiB',
    async run() {
      const path = folder('logs')
      const long = 'ä"\t'.repeat(900_000)
      const texts = [line(0), line(50, long), line(100), line(150, long)]
      for (let i = 0; i < 32; i++) writeFileSync(join(path, `f${i}.log`), texts.join(''))
      const node = await confined(['--logs', path, '--loki'])
      if (node === null) return SKIPPED
      const most = watchMemory(node.pid)
      const whole = await get(node.url, '/api/v1/log/view?file=*.log&download=true&format=ndjson')
      const records = whole.body.reduce((count, byte) => count + (byte === 10), 0)
      const query = encodeURIComponent('{file=~".+"}')
      const loki = await get(
        node.url,
        `/loki/api/v1/query_range?query=${query}&start=1700000000&end=1800000000`,
      )
      const next = await get(node.url, '/healthz')
      return {
        tried: '32 logs with records of 3.6 MB: an export as NDJSON, and a Loki query',
        count: 2,
        figure: `${records} of ${32 * texts.length} records, ${loki.status}; ${Math.round(most())} MB; /healthz ${next.status}`,
        held: records === 32 * texts.length && !whole.cut && loki.status === 504 && next.status === 200,
      }
    },
  },
  {
    name: 'many patterns',
    waits: 200,
    async run() {
      const path = folder('logs')
      writeFileSync(join(path, 'a.log'), lines(0, 2000))
      const node = await serve(['--logs', path])
      const many = (count) => Array.from({ length: count }, (_, i) => `regex=%5CpL%7B${40 + i}%7D`).join('&')
      const refused = await get(node.url, `/api/v1/log/view?file=a.log&${many(33)}`)
      const seen = await beside(node.url, '/healthz', () =>
        Promise.all(
          Array.from({ length: 4 }, () => get(node.url, `/api/v1/log/view?file=a.log&${many(32)}`)),
        ),
      )
      const statuses = seen.result.map(({ status }) => status)
      return {
        tried: '33 patterns; four requests with 32 patterns of Unicode classes each',
        count: 5,
        figure: `${refused.status}; ${statuses.join(', ')}; /healthz beside it: slowest ${Math.round(seen.slowest)} ms`,
        held: refused.status === 400 && statuses.every((status) => status === 200),
      }
    },
  },
  {
    name: 'a token that is revoked',
    async run() {
      const path = folder('logs')
      writeFileSync(join(path, 'a.log'), lines(0, 10))
      const tokens = join(folder('tokens'), 'tokens.toml')
      const secret = 'tok-0123456789abcdef0123456789abcdef'
      const grant = (files) => `[[tokens]]\nname = "a"\ntoken = "${secret}"\nfiles = ["${files}"]\n`
      writeFileSync(tokens, grant('*'))
      const node = await serve(['--logs', path, '--tokens', tokens])
      const headers = { Authorization: `Bearer ${secret}`, Accept: 'text/event-stream' }
      const open = Array.from({ length: 20 }, () =>
        get(node.url, '/api/v1/log/view?file=a.log&follow=true', { headers, timeout: 30_000 }),
      )
      await sleep(1500)
      writeFileSync(tokens, grant('b.log'))
      const start = performance.now()
      const ended = await Promise.all(open)
      const took = performance.now() - start
      const told = ended.filter(({ body }) => String(body).includes('event: revoked')).length
      return {
        tried: 'twenty followers whose token loses the file',
        count: 20,
        figure: `${told} ended with the event within ${Math.round(took)} ms`,
        held: told === 20 && took < 10_000,
      }
    },
  },
]
