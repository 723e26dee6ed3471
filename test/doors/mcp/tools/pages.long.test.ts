import { describe, expect, it } from 'vitest'
import { mcp } from '../../../../src/doors/mcp.ts'
import { memoryStore } from '../../../../src/store/memory.ts'
import { createApp } from '../../../support/app.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { toolsOf } from '../../../support/mcp.ts'

const NOW = Date.UTC(2026, 10, 16, 3)
const lineAt = (ms: number, text: string, level = 'INFO') =>
  `${new Date(ms).toISOString().replace('T', ' ').slice(0, 23)}\t${level}\ta.go:1\t[A]: ${text}\n`

/** A log of `count` records, one each second up to now. */
const logOf = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) =>
    lineAt(NOW - (count - i) * 1000, text(i), i % 10 ? 'INFO' : 'ERROR'),
  ).join('')

function toolsWith(files: Record<string, string>, options = {}) {
  const clock = manualClock(NOW)
  const app = createApp({ logs: memoryStore(files), config: 'a = 1\n', mcp, clock, ...options })
  return toolsOf((request) => app.fetch(request))
}

const cursorOf = (text: string) => /cursor="([^"]+)"/.exec(text)?.[1]
const numbersIn = (text: string) =>
  [...text.slice(text.indexOf('<log-data')).matchAll(/record (\d+)\b/g)].map(([, n]) => Number(n))

describe('search_logs', () => {
  const files = {
    'a.log': logOf(300, (i) => `record ${2 * i} ${'x'.repeat((i * 37) % 500)}`),
    'b.log': logOf(300, (i) => `record ${2 * i + 1}`),
  }

  it.each([
    ['newest', ['a.log', 'b.log']],
    ['oldest', ['a.log', 'b.log']],
    ['newest', ['a.log']],
    ['oldest', ['a.log']],
  ])('pages through %s of %j: every record once, every answer within its budget', async (order, file) => {
    const tools = toolsWith(files)
    const seen: number[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const text = await tools.call('search_logs', { file, order, limit: 80, cursor, max_chars: 5000 })
      expect(text.length).toBeLessThanOrEqual(5000)
      const numbers = numbersIn(text)
      seen.push(...(order === 'oldest' ? numbers : numbers.reverse()))
      cursor = cursorOf(text)
    } while (cursor && ++pages < 200)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.length).toBe(file.length * 300)
  })

  it('says which range, zone and logs were searched, and whether more exist', async () => {
    const text = await toolsWith(files, { timezone: 'Europe/Berlin' }).call('search_logs', {
      limit: 3,
      since: '2026-11-16 02:57',
      until: '2026-11-16 02:58',
    })
    expect(text).toContain('3 records, the newest ones; more exist')
    expect(text).toContain(
      'range: 2026-11-16T02:57:00.000+01:00 to 2026-11-16T02:58:00.000+01:00, zone Europe/Berlin',
    )
    expect(text).toContain('logs: *')
  })

  it('marks the data with a boundary that no log can know', async () => {
    const marks = await Promise.all(
      [1, 2].map(
        async () => /<(log-data-[0-9a-f]{16})>/.exec(await toolsWith(files).call('search_logs'))![1],
      ),
    )
    expect(marks[0]).not.toBe(marks[1])
  })

  it('says INCOMPLETE where a budget ended the search, and goes on from there', async () => {
    const long = { 'a.log': logOf(3000, (i) => `record ${i} ${'x'.repeat(2000)}`) }
    const tools = toolsWith(long, { limits: { scanBytes: 1024 * 1024 } })
    const text = await tools.call('search_logs', { q: 'record 7 ', since: '2h' })
    expect(text).toMatch(/^INCOMPLETE: /m)
    expect(cursorOf(text)).toMatch(/^older:/)
  })

  it('names logs that are not in the answer', async () => {
    const tools = toolsWith({ ...files, 'notes.txt': 'no times here\nat all\n' })
    const text = await tools.call('search_logs', { limit: 1 })
    expect(text).toContain('INCOMPLETE: "notes.txt" is not in this answer (no-time).')
  })

  it('shows a part of a record that is longer than the answer', async () => {
    const tools = toolsWith({ 'a.log': lineAt(NOW - 1000, Array(50).fill('y'.repeat(700)).join('\n')) })
    const text = await tools.call('search_logs', { max_chars: 1000 })
    expect(text.length).toBeLessThanOrEqual(1000)
    expect(text).toMatch(/yyy.*\[\+\d+ chars\]/s)
  })

  it('says what would help where nothing matches', async () => {
    const tools = toolsWith(files)
    expect(await tools.call('search_logs', { since: '2026-11-10', until: '2026-11-11' })).toContain(
      'a.log has records from 2026-11-16T02:55:00.000Z to 2026-11-16T02:59:59.000Z',
    )
    const text = await tools.call('search_logs', { level: 'fatal', q: ['record'], where: 'shard:17' })
    expect(text).toContain('info 540, error 60')
    expect(text).toContain('level="fatal" alone excludes every record')
    expect(text).toContain('where="shard:17" alone excludes every record')
    expect(text).not.toContain('q="record" alone')
    expect(text).not.toContain('did you mean')
    expect(await tools.call('search_logs', { where: 'levle:error' })).toContain(
      'a field levle: did you mean level?',
    )
  })

  it('refuses a cursor that is none', async () => {
    const tools = toolsWith(files)
    await expect(tools.call('search_logs', { cursor: '40' })).rejects.toThrow('copy it as it is')
    await expect(tools.call('search_logs', { cursor: 'older:nonsense' })).rejects.toThrow(/cursor/)
  })
})

describe('log_context', () => {
  const files = {
    'a.log': logOf(100, (i) => `record ${2 * i}`),
    'b.log': logOf(100, (i) => `record ${2 * i + 1}`),
  }

  it('has what is around a time, in all logs', async () => {
    const time = new Date(NOW - 50_000).toISOString()
    const text = await toolsWith(files).call('log_context', { time, before: 3, after: 4 })
    expect(numbersIn(text)).toEqual([97, 98, 99, 100, 101, 102, 103])
    expect(text).toContain('3 records before')
  })

  it('has what is around a cursor of a search', async () => {
    const tools = toolsWith(files)
    const found = await tools.call('search_logs', { limit: 2, q: 'record 1' })
    const first = numbersIn(found)[0]!
    const text = await tools.call('log_context', { cursor: cursorOf(found), before: 2, after: 2 })
    expect(numbersIn(text)).toEqual([first - 2, first - 1, first, first + 1])
  })

  it('stays within its budget, and wants one place', async () => {
    const tools = toolsWith({ 'a.log': logOf(300, (i) => `record ${i} ${'x'.repeat(400)}`) })
    const text = await tools.call('log_context', { time: '2m', before: 100, after: 100, max_chars: 3000 })
    expect(text.length).toBeLessThanOrEqual(3000)
    expect(numbersIn(text)).toContain(180)
    await expect(tools.call('log_context', {})).rejects.toThrow('must be given')
    await expect(tools.call('log_context', { time: '2m', cursor: 'older:x' })).rejects.toThrow('not both')
  })
})

describe('summaries', () => {
  it('count patterns with an example, and say what was not examined', async () => {
    const tools = toolsWith({ 'a.log': logOf(12_000, (i) => `record ${i} done`) })
    const text = await tools.call('log_patterns', { since: '1d' })
    expect(text).toContain('9000× info record <*> done')
    expect(text).toMatch(/e\.g\. record \d+ done/)
    expect(text).toMatch(
      /INCOMPLETE: Only the newest 10000 records of the range were examined, back to 2026-11-16T00:13:20/,
    )
    const few = await tools.call('log_patterns', { since: '10m' })
    expect(few).not.toContain('INCOMPLETE')
    expect(few).toContain('600 records in 2 patterns')
  })

  it('count over time, without zeros, and page through many rows', async () => {
    const tools = toolsWith({ 'a.log': lineAt(NOW - 3_000_000, 'x') + logOf(600, () => 'y') })
    const text = await tools.call('log_histogram', { step: '1m' })
    expect(text).toContain('601 records; each row is the beginning of 1m')
    expect(text.match(/^2026-.*/gm)).toHaveLength(11)
    expect(text).toContain('2026-11-16T02:50:00Z  info 54, error 6')
    const rows: string[] = []
    let cursor: string | undefined
    do {
      const page = await tools.call('log_histogram', { step: '1s', max_chars: 2000, cursor })
      expect(page.length).toBeLessThanOrEqual(2000)
      rows.push(...(page.match(/^2026-.*/gm) ?? []))
      cursor = cursorOf(page)
    } while (cursor)
    expect(rows).toHaveLength(601)
    expect(new Set(rows).size).toBe(601)
  })

  it('group by a field, with the distribution of a number', async () => {
    const line = (i: number) => `GET /p${i % 3}\t{"path":"/p${i % 3}","ms":${(i % 3) * 100}}`
    const tools = toolsWith({ 'a.log': logOf(90, line) })
    const text = await tools.call('log_groups', { by: 'path', of: 'ms', sort: 'max' })
    expect(text).toContain('90 records with the field path, in 3 groups')
    expect(text).toMatch(
      /^\/p2 {2}30 records, 3 errors {2}ms: min 200, median \d+(\.\d+)?, p95 .*, max 200$/m,
    )
    expect(text.indexOf('/p2  ')).toBeLessThan(text.indexOf('/p1  '))
    expect(await tools.call('log_groups', { by: 'color' })).toContain(
      'No record of the range has the field color',
    )
    await expect(tools.call('log_groups')).rejects.toThrow('The parameter by is missing')
    await expect(tools.call('log_groups', { by: 'path', sort: 'p95' })).rejects.toThrow(/of/)
  })

  it('list logs by their newest record, by pattern, and page by page', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 120 }, (_, i) => [`log-${i}.log`, lineAt(NOW - i * 1000, 'x')]),
    )
    const tools = toolsWith(files)
    const names: string[] = []
    let cursor: string | undefined
    do {
      const page = await tools.call('list_logs', { max_chars: 3000, cursor })
      names.push(...[...page.matchAll(/^(log-\d+\.log) /gm)].map(([, name]) => name!))
      cursor = cursorOf(page)
    } while (cursor)
    expect(names).toEqual(Array.from({ length: 120 }, (_, i) => `log-${i}.log`))
    expect(await tools.call('list_logs', { name: 'log-1?.log' })).toContain('10 of 120 logs')
  })

  it('show a long configuration page by page', async () => {
    const config = Array.from({ length: 2000 }, (_, i) => `key-${i} = ${i}`).join('\n')
    const app = createApp({ logs: memoryStore({}), config, mcp })
    const tools = toolsOf((request) => app.fetch(request))
    let text = ''
    let cursor: string | undefined
    do {
      const page = await tools.call('get_config', { cursor })
      expect(page.length).toBeLessThanOrEqual(12_000)
      text += page
      cursor = cursorOf(page)
    } while (cursor)
    for (const i of [0, 999, 1999]) expect(text).toContain(`key-${i} = ${i}\n`)
  })
})
