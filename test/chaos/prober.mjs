// Asks for one path again and again, and says how long each answer took, and how much of that the service held it up.
import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { get, sleep } from './service.mjs'

const { url, path, pid } = workerData
// The first requests of a process are slow on either side, whatever runs beside them.
for (let i = 0; i < 20; i++) await get(url, path)
let isOver = false
parentPort.once('message', () => {
  isOver = true
})
parentPort.postMessage('ready')
const times = []
const held = []
while (!isOver) {
  const before = queued()
  const { ms, status } = await get(url, path)
  times.push(status === 200 ? ms : Number.POSITIVE_INFINITY)
  held.push(times.at(-1) - (queued() - before))
  await sleep(5)
}
parentPort.postMessage({ times, held: Math.max(0, ...held) })

/** How long the service and this thread have waited for a core so far, in ms: other programs take them, too. */
function queued() {
  const files = [`/proc/${pid}/task/${pid}/schedstat`, '/proc/thread-self/schedstat']
  try {
    return files.reduce((sum, file) => sum + Number(readFileSync(file, 'utf8').split(' ')[1]) / 1e6, 0)
  } catch {
    return 0
  }
}
