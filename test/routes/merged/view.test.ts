import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'

const at = (second: number) => `2026-11-16 02:41:${String(second).padStart(2, '0')}.000`
const line = (second: number, text: string, level = 'INFO') =>
  `${at(second)}\t${level}\ta.go:1\t[A]: ${text}\n`

const FILES = {
  'broker.log': `${line(1, 'one') + line(4, 'four', 'ERROR')}\tat deep()\n${line(7, 'seven')}`,
  'broker.log.1': line(0, 'zero'),
  'storage.log': line(2, 'two') + line(4, 'also four', 'WARN') + line(6, 'six'),
  'notes.txt': 'no time here\nnor here\n',
  'empty.log': '',
}

function service(files: Record<string, string> = FILES, more: object = {}) {
  const store = memoryStore(files)
  const app = createApp({ logs: store, config: '', ...more })
  const get = (query: string, headers: Record<string, string> = {}) =>
    app.request(`http://localhost/api/v1/log/${query}`, { headers })
  return { store, get }
}

const records = async (response: Response) =>
  (await response.text())
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text) as { file: string; message: string; late?: true })

describe('view of several logs', () => {
  it('puts the source and a tab in front of each line, in order of time', async () => {
    const { get } = service()
    const response = await get('view?file=broker.log&file=storage.log')
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toBe(
      [
        `broker.log\t${line(0, 'zero')}`,
        `broker.log\t${line(1, 'one')}`,
        `storage.log\t${line(2, 'two')}`,
        `broker.log\t${line(4, 'four', 'ERROR')}broker.log\t\tat deep()\n`,
        `storage.log\t${line(4, 'also four', 'WARN')}`,
        `storage.log\t${line(6, 'six')}`,
        `broker.log\t${line(7, 'seven')}`,
      ].join(''),
    )
  })

  it('has the file in each record', async () => {
    const { get } = service()
    const found = await records(await get('view?file=*.log&format=ndjson&lines=3'))
    expect(found.map(({ file, message }) => [file, message])).toEqual([
      ['storage.log', 'also four'],
      ['storage.log', 'six'],
      ['broker.log', 'seven'],
    ])
  })

  it('names what is missing, and why', async () => {
    const { get } = service()
    const response = await get('view?file=*&file=gone.log&lines=1')
    expect(response.status).toBe(200)
    expect(response.headers.get('X-Nodestate-Missing')).toBe('gone.log;unknown-file, notes.txt;no-time')
  })

  it('names a log that was deleted between two pages once, whether by name or by pattern', async () => {
    for (const files of ['file=broker.log&file=storage.log&file=other.log', 'file=*.log']) {
      const { store, get } = service({ ...FILES, 'other.log': line(5, 'five') })
      const page = await get(`view?${files}&lines=2`)
      store.delete('storage.log')
      const response = await get(`view${/<([^>]*)>; rel="prev"/.exec(page.headers.get('Link')!)![1]}`)
      expect(response.headers.get('X-Nodestate-Missing')).toBe('storage.log;gone')
      expect(await response.text()).toContain('five')
    }
  })

  it('names a deleted log of a cursor that is too long for names', async () => {
    const names = Array.from({ length: 31 }, (_, i) => `${'a-long-name-'.repeat(2)}${i}.log`)
    const { store, get } = service(Object.fromEntries(names.map((name, i) => [name, line(i, name)])))
    const page = await get(`view?${names.map((name) => `file=${name}`).join('&')}&lines=2`)
    store.delete(names[3]!)
    const response = await get(`view${/<([^>]*)>; rel="prev"/.exec(page.headers.get('Link')!)![1]}`)
    expect(response.headers.get('X-Nodestate-Missing')).toBe(`${names[3]};gone`)
  })

  it('takes a cursor for fewer or other logs, but not for none of its own', async () => {
    const { get } = service({ ...FILES, 'other.log': line(5, 'five') })
    const page = await get('view?file=broker.log&file=storage.log&lines=1')
    const before = /before=([^>]*)>/.exec(page.headers.get('Link')!)![1]
    const fewer = await get(`view?file=broker.log&file=other.log&lines=1&before=${before}`)
    expect(fewer.headers.get('X-Nodestate-Missing')).toBeNull()
    expect(await fewer.text()).toBe(`other.log\t${line(5, 'five')}`)
    const none = await get(`view?file=o*.log&lines=1&before=${before}`)
    expect(none.status).toBe(400)
    expect(await none.json()).toMatchObject({ type: '/problems/bad-cursor' })
  })

  it('merges a pattern that matches one log, and answers one log as it always did', async () => {
    const { get } = service({ 'broker.log': line(1, 'one'), 'what?.log': line(2, 'two') })
    expect(await (await get('view?file=brok*')).text()).toBe(`broker.log\t${line(1, 'one')}`)
    expect(await (await get('view?file=broker.log&file=broker.log')).text()).toBe(line(1, 'one'))
    expect(await (await get('view?file=what%3F.log')).text()).toBe(line(2, 'two'))
  })

  it.each([
    ['a pattern that matches nothing', 'view?file=*.txt&file=broker.log', 404, 'unknown-file'],
    ['names of no log', 'view?file=x&file=y', 404, 'unknown-file'],
    ['a cursor of one log', 'view?file=*&after=ZjBoMS80MDk2LzAvMC8wLy9icm9rZXIubG9n', 400, 'bad-cursor'],
    ['no cursor at all', 'view?file=*&before=abc', 400, 'bad-cursor'],
    ['counts by node', 'histogram?file=*&by=node', 400, 'bad-parameter'],
    ['counts by something else', 'histogram?file=*&by=weather', 400, 'bad-parameter'],
    ['a level that no log has', 'view?file=notes*&level=error', 400, 'no-level'],
  ])('refuses %s', async (_, query, status, code) => {
    const { get } = service({ 'broker.log': line(1, 'one'), notes: 'nothing\n' })
    const response = await get(query)
    expect(response.status).toBe(status)
    expect(((await response.json()) as { type: string }).type).toBe(`/problems/${code}`)
  })

  it('refuses links with places in more logs than fit into a head, and counts as many', async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`s${1000 + i}.log`, line(1, 'x')]))
    const { get } = service(many)
    const refused = await get('view?file=*&lines=1')
    expect(refused.status).toBe(400)
    const problem = (await refused.json()) as { type: string; detail: string }
    expect(problem.type).toBe('/problems/too-many-sources')
    expect(problem.detail).toMatch(/300 logs, and take about \d{3}; name fewer, or use a narrower pattern/)
    expect((await get('view?file=s10*')).status).toBe(200)
    const chart = (await (await get('histogram?file=*')).json()) as { buckets: { counts: number[] }[] }
    expect(chart.buckets.flatMap(({ counts }) => counts).reduce((a, b) => a + b, 0)).toBe(300)
  })

  it('pages, with links that stay short', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 32 }, (_, i) => [
        `service-${String.fromCharCode(97 + i)}.storage.log`,
        line(i % 60, `x${i}`).repeat(40),
      ]),
    )
    const { get } = service(many)
    let link = 'view?file=*&lines=100'
    let lines = 0
    for (;;) {
      const response = await get(link)
      const header = response.headers.get('Link')!
      expect(header.length).toBeLessThan(4096)
      lines += (await response.text()).split('\n').length - 1
      const prev = /<([^>]*)>; rel="prev"/.exec(header)?.[1]
      if (!prev) break
      link = `view${prev}`
    }
    expect(lines).toBe(32 * 40)
  })

  it.each(['joined from objects', 'named one by one'])(
    'pages, with links that stay short where logs have long names and are %s',
    async (kind) => {
      const isJoined = kind === 'joined from objects'
      const names = Array.from({ length: 32 }, (_, i) => `service-with-a-rather-long-name-${100 + i}`)
      const keys = names.flatMap((name, i) =>
        Array.from({ length: 3 }, (_, n) => {
          const uuid = `0f8fad5b-d9cb-469f-a165-70867728${1000 + 3 * i + n}`
          const time = Date.UTC(2026, 10, 16, 2, 41, n) / 1000
          return isJoined
            ? `${name}/date=2026-11-16/${time}-${uuid}.log`
            : `${name}.log${['.2', '.1', ''][n]}`
        }),
      )
      const texts = keys.map((key, i) => [key, line(i % 3, `${key} a`) + line(i % 3, `${key} b`)] as const)
      const { get } = service(Object.fromEntries(texts), { join: isJoined })
      const given = names.map((name) => `file=${name}${isJoined ? '' : '.log'}`).join('&')
      const found: string[] = []
      let longest = 0
      for (let link: string | undefined = `view?${given}&lines=23&format=ndjson`; link; ) {
        const response = await get(link)
        expect(response.status).toBe(200)
        expect(response.headers.get('X-Nodestate-Missing')).toBeNull()
        const header: string = response.headers.get('Link')!
        longest = Math.max(longest, header.length)
        found.push(...(await records(response)).map(({ message }) => message))
        const prev: string | undefined = /<([^>]*)>; rel="prev"/.exec(header)?.[1]
        link = prev && `view${prev}`
      }
      expect(longest).toBeLessThan(4096)
      expect(longest).toBeGreaterThan(2000)
      expect(found.sort()).toEqual(keys.flatMap((key) => [`${key} a`, `${key} b`]).sort())
    },
  )

  it('is not sent again while nothing changes', async () => {
    const { store, get } = service()
    const response = await get('view?file=*.log')
    const etag = response.headers.get('ETag')!
    expect((await get('view?file=*.log', { 'If-None-Match': etag })).status).toBe(304)
    store.put('storage.log', FILES['storage.log'] + line(9, 'nine'))
    expect((await get('view?file=*.log', { 'If-None-Match': etag })).status).toBe(200)
  })

  it('knows only the files of the token', async () => {
    const tokens = [{ name: 'b', token: 'secret-of-b', files: ['broker*'] }]
    const { get } = service(FILES, { tokens: () => tokens })
    const response = await get('view?file=*.log&file=storage.log', { Authorization: 'Bearer secret-of-b' })
    expect(response.headers.get('X-Nodestate-Missing')).toBe('storage.log;unknown-file')
    expect(await response.text()).not.toContain('storage')
  })
})

describe('histogram and fields of several logs', () => {
  it('sums counts by level, and splits them by file', async () => {
    const { get } = service()
    const byLevel = (await (await get('histogram?file=*.log&step=10s')).json()) as {
      levels: string[]
      buckets: { counts: number[] }[]
    }
    expect(byLevel.levels).toEqual(['debug', 'info', 'warn', 'error', 'fatal', 'none'])
    expect(byLevel.buckets.map(({ counts }) => counts)).toEqual([[0, 5, 1, 1, 0, 0]])
    const byFile = (await (await get('histogram?file=*.log&step=10s&by=file')).json()) as {
      files: string[]
      levels?: string[]
      buckets: { counts: number[] }[]
    }
    expect(byFile.files).toEqual(['broker.log', 'empty.log', 'storage.log'])
    expect(byFile.levels).toBeUndefined()
    expect(byFile.buckets.map(({ counts }) => counts)).toEqual([[4, 0, 3]])
    const one = (await (await get('histogram?file=storage.log&step=10s&by=file')).json()) as {
      files: string[]
    }
    expect(one.files).toEqual(['storage.log'])
  })

  it('counts the fields of all of them', async () => {
    const { get } = service()
    const response = await get('fields?file=*')
    expect(response.headers.get('X-Nodestate-Missing')).toBe('notes.txt;no-time')
    const found = (await response.json()) as {
      records: number
      fields: { name: string; values: { value: string; count: number }[] }[]
    }
    expect(found.records).toBe(7)
    expect(found.fields.find(({ name }) => name === 'level')!.values[0]).toEqual({ value: 'info', count: 5 })
  })
})
