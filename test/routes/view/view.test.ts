import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fsStore } from '../../../src/store/fs.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import type { Store } from '../../../src/store/store.ts'
import { type AppOptions, createApp } from '../../support/app.ts'

const LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR']
const line = (i: number, more = '') =>
  `2026-11-15 02:${String(Math.floor(i / 60)).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}.000\t${LEVELS[i % 4]}\tx.go:1\t[A] [B]: line ${i}${more}\n`
const lines = Array.from({ length: 600 }, (_, i) => line(i))
const log = lines.join('')

const files = () =>
  memoryStore({
    'broker.log': log,
    'big.log': `${log.repeat(20)}`,
    'old.log': lines.slice(400).join(''),
    'old.log.1': lines.slice(200, 400).join(''),
    'old.log.2': lines.slice(0, 200).join(''),
    'plain.txt': 'one\ntwo\n',
    empty: '',
  })

function client(store: Store, options: Partial<AppOptions> = {}) {
  const app = createApp({ logs: store, config: '', ...options })
  return async (query: string, headers: Record<string, string> = {}) => {
    const path = query.startsWith('?') ? `/api/v1/log/view${query}` : `/api/v1/log/view?${query}`
    const response = await app.request(path, { headers })
    const links = Object.fromEntries(
      [...(response.headers.get('Link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, to, rel]) => [
        rel,
        to,
      ]),
    )
    return {
      status: response.status,
      text: await response.text(),
      headers: response.headers,
      prev: links.prev ?? null,
      next: links.next ?? null,
    }
  }
}

/** Follows `prev` to the beginning. */
async function back(get: ReturnType<typeof client>, query: string) {
  const pages: string[] = []
  let answer = await get(query)
  for (let n = 0; n < 1000; n++) {
    expect(answer.status, answer.text).toBe(200)
    pages.unshift(answer.text)
    if (answer.prev === null) return pages
    answer = await get(answer.prev)
  }
  throw new Error('It never ends')
}

describe('Link headers', () => {
  const get = client(files())
  it('are on every view, the plain one too, and lead through the whole file', async () => {
    expect((await back(get, 'file=broker.log&size=1000')).join('')).toBe(log)
    expect((await back(get, 'file=broker.log&lines=7')).join('')).toBe(log)
    expect((await back(get, 'file=big.log&size=300000')).join('')).toBe(log.repeat(20))
  })
  it('have no prev at the first byte, and always a next', async () => {
    for (const query of [
      'file=broker.log',
      'file=empty',
      'file=plain.txt&lines=5',
      'file=broker.log&size=0',
    ]) {
      const { prev, next } = await get(query)
      expect(prev !== null, query).toBe(query.endsWith('size=0'))
      expect((await get(next!)).text).toBe('')
    }
  })
  it('keep the parameters that matter, and no others', async () => {
    const { next } = await get(
      'file=broker.log&level=warn&q=line%20%3E&target=x&lines=3&since=2026-11-15%2002:00:00',
    )
    expect(next).toMatch(
      /^\?file=broker\.log&lines=3&since=2026-11-15%2002%3A00%3A00&level=warn&q=line%20%3E&after=[\w-]+$/,
    )
    const repeated = await get('file=broker.log&q=a&regex=b&q=c&rotated=false&ansi')
    expect(repeated.next).toMatch(/^\?file=broker\.log&q=a&q=c&regex=b&ansi=true&after=[\w-]+$/)
    const plain = await get('file=broker.log&size=9&target=x')
    expect(plain.prev).toMatch(/^\?file=broker\.log&size=9&before=[\w-]+$/)
  })
  it('point into files whose names must be encoded', async () => {
    const odd = client(memoryStore({ 'a "b>+%ä😀.log': 'one\ntwo\n' }))
    const { text, prev } = await odd(`file=${encodeURIComponent('a "b>+%ä😀.log')}&size=4`)
    expect(text).toBe('two\n')
    expect((await odd(prev!)).text).toBe('one\n')
  })
})

describe('lines', () => {
  const get = client(files())
  it.each([
    ['lines=3', lines.slice(-3)],
    ['lines=0', []],
    ['lines=', lines],
    ['lines=99999999999999999999', lines],
    ['lines=2&size=100000', lines.slice(-2)],
    ['lines=100&size=120', lines.slice(-2)],
  ])('%s', async (query, expected) => {
    expect((await get(`file=broker.log&${query}`)).text).toBe(expected.join(''))
  })
})

describe('filters', () => {
  const get = client(files())
  it.each([
    ['level=error', lines.filter((_, i) => i % 4 === 3)],
    ['level=WARNING', lines.filter((_, i) => i % 4 >= 2)],
    ['level=fatal', []],
    ['q=LINE%2017', []],
    ['q=line%2017', lines.filter((text) => text.includes('line 17'))],
    ['regex=line%20%5B12%5D7%24', [lines[17]!, lines[27]!]],
    ['q=line%2017&level=error', lines.filter((text, i) => text.includes('line 17') && i % 4 === 3)],
    ['q=line%2017&regex=9%24', lines.filter((text) => /line 17.*9$/m.test(text))],
    [
      'q=line%201&q=7&q=warn',
      lines.filter((text) => /line 1.*$/m.test(text) && /7/.test(text) && /WARN/.test(text)),
    ],
    ['regex=line%20%5B12%5D&regex=7%24&q=', lines.filter((text) => /line [12]\d*7$/m.test(text))],
    ['since=2026-11-15T02:05:00Z', lines.slice(300)],
    ['until=2026-11-15T02:05:00Z', lines.slice(0, 300)],
    ['since=2026-11-15%2002:04:59.001&until=2026-11-15%2002:05:01', lines.slice(300, 301)],
    ['since=2026-11-15T02:05:00Z&until=2026-11-15T02:04:00Z', []],
    ['since=2027-01-01', []],
    ['until=2020-01-01', []],
    ['since=2026-11-15T04:05:00%2B02:00&lines=2&until=2026-11-15T02:06:00Z', lines.slice(358, 360)],
  ])('%s', async (query, expected) => {
    const { status, text, headers } = await get(`file=broker.log&${query}`)
    expect(text).toBe(expected.join(''))
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect(headers.get('Content-Length')).toBe(String(text.length))
  })
  it('apply the time zone of the log', async () => {
    const berlin = client(files(), { timezone: 'Europe/Berlin' })
    const { text } = await berlin('file=broker.log&since=2026-11-15T01:09:58Z')
    expect(text).toBe(lines.slice(598).join(''))
  })
  it('count durations back from now, and such an answer has no tag', async () => {
    const now = Date.now()
    const stamp = (ms: number) => new Date(ms).toISOString().replace('T', ' ').slice(0, 23)
    const recent = [90, 20, 5].map(
      (minutes) => `${stamp(now - minutes * 60_000)}\tINFO\tx.go:1\t[A]: ${minutes}\n`,
    )
    const live = client(memoryStore({ 'a.log': recent.join('') }))
    const { text, headers } = await live('file=a.log&since=30m&until=10m')
    expect(text).toBe(recent[1])
    expect(headers.get('ETag')).toBeNull()
    expect((await live('file=a.log&level=info')).headers.get('ETag')).toMatch(/^"/)
  })
  it('page both ways without loss', async () => {
    const wanted = lines.filter((_, i) => i % 4 === 3).join('')
    const pages = await back(get, 'file=broker.log&level=error&size=500')
    expect(pages.join('')).toBe(wanted)
    expect(pages.length).toBeGreaterThan(10)
  })
  it('say when the budget ended them', async () => {
    const small = client(files(), { limits: { scanBytes: 100_000 } })
    const { text, headers, prev } = await small('file=big.log&q=nowhere')
    expect(text).toBe('')
    expect(headers.get('X-Nodestate-Note')).toBe('scan-budget')
    expect(headers.get('ETag')).toBeNull()
    expect(prev).not.toBeNull()
  })
  it('are refused with a problem that tells what to do', async () => {
    for (const [query, code, word] of [
      ['file=plain.txt&level=warn', 'no-level', 'level'],
      ['file=plain.txt&since=1h', 'no-time', 'since'],
      ['file=broker.log&level=loud', 'bad-parameter', '"loud"; it must be one of debug'],
      ['file=broker.log&since=someday', 'bad-parameter', 'since is "someday"'],
      ['file=broker.log&lines=-1', 'bad-parameter', 'lines'],
      ['file=broker.log&lines=1&lines=2', 'bad-parameter', 'lines'],
      [`file=broker.log&q=${'x'.repeat(1001)}`, 'bad-parameter', 'q has 1001 characters; at most 1000'],
      ['file=broker.log&regex=%28', 'bad-pattern', 'pattern'],
      ['file=broker.log&format=xml', 'bad-parameter', 'format is "xml"; it must be one of text, ndjson'],
      ['file=broker.log&rotated=maybe', 'bad-parameter', 'rotated'],
      ['file=broker.log&before=abc', 'bad-cursor', 'before'],
      ['file=broker.log&after=', 'bad-cursor', 'after'],
      ['file=broker.log&after=a&before=b', 'bad-parameter', 'before'],
    ] as const) {
      const { status, text } = await get(query)
      expect(status, query).toBe(400)
      expect(JSON.parse(text).type, query).toBe(`/problems/${code}`)
      expect(JSON.parse(text).detail).toContain(word)
    }
  })
  it('cannot be stalled by a pattern that would stall a backtracking engine', async () => {
    const stall = client(memoryStore({ 'a.log': `${'a'.repeat(50_000)}\n`.repeat(4) }), {
      limits: { scanMillis: 2000 },
    })
    const { status } = await stall('file=a.log&regex=%28a%2B%29%2B%24b')
    expect(status).toBe(200)
  })
  it('turn requests away when too many run', async () => {
    let reads = 0
    let go = () => {}
    const together = new Promise<void>((resolve) => {
      go = resolve
    })
    const slow: Store = {
      ...files(),
      read: async (...args) => {
        reads++
        await together
        return files().read(...args)
      },
    }
    const busy = client(slow, { limits: { scans: 1 } })
    const asked = Promise.all(Array.from({ length: 12 }, () => busy('file=broker.log&q=nowhere')))
    // Each looks at both ends of the file before it asks for a place.
    await expect.poll(() => reads).toBe(24)
    go()
    const answers = await asked
    const statuses = answers.map((answer) => answer.status)
    expect(statuses.filter((status) => status === 200).length).toBe(5)
    const refused = answers.find((answer) => answer.status === 503)!
    expect(JSON.parse(refused.text).type).toBe('/problems/too-busy')
    expect(refused.headers.get('Retry-After')).toBe('5')
  })
})

describe('rotated', () => {
  const get = client(files())
  it('is one log, oldest first', async () => {
    expect((await get('file=old.log&rotated=true')).text).toBe(log)
    expect((await back(get, 'file=old.log&rotated=true&size=3000')).join('')).toBe(log)
    expect((await get('file=old.log&rotated=true&lines=250')).text).toBe(lines.slice(350).join(''))
    expect((await get('file=old.log.1&rotated=true')).text).toBe(lines.slice(0, 400).join(''))
  })
  it('takes times and filters across the borders', async () => {
    const window = await get(
      'file=old.log&rotated=true&since=2026-11-15T02:03:00Z&until=2026-11-15T02:07:00Z',
    )
    expect(window.text).toBe(lines.slice(180, 420).join(''))
    const errors = await back(get, 'file=old.log&rotated=true&level=error&size=2000')
    expect(errors.join('')).toBe(lines.filter((_, i) => i % 4 === 3).join(''))
  })
})

describe('format=ndjson', () => {
  const get = client(files())
  it('gives one JSON record per line, with the zone applied', async () => {
    const { text, headers } = await get('file=broker.log&format=ndjson&lines=2')
    expect(headers.get('Content-Type')).toBe('application/x-ndjson')
    expect(text.endsWith('}\n')).toBe(true)
    const records = text
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one))
    expect(records).toEqual([
      {
        time: '2026-11-15T02:09:58.000Z',
        level: 'warn',
        source: { file: 'x.go', line: 1 },
        tags: ['A', 'B'],
        message: 'line 598',
      },
      expect.objectContaining({ level: 'error', message: 'line 599' }),
    ])
  })
  it('is chosen by Accept too, and the parameter outranks it', async () => {
    const accept = { Accept: 'text/plain;q=0.5, application/x-ndjson' }
    const json = await get('file=broker.log&lines=1', accept)
    expect(json.headers.get('Content-Type')).toBe('application/x-ndjson')
    expect(json.headers.get('Vary')).toBe('Accept')
    const plain = await get('file=broker.log&format=text&lines=1', accept)
    expect(plain.text).toBe(lines[599])
    expect((await get('file=broker.log', accept)).text.split('\n').length).toBe(601)
    const text = await get('file=broker.log&lines=1')
    expect(text.headers.get('ETag')).not.toBe(json.headers.get('ETag'))
  })
  it('keeps records whole, counts them, pages through them, and filters them', async () => {
    const trace = lines.map((one, i) => (i % 3 ? one : `${one}\tat a()\n\tat b()\n`))
    const traces = client(memoryStore({ 'a.log': trace.join('') }))
    const pages = await back(traces, 'file=a.log&format=ndjson&lines=7')
    const records = pages
      .join('')
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one))
    expect(records.length).toBe(600)
    expect(records[3].message).toBe('line 3\n\tat a()\n\tat b()')
    const errors = await traces('file=a.log&format=ndjson&level=error')
    expect(errors.text.split('\n').length - 1).toBe(150)
  })
  it('gives the raw text of what is in no known format', async () => {
    const { text } = await get('file=plain.txt&format=ndjson')
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((one) => JSON.parse(one)),
    ).toEqual([
      { message: 'one', raw: 'one' },
      { message: 'two', raw: 'two' },
    ])
  })
})

describe('a cursor on a disk', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'nodestate-view-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('goes on in the renamed file, then in the new one', async () => {
    const get = client(fsStore(folder))
    const path = (name: string) => join(folder, name)
    writeFileSync(path('a.log'), lines.slice(0, 3).join(''))
    const { next } = await get('file=a.log')
    writeFileSync(path('a.log'), line(3), { flag: 'a' })
    renameSync(path('a.log'), path('a.log.1'))
    expect((await get(next!)).text).toBe(line(3))
    writeFileSync(path('a.log'), line(4))
    expect((await get(next!)).text).toBe(line(3) + line(4))
    renameSync(path('a.log.1'), path('a.log.2'))
    renameSync(path('a.log'), path('a.log.1'))
    writeFileSync(path('a.log'), line(5))
    const answer = await get(next!)
    expect(answer.text).toBe(line(3) + line(4) + line(5))
    expect((await get(answer.next!)).text).toBe('')
    expect((await get(answer.prev!)).text).toBe(lines.slice(0, 3).join(''))
  })

  it('tells that the file was truncated, or is gone', async () => {
    const get = client(fsStore(folder))
    writeFileSync(join(folder, 'b.log'), lines.slice(0, 3).join(''))
    const { next } = await get('file=b.log')
    writeFileSync(join(folder, 'b.log'), lines.slice(5, 50).join(''))
    const { status, text } = await get(next!)
    expect(status).toBe(410)
    expect(JSON.parse(text).type).toBe('/problems/cursor-gone')
    rmSync(join(folder, 'b.log'))
    expect((await get(next!)).status).toBe(410)
  })
})

describe('ETag', () => {
  const store = files()
  const get = client(store)
  it('is strong, differs by what is asked, and gives 304', async () => {
    const queries = [
      'file=broker.log',
      'file=broker.log&lines=5',
      'file=broker.log&lines=6',
      'file=broker.log&q=x',
    ]
    const tags = await Promise.all(queries.map(async (query) => (await get(query)).headers.get('ETag')!))
    expect(new Set(tags).size).toBe(queries.length)
    for (const [i, query] of queries.entries()) {
      expect(tags[i]).toMatch(/^"[^"]+"$/)
      const again = await get(query, { 'If-None-Match': `W/${tags[i]}` })
      expect(again.status).toBe(304)
      expect(again.headers.get('Vary')).toBe('Accept')
    }
    store.put('broker.log', `${log}more\n`)
    expect((await get(queries[1]!, { 'If-None-Match': tags[1]! })).status).toBe(200)
  })
})

describe('HEAD', () => {
  it('tells what GET would, without its body', async () => {
    const store = memoryStore({ 'broker.log': log, 'plain.txt': 'one\ntwo\n', 'none.log.gz': 'no archive\n' })
    const app = createApp({ logs: store, config: '' })
    const gone = /after=([^>]*)>/.exec(
      (await app.request('/api/v1/log/view?file=plain.txt&lines=1')).headers.get('Link')!,
    )![1]
    store.put('plain.txt', 'x\n')
    for (const [query, status] of [
      ['file=broker.log&lines=3', 200],
      ['file=broker.log&level=error&format=ndjson', 200],
      ['file=plain.txt&level=error', 400],
      [`file=plain.txt&after=${gone}`, 410],
      ['file=none.log.gz', 200],
      ['file=nothing.log&lines=3', 404],
    ] as const) {
      const path = `/api/v1/log/view?${query}`
      const head = await app.request(path, { method: 'HEAD' })
      const get = await app.request(path)
      expect([query, head.status, get.status]).toEqual([query, status, status])
      expect(await head.text()).toBe('')
      for (const name of ['Content-Type', 'Link', 'ETag'])
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)])
    }
  })
})
