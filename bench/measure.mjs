import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { connect } from 'node:net'
import { takeTurns } from './turns.mjs'

/** One whole response, and when its last byte arrived: assembling it here does not count as server time. */
export function ask(server, path, headers = {}) {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.port, path, headers, agent: false }
    request(options, (response) => {
      const parts = []
      response.on('data', (part) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        const ended = performance.now()
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts), ended })
      })
    })
      .on('error', reject)
      .end()
  })
}

/** Where the bytes of a long answer go when they are only counted. */
const scratch = Buffer.alloc(1 << 20)

/**
 * One long answer that is counted and forgotten: its status, its head, how many bytes came in all and how long they
 * took. This process must not be what is measured, and to keep 100 MB costs it more than to send them.
 */
export function drain(server, path) {
  return new Promise((resolve, reject) => {
    const start = performance.now()
    let bytes = 0
    let head = ''
    let last = ''
    const callback = (count) => {
      bytes += count
      last = (last + scratch.latin1Slice(Math.max(0, count - 7), count)).slice(-7)
      if (!head.includes('\r\n\r\n')) head += scratch.latin1Slice(0, count)
      return true
    }
    const socket = connect({ host: '127.0.0.1', port: server.port, onread: { buffer: scratch, callback } })
    socket.on('error', reject)
    socket.on('end', () => {
      const ms = performance.now() - start
      head = head.slice(0, head.indexOf('\r\n\r\n'))
      const length = /^content-length: (\d+)/im.exec(head)?.[1]
      const whole = length ? bytes === head.length + 4 + Number(length) : last === '\r\n0\r\n\r\n'
      if (!whole) return reject(new Error(`${server.name} broke off after ${bytes} bytes`))
      resolve({ status: Number(head.slice(9, 12)), head, bytes, ms })
    })
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nConnection: close\r\n\r\n`)
  })
}

/** Runs the load client once. `target` is { path, headers, status, length }. */
export function load(program, server, target, { connections, seconds }) {
  const { path, headers = {}, status = 200, length } = target
  const args = ['--port', server.port, '--path', path, '--connections', connections, '--seconds', seconds]
  args.push('--status', status)
  if (length !== undefined) args.push('--length', length)
  for (const name in headers) args.push('--header', `${name}: ${headers[name]}`)
  const before = server.cpu()
  return run(program, args.map(String)).then((text) => {
    const result = JSON.parse(text)
    if (result.bad > 0)
      throw new Error(`${server.name} gave ${result.bad} wrong answers: ${result.complaint}`)
    return { ...result, cpu: (server.cpu() - before) / result.requests, rss: server.rss() }
  })
}

/** Connections that read the head of an answer and nothing more; gives the memory of the server meanwhile. */
export async function stall(program, server, path, { connections, seconds }) {
  const args = [
    '--stall',
    '--port',
    server.port,
    '--path',
    path,
    '--connections',
    connections,
    '--seconds',
    seconds,
  ]
  const child = spawn(program, args.map(String), { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve)
    child.once('close', () => reject(new Error(`${server.name} did not stall`)))
  })
  await new Promise((resolve) => setTimeout(resolve, seconds * 500))
  const rss = server.rss()
  await new Promise((resolve) => child.once('close', resolve))
  return rss
}

/**
 * Loads several servers in turns after `check` has seen that each gives the right bytes, and after a warm-up. Gives
 * the median of each figure.
 */
export async function interleave({ load: program, options, spare }, contenders, changes = {}) {
  const { connections = 16, seconds, rounds } = { ...options, ...changes }
  for (const { server, target } of contenders) {
    const answer = await ask(server, target.path, target.headers)
    target.check(answer, server.name)
    target.length = answer.status === 304 ? undefined : answer.body.length
    await warmUp(program, server, target, connections)
  }
  const once = async ({ server, target }) => {
    const { rps, mbs, p50, p99, cpu, rss } = await load(program, server, target, { connections, seconds })
    return { rps, mbs, p50, p99, cpu, rss }
  }
  const figures = await takeTurns(contenders, once, { rounds, seconds, spare })
  return Object.fromEntries(contenders.map(({ name, server }, i) => [name ?? server.name, figures[i]]))
}

/** Loads a server until it gets no faster: JIT compilers need a second or two to find what is hot, in each worker. */
async function warmUp(program, server, target, connections) {
  const start = performance.now()
  let best = 0
  for (let flat = 0; flat < (server.warm ? 1 : 2) && performance.now() - start < 3000; ) {
    const { rps } = await load(program, server, target, { connections, seconds: 0.3 })
    flat = rps > best * 1.05 ? 0 : flat + 1
    best = Math.max(best, rps)
  }
  server.warm = true
}

/** What a program prints. */
export function run(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let complaint = ''
    child.stdout.on('data', (text) => {
      out += text
    })
    child.stderr.on('data', (text) => {
      complaint += text
    })
    child.on('close', (code) =>
      code === 0 ? resolve(out) : reject(new Error(complaint.trim() || `exit ${code}`)),
    )
  })
}
