import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { page } from '../../../src/doors/page.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { type Browser, launchBrowser, missingBrowser } from './browser.ts'

const line = '2026-11-15 02:10:00.123\tINFO\tquery/broker.go:12\t[Broker] [Query]: it works\n'
const app = createApp({ logs: memoryStore({ 'broker.log': line }), config: 'a = 1\n', page })
const outer = new Hono()
outer.route('/route', app)
outer.mount('/mount', app.fetch)
const listen = getRequestListener(outer.fetch)
const express = getRequestListener(app.fetch)

describe.skipIf(missingBrowser)(
  `the page of a mounted app${missingBrowser ? ` (${missingBrowser})` : ''}`,
  { timeout: 90_000 },
  () => {
    let server: Server
    let browser: Browser
    beforeAll(async () => {
      server = createServer((request, response) => {
        // As Express does it: a mounted handler sees the URL without the path of its mount.
        const rest = /^\/express(?=[/?]|$)(.*)$/.exec(request.url!)?.[1]
        if (rest === undefined) return void listen(request, response)
        request.url = rest.startsWith('/') ? rest : `/${rest}`
        void express(request, response)
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      browser = await launchBrowser()
    })
    afterAll(async () => {
      await browser?.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })

    it.each(['/express', '/express/', '/route', '/route/', '/mount', '/mount/'])(
      'shows its logs at %s',
      async (path) => {
        const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
        const shown = await browser.open(`${origin}${path}#file=broker.log`)
        await shown.locator('.row').filter({ hasText: 'it works' }).waitFor()
        expect(browser.wrongs.splice(0)).toEqual([])
        await shown.context().close()
      },
    )
  },
)
