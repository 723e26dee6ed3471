import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { serverEvents } from '../../../src/client/events.ts'
import { fsStore } from '../../../src/store/fs.ts'
import { numbersOf } from '../../support/log-clients.ts'
import { wholes } from '../../support/random.mjs'

type Random = (below: number) => number

/** How the files of a log are named, oldest first; `age` is 0 for the active file. */
const NAMINGS: Record<string, (age: number, count: number) => string> = {
  falling: (age) => (age === 0 ? 'a.log' : `a.log.${age}`),
  rising: (age, count) => (age === 0 ? 'a.log' : `a-${count - age}.log`),
  dated: (age) => (age === 0 ? 'a.log' : `a.log-202611${String(28 - age).padStart(2, '0')}`),
  counted: (age, count) => (age === 0 ? 'a.log' : `a.log-20261115-${count - age}`),
  extension: (age) => (age === 0 ? 'a.log' : `a.${age}.log`),
}
const HOUR = 3_600_000

/** Writes the files of a random history. Returns how many records they have. */
function writeHistory(folder: string, random: Random): { records: number; story: string } {
  const naming = Object.keys(NAMINGS)[random(Object.keys(NAMINGS).length)]!
  const count = 1 + random(7)
  const compressedFrom = 1 + random(count + 2)
  // Numbers after a dash are of one log only where the records follow each other.
  const steps = naming === 'rising' ? 0 : random(3)
  const times = ['true', 'equal', 'by name', 'any'][random(4)]!
  let clock = Date.UTC(2026, 10, 15)
  let records = 0
  const story = [`${naming} ${count} gz from ${compressedFrom}, steps ${steps}, modified ${times}`]
  for (let age = count - 1; age >= 0; age--) {
    if (steps === 2 && random(3) === 0) clock += (random(2) === 0 ? -1 : 1) * random(30) * HOUR
    let text = ''
    const lines = random(6) === 0 && naming !== 'rising' ? 0 : 1 + random(40)
    for (let i = 0; i < lines; i++) {
      clock += random(4) === 0 && i > 0 ? 0 : 1 + random(60_000)
      if (steps === 1 && random(30) === 0) clock -= random(2 * HOUR)
      const stamp = new Date(clock).toISOString().replace('T', ' ').slice(0, 23)
      text += `${stamp}\tINFO\tx.go:1\t[A]: number ${records++} ${'.'.repeat(random(200))}\n`
      if (random(20) === 0) text += '\tat a()\n\tat b()\n'
    }
    const isCompressed = age >= compressedFrom
    const name = NAMINGS[naming]!(age, count) + (isCompressed ? '.gz' : '')
    writeFileSync(join(folder, name), isCompressed ? gzipSync(text) : text)
    const changed = {
      true: clock,
      equal: Date.UTC(2026, 10, 20),
      'by name': Date.UTC(2026, 10, 20) + age * 1000,
      any: Date.UTC(2026, 10, 20) + random(5) * 1000,
    }[times]!
    utimesSync(join(folder, name), new Date(changed), new Date(changed))
    story.push(`${name} ${lines} ${new Date(changed).toISOString()} ${text.slice(0, 19)}`)
  }
  return { records, story: story.join('\n') }
}

const BASE = 'http://localhost/api/v1/log'
const LOG = 'file=a.log&rotated=true'

class Client {
  readonly #app
  constructor(folder: string) {
    this.#app = createApp({ logs: fsStore(folder), config: '' })
  }

  async get(url: string) {
    const response = await this.#app.request(url)
    if (response.status !== 200) throw new Error(`${url}: ${response.status} ${await response.text()}`)
    const link = response.headers.get('Link') ?? ''
    const linked = (rel: string) => {
      const found = new RegExp(`<([^>]+)>; rel="${rel}"`).exec(link)?.[1]
      return found ? new URL(found, url).href : null
    }
    return { text: await response.text(), next: linked('next'), prev: linked('prev') }
  }

  async pages(query: string, rel: 'prev' | 'next'): Promise<number[]> {
    const pages: number[][] = []
    for (let url: string | null = `${BASE}/view?${LOG}&${query}`; url; ) {
      const page: Awaited<ReturnType<Client['get']>> = await this.get(url)
      const numbers = numbersOf(page.text)
      if (rel === 'next' && page.text === '') break
      pages.push(numbers)
      if (pages.length > 2000) break
      url = page[rel]
    }
    return (rel === 'prev' ? pages.reverse() : pages).flat()
  }

  /** Follows from the first page on, and leaves and comes back after some records. */
  async follow(first: number, stay: number, count: number): Promise<number[]> {
    const page = await this.get(`${BASE}/view?${LOG}&first=${first}`)
    const numbers = numbersOf(page.text)
    let last = new URL(page.next!).searchParams.get('after')!
    while (numbers.length < count) {
      const abort = new AbortController()
      const headers = { Accept: 'text/event-stream', 'Last-Event-ID': last }
      const request = new Request(`${BASE}/view?file=a.log&follow=true`, { headers, signal: abort.signal })
      const response = await this.#app.request(request)
      if (response.status !== 200) throw new Error(`follow: ${response.status} ${await response.text()}`)
      let left = stay
      const timer = setTimeout(() => abort.abort(), 3000)
      try {
        for await (const event of serverEvents(response.body!, () => {})) {
          if (event.id) last = event.id
          if (event.event || !event.data) continue
          numbers.push(...numbersOf(`${event.data} `))
          if (--left <= 0 || numbers.length >= count) break
        }
      } catch {
        // Aborted, because nothing came for a while.
      } finally {
        clearTimeout(timer)
      }
      if (abort.signal.aborted) break
      abort.abort()
    }
    return numbers
  }
}

async function faultOf(seed: number): Promise<string | null> {
  const random = wholes(seed * 7919)
  // The first numbers of neighbouring seeds are alike.
  for (let i = 0; i < 10; i++) random(2)
  const folder = mkdtempSync(join(tmpdir(), 'nodestate-history-'))
  const { records, story } = writeHistory(folder, random)
  const client = new Client(folder)
  const all = Array.from({ length: records }, (_, i) => i)
  const faults: string[] = []
  try {
    const whole = numbersOf((await client.get(`${BASE}/view?${LOG}&size=100000000`)).text)
    if ([...whole].sort((a, b) => a - b).join() !== all.join()) faults.push(`whole: ${whole.join()}`)
    const check = (who: string, numbers: number[]) => {
      if (numbers.join() !== whole.join()) faults.push(`${who}: ${numbers.join()} instead of ${whole.join()}`)
    }
    const [few, many] = [1 + random(3), 5 + random(40)]
    check('forward by lines', await client.pages(`first=${few}`, 'next'))
    check('forward by lines', await client.pages(`first=${many}`, 'next'))
    check('forward as JSON', await client.pages(`first=${many}&format=ndjson`, 'next'))
    check('backward by lines', await client.pages(`lines=${few}`, 'prev'))
    check('backward by bytes', await client.pages(`size=${300 + random(3000)}`, 'prev'))
    check('backward as JSON', await client.pages(`lines=${many}&format=ndjson`, 'prev'))
    check('backward with a filter', await client.pages(`lines=${many}&q=number`, 'prev'))
    check('export', numbersOf((await client.get(`${BASE}/view?${LOG}&download=true`)).text))
    check(
      'export as JSON',
      numbersOf((await client.get(`${BASE}/view?${LOG}&download=true&format=ndjson`)).text),
    )
    check('follow', await client.follow(few, many, records))
    const histogram = JSON.parse((await client.get(`${BASE}/histogram?${LOG}`)).text)
    const counts: number[] = histogram.buckets.flatMap((bucket: { counts: number[] }) => bucket.counts)
    const total = counts.reduce((sum, n) => sum + n, 0)
    if (total !== records) faults.push(`histogram: ${total} of ${records}`)
  } catch (error) {
    faults.push(String(error))
  } finally {
    rmSync(folder, { recursive: true })
  }
  return faults.length === 0 ? null : `seed ${seed}: ${story}\n${faults.join('\n')}`
}

const HISTORIES = 60

it('every way to read a log has the same records once, whatever its files went through', async () => {
  for (let seed = 1; seed <= HISTORIES; seed++) expect(await faultOf(seed)).toBeNull()
})
