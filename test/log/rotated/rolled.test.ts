import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { parseDashed } from '../../../src/log/rotated/names.ts'
import { fsStore } from '../../../src/store/fs.ts'
import { createApp } from '../../support/app.ts'
import { numbersOf } from '../../support/log-clients.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodestate-rolled-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const START = Date.UTC(2026, 10, 15, 2)
const line = (n: number, at = START + n * 1000) =>
  `${new Date(at).toISOString().replace('T', ' ').slice(0, 23).replace('.', ',')} INFO [main] a.B - number ${n} end\n`
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => line(from + i)).join('')
const write = (name: string, text: string) =>
  writeFileSync(join(folder, name), name.endsWith('.gz') ? gzipSync(text) : text)
const app = () => createApp({ logs: fsStore(folder), config: '' })

async function whole(file: string): Promise<number[]> {
  const response = await app().request(`/api/v1/log/view?file=${file}&rotated=true&format=text`)
  expect(response.status).toBe(200)
  return numbersOf(await response.text())
}

async function logs(): Promise<Record<string, string>> {
  const list = (await (await app().request('/api/v1/log/list?detail=true')).json()) as {
    name: string
    log: string
  }[]
  return Object.fromEntries(list.map(({ name, log }) => [name, log]))
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

it.each([
  ['rising', ['core-1.log', 'core-2.log', 'core-3.log']],
  ['falling', ['core-3.log', 'core-2.log', 'core-1.log']],
  ['rising beyond nine, compressed', ['core-8.log.gz', 'core-9.log.gz', 'core-10.log']],
])('numbers after a dash are one log: %s', async (_, names) => {
  for (const [i, name] of names.entries()) write(name, lines(i * 100, i * 100 + 100))
  write('core.log', lines(300, 350))
  expect(await whole('core.log')).toEqual(numbers(0, 350))
  expect(await whole(names[1]!)).toEqual(numbers(0, 200))
  expect(await logs()).toEqual(Object.fromEntries([...names, 'core.log'].map((name) => [name, 'core.log'])))
})

it('an empty active file is the newest', async () => {
  write('core-1.log', lines(0, 10))
  write('core-2.log', lines(10, 20))
  write('core.log', '')
  expect(await whole('core.log')).toEqual(numbers(0, 20))
})

it('a page after a cursor does not say that its file is gone before the log has a new one', async () => {
  write('core-1.log', lines(0, 10))
  write('core.log', lines(10, 20))
  const service = app()
  const first = await service.request('/api/v1/log/view?file=core.log')
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('Link')!)![1]!
  renameSync(join(folder, 'core.log'), join(folder, 'core-2.log'))
  const url = new URL(next, 'http://localhost/api/v1/log/view').href
  expect((await service.request(url)).status).toBe(404)
  const events = {
    headers: { Accept: 'text/event-stream', 'Last-Event-ID': new URL(url).searchParams.get('after')! },
  }
  const following = service.request('/api/v1/log/view?file=core.log&follow=true', events)
  await new Promise((resolve) => setTimeout(resolve, 100))
  write('core.log', lines(20, 30))
  expect(numbersOf(await (await service.request(url)).text())).toEqual(numbers(20, 30))
  const reader = (await following).body!.getReader()
  let text = ''
  while (!text.includes('number 29 ')) text += new TextDecoder().decode((await reader.read()).value)
  await reader.cancel()
  expect(numbersOf(text)).toEqual(numbers(20, 30))
  expect(text).not.toContain('event: gap')
})

it.each([
  ['with an active file', true],
  ['without one', false],
])('logs whose times overlap stay apart, %s', async (_, active) => {
  for (const worker of [1, 2])
    write(
      `worker-${worker}.log`,
      Array.from({ length: 50 }, (_, i) => line(worker * 1000 + i, START + i * 1000 + worker)).join(''),
    )
  if (active) write('worker.log', lines(0, 50))
  expect(await whole('worker-1.log')).toEqual(numbers(1000, 1050))
  expect(await whole('worker-2.log')).toEqual(numbers(2000, 2050))
  if (active) expect(await whole('worker.log')).toEqual(numbers(0, 50))
  for (const [name, log] of Object.entries(await logs())) expect(log).toBe(name)
})

it('parseDashed', () => {
  expect(parseDashed('core-12.log.gz')).toEqual({ stem: 'core.log', date: '', index: 12, compressed: true })
  for (const name of ['core.log', 'core-1', 'core-1.log.2', 'core-2026-11-15.log', 'a-1234567.log'])
    expect(parseDashed(name), name).toBe(null)
})
