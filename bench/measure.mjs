import { spawn } from 'node:child_process'
import { request } from 'node:http'

/** One answer, whole, and when its last byte came: to put it together here is no time of the server's. */
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
 * Loads several servers in turns, A B C A B C, after a warm-up and after `check` has seen that each gives the right
 * bytes. Gives the median of each figure.
 */
export async function interleave(program, contenders, { connections = 16, seconds, rounds }) {
  for (const { server, target } of contenders) {
    const answer = await ask(server, target.path, target.headers)
    target.check(answer, server.name)
    target.length = answer.status === 304 ? undefined : answer.body.length
    // A server's first load lasts longer: compilers take a second or two until they know what is hot.
    await load(program, server, target, { connections, seconds: server.warm ? 0.4 : 2 })
    server.warm = true
  }
  const runs = contenders.map(() => [])
  for (let round = 0; round < rounds; round++)
    for (const [i, { server, target }] of contenders.entries())
      runs[i].push(await load(program, server, target, { connections, seconds }))
  return Object.fromEntries(contenders.map(({ name, server }, i) => [name ?? server.name, medians(runs[i])]))
}

function medians(runs) {
  const result = {}
  for (const key of ['rps', 'mbs', 'p50', 'p99', 'cpu', 'rss'])
    result[key] = median(runs.map((run) => run[key]))
  return result
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
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
