import { appendFileSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Many followers of one log that lines are appended to: how long each line takes to each of them, and whether one is
 * missing or out of order. A line tells its number and when it was written.
 */
export async function measureFollowers(server, path, { followers, perSecond, seconds }) {
  writeFileSync(path, '')
  const total = perSecond * seconds
  const latencies = []
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const next = new Int32Array(followers)
  let wrong = 0
  const responses = []
  const connect = (i) =>
    new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: server.port,
        path: '/api/v1/log/view?file=live.log&follow=true',
        agent,
      }
      get(options, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`follow gives ${response.statusCode}`))
        responses.push(response)
        let rest = ''
        response.setEncoding('latin1')
        response.on('data', (text) => {
          const lines = (rest + text).split('\n')
          rest = lines.pop()
          const now = performance.now()
          for (const line of lines) {
            if (line === '') continue
            const fields = line.split(' ')
            if (Number(fields[1]) !== next[i]) wrong++
            next[i] = Number(fields[1]) + 1
            // All lines are checked, every hundredth is timed.
            if (next[i] % 100 === 0) latencies.push(now - Number(fields[2]))
          }
        })
        response.on('error', () => {})
        resolve()
      }).on('error', reject)
    })
  for (let i = 0; i < followers; i += 50)
    await Promise.all(Array.from({ length: Math.min(50, followers - i) }, (_, k) => connect(i + k)))
  const cpu = server.cpu()
  const start = performance.now()
  for (let written = 0; written < total; ) {
    await sleep(5)
    const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * perSecond))
    let text = ''
    for (; written < due; written++) text += `line ${written} ${performance.now()} ${'x'.repeat(80)}\n`
    if (text) appendFileSync(path, text)
  }
  for (let i = 0; i < 50 && next.some((n) => n < total); i++) await sleep(100)
  const spent = server.cpu() - cpu
  const missing = next.reduce((sum, n) => sum + (total - n), 0) + wrong
  for (const response of responses) response.destroy()
  latencies.sort((a, b) => a - b)
  return {
    lines: total * followers,
    missing,
    p50: latencies[latencies.length >> 1] * 1000,
    p99: latencies[Math.floor(latencies.length * 0.99)] * 1000,
    cpu: spent,
    cores: spent / 1e6 / ((performance.now() - start) / 1000),
  }
}
