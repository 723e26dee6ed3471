import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serverEvents } from '../../../src/doors/client/events.ts'
import { fsStore } from '../../../src/store/fs.ts'
import { createApp } from '../../support/app.ts'
import { numbersOf } from '../../support/log-clients.ts'
import { fractions } from '../../support/random.mjs'
import { ROTATIONS, RotatedLog, type Rotation, rotate } from '../../support/rotations.ts'

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

let log: RotatedLog
beforeEach(() => {
  log = new RotatedLog()
  writeFileSync(log.path('a.log'), '')
})
afterEach(() => rmSync(log.folder, { recursive: true }))

/** Writes numbered lines until it `isEnough`, and rotates in the given ways in turn. */
class Writer {
  count = 0
  rotations = 0
  #random = fractions(7)

  async run(ways: readonly Rotation[], isEnough: () => boolean) {
    let next = Date.now() + 200
    while (this.rotations < 8 || !isEnough()) {
      const many = Math.floor(this.#random() * 40)
      let text = ''
      for (let i = 0; i < many; i++) text += this.#line()
      // Now and then a line comes in two halves, and once in a while a rotation comes between.
      const cut = this.#random() < 0.3 ? Math.floor(text.length * this.#random()) : text.length
      appendFileSync(log.path('a.log'), text.slice(0, cut))
      if (cut < text.length) await sleep(2)
      appendFileSync(log.path('a.log'), text.slice(cut))
      if (Date.now() >= next) {
        rotate(log, ways[this.rotations++ % ways.length]!)
        next = Date.now() + 250
      }
      await sleep(3)
    }
  }

  #line(): string {
    const stamp = new Date(Date.UTC(2026, 10, 15) + this.count).toISOString().replace('T', ' ').slice(0, 23)
    const trace = this.count % 50 === 0 ? '\tat a()\n\tat b()\n' : ''
    return `${stamp}\tINFO\tx.go:1\t[A]: number ${this.count++} ${'.'.repeat(this.count % 97)}\n${trace}`
  }
}

function expectSequence(numbers: number[], last: number, who: string) {
  expect(numbers.length, `${who} got something`).toBeGreaterThan(0)
  for (let i = 1; i < numbers.length; i++)
    if (numbers[i] !== numbers[i - 1]! + 1)
      throw new Error(`${who} got ${numbers.slice(Math.max(0, i - 3), i + 3).join(', ')}`)
  expect(numbers.at(-1), `${who} got the last one`).toBe(last)
}

describe('50 followers who come and go', () => {
  const { rename, 'copy and truncate': copyTruncate, 'rename and compress': compress } = ROTATIONS
  it.each<[string, Rotation[]]>([
    ['rename', [rename]],
    ['copy and truncate', [copyTruncate]],
    ['compress', [compress]],
    ['all of them in turn', [rename, copyTruncate, compress]],
  ])(
    'get every line once while the log is rotated by %s',
    async (_, ways) => {
      const app = createApp({ logs: fsStore(log.folder), config: '' })
      const writer = new Writer()
      let writing = true
      let isRotated = false
      let joined = 0
      const view = '/api/v1/log/view?file=a.log&follow=true'

      /** Reads events, breaks the connection now and then, and resumes by the last id. */
      const comer = async (who: number) => {
        const random = fractions(who)
        await sleep(random() * 1000)
        const numbers: number[] = []
        const told: string[] = []
        let lastId: string | null = null
        for (;;) {
          const abort = new AbortController()
          const headers: Record<string, string> = { Accept: 'text/event-stream' }
          if (lastId) headers['Last-Event-ID'] = lastId
          // Held until the end: the signal of a request that was collected never fires.
          const request = new Request(`http://localhost${view}&lines=5`, { headers, signal: abort.signal })
          const response = await app.request(request)
          if (response.status !== 200)
            throw new Error(`${who} got ${response.status}: ${await response.text()}`)
          const until = Date.now() + 100 + random() * 900
          const timer = setTimeout(() => abort.abort(), until - Date.now())
          const alive = () => {}
          try {
            for await (const event of serverEvents(response.body!, alive)) {
              if (event.id) lastId = event.id
              isRotated ||= event.event === 'rotated'
              if (event.event) told.push(event.event)
              else if (event.data) {
                if (numbers.length === 0) joined++
                numbers.push(...numbersOf(`${event.data}\n`))
              }
              if (Date.now() > until) break
            }
          } catch {}
          clearTimeout(timer)
          abort.abort()
          expect(request.signal.aborted).toBe(true)
          if (!writing && numbers.at(-1) === writer.count - 1) return { numbers, told }
          await sleep(random() * 200)
        }
      }
      /** Reads plain text and stays. */
      const stayer = async (response: Response) => {
        const reader = response.body!.getReader()
        const decoder = new TextDecoder()
        let text = ''
        const reading = (async () => {
          for (let got = await reader.read(); !got.done; got = await reader.read())
            text += decoder.decode(got.value, { stream: true })
        })()
        while (writing || numbersOf(text).at(-1) !== writer.count - 1) await sleep(50)
        await reader.cancel()
        await reading
        return { numbers: numbersOf(text), told: [] as string[] }
      }
      // Open before the first line is written: a follower that joins after the last one would wait forever.
      const open = await Promise.all([0, 1].map(() => app.request(`${view}&lines=0`)))
      const all = Array.from({ length: 50 }, (_, who) =>
        who < 48 ? comer(who + 1) : stayer(open[who - 48]!),
      )
      // On a busy machine, it may take a while until all have a line, and somebody is there when the log is rotated.
      await writer.run(ways, () => isRotated && joined === 48)
      writing = false
      const results = await Promise.all(all)
      for (const [who, { numbers }] of results.entries())
        expectSequence(numbers, writer.count - 1, `follower ${who + 1} of ${writer.rotations} rotations`)
      expect(results.some(({ told }) => told.includes('gap'))).toBe(false)
      // Each waits for its last line, however long a busy machine takes: only a line that never comes is a failure.
    },
    120_000,
  )
})
