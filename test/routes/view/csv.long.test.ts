import { describe, expect, it } from 'vitest'
import { createClient } from '../../../src/doors/client.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp, createFleet } from '../../support/app.ts'
import { csvRecords, readCsv } from '../../support/csv.ts'
import { wholes } from '../../support/random.mjs'

const LINDB = (second: number, message: string, context = '') =>
  `2026-11-15 02:10:${String(second).padStart(2, '0')}.000\tINFO\ta/b.go:12\t[Broker] [Query]: ${message}${context && `\t${context}`}\n`
const LOG = [
  LINDB(1, 'plain', '{"status":200,"path":"/a","deep":{"key":"x"},"none":null,"list":[1,2]}'),
  LINDB(2, 'with "quotes", commas', '{"status":500,"level":"field","ratio":1.50,"id":12345678901234567890}'),
  LINDB(3, '=HYPERLINK("http://x")'),
  LINDB(4, '-5', '{"status":-7.5}'),
  LINDB(5, 'stack\n  at one\n  at two'),
].join('')

const app = createApp({
  logs: memoryStore({
    'a.log': LOG,
    'b.log': LINDB(3, 'other'),
    'json.log': '{"time":"2026-11-15T02:10:00Z","level":"info","msg":"hello","file":"x.c","n":"null"}\n',
    'access.log': '192.0.2.1 - - [15/Nov/2026:02:10:00 +0000] "GET /x HTTP/1.1" 404 12\n',
    'empty.log': '',
  }),
  config: '',
})
const get = (query: string, headers: Record<string, string> = {}) =>
  app.request(`/api/v1/log/view?${query}`, { headers })
async function rows(query: string): Promise<string[][]> {
  const response = await get(`${query}&format=csv`)
  expect(response.status, await response.clone().text()).toBe(200)
  expect(response.headers.get('Content-Type')).toBe('text/csv; charset=utf-8; header=present')
  return readCsv(await response.text())
}

describe('a page as CSV', () => {
  it('has a header and, by default, time, level and message', async () => {
    expect(await rows('file=a.log')).toEqual([
      ['time', 'level', 'message'],
      ['2026-11-15T02:10:01.000Z', 'info', 'plain'],
      ['2026-11-15T02:10:02.000Z', 'info', 'with "quotes", commas'],
      ['2026-11-15T02:10:03.000Z', 'info', `'=HYPERLINK("http://x")`],
      ['2026-11-15T02:10:04.000Z', 'info', '-5'],
      ['2026-11-15T02:10:05.000Z', 'info', 'stack\n  at one\n  at two'],
    ])
  })
  it('has the columns that are wanted: members, then fields, as the log writes them', async () => {
    const table = await rows(
      'file=a.log&lines=5&columns=status,level,deep.key,none,list,source,tag,ratio,id,tags',
    )
    expect(table.slice(1, 3)).toEqual([
      ['200', 'info', 'x', 'null', '[1,2]', 'a/b.go:12', 'Broker, Query', '', '', '["Broker","Query"]'],
      [
        '500',
        'info',
        '',
        '',
        '',
        'a/b.go:12',
        'Broker, Query',
        '1.50',
        '12345678901234567890',
        '["Broker","Query"]',
      ],
    ])
    expect((await rows('file=access.log&columns=status,client,path')).at(1)).toEqual([
      '404',
      '192.0.2.1',
      '/x',
    ])
    expect((await rows('file=json.log&columns=file,msg,message,n')).at(1)).toEqual([
      'x.c',
      'hello',
      'hello',
      'null',
    ])
    expect((await rows('file=a.log&columns=time,%20level&lines=1')).at(0)).toEqual(['time', 'level'])
  })
  it('never begins a cell like a formula, unless it is a number', async () => {
    const values = [
      '=1',
      '+1',
      '-1',
      '@a',
      '\tx',
      '\rx',
      '+1e5',
      '-.5',
      '-1,5',
      '-',
      '+',
      '--1',
      '1',
      ' =1',
      "'=1",
    ]
    const lines = values.map((value, i) => LINDB(i, 'x', JSON.stringify({ value })))
    const one = createApp({ logs: memoryStore({ 'a.log': lines.join('') }), config: '' })
    const text = await (await one.request('/api/v1/log/view?file=a.log&format=csv&columns=value,=cmd')).text()
    const escaped = [
      "'=1",
      '+1',
      '-1',
      "'@a",
      "'\tx",
      "'\rx",
      '+1e5',
      '-.5',
      "'-1,5",
      "'-",
      "'+",
      "'--1",
      '1',
      ' =1',
      "'=1",
    ]
    expect(readCsv(text)).toEqual([['value', "'=cmd"], ...escaped.map((cell) => [cell, ''])])
  })
  it('has a row for every record, even if its only cell is empty', async () => {
    const response = await get('file=a.log&format=csv&columns=path')
    expect(await response.text()).toBe('path\r\n/a\r\n""\r\n""\r\n""\r\n""\r\n')
  })
  it('says that no record has a column', async () => {
    const note = async (query: string) => {
      const response = await get(`${query}&format=csv`)
      await response.text()
      return response.headers.get('X-Nodestate-Note')
    }
    expect(await note('file=a.log&columns=time,planet')).toBe('unknown-field')
    expect(await note('file=a.log&columns=time,file')).toBe('unknown-field')
    expect(await note('file=a.log&columns=time,path,raw,ansi')).toBe(null)
    expect(await note('file=a.log&columns=time,path&q=quotes')).toBe('unknown-field')
    expect(await note('file=a.log&columns=planet&download=true')).toBe('unknown-field')
    expect(await note('file=a.log&columns=status&download=true')).toBe(null)
    expect(await note('file=a.log&file=b.log&columns=planet')).toBe('unknown-field')
    expect(await note('file=a.log&file=b.log&columns=planet&download=true')).toBe('unknown-field')
    expect(await note('file=a.log&file=b.log&columns=file,late,path')).toBe(null)
    expect(await note('file=empty.log&columns=planet')).toBe(null)
  })
  it('is what Accept asks for, and every page has a header', async () => {
    const response = await get('file=a.log&lines=2', { Accept: 'text/csv' })
    expect(response.headers.get('Vary')).toBe('Accept')
    const table = readCsv(await response.text())
    expect(table.map((row) => row.at(-1))).toEqual(['message', '-5', 'stack\n  at one\n  at two'])
    const [, prev] = /<([^>]*)>; rel="prev"/.exec(response.headers.get('Link')!)!
    const before = await app.request(`/api/v1/log/view${prev}`, { headers: { Accept: 'text/csv' } })
    expect(readCsv(await before.text()).map((row) => row.at(-1))).toEqual([
      'message',
      'with "quotes", commas',
      `'=HYPERLINK("http://x")`,
    ])
    expect(await rows('file=empty.log')).toEqual([['time', 'level', 'message']])
    expect(await rows('file=a.log&q=nothing')).toEqual([['time', 'level', 'message']])
    expect(
      (await get('file=a.log', { Accept: 'text/csv, application/x-ndjson' })).headers.get('Content-Type'),
    ).toBe('application/x-ndjson')
    const text = await get('file=a.log&format=text', { Accept: 'text/csv' })
    expect(text.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
  })
  it('links to pages with the same columns, and has a tag', async () => {
    const response = await get('file=a.log&lines=1&format=csv&columns=level,status')
    expect(response.headers.get('Link')).toContain('format=csv&columns=level%2Cstatus')
    const etag = response.headers.get('ETag')!
    expect(
      (await get('file=a.log&lines=1&format=csv&columns=level,status', { 'If-None-Match': etag })).status,
    ).toBe(304)
    expect((await get('file=a.log&lines=1&format=ndjson', { 'If-None-Match': etag })).status).toBe(200)
  })
  it.each([
    ['format=csv&follow=true', 'follow'],
    ['columns=time', 'format=csv'],
    ['format=ndjson&columns=time', 'format=csv'],
    ['format=csv&columns=time,,level', 'empty name'],
    [`format=csv&columns=${Array(101).fill('a').join()}`, '101'],
  ])('%s is a 400', async (query, says) => {
    for (const files of ['file=a.log', 'file=a.log&file=b.log']) {
      const response = await get(`${files}&${query}`)
      expect(response.status).toBe(400)
      expect(((await response.json()) as { detail: string }).detail).toContain(says)
    }
  })
})

describe('CSV', () => {
  it('of several logs and of a fleet says where a record comes from', async () => {
    expect(
      (await rows('file=a.log&file=b.log&since=2026-11-15T02:10:03Z&until=2026-11-15T02:10:04Z')).slice(0, 3),
    ).toEqual([
      ['file', 'time', 'level', 'message'],
      ['a.log', '2026-11-15T02:10:03.000Z', 'info', `'=HYPERLINK("http://x")`],
      ['b.log', '2026-11-15T02:10:03.000Z', 'info', 'other'],
    ])
    const store = memoryStore({ 'db-1/logs/a.log': LINDB(1, 'one'), 'db-2/logs/a.log': LINDB(2, 'two') })
    const fleet = createFleet({ store })
    const table = async (query: string) =>
      readCsv(await (await fleet.request(`/api/v1/log/view?node=*&file=a.log&${query}`)).text())
    expect(await table('format=csv')).toEqual([
      ['node', 'file', 'time', 'level', 'message'],
      ['db-1', 'a.log', '2026-11-15T02:10:01.000Z', 'info', 'one'],
      ['db-2', 'a.log', '2026-11-15T02:10:02.000Z', 'info', 'two'],
    ])
    expect(await table('format=csv&columns=message,node&download=true')).toEqual([
      ['message', 'node'],
      ['one', 'db-1'],
      ['two', 'db-2'],
    ])
  })
  it('as a file has one header', async () => {
    const response = await get('file=a.log&format=csv&download=true')
    expect(response.headers.get('Content-Disposition')).toContain('filename="a.log.csv"')
    expect(await response.text()).toBe(await (await get('file=a.log&format=csv')).text())
    const merged = await get('file=a.log&file=b.log&format=csv&download=true')
    expect(merged.headers.get('Content-Disposition')).toContain('filename="timeline.csv"')
    expect(await merged.text()).toBe(await (await get('file=a.log&file=b.log&format=csv')).text())
    const none = await get('file=a.log&file=b.log&format=csv&download=true&q=nothing')
    expect(await none.text()).toBe('file,time,level,message\r\n')
    const one = await get('file=a.log&format=csv&download=true&q=nothing')
    expect(await one.text()).toBe('time,level,message\r\n')
  })
  it('comes from the client, too', async () => {
    const client = createClient({
      base: 'http://node',
      fetch: async (url, init) => app.request(String(url), init as RequestInit),
    })
    const page = await client.csv({ file: 'a.log', lines: 1, columns: ['level', 'planet'] })
    expect([page.content, page.notes]).toEqual(['level,planet\r\ninfo,\r\n', ['unknown-field']])
    const { body } = await client.export({ file: 'a.log', columns: ['status'] }, 'csv')
    expect(readCsv(await new Response(body).text()).flat()).toEqual(['status', '200', '500', '', '-7.5', ''])
  })

  /** Records of strange texts: the cells are those of NDJSON. */
  it.each([1, 2])('has the cells of NDJSON (seed %d)', async (seed) => {
    const pick = wholes(seed)
    const parts = ['\\"', ',', '\\n', 'ü', '漢', ' ', '=', '-', '😀', 'a', '7', "'", '\\t', '\\\\']
    const text = () => Array.from({ length: pick(6) }, () => parts[pick(parts.length)]).join('')
    const lines = Array.from({ length: 1500 }, (_, i) => {
      const time = new Date(Date.UTC(2026, 10, 15) + i * 1000).toISOString()
      const size = i % 500 === 7 ? 'x'.repeat(200_000) : ''
      return `{"time":"${time}","level":"warn","message":"${text()}${size}","a":"${text()}","b":${pick(100) - 50},"c":{"d":"${text()}"}}\n`
    })
    const one = createApp({ logs: memoryStore({ 'a.log': lines.join('') }), config: '' })
    const ask = async (query: string) => (await one.request(`/api/v1/log/view?file=a.log&${query}`)).text()
    const queries = [
      'size=100000000',
      'lines=1000',
      'q=7',
      'since=2026-11-15T00:10Z&until=2026-11-15T00:20Z',
      'download=true',
    ]
    for (const query of queries) {
      const table = csvRecords(await ask(`${query}&format=csv&columns=time,level,message,a,b,c.d,c`))
      const records = (await ask(`${query}&format=ndjson`))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(table.length, query).toBe(records.length)
      expect(records.length).toBeGreaterThan(100)
      for (const [i, { time, level, message, context }] of records.entries()) {
        const { a, b, c } = context
        const plain = { time, level, message, a, b: String(b), 'c.d': c.d, c: JSON.stringify(c) }
        const inner = /(;|\r?\n)(?=[\t\r]*[=+@-])(?![+-]?[\d.]+(?:e\d+)?(?:[;\r\n]|$))/g
        const marked = Object.entries(plain).map(
          ([name, cell]) => [name, cell.replace(inner, "$1'")] as const,
        )
        const escaped = marked.map(([name, cell]) => [
          name,
          /^[=+@\t\r-]/.test(cell) && !(cell.trim() === cell && Number.isFinite(Number(cell)))
            ? `'${cell}`
            : cell,
        ])
        expect(table[i]).toEqual(Object.fromEntries(escaped))
      }
    }
  })
})
