import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listener } from '../../src/entry/node.ts'
import { createApp } from '../../src/index.ts'
import { memoryStore } from '../../src/store/memory.ts'

const answer = listener(createApp({ logs: memoryStore({ 'a.log': 'one\ntwo\n' }), config: 'a = 1\n' }))
const server = createServer((request, response) => {
  if (request.url === '/own') response.end('own')
  else void answer(request, response)
})
let base: string
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

it('listener(app) answers the requests of a server of your own', async () => {
  expect(await (await fetch(`${base}/own`)).text()).toBe('own')
  const view = await fetch(`${base}/api/v1/log/view?file=a.log`)
  expect([view.status, await view.text()]).toEqual([200, 'one\ntwo\n'])
  const head = await fetch(`${base}/api/v1/log/view?file=a.log`, { method: 'HEAD' })
  expect([head.status, await head.text(), head.headers.get('content-type')]).toEqual([
    200,
    '',
    'text/plain; charset=utf-8',
  ])
  expect((await fetch(`${base}/api/v1/log/list`, { method: 'POST' })).status).toBe(405)
})

it('refuses what is no app', () => {
  // @ts-expect-error an app is made first
  expect(() => listener(createApp)).toThrow('pass an app')
})
