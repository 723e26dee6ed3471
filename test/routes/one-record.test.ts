import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp } from '../support/app.ts'

const trace = (lines: number) =>
  Array.from({ length: lines }, (_, i) => `\tat com.example.Service.call(Service.java:${i})\n`).join('')

const RECORDS = {
  stamped: '2026-11-15 02:10:00.123 ERROR [main] com.example.Main: failed\n',
  lindb: '2026-11-15 02:10:00.123\tERROR\tserver/main.go:7\t[Broker] [Runtime]: failed\n',
  postgresql: '2026-11-15 02:10:00.123 UTC [12] ERROR:  failed\n',
  json: '{"time":"2026-11-15T02:10:00.123Z","level":"error","msg":"failed"}\n',
  tidb: '[2026/11/15 02:10:00.123 +00:00] [ERROR] [main.go:7] ["failed"]\n',
}

const ask = async (files: Record<string, string>, query: string) => {
  const app = createApp({ logs: memoryStore(files), config: '' })
  return app.request(`http://localhost/api/v1/log/view?${query}`)
}

describe.each(Object.entries(RECORDS))('one record of %s', (_, line) => {
  it.each([1, 49, 50, 400, 5000])('with a stack trace of %i lines has a level and a time', async (lines) => {
    const text = line + trace(lines)
    for (const filter of ['level=error', 'since=2026-11-15T00:00:00Z&until=2026-11-16T00:00:00Z']) {
      const response = await ask({ 'x.log': text }, `file=x.log&${filter}`)
      expect([response.status, await response.text()]).toEqual([200, text])
    }
    const none = await ask({ 'x.log': text }, 'file=x.log&since=2026-11-16T00:00:00Z')
    expect([none.status, await none.text()]).toEqual([200, ''])
  })

  it('is in a timeline', async () => {
    const text = line + trace(300)
    const files = { 'x.log': text, 'y.log': '2026-11-15 02:11:00.000 INFO [main] other\n' }
    const response = await ask(files, 'file=x.log&file=y.log&level=error')
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('failed')
  })
})

it('the file before helps one that begins deep inside a stack trace', async () => {
  const rest = trace(300)
  const last = '2026-11-15 02:12:00.000 INFO [main] com.example.Main: up\n'
  const files = { 'x.log.1': RECORDS.stamped + trace(300), 'x.log': rest + last }
  const response = await ask(files, 'file=x.log&rotated=true&level=error')
  expect([response.status, await response.text()]).toEqual([200, RECORDS.stamped + trace(300) + rest])
})

it('a line that looks like a record among hundreds of others is none', async () => {
  const response = await ask(
    { 'x.log': `${'words and words\n'.repeat(400)}${RECORDS.stamped}` },
    'file=x.log&level=error',
  )
  expect(response.status).toBe(400)
})

it('lines below a mere time are lines of their own, unless they are indented', async () => {
  const output = Array.from({ length: 300 }, (_, i) => `copied file number ${i}\n`).join('')
  const found = await ask({ 'x.log': `Sun Nov 15 02:10:00 UTC 2026\n${output}` }, 'file=x.log&q=number%20217')
  expect(await found.text()).toBe('copied file number 217\n')
  const record = '2026-11-15 02:10:00.123 went wrong\n'
  const since = await ask({ 'x.log': record + trace(300) }, 'file=x.log&since=2026-11-15T00:00:00Z')
  expect([since.status, await since.text()]).toEqual([200, record + trace(300)])
})
