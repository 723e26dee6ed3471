import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { stemOf } from '../../../src/log/rotated/names.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { segmentStore } from '../../../src/store/segments.ts'
import { createApp } from '../../support/app.ts'
import { putLife } from '../../support/segments.ts'

const line = (second: number, text: string) =>
  `2026-11-16 02:41:${String(second).padStart(2, '0')}.000\tINFO\ta.go:1\t[A]: ${text}\n`

function service(given?: ReturnType<typeof createApp>) {
  const store = memoryStore({ 'a.log': line(1, 'a1') + line(3, 'a3'), 'b.log': line(2, 'b2') })
  const app = given ?? createApp({ logs: store, config: '', follow: { pollMillis: [10, 50] } })
  const texts = new Map([
    ['a.log', line(1, 'a1') + line(3, 'a3')],
    ['b.log', line(2, 'b2')],
  ])
  const append = (name: string, text: string) => {
    texts.set(name, (texts.get(name) ?? '') + text)
    store.put(name, texts.get(name)!)
  }
  const follow = async (query: string, headers: Record<string, string> = {}) => {
    const left = new AbortController()
    onTestFinished(() => left.abort())
    const response = await app.request(`http://localhost/api/v1/log/view?follow=true&${query}`, {
      headers,
      signal: left.signal,
    })
    const reader = response.body!.getReader()
    let text = ''
    const until = async (wanted: RegExp | string) => {
      while (!(typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text))) {
        const { value, done } = await reader.read()
        if (done) throw new Error(`ended with ${text}`)
        text += new TextDecoder().decode(value)
      }
      return text
    }
    return { response, until, leave: () => left.abort() }
  }
  return { store, append, follow, app }
}

const EVENTS = { Accept: 'text/event-stream' }
const idsOf = (text: string) =>
  [...text.matchAll(/^id: (\S+)\ndata: (.*)$/gm)].map(([, id, data]) => [id!, data!])

describe('following several logs', () => {
  it('sends the newest records, and then what is appended to any of them', async () => {
    const { append, follow } = service()
    const { until, response } = await follow('file=*.log&lines=2')
    expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect(await until('a3')).toBe(`b.log\t${line(2, 'b2')}a.log\t${line(3, 'a3')}`)
    append('b.log', line(4, 'b4'))
    append('a.log', line(5, 'a5'))
    expect(await until('a5')).toContain(`b.log\t${line(4, 'b4')}`)
  })

  it('counts as one follower until the client leaves, even if it read nothing', async () => {
    const logs = memoryStore({ 'a.log': line(1, 'a1'), 'b.log': line(2, 'b2') })
    const app = createApp({ logs, config: '', follow: { followers: 1 } })
    const follow = (signal?: AbortSignal) =>
      app.request('http://localhost/api/v1/log/view?follow=true&file=*.log', signal && { signal })
    const left = new AbortController()
    expect((await follow(left.signal)).status).toBe(200)
    expect((await follow()).status).toBe(503)
    left.abort()
    const last = await follow()
    expect(last.status).toBe(200)
    await last.body!.cancel()
    const another = await follow()
    expect(another.status).toBe(200)
    await another.body!.cancel()
  })

  it('waits for the end of a line, and marks what comes late', async () => {
    const { append, follow } = service()
    const { until } = await follow('file=*.log&lines=1&format=ndjson')
    await until('a3')
    append('b.log', line(2, 'late').slice(0, 20))
    append('a.log', line(6, 'a6'))
    expect(await until('a6')).not.toContain('b.log')
    append('b.log', line(2, 'late').slice(20))
    const text = await until('"late"')
    const last = JSON.parse(text.trimEnd().split('\n').at(-1)!) as object
    expect(last).toMatchObject({ file: 'b.log', message: 'late', late: true })
  })

  it('continues exactly after any event', async () => {
    const { append, follow } = service()
    const { until, leave } = await follow('file=*.log&lines=10', EVENTS)
    // With the colon, because an id may contain these letters.
    await until(': a3')
    append('b.log', line(4, 'b4') + line(7, 'b7'))
    append('a.log', line(5, 'a5'))
    const events = idsOf(await until(': b7'))
    leave()
    const order = events.map(([, data]) => data)
    expect(order.length).toBe(6)
    for (const [i, [id]] of events.slice(0, -1).entries()) {
      const again = await follow('file=*.log&lines=10', { ...EVENTS, 'Last-Event-ID': id! })
      const rest = idsOf(await again.until(': b7')).map(([, data]) => data)
      again.leave()
      expect([...rest].sort()).toEqual(order.slice(i + 1).sort())
    }
  })

  it.each([
    ['was empty', true],
    ['appeared, empty, while it was away', false],
  ])('continues in the copy of a log that %s, also after coming back twice', async (_, isThere) => {
    const { store, append, follow } = service()
    if (isThere) store.put('e.log', '')
    const comeBack = async (id: string, text: string) => {
      const { until, leave } = await follow('file=*.log&lines=1', { ...EVENTS, 'Last-Event-ID': id })
      append('a.log', line(4, text))
      const [[next]] = idsOf(await until(`: ${text}`)).slice(-1) as [[string, string]]
      leave()
      return next
    }
    const { until, leave } = await follow('file=*.log&lines=1', EVENTS)
    const [[first]] = idsOf(await until(': a3')) as [[string, string]]
    leave()
    store.put('e.log', '')
    const id = await comeBack(await comeBack(first, 'once'), 'twice')
    store.put('e.log.1', line(8, 'e8'))
    store.put('e.log', '')
    const last = await follow('file=*.log&lines=1', { ...EVENTS, 'Last-Event-ID': id })
    append('a.log', line(9, 'a9'))
    expect(await last.until(': a9')).toContain(': e8')
  })

  it('continues after a log that was rotated and has no text yet', async () => {
    const { store, append, follow } = service()
    const { until, leave } = await follow('file=*.log&lines=10', EVENTS)
    await until(': a3')
    append('b.log', line(4, 'b4'))
    await until(': b4')
    store.put('b.log.1', line(2, 'b2') + line(4, 'b4'))
    store.put('b.log', '')
    append('a.log', line(5, 'a5'))
    const [id] = idsOf(await until(': a5')).at(-1)!
    leave()
    const again = await follow('file=*.log&lines=10', { ...EVENTS, 'Last-Event-ID': id! })
    append('a.log', line(6, 'a6'))
    await again.until(': a6')
    store.put('b.log', line(7, 'b7'))
    const text = await again.until(': b7')
    expect(idsOf(text).map(([, data]) => data!.slice(-2))).toEqual(['a6', 'b7'])
    expect(text).not.toContain('event:')
  })

  it('continues after missing bytes of one of them, and says so', async () => {
    const minute = (i: number) => `2026-11-16 02:${String(Math.floor(i / 60)).padStart(2, '0')}:`
    const lines = (name: string) =>
      Array.from(
        { length: 600 },
        (_, i) => `${minute(i)}${String(i % 60).padStart(2, '0')}.000\tINFO\ta.go:1\t[A]: ${name} ${i}\n`,
      )
    const shipped = async (skip: (segment: number) => boolean) => {
      const home = memoryStore()
      for (const log of ['a.log', 'b.log']) {
        const bytes = new TextEncoder().encode(lines(log).join(''))
        await putLife(home.put, bytes, { log, size: 1000, skip: (i) => log === 'a.log' && skip(i) })
      }
      return createApp({ logs: segmentStore(home, memoryStore(), { stemOf }), config: '' })
    }
    const query = 'file=*.log&lines=1200'
    const whole = await service(await shipped(() => false)).follow(query, EVENTS)
    const [id] = idsOf(await whole.until('b.log 599'))[20]!
    const app = await shipped((segment) => segment === 3)
    const back = await service(app).follow(query, { ...EVENTS, 'Last-Event-ID': id! })
    await back.until('a.log 599')
    const text = await back.until('b.log 599')
    expect(text.match(/^event: .*\n.*\n.*$/gm)).toEqual([
      expect.stringMatching(/^event: gap\n.*\ndata: \{"file":"a\.log"\}$/),
    ])
    const got = [...text.matchAll(/a\.log (\d+)$/gm)].map(([, i]) => Number(i))
    expect(new Set(got).size).toBe(got.length)
    expect(got.slice(-480)).toEqual(Array.from({ length: 480 }, (_, i) => 120 + i))
  })

  it('sends a line that ends with a carriage return as one line of data', async () => {
    const { append, follow } = service()
    const { until } = await follow('file=*.log&lines=1', EVENTS)
    await until('a3')
    append('a.log', line(5, 'returned').replace('\n', '\r\n') + line(6, 'a6'))
    expect(await until(/a6\n\n/)).toMatch(/returned\n\nid: /)
  })

  it('includes a log that appears later', async () => {
    const { append, follow } = service()
    const { until } = await follow('file=*.log&lines=1')
    await until('a3')
    append('c.log', line(9, 'c9'))
    expect(await until('c9')).toContain(`c.log\t${line(9, 'c9')}`)
  })

  it('loses no line of a new log that is found after newer lines of the others were sent', async () => {
    const { append, follow } = service()
    const { until } = await follow('file=*.log&lines=1&format=ndjson')
    await until('a3')
    append('c.log', line(2, 'c2') + line(4, 'c4'))
    append('a.log', line(3, 'newer'))
    const records = (await until('c4')).trimEnd().split('\n')
    const found = records.map((text) => JSON.parse(text) as { message: string; late?: true })
    expect(found.find(({ message }) => message === 'c2')).toMatchObject({ late: true })
  })

  it('begins to answer before anything is appended', async () => {
    const { append, follow } = service()
    for (const query of ['file=*.log&lines=0', 'file=*.log&level=error']) {
      const { response, until } = await follow(query)
      expect(response.status).toBe(200)
      append('a.log', line(8, query).replace('INFO', 'ERROR'))
      expect(await until(query)).toContain('a.log\t')
    }
  })

  it('continues from a cursor before anything is appended', async () => {
    const { app, append, follow } = service()
    const page = await app.request('http://localhost/api/v1/log/view?file=*.log&lines=1')
    const next = /after=([^>&]+)>; rel="next"/.exec(page.headers.get('Link')!)![1]!
    const { until } = await follow(`file=*.log&after=${next}`)
    append('b.log', line(9, 'b9'))
    expect(await until('b9')).toBe(`b.log\t${line(9, 'b9')}`)
  })

  it('begins with the first records if these are asked for', async () => {
    const { follow } = service()
    const { until } = await follow('file=*.log&first=1')
    expect(await until('a3')).toBe(`a.log\t${line(1, 'a1')}b.log\t${line(2, 'b2')}a.log\t${line(3, 'a3')}`)
  })

  it('names the logs that it cannot merge, and refuses if there are no others', async () => {
    const { append, follow } = service()
    append('notes.txt', 'hello\n')
    append('other.txt', 'hello\n')
    const { response } = await follow('file=a.log&file=notes.txt', EVENTS)
    expect(response.headers.get('X-Nodestate-Missing')).toBe('notes.txt;no-time')
    expect((await follow('file=*.txt', EVENTS)).response.status).toBe(400)
  })

  it('refuses before, and a cursor of something else', async () => {
    const { app } = service()
    const get = (query: string, headers = {}) =>
      app.request(`http://localhost/api/v1/log/view?follow=true&file=*.log&${query}`, { headers })
    expect((await get('before=abc')).status).toBe(400)
    expect((await get('', { 'Last-Event-ID': 'abcdefghijkl' })).status).toBe(400)
  })
})

describe('exporting several logs', () => {
  it('gives the whole timeline as a file', async () => {
    const { app } = service()
    const response = await app.request('http://localhost/api/v1/log/view?file=*.log&download=true')
    expect(response.headers.get('Content-Disposition')).toContain('timeline.txt')
    expect(await response.text()).toBe(
      `a.log\t${line(1, 'a1')}b.log\t${line(2, 'b2')}a.log\t${line(3, 'a3')}`,
    )
  })

  it('goes on over many pages', async () => {
    const text = (name: string) =>
      Array.from({ length: 30_000 }, (_, i) =>
        line(i % 60, `${name}${i}`).replace(
          '02:41',
          `${String(Math.floor(i / 3600)).padStart(2, '0')}:${String(Math.floor(i / 60) % 60).padStart(2, '0')}`,
        ),
      ).join('')
    const app = createApp({ logs: memoryStore({ 'a.log': text('a'), 'b.log': text('b') }), config: '' })
    const response = await app.request('http://localhost/api/v1/log/view?file=*.log&download=true')
    const lines = (await response.text()).trimEnd().split('\n')
    expect(lines.length).toBe(60_000)
    expect(new Set(lines).size).toBe(60_000)
  })
})

describe('a log among several that is rotated while it is followed', () => {
  it('goes on in the compressed file if it was left at an unfinished line', async () => {
    const { store, follow } = service()
    const records = (text: string) => idsOf(text).map(([, data]) => `${data!.split('\t')[1]}\n`)
    // Lines of one length begin at the same places in every file, and those of a minute begin alike.
    const json = (n: number) =>
      `{"time":"2026-11-16T02:41:00.${100 + n}Z","level":"info","msg":"the line ${n}"}\n`
    const lines = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => json(from + i)).join('')
    store.put('b.log', lines(0, 2) + json(2).slice(0, 25))
    const first = await follow('file=b*.log&lines=5', EVENTS)
    const id = idsOf(await first.until('line 1"}\n\n')).at(-1)![0]
    first.leave()
    store.put('b.log.1.gz', gzipSync(lines(0, 4)))
    store.put('b.log', lines(4, 8))
    const again = await follow('file=b*.log&lines=5', { ...EVENTS, 'Last-Event-ID': id! })
    const text = await again.until('line 7"}\n\n')
    expect(text).not.toContain('event: gap')
    expect(records(text).join('')).toBe(lines(2, 8))
  })

  it('sends no line twice while its files are moved one after the other', async () => {
    const { store, append, follow } = service()
    const { until } = await follow('file=*.log&lines=5&format=ndjson')
    await until('a3')
    // The new file is there, the old one is not yet under its new name.
    store.put('a.log', line(5, 'a5'))
    append('b.log', line(4, 'b4'))
    await until('b4')
    store.put('a.log.1', line(1, 'a1') + line(3, 'a3'))
    append('b.log', line(6, 'b6'))
    const text = await until(/(?=[\s\S]*a5)(?=[\s\S]*b6)/)
    expect(text.match(/"message":"\w+"/g)!.sort()).toEqual(
      ['a1', 'a3', 'a5', 'b2', 'b4', 'b6'].map((each) => `"message":"${each}"`),
    )
  })
})
