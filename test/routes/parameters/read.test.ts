import { describe, expect, it } from 'vitest'
import { type Parameter, type Resource, rowsOf } from '../../../src/core/parameter.ts'
import { queryReader as readerOf } from '../../../src/core/query.ts'
import { PARAMETERS } from '../../../src/routes/parameters/table.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'

const url = (query: string) => `http://a.example/view?${query}`
const queryReader = (resource: Resource, max: { size?: number } = {}) =>
  readerOf(resource, max, async () => PARAMETERS)
const view = queryReader('view')

describe('an empty where', () => {
  it.each(['view', 'histogram', 'fields', 'groups'] as Resource[])('is refused by %s', async (resource) => {
    for (const query of ['file=a.log&where=', 'file=a.log&where', 'file=a.log&where=a:1&where='])
      await expect(async () => queryReader(resource)(url(query))).rejects.toThrow(
        'The parameter where is ""; it must be a field',
      )
  })
})

describe('a reader that remembers the last URL', () => {
  const URLS = [
    'file=a.log',
    'file=a.log&size=4096',
    'file=a.log&size=0',
    'size=5&file=%61.log',
    'file=a.log&target=x',
    'file=a.log&oops=1',
    'file=a.log&level=error',
    'file=a.log&file=b.log',
    'size=5',
    'file=a.log&size=-1',
  ].map(url)

  it('reads as a new one, whatever it has read before', async () => {
    const outcome = async (read: typeof view, url: string) => {
      try {
        return await read(url)
      } catch (error) {
        return String(error)
      }
    }
    for (const first of URLS)
      for (const second of URLS)
        for (const next of [first, second])
          expect(await outcome(view, next), next).toEqual(await outcome(queryReader('view'), next))
  })
})

describe('the table of parameters', () => {
  it('names each parameter of a resource once', () => {
    for (const resource of ['config', 'list', 'view', 'histogram', 'groups', 'download'] as Resource[]) {
      const names = rowsOf(PARAMETERS, resource).map((row) => row.name)
      expect(new Set(names).size, resource).toBe(names.length)
    }
  })

  it.each(PARAMETERS.map((row): [string, Parameter] => [row.name, row]))(
    'has an example of %s that is accepted',
    async (name, row) => {
      for (const resource of row.on) {
        const rest = rowsOf(PARAMETERS, resource).filter((other) => other.required && other !== row)
        const query = new URLSearchParams([...rest, row].map(({ name, example }) => [name, example]))
        const read = await queryReader(resource)(url(String(query)))
        expect(read.given).toContain(name)
        expect(read.unknown).toBe(false)
      }
    },
  )

  it('has the same sentence for two names that expect the same', () => {
    const [since, until] = ['since', 'until'].map((name) => PARAMETERS.find((row) => row.name === name))
    expect((since as Parameter).expects).toBe((until as Parameter).expects)
  })
})

describe('reading a query', () => {
  it('gives values by their type, and nothing for what is absent or empty', async () => {
    expect(await view(url('file=a&lines=010&rotated&follow=0&format=NDJSON&q=x&q=y&since=&level='))).toEqual({
      file: 'a',
      lines: 10,
      rotated: true,
      follow: false,
      format: 'ndjson',
      q: ['x', 'y'],
      given: ['file', 'lines', 'rotated', 'follow', 'format', 'q', 'since', 'level'],
      unknown: false,
    })
  })

  it.each([
    ['size=x&file=a', 'The parameter size is "x"; it must be a decimal integer of 0 or more.'],
    ['file=a&size=1&size=2', 'The parameter size was given 2 times; give it once.'],
    [`file=a${'&regex=x'.repeat(33)}`, 'The parameter regex was given 33 times; give it at most 32 times.'],
    ['size=1', 'The parameter file is missing; it must be a name from the list of logs.'],
    ['file=', 'The parameter file is missing; it must be a name from the list of logs.'],
    ['file=a.log&file=', 'The parameter file is missing; it must be a name from the list of logs.'],
    ['file=&file=a.log', 'The parameter file is missing; it must be a name from the list of logs.'],
    ['file=a&rotated=maybe', 'The parameter rotated is "maybe"; it must be true or false.'],
    ['file=a&format=xml', 'The parameter format is "xml"; it must be one of text, ndjson, csv.'],
    [`file=a&q=${'x'.repeat(1001)}`, 'The parameter q has 1001 characters; at most 1000 are allowed.'],
  ])('refuses %s', async (query, sentence) => {
    await expect(async () => view(url(query))).rejects.toThrow(sentence)
    await expect(async () => view(url(query))).rejects.toThrow(sentence)
  })

  it('takes a maximum from the operator', async () => {
    const limited = queryReader('view', { size: 5 })
    expect((await limited(url('file=a&size=5'))).size).toBe(5)
    await expect(async () => limited(url('file=a&size=10'))).rejects.toThrow('maximum is 5')
    await expect(async () => limited(url('file=a&lines=1&size=10'))).rejects.toThrow('maximum is 5')
  })

  it('ignores what the resource does not know, and says so', async () => {
    for (const [query, unknown] of [
      ['file=a&levle=error', true],
      ['file=a&target=http%3A%2F%2Fdb&path=%2Fapi', false],
      ['file=a&target=x&_=1', true],
      ['file=a&__proto__=1', true],
      ['file=a&buckets=nonsense', true],
    ] as const)
      expect((await view(url(query))).unknown, query).toBe(unknown)
  })
})

describe('an answer to a request with an unknown parameter', () => {
  const app = createApp({ logs: memoryStore({ 'a.log': 'one\ntwo\n' }), config: '' })
  const noteOf = async (path: string, headers: Record<string, string> = {}) =>
    (await app.request(`/api/v1/${path}`, { headers })).headers.get('X-Nodestate-Note')

  it.each([
    'config?levle=error',
    'log/list?levle=error',
    'log/list?detail=true&levle=error',
    'log/view?file=a.log&levle=error',
    'log/view?file=a.log&levle=error&lines=1',
    'log/view?file=none.log&levle=error',
    'log/view?file=a.log&lines=1&regex=(&levle=error',
    'log/histogram?file=a.log&lines=5',
    'log/download?file=a.log&levle=error',
  ])('says so: %s', async (path) => {
    expect(await noteOf(path)).toBe('unknown-parameter')
  })

  it('is otherwise the same', async () => {
    const plain = await app.request('/api/v1/log/view?file=a.log&size=4')
    const noted = await app.request('/api/v1/log/view?file=a.log&size=4&levle=error')
    expect(await noted.text()).toBe(await plain.text())
    for (const name of ['ETag', 'Link', 'Content-Length', 'Content-Type'])
      expect(noted.headers.get(name)).toBe(plain.headers.get(name))
    const tag = { 'If-None-Match': plain.headers.get('ETag')! }
    expect(await noteOf('log/view?file=a.log&x=1', tag)).toBe('unknown-parameter')
    expect(await noteOf('log/view?file=a.log')).toBeNull()
    expect(await noteOf('log/view?file=a.log&target=x&path=y')).toBeNull()
  })

  it('keeps its other notes', async () => {
    const small = createApp({
      logs: memoryStore({ 'a.log': 'x\n'.repeat(3_000_000) }),
      config: '',
      limits: { scanBytes: 1000 },
    })
    const response = await small.request('/api/v1/log/view?file=a.log&q=none&levle=error')
    expect(response.headers.get('X-Nodestate-Note')).toBe('scan-budget, unknown-parameter')
  })
})
