// Asks two built checkouts the same requests over the same files, and reports every difference in status, headers and body:
//   node scripts/compare.mjs --base DIR [--only TEXT] [--every N] [--show N] [--list]
// DIR is another checkout with its own dist/. Differences that are wanted are named in the commit that makes them.
// `--only` takes the requests whose names have a text, `--every 10` each tenth. Exits with 1 when an answer differs.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    only: { type: 'string', default: '' },
    show: { type: 'string', default: '20' },
    every: { type: 'string', default: '1' },
    list: { type: 'boolean', default: false },
  },
})
if (!values.base) {
  console.error('Usage: node scripts/compare.mjs --base DIR [--only TEXT] [--every N] [--show N] [--list]')
  process.exit(2)
}
const here = resolve(import.meta.dirname, '..')
const base = resolve(values.base)
const folder = mkdtempSync(join(tmpdir(), 'nodestate-compare-'))
const started = []
/** Headers that differ from one answer to the next. */
const PASSING = new Set([
  'date',
  'x-request-id',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'traceparent',
])
const START = Date.parse('2026-11-14T00:00:00Z')

try {
  const places = makeFiles()
  const services = await startServices(places)
  const requests = allRequests()
    .filter(({ name }) => name.includes(values.only))
    .filter((_, i) => i % Number(values.every) === 0)
  const result = { asked: 0, differing: [] }
  const left = requests.values()
  const lane = async () => {
    for (const request of left) await compare(services[request.service], request, result)
  }
  await Promise.all(Array.from({ length: 4 }, lane))
  report(result)
  process.exitCode = result.differing.length > 0 ? 1 : 0
} finally {
  for (const child of started) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}

/** Logs of several formats, rotated and compressed, a fleet of shipped homes, and configurations. */
function makeFiles() {
  const logs = join(folder, 'logs')
  mkdirSync(logs)
  const at = (seconds) => new Date(START + seconds * 1000).toISOString()
  const LEVELS = ['INFO', 'INFO', 'INFO', 'DEBUG', 'WARN', 'INFO', 'ERROR']
  const lindb = (from, count) =>
    Array.from({ length: count }, (_, i) => {
      const n = from + i
      const time = at(n).replace('T', ' ').replace('Z', '')
      const line = `${time}\t${LEVELS[n % 7]}\tbroker/api.go:${n % 90}\t[Broker] [Query${n % 3}]: slow query took ${n % 977}ms shard:${n % 12}\t{"shard":${n % 12},"took":${n % 977}}`
      return n % 500 === 499 ? `${line}\n\tat main.run(main.go:12)\n\tat main.main(main.go:3)\n` : `${line}\n`
    }).join('')
  const access = (count) =>
    Array.from({ length: count }, (_, n) => {
      const date = new Date(START + n * 3000).toISOString()
      const when = `${date.slice(8, 10)}/Nov/2026:${date.slice(11, 19)} +0000`
      return `10.0.${n % 7}.${n % 200} - - [${when}] "GET /api/v${n % 3}/item?id=${n % 50} HTTP/1.1" ${[200, 200, 304, 404, 500][n % 5]} ${n * 7} "-" "curl/8"\n`
    }).join('')
  const json = (count) =>
    Array.from({ length: count }, (_, n) =>
      JSON.stringify({
        time: at(n * 5),
        level: LEVELS[n % 7].toLowerCase(),
        msg: `job ${n % 9} done`,
        took: n % 313,
        user: { id: n % 17 },
      }),
    ).join('\n')
  const write = (name, content, seconds) => {
    writeFileSync(join(logs, name), content)
    utimesSync(join(logs, name), (START + seconds * 1000) / 1000, (START + seconds * 1000) / 1000)
  }
  write('broker.log', lindb(12_000, 4000), 16_000)
  write('broker.log.1', lindb(8000, 4000), 12_000)
  write('broker.log.2.gz', gzipSync(lindb(0, 8000)), 8000)
  write('storage.log', lindb(11_500, 3000).replaceAll('Broker', 'Storage'), 15_000)
  write('access.log', access(5000), 15_000)
  write('jobs.json', json(3000), 15_000)
  write('empty.log', '', 10)
  write('plain.txt', 'no time and no level\n'.repeat(300), 20)
  write('crlf.log', lindb(0, 50).replaceAll('\n', '\r\n'), 60)
  write('cut.log', `${lindb(0, 20)}an unfinished line`, 60)
  write('long.log', `${lindb(0, 3)}${'x'.repeat(200_000)}\n${lindb(3, 3)}`, 60)
  write('latin1.log', Buffer.from(lindb(0, 30).replaceAll('slow', 'größte'), 'latin1'), 60)
  write('utf16.log', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(lindb(0, 30), 'utf16le')]), 60)
  write('broken.gz', gzipSync(lindb(0, 500)).subarray(0, 900), 60)
  write('old.log.bz2', 'BZh91AY&SY....not really', 60)
  const config = join(folder, 'broker.toml')
  writeFileSync(
    config,
    '# the broker\n[query]\ntimeout = "30s"\n[http]\nport = 9000\n[etcd]\npassword = "hunter2" # hunter2\nurl = "http://u:pw@h:1/"\n',
  )
  utimesSync(config, START / 1000, START / 1000)
  const homes = join(folder, 'homes')
  for (const id of ['db-1', 'db-2']) {
    mkdirSync(join(homes, id, 'logs'), { recursive: true })
    writeFileSync(join(homes, id, 'config.toml'), `[query]\ntimeout = "${id}"\npassword = "x"\n`)
    writeFileSync(
      join(homes, id, 'node.json'),
      JSON.stringify({
        hostIp: '10.0.0.1',
        hostName: id,
        grpcPort: 1,
        httpPort: 2,
        version: '1',
        onlineTime: START,
      }),
    )
    for (const [name, from] of [
      ['broker.log', 5000],
      ['broker.log.1', 3000],
      ['query.log', 4000],
    ]) {
      const path = join(homes, id, 'logs', name)
      writeFileSync(path, lindb(from + (id === 'db-2' ? 300 : 0), 2000))
      utimesSync(path, START / 1000 + from, START / 1000 + from)
    }
  }
  // A node that ships: written once, by the older of the two.
  mkdirSync(join(homes, 'db-3'))
  const env = environment()
  const ship = [
    'ship',
    homes.concat('/db-3'),
    '--once',
    '--logs',
    logs,
    '--config',
    config,
    '--host-name',
    'db-3',
    '--host-ip',
    '10.0.0.3',
  ]
  const shipped = spawnSync(process.execPath, [cliOf(base), ...ship], { env, encoding: 'utf8' })
  // It says that it leaves the broken archive.
  if (!existsSync(join(homes, 'db-3', 'ship.json'))) throw new Error(`Cannot ship: ${shipped.stderr}`)
  writeFileSync(
    join(folder, 'tokens.toml'),
    '[[tokens]]\nname = "logs"\ntoken = "only-logs"\nscopes = ["logs"]\nfiles = ["broker*"]\n[[tokens]]\nname = "all"\ntoken = "all"\n',
  )
  return { logs, config, homes, tokens: join(folder, 'tokens.toml') }
}

function cliOf(checkout) {
  return join(checkout, JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')).bin.nodestate)
}

function environment() {
  return { PATH: process.env.PATH, HOME: folder, TZ: 'UTC' }
}

/** Every service twice, once of each checkout. */
async function startServices({ logs, config, homes, tokens }) {
  const node = [
    '--host-name',
    'db-4',
    '--host-ip',
    '10.0.0.4',
    '--http-port',
    '9000',
    '--node-version',
    '1.0',
  ]
  const all = ['--loki', '--mcp', '--timezone', 'UTC', ...node]
  const pair = async (flags) => ({ base: await start(base, flags), here: await start(here, flags) })
  const plain = await pair(['--logs', logs, '--config', config, ...all])
  const peer = await start(base, ['--logs', logs, '--config', config, ...all])
  return {
    node: plain,
    bare: await pair(['--logs', logs, '--config', config, '--no-page', '--no-metrics', ...node]),
    small: await pair([
      '--logs',
      logs,
      '--config',
      config,
      '--max-size',
      '4KiB',
      '--scan-bytes',
      '64KiB',
      '--include',
      '*.log',
      ...node,
    ]),
    guarded: await pair([
      '--logs',
      logs,
      '--config',
      config,
      '--tokens',
      tokens,
      '--allow-host',
      '127.0.0.1',
      ...node,
    ]),
    home: await pair(['--home', join(homes, 'db-3'), ...all]),
    fleet: await pair(['--fleet', homes, '--loki', '--mcp', '--timezone', 'UTC']),
    peers: await pair(['--peer', `p-1=${peer}`, '--fleet', homes, '--timezone', 'UTC']),
    nowhere: await pair([
      '--logs',
      join(folder, 'nowhere'),
      '--config',
      join(folder, 'broker.toml'),
      ...node,
    ]),
  }
}

function start(checkout, flags) {
  const args = [
    cliOf(checkout),
    'serve',
    '--port',
    '0',
    '--log-level',
    'off',
    '--log-format',
    'json',
    ...flags,
  ]
  const child = spawn(process.execPath, args, {
    env: environment(),
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  return new Promise((resolve, reject) => {
    let said = ''
    const read = (bytes) => {
      said += bytes
      const url = /"url":"([^"]+)"/.exec(said)?.[1]
      if (url) resolve(url)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('exit', () => reject(new Error(`${args.join(' ')}\n${said}`)))
  })
}

/** Some thousand requests, each with the service that it is sent to. */
function allRequests() {
  const requests = []
  const add = (service, path, options = {}) =>
    requests.push({ service, path, name: `${service} ${options.method ?? 'GET'} ${path}`, ...options })
  const FILES = [
    'broker.log',
    'broker.log.1',
    'broker.log.2.gz',
    'storage.log',
    'access.log',
    'jobs.json',
    'empty.log',
    'plain.txt',
    'crlf.log',
    'cut.log',
    'long.log',
    'latin1.log',
    'utf16.log',
    'broken.gz',
    'old.log.bz2',
    'missing.log',
  ]
  const SINCE = '2026-11-14T03:30:00Z'
  const UNTIL = '2026-11-14T03:40:00Z'
  const FILTERS = [
    'level=error',
    'level==warn,fatal',
    'q=slow',
    'q=SLOW',
    'q=took&not=shard:3',
    'regex=took [0-9]{3}ms',
    'notregex=Query[01]',
    `since=${SINCE}`,
    `since=${SINCE}&until=${UNTIL}`,
    'since=03:30&until=03:40',
    'where=shard:3',
    'where=took>900',
    'where=status>=500',
    'where=path~/api/*',
    'where=user.id:3',
    'pattern=slow query took <*>',
    `level=warn&q=query&since=${SINCE}`,
  ]
  const SHAPES = [
    '',
    '&format=ndjson',
    '&format=csv',
    '&format=ndjson&raw=true',
    '&format=csv&columns=time,level,shard,took',
    '&lines=20',
    '&first=7',
    '&size=3000',
    '&lines=5&format=ndjson',
    '&context=2&lines=5',
    '&context=1&format=ndjson&lines=3',
    '&download=true',
    '&download=true&format=ndjson',
    '&rotated=true&lines=30',
    '&encoding=latin1&lines=5',
    '&ansi=true&format=ndjson&lines=2',
  ]
  for (const [i, file] of FILES.entries()) {
    // Every file gets a third of the filters, so that each filter meets several formats.
    const filters = FILTERS.filter((_, n) => n % 3 === i % 3)
    const view = `/api/v1/log/view?file=${file}`
    for (const size of [
      '',
      '&size=',
      '&size=0',
      '&size=1',
      '&size=100',
      '&size=4096',
      '&size=100000',
      '&size=99999999999999999999',
      '&size=-1',
      '&size=1.5',
      '&size=abc',
      '&size=1&size=2',
    ])
      add('node', view + size, { again: true })
    for (const shape of SHAPES) add('node', view + shape, { pages: 3, again: shape === '&lines=20' })
    for (const filter of filters) {
      add('node', `${view}&${filter}`, { pages: 2 })
      add('node', `${view}&${filter}&lines=15&format=ndjson`, { pages: 4 })
      add('node', `${view}&${filter}&first=10&rotated=true`, { pages: 3 })
      add('node', `/api/v1/log/histogram?file=${file}&${filter}&buckets=20`)
      add('node', `/api/v1/log/fields?file=${file}&${filter}`)
    }
    for (const query of [
      '',
      '&buckets=7',
      '&step=10m',
      '&step=10m&origin=1794700000000',
      '&estimate=true',
      '&by=file',
      '&by=node',
      '&rotated=true',
      '&buckets=0',
    ])
      add('node', `/api/v1/log/histogram?file=${file}${query}`, { again: query === '' })
    for (const query of ['', '&rotated=true'])
      add('node', `/api/v1/log/fields?file=${file}${query}`, { again: true })
    for (const query of [
      '',
      '&by=shard',
      '&by=status&of=bytes',
      '&by=level&limit=2',
      '&by=shard&of=took&sort=p95',
      '&by=msg&sort=errors',
      '&by=shard&sort=max',
    ])
      add('node', `/api/v1/log/groups?file=${file}${query}`)
    add('node', `/api/v1/log/download?file=${file}`, { again: true })
    for (const range of ['bytes=0-0', 'bytes=-500', 'bytes=10-', 'bytes=99999999-', 'bytes=5-1', 'lines=1-2'])
      add('node', `/api/v1/log/download?file=${file}`, {
        headers: { range },
        name: `node range ${range} ${file}`,
      })
    add('node', `/api/v1/log/compare?file=${file}&since=${SINCE}&until=${UNTIL}`)
    for (const accept of [
      'text/plain',
      'application/x-ndjson',
      'text/csv',
      'text/plain, application/problem+json',
    ])
      add('node', `${view}&lines=3`, { headers: { accept }, name: `node accept ${accept} ${file}` })
    add('home', `${view}&lines=5`, { pages: 3 })
    add('home', `/api/v1/log/histogram?file=${file}&buckets=10`)
    for (const service of ['bare', 'small'])
      for (const query of ['', '&lines=5', '&q=slow', '&level=error&lines=500', '&size=5000'])
        add(service, view + query, { pages: 2 })
    for (const token of ['only-logs', 'all', 'wrong'])
      add('guarded', view, {
        headers: { authorization: `Bearer ${token}` },
        name: `guarded ${token} ${view}`,
      })
  }
  const SEVERAL = [
    'file=broker.log&file=storage.log',
    'file=*.log',
    'file=b*',
    'file=broker.log&file=access.log&file=jobs.json',
    'file=nothing*',
    'file=broker.log&file=missing.log',
  ]
  for (const files of SEVERAL) {
    for (const rest of [
      '&lines=20',
      '&lines=20&format=ndjson',
      '&first=20',
      '&level=error&lines=10&format=ndjson',
      '&q=slow&lines=10&format=csv',
      `&since=${SINCE}&until=${UNTIL}&format=ndjson`,
      '&rotated=true&lines=10',
      '&download=true',
      '&size=2000',
    ])
      add('node', `/api/v1/log/view?${files}${rest}`, { pages: 3 })
    for (const rest of ['', '&by=file', '&level=error', '&buckets=5&by=node'])
      add('node', `/api/v1/log/histogram?${files}${rest}`)
    for (const rest of ['', '&level=error']) add('node', `/api/v1/log/fields?${files}${rest}`)
    add('node', `/api/v1/log/groups?${files}&by=shard`)
    add('node', `/api/v1/log/compare?${files}&since=${SINCE}&until=${UNTIL}`)
    for (const service of ['fleet', 'peers']) {
      for (const node of ['node=*&', 'node=db-1&', 'node=db-1&node=db-3&', 'node=nobody&', '']) {
        add(service, `/api/v1/log/view?${node}${files}&lines=15&format=ndjson`, { pages: 2 })
        add(service, `/api/v1/log/histogram?${node}${files}&buckets=10&by=node`)
        add(service, `/api/v1/log/groups?${node}${files}&by=shard`)
      }
      add(service, `/api/v1/log/fields?node=*&${files}`)
      add(service, `/api/v1/log/compare?node=*&${files}&since=${SINCE}&until=${UNTIL}`)
    }
  }
  for (const service of ['node', 'bare', 'small', 'home', 'fleet', 'peers', 'nowhere', 'guarded']) {
    for (const path of [
      '/',
      '/healthz',
      '/readyz',
      '/nothing',
      '/api/',
      '/api/v1/nothing',
      '/assets/x',
      '/api/v1/log/list/',
      '//',
      '/loki/api/v1/labels',
      '/nodes/',
      '/favicon.ico',
    ])
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE'])
        add(service, path, { method, text: path !== '/' })
    for (const path of [
      '/api/v1/config',
      '/api/v1/config?detail=true',
      '/api/v1/config?at=2026-11-13',
      '/api/v1/config/history',
      '/api/v1/config/history?limit=1',
      '/api/v1/log/list',
      '/api/v1/log/list?detail=true',
      '/api/v1/log/list?etag=true',
      '/api/v1/log/list?etag=true&prefix=b',
      '/api/v1/log/list?after=broker.log',
      '/api/v1/log/list?prefix=b',
      '/api/v1/log/list?target=x&path=y',
      '/api/v1/log/list?unheard=of',
      '/api/v1/log/view',
      '/api/v1/log/view?file=',
      '/api/v1/log/view?file=..%2Fx',
      '/api/v1/nodes',
      '/api/v1/nodes?limit=1',
      '/api/v1/nodes?after=db-1',
      '/api/v1/config/compare?node=*',
      '/api/v1/config/compare',
      '/api/v1/config/blame',
      '/api/v1/config/blame?node=db-1',
      '/openapi.json',
    ])
      add(service, path, { again: true, pages: 2 })
  }
  for (const id of ['db-1', 'db-3', 'nobody', 'p-1', '%zz'])
    for (const rest of [
      '',
      '/',
      '/api/v1/config',
      '/api/v1/log/list',
      '/api/v1/log/view?file=broker.log&lines=5',
      '/api/v1/log/view?file=broker.log&size=500',
      '/api/v1/log/histogram?file=broker.log',
      '/api/v1/log/download?file=query.log',
      '/nothing',
      '/openapi.json',
    ])
      for (const service of ['fleet', 'peers', 'node']) add(service, `/nodes/${id}${rest}`)
  const range = 'start=1794625200&end=1794643200'
  for (const service of ['node', 'fleet'])
    for (const query of [
      'labels',
      'label/file/values',
      `query_range?query={file="broker.log"}&${range}&limit=20`,
      `query_range?query={file="broker.log"}|="slow"&${range}&limit=5&direction=forward`,
      `query_range?query=sum(count_over_time({file="broker.log"}[5m]))&step=300&${range}`,
      `series?${range}`,
      'query_range?query={',
      `query_range?query={file=~"b.*"}|level="error"&${range}&limit=9`,
    ])
      add(service, `/loki/api/v1/${encodeURI(query)}`)
  for (const service of ['node', 'fleet'])
    for (const [method, params] of [
      ['tools/list', {}],
      [
        'initialize',
        { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      ],
      ['tools/call', { name: 'list_logs', arguments: {} }],
      ['tools/call', { name: 'search_logs', arguments: { file: 'broker.log', level: 'error', limit: 3 } }],
      ['nothing', {}],
    ])
      add(service, '/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        name: `${service} mcp ${method} ${params.name ?? ''}`,
      })
  add('node', `/api/v1/log/incident?file=broker.log&since=${SINCE}&until=${UNTIL}`)
  for (const origin of ['http://evil.example'])
    add('node', '/api/v1/log/list', { headers: { origin }, name: 'node origin' })
  add('node', '/api/v1/log/list', { headers: { host: 'evil.example' }, name: 'node host' })
  return requests
}

async function ask(origin, { path, method = 'GET', headers = {}, body }) {
  const signal = AbortSignal.timeout(30_000)
  const response = await fetch(origin + path, { method, headers, body, signal, redirect: 'manual' }).catch(
    (error) => error,
  )
  if (!(response instanceof Response))
    return { status: 0, headers: {}, body: `no answer: ${response.name} ${response.cause?.code}` }
  const bytes = await response
    .arrayBuffer()
    .catch((error) => new TextEncoder().encode(`broken off: ${error.cause?.code}`))
  const text = new TextDecoder('latin1').decode(bytes)
  return { status: response.status, headers: headersOf(response, origin), body: settled(text, origin) }
}

function headersOf({ headers }) {
  return Object.fromEntries([...headers].filter(([name]) => !PASSING.has(name)))
}

/** What differs from one process to the next. */
function settled(text, origin) {
  return text
    .replaceAll(origin, 'ORIGIN')
    .replaceAll(new URL(origin).host, 'HOST')
    .replace(/("onlineTime":\s*)\d+/g, '$10')
    .replace(/(&quot;|\\")onlineTime(&quot;|\\"):\s*\d+/g, 'onlineTime')
}

async function compare({ base, here }, request, result) {
  const once = async (asked) => {
    const [one, other] = await Promise.all([ask(base, asked), ask(here, asked)])
    result.asked++
    const differences = differencesOf(one, other)
    if (values.list) console.log(one.status, asked.name)
    if (differences.length === 0) return one
    result.differing.push({ name: asked.name, differences })
    if (result.differing.length <= Number(values.show))
      console.log(`${asked.name}\n    ${differences.join('\n    ')}`)
    return one
  }
  const first = await once(request)
  const { etag } = first.headers
  if (request.again) {
    await once({ ...request, method: 'HEAD', name: `HEAD ${request.name}` })
    if (etag) await once({ ...request, headers: { 'if-none-match': etag }, name: `again ${request.name}` })
  }
  for (const direction of ['prev', 'next']) {
    let link = first.headers.link
    for (let page = 1; page <= (request.pages ?? 0) && link; page++) {
      const target = new RegExp(`<([^>]*)>; rel="${direction}"`).exec(link)?.[1]
      if (!target) break
      const path = target.startsWith('?') ? request.path.replace(/\?.*$/, '') + target : target
      link = (await once({ ...request, path, name: `${direction} ${page} of ${request.name}` })).headers.link
    }
  }
}

function differencesOf(one, other) {
  const differences = []
  if (one.status !== other.status) differences.push(`status ${one.status} → ${other.status}`)
  for (const name of new Set([...Object.keys(one.headers), ...Object.keys(other.headers)]))
    if (one.headers[name] !== other.headers[name])
      differences.push(`${name}: ${one.headers[name]} → ${other.headers[name]}`)
  if (one.body !== other.body) {
    let at = 0
    while (one.body[at] === other.body[at]) at++
    const from = Math.max(0, at - 40)
    differences.push(
      `body at ${at} (${one.body.length} → ${other.body.length} bytes):\n      ${JSON.stringify(one.body.slice(from, at + 160))}\n      ${JSON.stringify(other.body.slice(from, at + 160))}`,
    )
  }
  return differences
}

function report({ asked, differing }) {
  const rest = differing.length - Number(values.show)
  if (rest > 0) console.log(`… and ${rest} more (--show N)`)
  console.log(`${asked} requests, ${differing.length} answers differ`)
}
