import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { SliceMemory } from '../../../src/kit/limits/slice-memory.ts'
import { stemOf } from '../../../src/log/rotated/names.ts'
import { encodeCursor, NO_PRINT } from '../../../src/log/text/cursor.ts'
import { fsStore } from '../../../src/store/fs.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { segmentStore } from '../../../src/store/segments.ts'
import { type Store, StoreError } from '../../../src/store/store.ts'
import { type AppOptions, createApp } from '../../support/app.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { putEnd, putLife, putSegment, putYoung } from '../../support/segments.ts'

const line = (i: number, level = 'INFO') =>
  `2026-11-15 02:10:00.${String(i).padStart(3, '0')}\t${level}\tx.go:1\t[A]: line ${i}\n`
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => line(from + i)).join('')

interface Event {
  name: string
  id: string | null
  data: string
}

/** A client that collects what it is sent. */
class Client {
  text = ''
  status = 0
  headers = new Headers()
  ended = false
  readonly #abort = new AbortController()
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null

  static async open(app: ReturnType<typeof createApp>, query: string, headers: Record<string, string> = {}) {
    const client = new Client()
    const response = await app.request(`/api/v1/log/view?${query}&follow=true`, {
      headers,
      signal: client.#abort.signal,
    })
    client.status = response.status
    client.headers = response.headers
    client.#reader = response.body!.getReader()
    void client.#run()
    return client
  }
  async #run() {
    const decoder = new TextDecoder()
    try {
      for (;;) {
        const { done, value } = await this.#reader!.read()
        if (done) break
        this.text += decoder.decode(value, { stream: true })
      }
    } catch {}
    this.ended = true
  }
  /** All events with data, as the HTML standard reads them. */
  get events(): Event[] {
    const events: Event[] = []
    let id: string | null = null
    for (const block of this.text.split('\n\n').slice(0, -1)) {
      const event: Event = { name: '', id, data: '' }
      const data: string[] = []
      for (const one of block.split('\n')) {
        const [, field, value] = /^(\w*): ?(.*)$/s.exec(one) ?? []
        if (field === 'event') event.name = value!
        if (field === 'id') id = value!
        if (field === 'data') data.push(value!)
      }
      if (data.length > 0) events.push({ ...event, id, data: data.join('\n') })
    }
    return events
  }
  get records(): string {
    return this.events
      .filter((event) => event.name === '')
      .map((event) => `${event.data}\n`)
      .join('')
  }
  async until(condition: (client: this) => boolean) {
    const deadline = Date.now() + 60_000
    while (!condition(this)) {
      if (Date.now() > deadline)
        throw new Error(`It did not come; there is ${JSON.stringify(this.text.slice(-500))}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  async close() {
    // A stream that failed cannot be cancelled.
    if (!this.ended) await this.#reader?.cancel()
    this.#abort.abort()
  }
}

const SSE = { Accept: 'text/event-stream' }
const clients: Client[] = []
const appOf = (logs: Store, options: Partial<AppOptions> = {}) => createApp({ logs, config: '', ...options })
const open = async (...args: Parameters<typeof Client.open>) => {
  const client = await Client.open(...args)
  clients.push(client)
  return client
}
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
})

describe('follow', () => {
  let text: string
  let store: ReturnType<typeof memoryStore>
  const append = (more: string) => {
    text += more
    store.put('a.log', text)
  }
  beforeEach(() => {
    text = lines(0, 5)
    store = memoryStore({ 'a.log': text })
  })

  it('sends the tail and then what is appended, unfinished lines too', async () => {
    const client = await open(appOf(store), 'file=a.log&lines=2')
    expect(client.status).toBe(200)
    expect(client.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    await client.until(({ text }) => text === lines(3, 5))
    append(`${line(5)}half`)
    await client.until(({ text }) => text === `${lines(3, 6)}half`)
    append(' a line\n')
    await client.until(({ text }) => text === `${lines(3, 6)}half a line\n`)
  })

  it('goes on after a line whose JSON is too deep, for those who want JSON, a filter or neither', async () => {
    const app = appOf(store)
    const deep = `2026-11-15 02:10:00.500\tERROR\tx.go:1\t[A]: deep\t{"a":${'['.repeat(5000)}${']'.repeat(5000)}}\n`
    const json = await open(app, 'file=a.log&lines=1&format=ndjson')
    const events = await open(app, 'file=a.log&lines=1&format=ndjson', SSE)
    const filtered = await open(app, 'file=a.log&lines=1&level=error')
    append(deep)
    await json.until(({ text }) => text.includes('"unparsed":true'))
    await events.until(({ text }) => text.includes('"unparsed":true'))
    await filtered.until(({ text }) => text === deep)
    const late = await open(app, 'file=a.log&lines=1')
    append(line(6, 'ERROR'))
    await json.until(({ text }) => text.includes('"message":"line 6"'))
    await events.until(({ text }) => text.includes('"message":"line 6"'))
    await filtered.until(({ text }) => text === deep + line(6, 'ERROR'))
    await late.until(({ text }) => text === deep + line(6, 'ERROR'))
  })

  it('sends records as events with a cursor each, whole lines only', async () => {
    const app = appOf(store)
    const client = await open(app, 'file=a.log&lines=1', SSE)
    const text = await open(app, 'file=a.log&lines=1')
    expect(client.headers.get('Content-Type')).toBe('text/event-stream')
    await client.until(({ events }) => events.length === 1)
    append(line(5).slice(0, 20))
    // The same poll has read it for both.
    await text.until((one) => one.text.endsWith(line(5).slice(0, 20)))
    expect(client.events.length).toBe(1)
    append(`${line(5).slice(20)}\tat a()\n\tat b()\n${line(6)}`)
    await client.until(({ events }) => events.length === 3)
    expect(client.events.map((event) => event.data)).toEqual([
      line(4).trimEnd(),
      `${line(5)}\tat a()\n\tat b()`,
      line(6).trimEnd(),
    ])
    expect(new Set(client.events.map((event) => event.id)).size).toBe(3)
  })

  it('resumes at any event without a gap and without a repeat', async () => {
    const app = appOf(store)
    const first = await open(app, 'file=a.log&lines=3', SSE)
    await first.until(({ events }) => events.length === 3)
    append(lines(5, 9))
    await first.until(({ events }) => events.length === 7)
    const all = first.events.map((event) => event.data)
    for (const [i, event] of first.events.entries()) {
      const again = await open(app, 'file=a.log&lines=1', { ...SSE, 'Last-Event-ID': event.id! })
      await again.until(({ events }) => events.length >= all.length - 1 - i)
      expect(again.events.map((one) => one.data)).toEqual(all.slice(i + 1))
    }
    append(line(9))
    await Promise.all(clients.map((client) => client.until(({ records }) => records.endsWith(line(9)))))
    for (const client of clients) expect(client.records.split(line(9)).length).toBe(2)
  })

  it('resumes before a record of many MiB, which is whole, unless others hold the memory', async () => {
    const app = appOf(store)
    const first = await open(app, 'file=a.log&lines=1', SSE)
    await first.until(({ events }) => events.length === 1)
    const { id } = first.events[0]!
    const long = `${line(6, 'ERROR').trimEnd()} ${'é'.repeat(2_000_000)}\n`
    append(`${line(5)}${long}${line(7)}`)
    const resume = (query = '') => open(app, `file=a.log${query}`, { ...SSE, 'Last-Event-ID': id! })
    const all = await resume()
    await all.until(({ events }) => events.length >= 3)
    expect(all.events.map(({ data }) => `${data}\n`)).toEqual([line(5), long, line(7)])
    const errors = await resume('&level=error')
    await errors.until(({ events }) => events.length >= 1)
    expect(errors.records).toBe(long)
    const others = new SliceMemory()
    others.hold(14 * 1024 * 1024)
    const parts = await resume()
    await parts.until(({ text }) => text.includes('line 7'))
    others.release()
    const [start, ...rest] = parts.events.map(({ data }) => data)
    expect(`${start}\n`).toBe(line(5))
    expect(rest.length).toBeGreaterThan(5)
    expect(rest.join('')).toBe(`${long}${line(7)}`.replaceAll('\n', ''))
    // As JSON, a control character takes six bytes: 18 MB are more than all clients may hold.
    append(`${line(8).trimEnd()}${'\x01'.repeat(3_000_000)}\n${line(9)}`)
    const json = await resume('&format=ndjson')
    await json.until(({ text }) => text.includes('line 9'))
    expect(json.events.length).toBeGreaterThan(10)
  })

  it('applies filters and JSON to what comes, lines of a record that come late included', async () => {
    const app = appOf(store)
    const errors = await open(app, 'file=a.log&level=error', SSE)
    const json = await open(app, 'file=a.log&q=late&format=ndjson', SSE)
    const plain = await open(app, 'file=a.log&level=error&format=ndjson')
    expect(plain.headers.get('Content-Type')).toBe('application/x-ndjson')
    append(line(5) + line(6, 'ERROR'))
    await errors.until(({ events }) => events.length === 1)
    append('\tat late()\n')
    await errors.until(({ events }) => events.length === 2)
    await json.until(({ events }) => events.length === 1)
    expect(errors.records).toBe(`${line(6, 'ERROR')}\tat late()\n`)
    expect(JSON.parse(json.events[0]!.data)).toMatchObject({ level: 'error', message: 'line 6\n\tat late()' })
    await plain.until(({ text }) => text.includes('\n'))
    expect(JSON.parse(plain.text.split('\n')[0]!)).toMatchObject({ level: 'error' })
  })

  it('sends signs of life', async () => {
    const client = await open(appOf(store, { follow: { heartbeatMillis: 30 } }), 'file=a.log&lines=0', SSE)
    await client.until(({ text }) => (text.match(/: alive/g) ?? []).length >= 3)
    expect(client.events).toEqual([])
  })

  it('tells of a truncation and a file that is gone, and goes on', async () => {
    const client = await open(appOf(store), 'file=a.log&lines=0', SSE)
    text = ''
    append(line(7))
    await client.until(({ records }) => records === line(7))
    expect(client.events[0]).toMatchObject({ name: 'truncated', data: '{"file":"a.log"}' })
    const { id } = client.events[1]!
    text = ''
    append(`${line(8)}${line(9)}`)
    await client.until(({ records }) => records === lines(7, 10))
    const late = await open(appOf(store), 'file=a.log', { ...SSE, 'Last-Event-ID': id! })
    await late.until(({ records }) => records === lines(8, 10))
    expect(late.events[0]!.name).toBe('gap')
  })

  it('tells who comes back to a log that was empty that it was copied and truncated', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nodestate-follow-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [log, copy] = [join(folder, 'a.log'), join(folder, 'a.log.1')]
    writeFileSync(log, '')
    const app = appOf(fsStore(folder), { follow: { heartbeatMillis: 20 } })
    const idOf = ({ text }: Client) => /^id: (\S+)$/m.exec(text)?.[1]
    const first = await open(app, 'file=a.log', SSE)
    await first.until((client) => idOf(client) !== undefined)
    const headers = { ...SSE, 'Last-Event-ID': idOf(first)! }
    await first.close()
    const again = await open(app, 'file=a.log', headers)
    await again.until((client) => idOf(client) !== undefined)
    expect(again.events).toEqual([])
    await again.close()
    appendFileSync(log, line(1))
    copyFileSync(log, copy)
    truncateSync(log)
    const empty = await open(app, 'file=a.log', headers)
    await empty.until(({ text }) => text.includes(': alive'))
    expect(empty.events.map(({ name }) => name)).toEqual(['gap'])
    appendFileSync(log, line(2))
    await empty.until(({ records }) => records === line(2))
    const late = await open(app, 'file=a.log', headers)
    await late.until(({ records }) => records === line(2))
    expect(late.events.map(({ name }) => name)).toEqual(['gap', ''])
  })

  it('reads on in the archive of its file, though the new file begins with the same line', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nodestate-follow-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [log, next] = [join(folder, 'a.log'), join(folder, 'a.log.new')]
    writeFileSync(log, line(0))
    const app = appOf(fsStore(folder))
    const first = await open(app, 'file=a.log&lines=1', SSE)
    await first.until(({ records }) => records === line(0))
    const headers = { ...SSE, 'Last-Event-ID': first.events[0]!.id! }
    await first.close()
    writeFileSync(join(folder, 'a.log.1.gz'), gzipSync(line(0) + line(1)))
    writeFileSync(next, line(0) + line(2))
    renameSync(next, log)
    const back = await open(app, 'file=a.log', headers)
    await back.until(({ records }) => records === line(1) + line(0) + line(2))
    expect(back.events.map(({ name }) => name)).not.toContain('gap')
  })

  it('reads on in a file that was empty and has another name now', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nodestate-follow-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const log = join(folder, 'a.log')
    writeFileSync(log, '')
    const app = appOf(fsStore(folder), { follow: { heartbeatMillis: 20 } })
    const first = await open(app, 'file=a.log', SSE)
    await first.until(({ text }) => /^id: \S+$/m.test(text))
    const headers = { ...SSE, 'Last-Event-ID': /^id: (\S+)$/m.exec(first.text)![1]! }
    await first.close()
    appendFileSync(log, line(1))
    renameSync(log, join(folder, 'a.log.1'))
    writeFileSync(log, line(2))
    const back = await open(app, 'file=a.log', headers)
    await back.until(({ records }) => records === line(1) + line(2))
    expect(back.events.map(({ name }) => name)).not.toContain('gap')
  })

  it.each([
    ['its own name', ['a.log.1', 'a.log'] as const],
    ['a rotated one', ['a.log.1', 'a.log.2'] as const],
  ])('sends nothing again if its place is gone and the newest file is empty, under %s', async (_, names) => {
    const [older, newest] = names
    const clock = manualClock(Date.UTC(2026, 10, 15, 3))
    const files = memoryStore({ [older]: lines(0, 5) }, clock)
    await clock.pass(5_000)
    files.put(newest, '')
    const id = encodeCursor({
      name: 'a.log',
      id: null,
      offset: 97,
      print: { offset: 0, length: 64, hash: 1 },
    })
    const app = appOf(files, { clock, follow: { heartbeatMillis: 1_000 } })
    const client = await open(app, `file=${newest}`, { ...SSE, 'Last-Event-ID': id })
    await clock.pass(5_000)
    await client.until(({ text }) => text.includes(': alive'))
    expect(client.events.map(({ name }) => name)).toEqual(['gap'])
    files.put(newest, lines(5, 7))
    for (let i = 0; i < 10; i++) await clock.pass(1_000)
    await client.until(({ records }) => records.includes(line(6)))
    expect(client.records).toBe(lines(5, 7))
  })

  it.each([
    ['has had text', 'is told', lines(2, 4), ''],
    ['has had none', 'gets its text', '', lines(0, 2)],
  ])('of a file that is gone: who %s %s if only an archive is newer', async (_, __, own, sent) => {
    const clock = manualClock(Date.UTC(2026, 10, 15, 3))
    const files = memoryStore({ 'a.log': own }, clock)
    const app = appOf(files, { clock, follow: { heartbeatMillis: 1_000 } })
    const client = await open(app, 'file=a.log&lines=0', SSE)
    await clock.pass(5_000)
    // Archives are unpacked in real time.
    const pass = async (isDone: () => boolean) => {
      for (let i = 0; i < 1_000 && !isDone(); i++) await clock.pass(1_000)
      expect(isDone()).toBe(true)
    }
    files.delete('a.log')
    files.put('a.log.1.gz', gzipSync(lines(0, 2)))
    await pass(() => client.text.includes('event: gap') && client.records === sent)
    files.put('a.log', lines(4, 6))
    await pass(() => client.records === sent + lines(4, 6))
    expect(client.events.filter(({ name }) => name === 'gap')).toHaveLength(1)
  })

  it('goes on through a rotation, and says so', async () => {
    const client = await open(appOf(store), 'file=a.log&lines=1', SSE)
    const plain = await open(appOf(store), 'file=a.log&lines=1')
    await client.until(({ events }) => events.length === 1)
    const { id } = client.events[0]!
    store.put('a.log.1', text + lines(5, 7))
    text = ''
    append(lines(7, 9))
    await client.until(({ records }) => records === lines(4, 9))
    expect(client.events.find((event) => event.name)).toMatchObject({
      name: 'rotated',
      data: '{"file":"a.log","to":"a.log.1"}',
    })
    await plain.until(({ text }) => text === lines(4, 9))
    const late = await open(appOf(store), 'file=a.log', { ...SSE, 'Last-Event-ID': id! })
    await late.until(({ records }) => records === lines(5, 9))
    expect(late.events[0]!.name).toBe('rotated')
  })

  it('says nothing of a rotation where it begins at the start of a file with older ones', async () => {
    store.put('a.log.1', lines(0, 5))
    text = ''
    append(lines(5, 7))
    const id = encodeCursor({ name: 'a.log', id: null, offset: 0, print: NO_PRINT })
    const client = await open(appOf(store), 'file=a.log&rotated=true', { ...SSE, 'Last-Event-ID': id })
    await client.until(({ records }) => records === lines(5, 7))
    expect(client.events.map(({ name }) => name)).toEqual(['', ''])
  })

  it('tells who comes back, like who stayed, that a shipped log lost bytes between two files', async () => {
    const home = memoryStore()
    const logs = segmentStore(home, memoryStore(), { stemOf })
    const bytes = (text: string) => new TextEncoder().encode(text)
    await putLife(home.put, bytes(lines(0, 5)), { life: 1 })
    const options = { follow: { pollMillis: [20, 20] as [number, number] } }
    const stayed = await open(appOf(logs, options), 'file=a.log&lines=2', SSE)
    await stayed.until(({ events }) => events.length === 2)
    const ids = stayed.events.map(({ id }) => id!)
    await putEnd(home.put, bytes(lines(0, 5)), { life: 1, how: 'lost' })
    await putLife(home.put, bytes(lines(7, 9)), { life: 2 })
    await stayed.until(({ records }) => records === lines(3, 5) + lines(7, 9))
    expect(stayed.events.map(({ name }) => name).filter(Boolean)).toContain('gap')
    for (const [i, id] of ids.entries()) {
      const back = await open(appOf(logs, options), 'file=a.log', { ...SSE, 'Last-Event-ID': id })
      await back.until(({ records }) => records === lines(4 + i, 5) + lines(7, 9))
      // A client that leaves after any of these lines was told.
      expect(back.events[0]!.name).toBe('gap')
    }
  })

  it('tells who comes back to a shipped log that was empty if its first lines have expired', async () => {
    const home = memoryStore()
    const app = appOf(segmentStore(home, memoryStore(), { stemOf }))
    const bytes = new TextEncoder().encode(lines(0, 90))
    await putYoung(home.put, bytes, [0, 0])
    const empty = await app.request('/api/v1/log/view?file=a.log&lines=5')
    const [, after] = /after=([^&>]+)/.exec(empty.headers.get('Link')!)!
    await putLife(home.put, bytes, { size: 1000, skip: (segment) => segment < 2 })
    const kept = await (await app.request('/api/v1/log/view?file=a.log&lines=90')).text()
    expect(kept.length).toBeLessThan(bytes.length)
    const back = await open(app, `file=a.log&after=${after}`, SSE)
    await back.until(({ records }) => records === kept)
    expect(back.events[0]!.name).toBe('gap')
  })

  describe('of a shipped log with missing segments', () => {
    /** An app on segments of 20 lines each; `missing` are not there. */
    const shipped = async (count: number, missing: readonly number[]) => {
      const home = memoryStore()
      const bytes = new TextEncoder().encode(lines(0, count))
      const skip = (segment: number) => missing.includes(segment)
      await putLife(home.put, bytes, { size: lines(100, 120).length - 1, skip })
      return appOf(segmentStore(home, memoryStore(), { stemOf }))
    }
    const all = (count: number) => Array.from({ length: count }, (_, i) => line(i).trimEnd())

    it.each([
      ['the middle', [4]],
      ['the head', [0, 1, 2, 3, 4]],
    ])('tells who comes back that %s is missing, and goes on', async (_, missing) => {
      const whole = await open(await shipped(900, []), 'file=a.log&lines=900', SSE)
      await whole.until(({ events }) => events.length === 900)
      const app = await shipped(900, missing)
      const kept = await (await app.request('/api/v1/log/view?file=a.log&lines=900')).text()
      const after = Number(/line (\d+)/.exec(kept)![1])
      for (const query of ['file=a.log', 'file=a.log&q=line']) {
        const back = await open(app, query, { ...SSE, 'Last-Event-ID': whole.events[5]!.id! })
        await back.until(({ records }) => records.endsWith(line(899)))
        expect(back.events.filter(({ name }) => name).map(({ name }) => name)).toEqual(['gap'])
        const records = back.events.filter(({ name }) => !name).map(({ data }) => data)
        expect(records.slice(-700)).toEqual(all(900).slice(200))
        expect(new Set(records).size).toBe(records.length)
        expect(records[0]).toBe(missing.includes(0) ? line(after).trimEnd() : line(6).trimEnd())
        const { id } = back.events.find(({ name }) => name)!
        const again = await open(app, query, { ...SSE, 'Last-Event-ID': id! })
        await again.until(({ records }) => records.endsWith(line(899)))
        expect(records.slice(-again.events.length)).toEqual(again.events.map(({ data }) => data))
      }
    })

    it('resumes after each record of a tail that begins after them', async () => {
      const app = await shipped(900, [0, 1, 2, 3, 4])
      const first = await open(app, 'file=a.log&lines=900', SSE)
      await first.until(({ records }) => records.endsWith(line(899)))
      const { events } = first
      const again = await open(app, 'file=a.log', { ...SSE, 'Last-Event-ID': events[700]!.id! })
      await again.until(({ records }) => records.endsWith(line(899)))
      expect(again.events.map(({ data }) => data)).toEqual(events.slice(701).map(({ data }) => data))
    })

    it('tells who comes back of each of many that are missing', async () => {
      const app = await shipped(
        900,
        Array.from({ length: 22 }, (_, i) => 2 * i + 1),
      )
      const kept = await (await app.request('/api/v1/log/view?file=a.log&download=true')).text()
      const tail = await app.request('/api/v1/log/view?file=a.log&lines=5')
      expect(await tail.text()).toBe(lines(895, 900))
      const whole = await open(await shipped(900, []), 'file=a.log&lines=900', SSE)
      await whole.until(({ events }) => events.length === 900)
      for (const query of ['file=a.log', 'file=a.log&q=line']) {
        const back = await open(app, query, { ...SSE, 'Last-Event-ID': whole.events[5]!.id! })
        await back.until(({ records }) => records.endsWith(line(899)))
        expect(back.records).toBe(kept.slice(lines(0, 6).length))
        expect(back.events.filter(({ name }) => name === 'gap')).toHaveLength(22)
      }
    })

    it('tells who is there that they are missing, and goes on', async () => {
      const home = memoryStore()
      const at = (count: number) => lines(0, count).length
      const bytes = new TextEncoder().encode(lines(0, 100))
      const put = (from: number, to: number, where = {}) =>
        putSegment(home.put, bytes, [at(from), at(to)], where)
      await putLife(home.put, bytes.subarray(0, at(20)))
      const logs = segmentStore(home, memoryStore(), { stemOf })
      const app = appOf(logs, { follow: { pollMillis: [10, 10] } })
      const queries = ['file=a.log&lines=1', 'file=a.log&lines=1&q=line']
      const clients = await Promise.all(queries.map((query) => open(app, query, SSE)))
      const untold = await Promise.all([...queries, 'file=*.log&lines=1'].map((query) => open(app, query)))
      for (const client of untold) await client.until(({ text }) => text.endsWith(line(19)))
      const told = async (expected: readonly string[]) => {
        for (const client of clients) {
          await client.until(({ records }) => records.endsWith(expected.at(-1)!))
          expect(client.events.map(({ name, data }) => name || `${data}\n`)).toEqual(expected)
        }
      }
      const all = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => line(from + i))
      await told(all(19, 20))
      // All at once, so that no poll is in between.
      await Promise.all([put(20, 30), put(50, 65)])
      const first = [...all(19, 30), 'gap', ...all(50, 65)]
      await told(first)
      // Text has no events.
      for (const client of untold) {
        await client.until(({ ended }) => ended)
        expect(client.text.replaceAll('a.log\t', '')).toBe(lines(19, 30))
      }
      for (const { events } of clients) {
        const { id } = events[first.indexOf('gap')]!
        const back = await open(app, 'file=a.log', { ...SSE, 'Last-Event-ID': id! })
        await back.until(({ records }) => records === lines(50, 65))
        expect(back.events.filter(({ name }) => name)).toEqual([])
      }
      // What was sent expires, and then the log grows.
      const expired: string[] = []
      for await (const { key } of home.list('segments/')) if (key.endsWith('.gz')) expired.push(key)
      for (const key of expired) home.delete(key)
      await put(65, 70)
      const second = [...first, ...all(65, 70)]
      await told(second)
      // The first segment of the next life is not there.
      const ended = putEnd(home.put, bytes.subarray(0, at(70)))
      await Promise.all([ended, putYoung(home.put, bytes, [0, 0], { life: 2 }), put(10, 12, { life: 2 })])
      for (const client of clients) await client.until(({ records }) => records.endsWith(line(11)))
      for (const { events } of clients) {
        const rest = events.slice(second.length).map(({ name, data }) => name || `${data}\n`)
        expect(rest.filter((one) => one !== 'rotated')).toEqual(['gap', ...all(10, 12)])
      }
    })

    it.each(['file=a.log', 'file=*.log'])(
      'finds the place after them once the log was rotated (%s)',
      async (query) => {
        const home = memoryStore()
        const bytes = new TextEncoder().encode(lines(0, 60))
        const next = new TextEncoder().encode(lines(100, 200))
        const at = (count: number) => lines(0, count).length
        await putLife(home.put, bytes.subarray(0, at(20)))
        const app = appOf(segmentStore(home, memoryStore(), { stemOf }), { follow: { pollMillis: [10, 10] } })
        const first = await open(app, `${query}&lines=1`, SSE)
        await first.until(({ events }) => events.length === 1)
        // The second one is short, and bytes are missing after it, too.
        const kept = [
          [20, 30],
          [40, 41],
          [50, 60],
        ] as const
        await Promise.all(kept.map(([from, to]) => putSegment(home.put, bytes, [at(from), at(to)])))
        await first.until(({ text }) => text.includes('line 59'))
        const { events } = first
        // Who came back to a place before them was told by another part.
        const before = await open(app, query, { ...SSE, 'Last-Event-ID': events[0]!.id! })
        await before.until(({ text }) => text.includes('line 59'))
        await putEnd(home.put, bytes)
        await putLife(home.put, next, { life: 2 })
        for (const client of [first, before]) {
          const gaps = client.events.filter(({ name }) => name === 'gap')
          expect(gaps).toHaveLength(2)
          for (const [i, { id }] of gaps.entries()) {
            const back = await open(app, query, { ...SSE, 'Last-Event-ID': id! })
            await back.until(({ text }) => text.includes('line 199'))
            const expected = (i === 0 ? lines(40, 41) : '') + lines(50, 60) + lines(100, 200)
            expect(back.records.replaceAll('a.log\t', '')).toBe(expected)
          }
        }
      },
    )

    it.each(['level=error', 'q=rest'])(
      'does not take what follows them for the rest of a record (%s)',
      async (filter) => {
        const home = memoryStore()
        const parts = [line(0), line(1, 'ERROR'), line(2), `\trest of 2\n${line(3)}${line(4, 'ERROR')}`]
        const bytes = new TextEncoder().encode(parts.join(''))
        const at = (count: number) => parts.slice(0, count).join('').length
        const put = (from: number, to: number) => putSegment(home.put, bytes, [at(from), at(to)])
        await putYoung(home.put, bytes, [0, 0])
        await put(0, 1)
        const app = appOf(segmentStore(home, memoryStore(), { stemOf }), { follow: { pollMillis: [10, 10] } })
        const client = await open(app, `file=a.log&lines=0&${filter}`, SSE)
        await Promise.all([put(1, 2), put(3, 4)])
        const last = filter === 'q=rest' ? '\trest of 2\n' : line(4, 'ERROR')
        await client.until(({ records }) => records.endsWith(last))
        expect(client.records).toBe(filter === 'q=rest' ? last : line(1, 'ERROR') + last)
      },
    )

    it('begins where little is left of the log', async () => {
      const app = await shipped(60, [0, 1])
      for (const query of ['file=a.log&lines=5', 'file=a.log&lines=5&q=line']) {
        const client = await open(app, query, SSE)
        expect(client.status).toBe(200)
        await client.until(({ records }) => records === lines(55, 60))
      }
    })
  })

  it('waits for a slow reader, who loses nothing and holds up nobody', async () => {
    const app = appOf(store)
    const fast = await open(app, 'file=a.log&lines=0')
    const slow = await app.request('/api/v1/log/view?file=a.log&lines=0&follow=true')
    const reader = slow.body!.getReader()
    const from = text.length
    for (let i = 0; i < 200; i++) {
      append(`${'x'.repeat(20_000)} ${i}\n`)
      if (i % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await fast.until((client) => client.text.length === text.length - from)
    let got = ''
    while (got.length < text.length - from) got += Buffer.from((await reader.read()).value!).toString()
    expect(got === text.slice(from)).toBe(true)
    await reader.cancel()
  })

  it('refuses followers beyond the limit, until one of them leaves', async () => {
    const app = appOf(store, { follow: { followers: 2 } })
    const [first] = [await open(app, 'file=a.log'), await open(app, 'file=a.log', SSE)]
    const third = await app.request('/api/v1/log/view?file=a.log&follow=true')
    expect(third.status).toBe(503)
    expect(((await third.json()) as { type: string }).type).toBe('/problems/too-busy')
    await first.close()
    expect((await open(app, 'file=a.log')).status).toBe(200)
  })

  it('ends in time where it must, and is counted no longer', async () => {
    const app = appOf(store, { follow: { followers: 1, maxMillis: 100 } })
    for (const headers of [{}, SSE]) {
      const client = await open(app, 'file=a.log', headers)
      expect(client.status).toBe(200)
      await client.until(({ ended }) => ended)
    }
    const again = await open(app, 'file=a.log')
    expect(again.status).toBe(200)
    await again.close()
    expect((await open(app, 'file=a.log')).status).toBe(200)
  })

  it('is refused where it can not be', async () => {
    for (const [query, status, options, headers] of [
      ['file=a.log', 501, { follow: false }, {}],
      ['file=none.log', 404, {}, {}],
      ['file=a.log&before=x', 400, {}, {}],
      ['file=a.log&first=5', 400, {}, {}],
      ['file=a.log', 400, {}, { 'Last-Event-ID': 'nonsense' }],
    ] as const) {
      const response = await appOf(store, options).request(`/api/v1/log/view?${query}&follow=true`, {
        headers,
      })
      expect(response.status, query).toBe(status)
      expect(response.headers.get('Content-Type')).toBe('application/problem+json')
    }
  })

  it('polls where the store gives no notice, and asks only for what changed', async () => {
    const { watch: _, ...quiet } = store
    let unconditional = 0
    let polls = 0
    const counting: Store = {
      ...quiet,
      read: (key, range, options) => {
        if (options?.ifNoneMatch === undefined) unconditional++
        else polls++
        return store.read(key, range, options)
      },
    }
    const client = await open(appOf(counting, { follow: { pollMillis: [30, 60] } }), 'file=a.log&lines=0')
    await client.until(() => polls >= 2)
    const before = unconditional
    await client.until(() => polls >= 12)
    expect(unconditional).toBe(before)
    append(line(5))
    await client.until(({ text }) => text === line(5))
  })
})

describe('follow on a disk', () => {
  let folder: string
  let app: ReturnType<typeof createApp>
  const path = (name: string) => join(folder, name)
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nodestate-follow-'))
    writeFileSync(path('a.log'), lines(0, 3))
    app = appOf(fsStore(folder))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  /** Follows a log that was empty long before. */
  const openEmpty = () => {
    writeFileSync(path('new.log'), '')
    utimesSync(path('new.log'), 1, 1)
    return open(app, 'file=new.log', SSE)
  }

  it('reads a renamed file to its end, though the writer goes on in it for a while', async () => {
    const client = await open(appOf(fsStore(folder)), 'file=a.log&lines=1', SSE)
    await client.until(({ records }) => records === line(2))
    appendFileSync(path('a.log'), line(3))
    renameSync(path('a.log'), path('a.log.1'))
    appendFileSync(path('a.log.1'), line(4))
    await client.until(({ records }) => records === lines(2, 5))
    writeFileSync(path('a.log'), '')
    appendFileSync(path('a.log.1'), line(5))
    await client.until(({ records }) => records === lines(2, 6))
    appendFileSync(path('a.log.1'), line(6))
    appendFileSync(path('a.log'), line(7))
    await client.until(({ records }) => records === lines(2, 8))
    appendFileSync(path('a.log'), line(8))
    await client.until(({ records }) => records === lines(2, 9))
    expect(client.events.filter((event) => event.name).map((event) => event.name)).toEqual(['rotated'])
  })

  it('reads the rest of a file that was copied and truncated in its copy', async () => {
    const client = await open(appOf(fsStore(folder)), 'file=a.log&lines=1', SSE)
    await client.until(({ records }) => records === line(2))
    appendFileSync(path('a.log'), lines(3, 6))
    copyFileSync(path('a.log'), path('a.log.1'))
    truncateSync(path('a.log'))
    appendFileSync(path('a.log'), line(6))
    await client.until(({ records }) => records === lines(2, 7))
  })

  it('reads what was written to an empty file in its copy, if that is emptied before it looks', async () => {
    const client = await openEmpty()
    appendFileSync(path('new.log'), lines(0, 2))
    copyFileSync(path('new.log'), path('new.log.1'))
    truncateSync(path('new.log'))
    await client.until(({ records }) => records === lines(0, 2))
    appendFileSync(path('new.log'), line(2))
    await client.until(({ records }) => records === lines(0, 3))
    expect(client.events.filter((event) => event.name).map((event) => event.name)).toEqual(['rotated'])
  })

  it('tells of a gap if an empty file was copied and truncated before its first lines, or may have been', async () => {
    const client = await openEmpty()
    appendFileSync(path('new.log'), lines(0, 2))
    copyFileSync(path('new.log'), path('new.log.1'))
    writeFileSync(path('new.log'), lines(2, 4))
    await client.until(({ records }) => records.endsWith(line(3)))
    expect(client.records).toBe(lines(2, 4))
    expect(client.events.filter((event) => event.name).map((event) => event.name)).toEqual(['gap'])
  })

  it('tells of a gap if an empty file was copied, truncated and written again, and its copies are compressed', async () => {
    const client = await openEmpty()
    writeFileSync(path('new.log.2.gz'), gzipSync(lines(0, 2)))
    writeFileSync(path('new.log.1.gz'), gzipSync(lines(2, 4)))
    writeFileSync(path('new.log'), line(4))
    await client.until(({ records }) => records.endsWith(line(4)))
    expect(client.records).toBe(line(4))
    expect(client.events.filter((event) => event.name).map((event) => event.name)).toEqual(['gap'])
  })

  it('tells of a gap if an empty file was copied, truncated and written again with the same first line', async () => {
    const client = await openEmpty()
    writeFileSync(path('new.log.1'), lines(0, 2))
    writeFileSync(path('new.log'), line(0))
    await client.until(({ records }) => records.endsWith(line(0)))
    expect(client.events.filter((event) => event.name).map((event) => event.name)).toEqual(['gap'])
  })

  it('says nothing of a gap to who comes back to an empty log after a large archive', async () => {
    writeFileSync(path('new.log.1.gz'), gzipSync(line(0).repeat(100_000), { level: 0 }))
    const first = await openEmpty()
    await first.until(({ text }) => /^id: /m.test(text))
    const [, id] = /^id: (.*)$/m.exec(first.text)!
    await first.close()
    const client = await open(app, 'file=new.log', { ...SSE, 'Last-Event-ID': id! })
    appendFileSync(path('new.log'), line(1))
    await client.until(({ records }) => records === line(1))
    expect(client.events.filter(({ name }) => name)).toEqual([])
  })

  it('begins after the archive before an empty file, though that is renamed while its end is read', async () => {
    writeFileSync(path('new.log.1.gz'), gzipSync(lines(0, 2)))
    writeFileSync(path('new.log'), '')
    utimesSync(path('new.log'), 1, 1)
    const disk = fsStore(folder)
    let reads = 0
    let looks = 0
    const moving: Store = {
      list: (...args) => disk.list(...args),
      stat: (key) => {
        looks++
        return disk.stat(key)
      },
      read: (key, ...rest) => {
        looks++
        // The first reads find the order and the format.
        if (key === 'new.log.1.gz' && ++reads === 4) renameSync(path(key), path('new.log.2.gz'))
        return disk.read(key, ...rest)
      },
    }
    const options = { follow: { pollMillis: [10, 10] } } as const
    const client = await open(appOf(moving, options), 'file=new.log&lines=0', SSE)
    expect(reads).toBe(4)
    // The empty file is copied and truncated.
    writeFileSync(path('new.log.1'), '')
    utimesSync(path('new.log'), 2, 2)
    const seen = looks + 10
    await client.until(() => looks > seen)
    appendFileSync(path('new.log'), line(2))
    await client.until(({ records }) => records.endsWith(line(2)))
    expect(client.records).toBe(line(2))
  })

  it('does not take a copy of what it has read, or an archive made late, for what it missed', async () => {
    const client = await openEmpty()
    writeFileSync(path('new.log-20261114'), '')
    utimesSync(path('new.log-20261114'), 1, 1)
    writeFileSync(path('new.log-20261113.gz'), gzipSync(lines(0, 2)))
    writeFileSync(path('new.log'), lines(2, 4))
    await client.until(({ records }) => records === lines(2, 4))
    copyFileSync(path('new.log'), path('new.log-20261115'))
    writeFileSync(path('new.log'), line(4))
    await client.until(({ records }) => records === lines(2, 5))
    expect(client.events.filter(({ name }) => name === 'gap')).toEqual([])
  })

  it('does not take an archive that was made late for the copy of a file that was emptied', async () => {
    const client = await openEmpty()
    writeFileSync(path('new.log.1'), '')
    utimesSync(path('new.log.1'), 1, 1)
    writeFileSync(path('new.log.2.gz'), gzipSync(lines(0, 2)))
    utimesSync(path('new.log'), 2, 2)
    await client.until(({ events }) => events.some(({ name }) => name === 'truncated'))
    appendFileSync(path('new.log'), line(2))
    await client.until(({ records }) => records === line(2))
  })

  it('goes on after an archive that was made late, though the order of the files is a guess', async () => {
    const client = await open(app, 'file=a.log&lines=1', SSE)
    utimesSync(path('a.log'), 1, 1)
    // The clock was set back by a year before the first of these, so that records contradict the names.
    const earlier = (from: number, to: number) => lines(from, to).replaceAll('2026-', '2025-')
    writeFileSync(path('a.log.2.gz'), gzipSync(lines(0, 5)))
    writeFileSync(path('a.log.1'), earlier(5, 7))
    const seconds = Date.now() / 1000
    utimesSync(path('a.log.1'), seconds + 1, seconds + 1)
    utimesSync(path('a.log.2.gz'), seconds + 2, seconds + 2)
    truncateSync(path('a.log'))
    const expected = lines(2, 5) + earlier(5, 7)
    await client.until(({ records }) => records === expected)
    expect(client.events.filter(({ name }) => name).map(({ name }) => name)).toEqual(['rotated', 'gap'])
  })

  it('begins after the file before an empty one, though that could not be read when it was first asked', async () => {
    writeFileSync(path('new.log.1'), lines(0, 2))
    writeFileSync(path('new.log'), '')
    const disk = fsStore(folder)
    let isDenied = true
    // A permission would not stop root.
    const denying: Store = {
      list: (...args) => disk.list(...args),
      stat: (key) => disk.stat(key),
      read: async (key, ...rest) => {
        if (isDenied && key === 'new.log.1') throw new StoreError('denied', 'EACCES: new.log.1')
        return disk.read(key, ...rest)
      },
    }
    const denied = appOf(denying, { follow: { pollMillis: [10, 10] } })
    const first = await open(denied, 'file=new.log&lines=0', SSE)
    expect(first.status).toBe(503)
    isDenied = false
    const client = await open(denied, 'file=new.log&lines=0', SSE)
    expect(client.status).toBe(200)
    // Numbers rise, and the older file is compressed late.
    renameSync(path('new.log'), path('new.log.2'))
    utimesSync(path('new.log.2'), 1, 1)
    writeFileSync(path('new.log.1.gz'), gzipSync(lines(0, 2)))
    rmSync(path('new.log.1'))
    writeFileSync(path('new.log'), line(2))
    await client.until(({ records }) => records.endsWith(line(2)))
    expect(client.records).toBe(line(2))
    expect(client.events.filter(({ name }) => name === 'gap')).toEqual([])
  })

  it('reads the rest of a file in its archive, though the new one begins with the same bytes', async () => {
    writeFileSync(path('new.log'), line(1).slice(0, 20))
    const client = await open(appOf(fsStore(folder)), 'file=new.log&lines=0', SSE)
    writeFileSync(path('new.log.1.gz'), gzipSync(lines(1, 4)))
    writeFileSync(path('next'), lines(4, 7))
    renameSync(path('next'), path('new.log'))
    await client.until(({ records }) => records.endsWith(line(6)))
    expect(client.records).toBe(lines(1, 7))
  })

  it.each(['new.log.1', 'new.log.1.gz'])('reads the rest of a first line in its copy %s', async (copy) => {
    writeFileSync(path('new.log'), line(1).slice(0, 20))
    utimesSync(path('new.log'), 1, 1)
    const client = await open(app, 'file=new.log&lines=0', SSE)
    writeFileSync(path(copy), copy.endsWith('.gz') ? gzipSync(lines(1, 4)) : lines(1, 4))
    writeFileSync(path('new.log'), lines(4, 7))
    await client.until(({ records }) => records.endsWith(line(6)))
    expect(client.records).toBe(lines(1, 7))
    expect(client.events.filter(({ name }) => name).map(({ name }) => name)).toEqual(['rotated'])
  })

  it('reads the rest of a first line in its copy, though the log has the same few bytes again', async () => {
    writeFileSync(path('new.log'), line(1).slice(0, 20))
    utimesSync(path('new.log'), 1, 1)
    const client = await open(app, 'file=new.log&lines=0', SSE)
    writeFileSync(path('new.log.1'), lines(1, 4))
    writeFileSync(path('new.log'), line(4).slice(0, 20))
    await client.until(({ records }) => records === lines(1, 4))
    appendFileSync(path('new.log'), line(4).slice(20))
    await client.until(({ records }) => records === lines(1, 5))
  })

  it('finds its place again after it read up to a file that has only the beginning of a line', async () => {
    const first = await open(app, 'file=a.log', SSE)
    await first.until(({ records }) => records === lines(0, 3))
    const { id } = first.events.at(-1)!
    await first.close()
    writeFileSync(path('a.log.1'), lines(0, 5))
    writeFileSync(path('a.log'), line(5).slice(0, 20))
    const headers = { ...SSE, 'Last-Event-ID': id! }
    const client = await open(appOf(fsStore(folder)), 'file=a.log', headers)
    await client.until(({ records }) => records === lines(3, 5))
    renameSync(path('a.log.1'), path('a.log.2'))
    writeFileSync(path('a.log.1'), lines(5, 7))
    writeFileSync(path('a.log'), lines(7, 9))
    await client.until(({ records }) => records.endsWith(line(8)))
    expect(client.records).toBe(lines(3, 9))
  })

  it.each([0, 20])('does not take a large archive for the copy of a log of %i bytes', async (size) => {
    writeFileSync(path('new.log'), line(1).slice(0, size))
    utimesSync(path('new.log'), 1, 1)
    writeFileSync(path('new.log.1.gz'), gzipSync(line(0).repeat(100_000), { level: 0 }))
    const client = await open(app, 'file=new.log&lines=0', SSE)
    appendFileSync(path('new.log'), line(1).slice(size))
    await client.until(({ records }) => records.endsWith(line(1)))
    expect(client.records).toBe(line(1))
    expect(client.events.filter(({ name }) => name)).toEqual([])
  })

  it('does not confuse files that begin alike, if it began in the first line of a new one', async () => {
    writeFileSync(path('a.log.1'), lines(0, 3))
    writeFileSync(path('a.log'), line(3).slice(0, 20))
    const [text, events] = [await open(app, 'file=a.log'), await open(app, 'file=a.log', SSE)]
    renameSync(path('a.log.1'), path('a.log.3'))
    writeFileSync(path('a.log.2.gz'), gzipSync(lines(3, 5)))
    writeFileSync(path('a.log.1.gz'), gzipSync(lines(5, 7)))
    writeFileSync(path('next'), lines(7, 9))
    renameSync(path('next'), path('a.log'))
    await events.until(({ records }) => records.endsWith(line(8)))
    expect(events.records).toBe(lines(3, 9))
    await text.until((client) => client.text === lines(3, 9))
  })

  it('sends a file that has only the beginning of a line once another one follows', async () => {
    writeFileSync(path('a.log.1'), lines(0, 3))
    writeFileSync(path('a.log'), 'short')
    const client = await open(app, 'file=a.log')
    renameSync(path('a.log.1'), path('a.log.2'))
    renameSync(path('a.log'), path('a.log.1'))
    writeFileSync(path('a.log'), line(4))
    await client.until(({ text }) => text === `short${line(4)}`)
  })

  it('moves on from a file that got its name while it was looked for', async () => {
    renameSync(path('a.log'), path('a.log.1'))
    const store = fsStore(folder)
    let lists = 0
    const moving: Store = {
      stat: (key) => store.stat(key),
      read: (key, range, options) => store.read(key, range, options),
      watch: (key, changed) => store.watch!(key, changed),
      async *list(prefix, options) {
        if (lists++ > 0) yield* store.list(prefix, options)
      },
    }
    const client = await open(appOf(moving), 'file=a.log.1&lines=1', SSE)
    await client.until(({ records }) => records === line(2))
    renameSync(path('a.log.1'), path('a.log.2'))
    writeFileSync(path('a.log.1'), line(3))
    await client.until(({ records }) => records === lines(2, 4))
    expect(lists).toBeGreaterThan(1)
  })

  it('does not lose a line that is split by a rotation', async () => {
    const client = await open(appOf(fsStore(folder)), 'file=a.log&lines=0', SSE)
    appendFileSync(path('a.log'), line(3).slice(0, 30))
    renameSync(path('a.log'), path('a.log.1'))
    writeFileSync(path('a.log'), line(3).slice(30) + line(4))
    await client.until(({ records }) => records === lines(3, 5))
  })

  it('finds the format of a file that was empty when it began', async () => {
    writeFileSync(path('new.log'), '')
    const client = await open(app, 'file=new.log&level=error', SSE)
    appendFileSync(path('new.log'), line(1) + line(2, 'ERROR') + line(3))
    await client.until(({ records }) => records === line(2, 'ERROR'))
  })

  it('finds the format of a file that had only the beginning of a line when it began', async () => {
    writeFileSync(path('new.log'), line(0).slice(0, 10))
    const one = await open(app, 'file=new.log&level=info&lines=0', SSE)
    const several = await open(app, 'file=*.log&lines=1', SSE)
    appendFileSync(path('new.log'), line(0).slice(10) + line(1, 'DEBUG') + line(2))
    await one.until(({ records }) => records.endsWith(line(2)))
    expect(one.records).toBe(line(0) + line(2))
    await several.until(({ records }) => records.endsWith(line(2)))
    expect(several.records.match(/new.log\t.*line \d/g)).toHaveLength(3)
  })

  it('knows the format of a file that was just rotated by what it was before', async () => {
    writeFileSync(path('b.log.1'), lines(0, 5))
    writeFileSync(path('b.log'), '\tat the rest of a trace\n')
    const client = await open(app, 'file=b.log&level=error&lines=0', SSE)
    expect(client.status).toBe(200)
    appendFileSync(path('b.log'), line(1) + line(2, 'ERROR') + line(3))
    await client.until(({ records }) => records === line(2, 'ERROR'))
  })

  it('is refused a level where lines have none', async () => {
    writeFileSync(path('plain.log'), 'some\nplain\ntext\n')
    const client = await open(app, 'file=plain.log&level=error', SSE)
    expect(client.status).toBe(400)
    await client.until(({ text }) => text.includes('/problems/no-level'))
  })

  it('waits for the new file, when it begins between a rotation and the next line', async () => {
    writeFileSync(path('c.log'), lines(0, 5))
    const first = await open(app, 'file=c.log&lines=1', SSE)
    await first.until(({ events }) => events.length === 1)
    renameSync(path('c.log'), path('c.log.1'))
    setTimeout(() => writeFileSync(path('c.log'), lines(5, 7)), 200)
    const second = await open(app, 'file=c.log', { ...SSE, 'Last-Event-ID': first.events[0]!.id! })
    expect(second.status).toBe(200)
    await second.until(({ records }) => records === lines(5, 7))
    expect((await app.request('/api/v1/log/view?file=none.log&follow=true')).status).toBe(404)
  })

  it('looks seldom at a log that stays empty after a rotation', async () => {
    const clock = manualClock(Date.UTC(2026, 10, 15, 3))
    const store = memoryStore({ 'e.log': '', 'e.log.1': lines(0, 5) }, clock)
    let requests = 0
    const counted = new Proxy<Store>(store, {
      get(target, name: keyof Store) {
        if (typeof target[name] === 'function') requests++
        return target[name]
      },
    })
    const quiet = appOf(counted, { clock })
    const client = await open(quiet, 'file=e.log', SSE)
    await clock.pass(60_000)
    const after = requests
    await clock.pass(600_000)
    // Every three seconds the file, the one before it and the list.
    expect(requests - after).toBeLessThanOrEqual(600)
    store.put('e.log', line(5))
    await clock.pass(10_000)
    await client.until(({ records }) => records === line(5))
  })

  it('sends the whole tail though the file is rotated under it', async () => {
    const long = Array.from({ length: 20_000 }, (_, i) => line(i % 1000)).join('')
    writeFileSync(path('d.log'), long)
    const response = await app.request(`/api/v1/log/view?file=d.log&size=${long.length}&follow=true`)
    const reader = response.body!.getReader()
    const parts = [(await reader.read()).value!]
    renameSync(path('d.log'), path('d.log.1'))
    writeFileSync(path('d.log'), line(7))
    const all = long + line(7)
    while (Buffer.concat(parts).length < all.length) parts.push((await reader.read()).value!)
    await reader.cancel()
    expect(Buffer.concat(parts).toString() === all).toBe(true)
  })

  it.each([
    ['was deleted', false],
    ['was renamed, and then deleted', true],
  ])('tells a slow reader once that the file %s', async (_, isRenamed) => {
    const clock = manualClock(Date.UTC(2026, 10, 15, 3))
    let log = line(0)
    const store = memoryStore({ 'e.log': log }, clock)
    const response = await appOf(store, { clock }).request(
      '/api/v1/log/view?file=e.log&lines=1&follow=true',
      { headers: SSE },
    )
    const reader = response.body!.getReader()
    let text = ''
    const decoder = new TextDecoder()
    let next = reader.read()
    const readTo = async (end: string) => {
      for (; !text.includes(end); next = reader.read()) text += decoder.decode((await next).value)
    }
    await readTo('line 0')
    for (let i = 0; i < 3; i++) {
      log += Array.from({ length: 20_000 }, (_, j) => line(j % 1000)).join('')
      store.put('e.log', log)
      await clock.pass(150)
    }
    store.delete('e.log')
    if (isRenamed) {
      for (const rest of ['', line(1002)]) {
        store.put('e.log.1', log + rest)
        await clock.pass(5_000)
      }
      store.delete('e.log.1')
    }
    await clock.pass(5_000)
    await readTo('event: gap')
    // A read waits meanwhile: a second one would come at one of the next looks, and thus before the next line.
    await clock.pass(5_000)
    store.put('e.log', line(1001))
    await clock.pass(5_000)
    await readTo('line 1001')
    expect(text.split('event: gap').length - 1).toBe(1)
    await reader.cancel()
  })
})
