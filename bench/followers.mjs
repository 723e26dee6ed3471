import { appendFileSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Every line is as long as this, so that a million of them per second can be checked: `NUMBER TIME xxx…\n`. */
const LINE = 100
const DIGITS = 10

/**
 * Many followers of one log that lines are appended to: how long lines take to each of them, and whether one is
 * missing or out of order.
 */
export async function measureFollowers(server, path, { followers, perSecond, seconds }) {
  writeFileSync(path, '')
  const total = perSecond * seconds
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const all = []
  for (let i = 0; i < followers; i += 50)
    all.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, followers - i) }, () => follow(server, agent)),
      )),
    )
  const cpu = server.cpu()
  const start = performance.now()
  for (let written = 0; written < total; ) {
    await sleep(5)
    const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * perSecond))
    let text = ''
    for (; written < due; written++) text += lineOf(written)
    if (text) appendFileSync(path, text)
  }
  for (let i = 0; i < 50 && all.some(({ bytes }) => bytes < total * LINE); i++) await sleep(100)
  const took = (performance.now() - start) / 1000
  const spent = server.cpu() - cpu
  for (const { response } of all) response.destroy()
  const latencies = all.flatMap((follower) => follower.latencies).sort((a, b) => a - b)
  return {
    lines: total * followers,
    missing: all.reduce((sum, { bytes, wrong }) => sum + total - bytes / LINE + wrong, 0),
    p50: latencies[latencies.length >> 1] * 1000,
    p99: latencies[Math.floor(latencies.length * 0.99)] * 1000,
    cpu: spent,
    cores: spent / 1e6 / took,
  }
}

const lineOf = (number) =>
  `${String(number).padStart(DIGITS, '0')} ${performance.now().toFixed(3)} `
    .padEnd(LINE - 1, 'x')
    .concat('\n')

/** One follower: checks the number of each line where it must stand, and times the last line of each piece. */
function follow(server, agent) {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port: server.port,
      path: '/api/v1/log/view?file=live.log&follow=true',
      agent,
    }
    get(options, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`follow gives ${response.statusCode}`))
      const follower = { response, bytes: 0, wrong: 0, latencies: [] }
      response.on('data', (piece) => {
        const first = follower.bytes % LINE === 0 ? 0 : LINE - (follower.bytes % LINE)
        let number = (follower.bytes + first) / LINE
        let last = -1
        for (let at = first; at + LINE <= piece.length; at += LINE, number++) {
          if (numberAt(piece, at) !== number) follower.wrong++
          last = at
        }
        if (last >= 0) {
          const written = Number(piece.latin1Slice(last + DIGITS + 1, last + DIGITS + 15).split(' ')[0])
          follower.latencies.push(performance.now() - written)
        }
        follower.bytes += piece.length
      })
      response.on('error', () => {})
      resolve(follower)
    }).on('error', reject)
  })
}

function numberAt(bytes, at) {
  let number = 0
  for (let i = at; i < at + DIGITS; i++) number = number * 10 + bytes[i] - 48
  return number
}
