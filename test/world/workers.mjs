import { setFlagsFromString } from 'node:v8'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** A worker that says nothing for so long is in a loop that no promise interrupts. On a busy machine, a world takes a minute. */
const SILENCE = 300_000

// Worlds run all of the product a little: a tenth of their CPU time was code that V8 optimized too early.
if (isMainThread) setFlagsFromString('--interrupt-budget=1000000')
else await work()

/**
 * Lets the worlds of some seeds happen, each worker every n-th of them. `onWorld` gets `{ seed, broken, digest? }`; once
 * it returns true, no seed above that one begins.
 */
export async function eachWorld(url, { from, count }, { workers, digests = false }, onWorld) {
  let last = from + count - 1
  const run = (index) =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), {
        workerData: { url, from: from + index, to: from + count, every: workers, digests },
      })
      let seed = from + index
      let watchdog
      const tell = (world) => {
        if (onWorld(world)) last = Math.min(last, world.seed)
      }
      const listen = () => {
        clearTimeout(watchdog)
        watchdog = setTimeout(() => {
          tell({
            seed,
            broken: ['it ends: nothing was heard of it for five minutes of real time'],
            isSilent: true,
          })
          void worker.terminate()
        }, SILENCE)
      }
      listen()
      worker.on('message', (message) => {
        listen()
        if (message.begins === undefined) tell(message)
        else if (message.begins > last) void worker.terminate()
        else seed = message.begins
      })
      worker.on('error', reject)
      worker.on('exit', () => {
        clearTimeout(watchdog)
        resolve()
      })
    })
  await Promise.all(Array.from({ length: Math.min(workers, count) }, (_, i) => run(i)))
}

/** A worker: worlds one after the other. */
async function work() {
  const { url, from, to, every, digests } = workerData
  const world = await import(url)
  for (let seed = from; seed < to; seed += every) {
    parentPort.postMessage({ begins: seed })
    const { broken, history } = await world.runWorld(world.planOf(seed))
    parentPort.postMessage({ seed, broken, ...(digests && { digest: world.digestOf(history) }) })
  }
}
