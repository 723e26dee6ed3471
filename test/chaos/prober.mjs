// Asks for one path again and again, and says how long each answer took.
import { parentPort, workerData } from 'node:worker_threads'
import { get, sleep } from './service.mjs'

const { url, path } = workerData
// The first requests of a process are slow on either side, whatever runs beside them.
for (let i = 0; i < 20; i++) await get(url, path)
let isOver = false
parentPort.once('message', () => {
  isOver = true
})
parentPort.postMessage('ready')
const times = []
while (!isOver) {
  const { ms, status } = await get(url, path)
  times.push(status === 200 ? ms : Number.POSITIVE_INFINITY)
  await sleep(5)
}
parentPort.postMessage(times)
