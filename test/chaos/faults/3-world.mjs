// The world around it: disks, buckets, signals, and what must never get out.
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { descriptors, folder, get, memory, serve, settled, sleep } from '../service.mjs'

const stamp = (i) => new Date(Date.UTC(2026, 10, 15) + i).toISOString().replace('T', ' ').slice(0, 23)
const line = (i) => `${stamp(i)}\tINFO\ta.go:1\t[A]: number ${i}\n`
const lines = (count) => Array.from({ length: count }, (_, i) => line(i)).join('')

/** A bucket with scripted answers. */
async function bucket(answer) {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    answer(request, response, requests)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const env = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${server.address().port}`,
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_REGION: 'x',
  }
  return { env, requests: () => requests, close: () => server.close() }
}
const page = (keys, next) =>
  `<?xml version="1.0"?><ListBucketResult>${keys.map((key) => `<Contents><Key>${key}</Key><Size>1</Size><LastModified>2026-11-15T00:00:00Z</LastModified><ETag>"e"</ETag></Contents>`).join('')}<IsTruncated>${next !== null}</IsTruncated>${next === null ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`}</ListBucketResult>`

export const faults = [
  {
    name: 'a bucket whose list never ends',
    async run() {
      const results = []
      for (const next of [(n) => (n % 2 ? 'A' : 'B'), (n) => `token${n}`]) {
        const store = await bucket((_, response, n) =>
          response.end(page([`k${String(n).padStart(9, '0')}`], next(n))),
        )
        const node = await serve(['--logs', 's3://logs/'], { env: store.env })
        const abort = new AbortController()
        const asked = get(node.url, '/api/v1/log/list', { signal: abort.signal, timeout: 60_000 })
        const answer = await Promise.race([asked, sleep(50_000).then(() => null)])
        abort.abort()
        await sleep(500)
        const before = store.requests()
        await sleep(1500)
        results.push({
          status: answer?.status ?? 0,
          on: store.requests() - before,
          requests: store.requests(),
        })
        await node.stop()
        store.close()
      }
      return {
        tried: 'tokens A, B, A, B; ever new tokens',
        count: 2,
        figure: results
          .map(
            ({ status, requests, on }) => `${status} after ${requests} requests, ${on} after the client left`,
          )
          .join('; '),
        held: results.every(({ status, on }) => status === 503 && on === 0),
      }
    },
  },
  {
    name: 'a bucket that contradicts itself',
    async run() {
      const text = lines(2000)
      const head = (response, more) =>
        response.writeHead(200, { 'Content-Length': text.length, ETag: '"e"', ...more })
      const answers = {
        'ranges of another size': (request, response) =>
          request.headers.range
            ? response
                .writeHead(206, { 'Content-Range': `bytes 0-99/${text.length * 2}`, ETag: '"e"' })
                .end(text.slice(0, 100))
            : head(response).end(request.method === 'HEAD' ? '' : text),
        'a range as 200': (request, response) =>
          request.method === 'HEAD'
            ? head(response).end()
            : response.writeHead(200, { ETag: '"e"', 'Content-Length': 50 }).end(text.slice(0, 50)),
      }
      const seen = []
      for (const [name, answer] of Object.entries(answers)) {
        const store = await bucket((request, response) =>
          request.url.includes('list-type')
            ? response.end(page(['a.log', 'a.log', 'b.log'], null))
            : answer(request, response),
        )
        const node = await serve(['--logs', 's3://logs/'], { env: store.env })
        const names = JSON.parse((await get(node.url, '/api/v1/log/list')).body).map((file) => file.name)
        const view = await get(node.url, '/api/v1/log/view?file=a.log&size=100', { timeout: 60_000 })
        seen.push(`${name}: ${names.length} files, ${view.status}${view.cut ? ' cut' : ''}`)
        if (names.join() !== 'a.log,b.log' || (view.status === 200 && !view.cut)) seen.push('WRONG')
        await node.stop()
        store.close()
      }
      return {
        tried: 'a key twice in a list; sizes that differ; a part of an object as if it were all of it',
        count: 4,
        figure: seen.join('; '),
        held: !seen.includes('WRONG'),
      }
    },
  },
  {
    name: 'a bucket with a key that is no text',
    async run() {
      const store = await bucket((_, response) =>
        response.end(page(['a.log', 'bad%FF&#0;key', 'b.log'], null)),
      )
      const node = await serve(['--logs', 's3://logs/'], { env: store.env })
      const { status, body } = await get(node.url, '/api/v1/log/list')
      store.close()
      const names = status === 200 ? JSON.parse(body).map(({ name }) => name) : []
      return {
        tried: 'a list with such a key between two others',
        count: 1,
        figure: `${status}: ${names.join(', ')}`,
        held: names.includes('a.log') && names.includes('b.log'),
      }
    },
  },
  {
    name: 'broken buckets',
    async run() {
      const answers = {
        'empty 200': (_, response) => response.end(),
        HTML: (_, response) => response.end('<html>captive portal</html>'),
        500: (_, response) => response.writeHead(500).end('oops'),
        403: (_, response) => response.writeHead(403).end(),
        'cut body': (_, response) => {
          response.writeHead(200, { 'Content-Length': 1000, ETag: '"e"' })
          response.write('half')
          setTimeout(() => response.destroy(), 50)
        },
        redirect: (_, response) => response.writeHead(301, { Location: 'http://127.0.0.1:1/' }).end(),
      }
      const seen = []
      for (const [name, answer] of Object.entries(answers)) {
        const store = await bucket(answer)
        const node = await serve(['--logs', 's3://logs/'], { env: store.env })
        const list = await get(node.url, '/api/v1/log/list', { timeout: 60_000 })
        const view = await get(node.url, '/api/v1/log/view?file=a.log&size=10', { timeout: 60_000 })
        seen.push(`${name}: ${list.status} and ${view.status}${view.cut ? ' cut' : ''}`)
        if (list.status === 200 || (view.status === 200 && !view.cut)) seen.push('WRONG')
        await node.stop()
        store.close()
      }
      return {
        tried: 'lists and views',
        count: seen.length * 2,
        figure: seen.join('; '),
        held: !seen.includes('WRONG'),
      }
    },
  },
  {
    name: 'files that change under an answer',
    async run() {
      const path = folder('logs')
      const file = join(path, 'a.log')
      const whole = lines(60_000)
      writeFileSync(file, whole)
      const node = await serve(['--logs', path])
      const seen = {}
      let wrong = 0
      const acts = [
        () => truncateSync(file, 1000),
        () => writeFileSync(file, whole),
        () => renameSync(file, `${file}.1`),
        () => writeFileSync(file, whole),
        () => unlinkSync(file),
        () => writeFileSync(file, whole),
        () => chmodSync(file, 0),
        () => chmodSync(file, 0o644),
        () => renameSync(path, `${path}-away`),
        () => renameSync(`${path}-away`, path),
      ]
      for (let round = 0; round < 12; round++)
        for (const act of acts) {
          const asked = [
            'size=3000000',
            'lines=20000',
            'q=number%203',
            'since=2026-11-15T00:00:10Z&format=ndjson',
          ].map((query) => get(node.url, `/api/v1/log/view?file=a.log&${query}`))
          await sleep(2)
          act()
          for (const { status, body, cut, headers } of await Promise.all(asked)) {
            seen[status] = (seen[status] ?? 0) + 1
            if (status !== 200 || cut || String(headers['content-type']).includes('ndjson')) continue
            // Whatever is given as whole must be lines of the log, none of them mixed.
            if (
              body.length > 0 &&
              !body
                .toString()
                .split('\n')
                .slice(0, -1)
                .every((text) => /^\d{4}-\d\d-\d\d [\d:.]+\tINFO\ta\.go:1\t\[A\]: number \d+$/.test(text))
            )
              wrong++
          }
        }
      const bad = Object.keys(seen).filter((status) => !['200', '404', '503', '0'].includes(status))
      return {
        tried: 'truncated, replaced, renamed, deleted, made unreadable, the directory moved away',
        count: 480,
        figure: `${Object.entries(seen)
          .map(([status, count]) => `${count} × ${status}`)
          .join(', ')}; ${wrong} mixed`,
        held: wrong === 0 && bad.length === 0 && node.isAlive(),
      }
    },
  },
  {
    name: 'few descriptors',
    async run() {
      const path = folder('logs')
      for (let i = 0; i < 40; i++) writeFileSync(join(path, `a${i}.log`), lines(100))
      const node = await serve(['--logs', path], { wrap: ['sh', '-c', 'ulimit -n 96; exec "$@"', 'sh'] })
      const seen = {}
      for (let round = 0; round < 10; round++) {
        const answers = await Promise.all(
          Array.from({ length: 130 }, (_, i) =>
            get(node.url, `/api/v1/log/view?file=a${i % 40}.log&lines=5`, { timeout: 20_000 }),
          ),
        )
        for (const { status } of answers) seen[status] = (seen[status] ?? 0) + 1
      }
      const after = await settled(
        () => get(node.url, '/api/v1/log/view?file=a1.log&size=100'),
        ({ status }) => status === 200,
      )
      return {
        tried: '130 at once with 96 descriptors',
        count: 1300,
        figure: `${Object.entries(seen)
          .map(([status, count]) => `${count} × ${status}`)
          .join(', ')}; afterwards ${after.status}`,
        held: after.status === 200 && !seen[500],
      }
    },
  },
  {
    name: 'SIGTERM under load',
    async run() {
      const path = folder('logs')
      writeFileSync(join(path, 'a.log'), lines(50_000))
      const node = await serve(['--logs', path])
      const asked = Array.from({ length: 40 }, () =>
        get(node.url, '/api/v1/log/view?file=a.log&size=2000000'),
      )
      await sleep(100)
      const start = performance.now()
      process.kill(node.pid, 'SIGTERM')
      const { code } = await node.exited
      const took = performance.now() - start
      const answers = await Promise.all(asked)
      const whole = answers.filter(
        ({ status, cut, body }) => status === 200 && !cut && body.length > 1_900_000,
      ).length
      const half = answers.filter(
        ({ status, cut, body }) => status === 200 && !cut && body.length <= 1_900_000,
      ).length
      return {
        tried: 'with 40 views of 2 MB under way',
        count: 40,
        figure: `exit ${code} after ${Math.round(took)} ms; ${whole} whole, ${half} short without a cut`,
        held: code === 0 && half === 0 && took < 6000,
      }
    },
  },
  {
    name: 'a day of rotation in a minute',
    async run() {
      const path = folder('logs')
      const file = join(path, 'a.log')
      writeFileSync(file, '')
      const node = await serve(['--logs', path])
      const abort = new AbortController()
      const follow = await fetch(`${node.url}/api/v1/log/view?file=a.log&follow=true&lines=0`, {
        signal: abort.signal,
      })
      let text = ''
      const reading = (async () => {
        for await (const chunk of follow.body.pipeThrough(new TextDecoderStream())) text += chunk
      })().catch(() => {})
      let count = 0
      let early = null
      for (let hour = 0; hour < 96; hour++) {
        for (let i = 0; i < 20; i++)
          appendFileSync(file, Array.from({ length: 20 }, () => line(count++)).join(''))
        await sleep(60)
        for (let i = 8; i >= 1; i--) {
          const from = join(path, `a.log.${i}.gz`)
          try {
            if (i === 8) rmSync(from, { force: true })
            else renameSync(from, join(path, `a.log.${i + 1}.gz`))
          } catch {}
        }
        const middle = join(path, 'a.log.1')
        if (hour % 3 === 0) {
          copyFileSync(file, middle)
          truncateSync(file)
        } else {
          renameSync(file, middle)
          writeFileSync(file, '')
        }
        await sleep(250)
        writeFileSync(`${middle}.gz`, gzipSync(readFileSync(middle)))
        unlinkSync(middle)
        await get(node.url, '/api/v1/log/list')
        await get(node.url, '/api/v1/log/view?file=a.log&rotated=true&lines=500')
        if (hour === 30) early = { ...memory(node.pid), open: descriptors(node.pid) }
      }
      await settled(
        () => text,
        (text) => text.includes(`number ${count - 1}\n`),
      )
      const late = await settled(
        () => ({ ...memory(node.pid), open: descriptors(node.pid) }),
        ({ open }) => open <= early.open + 4,
      )
      abort.abort()
      await reading
      const numbers = [...text.matchAll(/number (\d+)\n/g)].map((found) => Number(found[1]))
      const right = numbers.length === count && numbers.every((number, i) => number === i)
      return {
        tried: '96 rotations by copy and by rename, compressed afterwards, with a follower, lists and views',
        count: 96,
        figure: `${numbers.length} of ${count} lines followed, in order: ${right}; descriptors ${early.open} and ${late.open}; ${Math.round(early.anonymous)} and ${Math.round(late.anonymous)} MB`,
        held: right && late.open <= early.open + 4 && late.anonymous < early.anonymous + 60,
      }
    },
  },
  {
    name: 'what must never get out',
    async run() {
      const secrets = ['hunter2-secret', 's3cr3t-value', 'AKIAIOSFODNN7EXAMPLE']
      const token = 'tok-0123456789abcdef-never-shown'
      const home = folder('home')
      const path = join(home, 'logs')
      const config = join(home, 'node.toml')
      writeFileSync(
        config,
        `# old password = "${secrets[0]}"\n[storage]\npassword = "${secrets[0]}"\nurl = "http://user:${secrets[1]}@host/db"\naccess-key = "${secrets[2]}"\n`,
      )
      rmSync(path, { recursive: true, force: true })
      const logs = folder('logs')
      writeFileSync(join(logs, 'a.log'), lines(10))
      const node = await serve(['--logs', logs, '--config', config, '--log-level', 'debug'], {
        env: { NODESTATE_TOKEN: token },
      })
      const auth = { Authorization: `Bearer ${token}` }
      const paths = [
        '/api/v1/config',
        '/api/v1/config?detail=true',
        '/api/v1/log/list',
        '/api/v1/log/view?file=a.log',
        '/api/v1/log/view?file=none',
        '/api/v1/nothing',
        '/metrics',
        '/openapi.json',
        '/readyz',
        '/healthz',
        `/api/v1/log/list?token=${token}`,
        `/api/v1/log/list?access_token=%74${token.slice(1)}`,
        '/api/v1/log/view?file=..%2F..%2Fetc%2Fpasswd',
      ]
      let all = ''
      let count = 0
      for (const headers of [auth, {}, { Authorization: 'Bearer wrong' }])
        for (const path of paths) {
          const answer = await get(node.url, path, { headers })
          count++
          all += `${JSON.stringify(answer.headers)}${answer.body}`
        }
      const found = [
        ...[...secrets, token].filter((secret) => (all + node.stderr()).includes(secret)),
        // The own log may name the directories that it was given; an answer may not.
        ...[logs, home].filter((path) => all.includes(path)),
      ]
      return {
        tried: 'answers, problems, headers and the own log searched for masked values, the token and paths',
        count,
        figure: found.length === 0 ? 'none found' : `${found.length} found`,
        held: found.length === 0,
      }
    },
  },
]
