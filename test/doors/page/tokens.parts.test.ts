import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { page } from '../../../src/doors/page.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { type Browser, launchBrowser, missingBrowser } from './browser.ts'

const line = (text: string) => `2026-11-15 02:10:00.123\tINFO\tquery/broker.go:12\t[Broker]: ${text}\n`
const app = createApp({
  logs: memoryStore({ 'broker.log': line('for everyone'), 'storage.log': line('not for everyone') }),
  config: 'a = 1\n',
  page,
  tokens: () => [
    { name: 'all', token: 'token-of-all' },
    { name: 'broker', token: 'token-of-broker', scopes: ['logs'], files: ['broker*'] },
  ],
})

describe.skipIf(missingBrowser)(
  `the page with a named token${missingBrowser ? ` (${missingBrowser})` : ''}`,
  { timeout: 90_000 },
  () => {
    let server: Server
    let browser: Browser
    beforeAll(async () => {
      server = createServer(getRequestListener(app.fetch))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      browser = await launchBrowser()
    })
    afterAll(async () => {
      await browser?.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })

    it.each([
      ['all', ['broker.log', 'storage.log']],
      ['broker', ['broker.log']],
    ])('signs in as %s and shows what it may see', async (name, files) => {
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const shown = await browser.open(`${origin}/#file=broker.log`)
      await shown.getByLabel('Token').fill(`token-of-${name}`)
      await shown.keyboard.press('Enter')
      await shown.locator('.row').filter({ hasText: 'for everyone' }).waitFor()
      await shown.locator('.files a').filter({ hasText: 'broker.log' }).waitFor()
      const text = await shown.evaluate<string>('document.body.innerText')
      for (const file of ['broker.log', 'storage.log'])
        expect(text.includes(file), file).toBe(files.includes(file))
      expect(browser.wrongs.splice(0)).toEqual([])
      await shown.context().close()
    })
  },
)
