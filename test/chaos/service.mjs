// The service as a child process, and what can be seen of it from outside.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'

const CLI = resolve('dist/entry/cli.js')
const running = new Set()
const folders = new Set()
/** The processes by their URLs. */
const pids = new Map()

/** A folder that `cleanUp` removes. */
export function folder(name = 'chaos') {
  const path = mkdtempSync(join(tmpdir(), `nodestate-${name}-`))
  folders.add(path)
  return path
}

/** Starts the service and waits until it listens. `wrap` runs it inside another command, such as a memory limit. */
export async function serve(flags, { env = {}, wrap = [] } = {}) {
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('NODESTATE_')),
  )
  const [command, ...args] = [...wrap, process.execPath, CLI, 'serve', '--port=0', '--no-page', ...flags]
  const child = spawn(command, args, {
    cwd: folder('cwd'),
    env: { ...clean, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let out = ''
  let err = ''
  child.stderr.on('data', (data) => (err += data))
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
  exited.then(() => running.delete(child))
  const url = await new Promise((found, failed) => {
    child.stdout.on('data', (data) => {
      out += data
      const match = /https?:\/\/[^\s/]+:\d+/.exec(out)
      if (match) found(match[0])
    })
    exited.then(({ code }) => failed(new Error(`The service ended with ${code}: ${err}`)))
    setTimeout(() => failed(new Error(`The service did not start: ${out}${err}`)), 60_000).unref()
  })
  pids.set(url, child.pid)
  return {
    url,
    pid: child.pid,
    exited,
    stderr: () => err,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async stop() {
      child.kill('SIGTERM')
      await Promise.race([exited, sleep(8000).then(() => child.kill('SIGKILL'))])
      await exited
    },
  }
}

/** Ends what still runs and removes the folders. */
export async function cleanUp() {
  for (const child of running) child.kill('SIGKILL')
  // Of 250,000 files, Node's own rmSync takes several times as long.
  if (folders.size > 0) execFileSync('rm', ['-rf', ...folders])
  folders.clear()
}

/** Status, headers, body and the milliseconds it took. A connection that breaks is status 0. */
export function get(url, path, { headers = {}, signal, timeout = 120_000 } = {}) {
  const start = performance.now()
  return new Promise((resolve) => {
    const done = (answer) => resolve({ ms: performance.now() - start, ...answer })
    const req = request(`${url}${path}`, { headers, signal, agent: false }, (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      const end = (cut) =>
        done({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks), cut })
      response.on('end', () => end(!response.complete))
      response.on('error', () => end(true))
    })
    req.setTimeout(timeout, () => req.destroy(new Error('timeout')))
    req.on('error', (error) =>
      done({ status: 0, headers: {}, body: Buffer.alloc(0), cut: true, error: String(error) }),
    )
    req.end()
  })
}

/** A client that sends a request and never reads the answer. `headers` are lines. */
export function stalled(url, path, headers = '') {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.pause()
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`)
  return socket
}

/** Sends bytes as they are, and gives what comes back until the connection ends or falls silent. */
export function raw(url, bytes, quiet = 1000) {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) })
    let text = ''
    const end = () => {
      socket.destroy()
      resolve(text)
    }
    socket.setTimeout(quiet, end)
    socket.on('data', (data) => (text += data.toString('latin1')))
    socket.on('error', end)
    socket.on('close', end)
    socket.write(bytes)
  })
}

const waits = []

/** The longest that the service held up a request beside another one since the last call, in ms; null if none was asked. */
export function longestWait() {
  return waits.length === 0 ? null : Math.max(...waits.splice(0))
}

/**
 * Asks for a 4 KiB tail of another file again and again while `work` runs; the slowest hundredth, in ms. It asks from a
 * thread of its own: what `work` does here must not count as a wait for the service.
 */
export async function beside(url, path, work) {
  const prober = new Worker(new URL('./prober.mjs', import.meta.url), {
    workerData: { url, path, pid: pids.get(url) },
  })
  const said = () => new Promise((resolve) => prober.once('message', resolve))
  await said()
  const result = await work()
  prober.postMessage('stop')
  const { times, held } = await said()
  waits.push(held)
  await prober.terminate()
  times.sort((a, b) => a - b)
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return { result, probes: times.length, p50: at(0.5), p99: at(0.99), slowest: times.at(-1) ?? 0 }
}

/** Memory of a process in MB: anonymous, which no page cache is part of, and its peak. */
export function memory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const field = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
  return { rss: field('VmRSS'), anonymous: field('RssAnon'), peak: field('VmHWM') }
}

/** Watches the anonymous memory of a process until the result is called. */
export function watchMemory(pid) {
  let most = 0
  const look = () => {
    try {
      most = Math.max(most, memory(pid).anonymous)
    } catch {}
  }
  const timer = setInterval(look, 50)
  return () => {
    look()
    clearInterval(timer)
    return most
  }
}

/** Open descriptors of a process. */
export const descriptors = (pid) => readdirSync(`/proc/${pid}/fd`).length

/**
 * A command that limits memory: a cgroup (v2, else v1) where one can be made; null where none can, and then anonymous
 * memory is measured instead.
 */
export function memoryLimit(bytes) {
  const name = `nodestate-chaos-${process.pid}`
  const places = [
    ['/sys/fs/cgroup', 'memory.max'],
    ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'],
  ]
  for (const [root, file] of places) {
    try {
      if (!existsSync(join(root, file === 'memory.max' ? 'cgroup.controllers' : file))) continue
      const group = join(root, name)
      mkdirSync(group, { recursive: true })
      writeFileSync(join(group, file), String(bytes))
      return ['sh', '-c', `echo $$ > "${group}/cgroup.procs" && exec "$@"`, 'sh']
    } catch {}
  }
  return null
}

/** Asks until the answer is right, or half a minute is over; the last answer either way. */
export async function settled(ask, isRight) {
  const end = performance.now() + 30_000
  let answer = await ask()
  while (!isRight(answer) && performance.now() < end) {
    await sleep(100)
    answer = await ask()
  }
  return answer
}

export const MB = 1024 * 1024
export { sleep }
