import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROOT } from './tools.mjs'

const running = new Set()

/** nodestate as `npm start -- FLAGS` runs it, after the build. */
export function startNodestate(directory, flags = []) {
  const all = ['--logs', directory, '--port', '0', ...flags]
  if (!flags.includes('--log-level')) all.push('--log-level', 'warn')
  return start('nodestate', process.execPath, ['dist/entry/cli.js', 'serve', ...all], 'dist/entry/cli.js')
}

/** nodestate that shows others, as db-000 and so on. */
export function startCoordinator(peers) {
  const flags = peers.flatMap(({ port }, i) => [
    '--peer',
    `db-${String(i).padStart(3, '0')}=http://127.0.0.1:${port}`,
  ])
  const all = ['serve', ...flags, '--port', '0', '--log-level', 'warn']
  return start('coordinator', process.execPath, ['dist/entry/cli.js', ...all], 'dist/entry/cli.js')
}

/** nodestate on Bun. */
export function startBun(bun, directory) {
  const flags = ['serve', '--logs', directory, '--port', '0', '--log-level', 'warn']
  return start('bun', bun, ['dist/entry/cli/bun.js', ...flags], 'dist/entry/cli/bun.js')
}

/** nodestate in front of a bucket, on any runtime; `program` is where the runtime is. */
export function startBucketService(runtime, program, { endpoint, bucket, scanBytes, certificate }) {
  const flags = ['--logs', `s3://${bucket}`, '--port', '0', '--log-level', 'warn']
  const limits = ['--scan-bytes', String(scanBytes), '--scan-seconds', '60']
  const env = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    ...(certificate && { NODE_EXTRA_CA_CERTS: certificate }),
  }
  const all = ['serve', ...flags, ...limits]
  if (runtime === 'node')
    return start('node', process.execPath, ['dist/entry/cli.js', ...all], 'dist/entry/cli.js', { env })
  if (runtime === 'bun')
    return start('bun', program, ['dist/entry/cli/bun.js', ...all], 'dist/entry/cli/bun.js', { env })
  if (runtime === 'deno')
    return start(
      'deno',
      program,
      ['run', '--allow-all', 'dist/entry/cli/deno.js', ...all],
      'dist/entry/cli/deno.js',
      {
        env,
      },
    )
  return start('workerd', process.execPath, ['scripts/serve.mjs', 'worker', ...all.slice(1)], 'workerd', {
    env,
  })
}

/** node:http with fs promises. */
export function startBaseline(directory) {
  return start('baseline', process.execPath, ['bench/baseline.mjs', directory], 'baseline.mjs')
}

/** nginx with one worker. With tcp_nopush it would stall 44 ms on some ranges: that would flatter us. */
export async function startNginx(nginx, directory, root) {
  const home = mkdtempSync(join(root, 'nginx-'))
  const port = await freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${home}/${kind};`,
  )
  writeFileSync(
    join(home, 'nginx.conf'),
    `worker_processes 1; daemon off; pid ${home}/pid; error_log ${home}/error.log;
events { worker_connections 4096; }
http { ${temporary.join(' ')} access_log off; sendfile on; tcp_nopush off; keepalive_requests 1000000000;
  default_type text/plain; etag on;
  server { listen 127.0.0.1:${port}; root ${directory}; autoindex on; autoindex_format json; } }
`,
  )
  const server = await start('nginx', nginx, ['-c', join(home, 'nginx.conf')], 'nginx', { port })
  return server
}

/** Ends all that still runs. */
export async function stopAll() {
  await Promise.all([...running].map((server) => server.stop()))
}

async function start(name, command, args, mark, { port: knownPort, env = {} } = {}) {
  const stdio = ['ignore', 'pipe', 'pipe']
  const child = spawn(command, args, { cwd: ROOT, stdio, env: { ...process.env, ...env } })
  let said = ''
  child.stdout.on('data', (text) => {
    said += text
  })
  child.stderr.on('data', (text) => {
    said += text
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  const server = {
    name,
    port: knownPort,
    /** The processes that serve, without shells around them. */
    pids: () => family(child.pid).filter((pid) => commandOf(pid).includes(mark)),
    cpu: () => server.pids().reduce((sum, pid) => sum + cpuOf(pid), 0),
    rss: () => server.pids().reduce((sum, pid) => sum + statusOf(pid, 'VmRSS'), 0),
    /** The greatest memory since the last `forgetPeak`. */
    peakRss: () => server.pids().reduce((sum, pid) => sum + statusOf(pid, 'VmHWM'), 0),
    forgetPeak() {
      for (const pid of server.pids()) writeFileSync(`/proc/${pid}/clear_refs`, '5')
    },
    async stop() {
      running.delete(server)
      child.kill('SIGTERM')
      await Promise.race([ended, sleep(5000).then(() => child.kill('SIGKILL'))])
    },
  }
  running.add(server)
  for (let i = 0; i < 1200; i++) {
    const port = knownPort ?? Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1])
    if (port && (await answers(port))) return Object.assign(server, { port })
    if (child.exitCode !== null) break
    await sleep(50)
  }
  await server.stop()
  throw new Error(`Cannot start ${name}: ${said.trim() || 'it says nothing'}`)
}

async function answers(port) {
  try {
    await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer()
    return true
  } catch {
    return false
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** A process and all below it. */
function family(pid) {
  const all = [pid]
  for (const name of readdirSync('/proc'))
    if (/^\d+$/.test(name) && parentOf(name) === pid) all.push(...family(Number(name)))
  return all
}

function procText(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

const commandOf = (pid) => procText(pid, 'cmdline').replaceAll('\0', ' ')
const fieldsOf = (pid) =>
  procText(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ')
const parentOf = (pid) => Number(fieldsOf(pid)[1])
/** Microseconds; the kernel counts in hundredths of a second. */
const cpuOf = (pid) => (Number(fieldsOf(pid)[11]) + Number(fieldsOf(pid)[12])) * 10_000 || 0
/** Bytes. */
const statusOf = (pid, name) =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(procText(pid, 'status'))?.[1] ?? 0) * 1024
