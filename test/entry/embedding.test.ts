import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type ServerType, serve } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { fsStore } from '../../src/store/fs.ts'
import { createApp } from '../support/app.ts'
import { BREAKING, brokenArchive, expectCut, expectWhole } from '../support/broken-archive.ts'

// Before @hono/node-server replaces it.
const platformResponse = globalThis.Response
const logs = brokenArchive()
const app = createApp({ logs: fsStore(logs.directory), config: '', onError() {} })
const outer = new Hono()
outer.route('/route', app)
outer.mount('/mount', app.fetch)
// A middleware that sets a header makes Hono rebuild the response.
const dressed = new Hono()
dressed.use(async (c, next) => {
  c.header('X-Before', '1')
  await next()
  c.header('X-After', '1')
})
dressed.route('/', app)
outer.route('/dressed', dressed)
outer.route('/', app)

let server: ServerType
let port: number
beforeAll(async () => {
  port = await new Promise<number>((resolve) => {
    server = serve({ fetch: outer.fetch, port: 0, hostname: '127.0.0.1' }, (address) => resolve(address.port))
  })
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  logs.remove()
})

describe.each([
  ['serve(app)', ''],
  ['route()', '/route'],
  ['mount()', '/mount'],
  ['a middleware', '/dressed'],
])('an app behind %s of @hono/node-server', (_, base) => {
  it.each(BREAKING)('cuts a broken answer (%s)', (query) => expectCut(port, base, query))
  it('sends a good answer whole', () => expectWhole(port, base))
})

describe("a handler with the platform's own Response", () => {
  let plain: Server
  let replaced: typeof Response
  beforeAll(async () => {
    replaced = globalThis.Response
    globalThis.Response = platformResponse
    plain = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }))
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    globalThis.Response = replaced
    await new Promise((resolve) => plain.close(resolve))
  })

  it.each(BREAKING)('cuts a broken answer (%s)', (query) =>
    expectCut((plain.address() as AddressInfo).port, '', query),
  )
})
