import { expect, test } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'

const line = (second: number, text: string) => `2026-11-15 00:00:0${second}.000\tINFO\ta.go:1\t[A]: ${text}\n`
const OPEN = { 'a.log': line(1, 'a'), 'c.log': line(3, 'c') }
const HIDDEN = {
  'hidden.log': line(2, 'hidden'),
  'a.log.1': line(0, 'hidden'),
  ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`h${i}.log`, line(2, 'hidden')])),
}
const tokens = [{ name: 'reader', token: 'tok-0123456789abcdef', files: ['a.log', 'c.log'] }]
const nodeWith = (files: Record<string, string>) =>
  createApp({ logs: memoryStore(files), config: '', tokens: () => tokens })
const [full, without] = [nodeWith({ ...OPEN, ...HIDDEN }), nodeWith(OPEN)]

async function answerOf(app: typeof without, path: string) {
  const headers = { Authorization: `Bearer ${tokens[0]!.token}` }
  const response = await app.request(`/api/v1/log/${path}`, { headers })
  const told = ['X-Nodestate-Missing', 'X-Nodestate-Note'].map((name) => response.headers.get(name))
  return [response.status, told, await response.text()]
}

test.each([
  'view?file=*',
  'view?file=h*',
  'view?file=hidden.log',
  'view?file=hidden.log&file=a.log',
  'view?file=a.log&file=hidden.lo*',
  'view?file=hidden.log&file=h1.log',
  'view?file=*&download=true',
  'view?file=*&format=ndjson&raw=true',
  'view?file=a.log&rotated=true',
  'histogram?file=*&by=file',
  'fields?file=*',
])('a token cannot tell from %s whether there are files that it may not read', async (path) => {
  const answer = await answerOf(full, path)
  expect(answer).toEqual(await answerOf(without, path))
  expect(String(answer[2])).not.toContain(']: hidden')
})
