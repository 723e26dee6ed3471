import { appendFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const LINE = /data: \S+\t(\S+) INFO (\w)\.log (\d+) /g

/**
 * Followers of several logs as one timeline, as events, while lines are appended to each: how long the headers and the
 * lines take, and whether a line is missing, out of its log's order, or there twice.
 */
export async function measureMerged(server, folder, { logs, followers, perSecond, seconds }) {
  const names = Array.from({ length: logs }, (_, i) => String.fromCharCode(97 + i))
  for (const name of names) writeFileSync(join(folder, `${name}.log`), lineOf(name, 0))
  // The first follower loads the code.
  const { response } = await follow(server, names)
  response.destroy()
  const all = await Promise.all(Array.from({ length: followers }, () => follow(server, names)))
  const total = perSecond * seconds
  const cpu = server.cpu()
  const start = performance.now()
  for (let written = 1; written < total; ) {
    await sleep(5)
    const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * perSecond))
    for (const name of names) {
      let text = ''
      for (let i = written; i < due; i++) text += lineOf(name, i)
      if (text) appendFileSync(join(folder, `${name}.log`), text)
    }
    written = Math.max(written, due)
  }
  const isDone = ({ next }) => names.every((name) => next[name] >= total)
  for (let i = 0; i < 100 && !all.every(isDone); i++) await sleep(100)
  const took = (performance.now() - start) / 1000
  const spent = server.cpu() - cpu
  for (const { response } of all) response.destroy()
  const latencies = all.flatMap((each) => each.latencies).sort((a, b) => a - b)
  const missing = all.flatMap(({ next }) => names.map((name) => total - next[name]))
  return {
    lines: total * logs * followers,
    missing: missing.reduce((sum, count) => sum + count, 0),
    wrong: all.reduce((sum, each) => sum + each.wrong, 0),
    headers: Math.max(...all.map((each) => each.headers)),
    p50: latencies[latencies.length >> 1] * 1000,
    p99: latencies[Math.floor(latencies.length * 0.99)] * 1000,
    cpu: spent,
    cores: spent / 1e6 / took,
  }
}

const lineOf = (name, number) => `${new Date().toISOString()} INFO ${name}.log ${number} ${'x'.repeat(60)}\n`

function follow(server, names) {
  const asked = performance.now()
  const files = names.map((name) => `file=${name}.log`).join('&')
  const options = {
    host: '127.0.0.1',
    port: server.port,
    path: `/api/v1/log/view?${files}&follow=true&lines=${names.length}`,
    headers: { Accept: 'text/event-stream' },
    agent: false,
  }
  return new Promise((resolve, reject) => {
    get(options, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`follow gives ${response.statusCode}`))
      const next = Object.fromEntries(names.map((name) => [name, 0]))
      const follower = { response, next, wrong: 0, latencies: [], headers: performance.now() - asked }
      let rest = ''
      response.setEncoding('latin1')
      response.on('data', (piece) => {
        const text = rest + piece
        const end = text.lastIndexOf('\n') + 1
        rest = text.slice(end)
        for (const [, time, name, number] of text.slice(0, end).matchAll(LINE)) {
          if (Number(number) !== next[name]) follower.wrong++
          next[name] = Number(number) + 1
          follower.latencies.push(Date.now() - Date.parse(time))
        }
      })
      response.on('error', () => {})
      resolve(follower)
    }).on('error', reject)
  })
}
