import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, type Program, serve, temporaryDirectory } from '../program.ts'
import { type Browser, launchBrowser, missingBrowser, type Route, seriousFindings } from './browser.ts'
import { line, writeLog } from './logs.ts'

describe.skipIf(missingBrowser)(
  `what the page shows first, and what it makes of others${missingBrowser ? ` (${missingBrowser})` : ''}`,
  { timeout: 90_000 },
  () => {
    let browser: Browser
    let node: Program
    beforeAll(async () => {
      const logs = join(temporaryDirectory(), 'logs')
      mkdirSync(join(logs, 'db'), { recursive: true })
      writeLog(join(logs, 'broker.log'), 3000, [1500])
      writeFileSync(join(logs, 'other.log'), line(1))
      node = await serve(['--port', '0', '--logs', logs], { env: { TZ: 'UTC' } })
      browser = await launchBrowser()
    })
    afterEach(() => {
      expect(browser.wrongs.splice(0)).toEqual([])
    })
    afterAll(async () => {
      await browser?.close()
      await cleanUp()
    })

    it('shows the lines of a link while everything else is still on its way', async () => {
      const page = await browser.open('about:blank')
      const held: Route[] = []
      for (const path of ['config', 'log/list', 'log/histogram'])
        await page.route(`**/api/v1/${path}*`, (route) => void held.push(route))
      await page.goto(`${node.url}/#file=broker.log`)
      await page.locator('.row').filter({ hasText: 'number 2999 ' }).waitFor()
      // One request after the assets: nothing is asked before the lines.
      await expect.poll(() => held.length).toBeGreaterThanOrEqual(3)
      await Promise.all(held.map((route) => route.abort()))
      await page.context().close()
    })

    it('shows the names of the logs first, and their times as they come', async () => {
      const page = await browser.open('about:blank')
      let release: (() => Promise<void>) | null = null
      await page.route('**/api/v1/log/list?detail=true', (route) => {
        release = () => route.continue()
      })
      await page.goto(node.url)
      const entry = page.locator('.files a').filter({ hasText: 'broker.log' })
      await entry.waitFor()
      expect(await entry.textContent()).toMatch(/KB$/)
      await expect.poll(() => release).not.toBe(null)
      await release!()
      await expect.poll(() => entry.textContent()).toMatch(/ago|just now/)
      await page.context().close()
    })

    it('shows an estimate of the chart first, and then the exact counts', async () => {
      const page = await browser.open('about:blank')
      const exact: Route[] = []
      await page.route('**/api/v1/log/histogram?*', async (route) => {
        if (!route.request().url().includes('estimate=true')) return void exact.push(route)
        const answer = await fetch(route.request().url())
        const real = (await answer.json()) as { buckets: { counts: number[] }[] }
        const buckets = real.buckets.map((each) => ({ ...each, counts: each.counts.map((n) => n * 2) }))
        await route.fulfill({ json: { ...real, estimated: true, buckets } })
      })
      await page.goto(`${node.url}/#file=broker.log`)
      await page
        .locator('.legend')
        .filter({ hasText: /Estimated|Counting/ })
        .waitFor()
      await page.locator('.levels .lv-error .tally').filter({ hasText: '≈2' }).waitFor()
      await expect.poll(() => exact.length).toBe(1)
      await exact[0]!.continue()
      await page.locator('.levels .lv-error .tally').filter({ hasText: /^1$/ }).waitFor()
      expect(await page.locator('.legend').textContent()).not.toContain('Estimated')
      await page.context().close()
    })

    it('shows the nodes of a fleet, the silent ones first, and leads to each', async () => {
      const host = {
        hostIp: '10.0.0.7',
        hostName: '',
        grpcPort: 0,
        httpPort: 1,
        version: '1.2',
        onlineTime: 0,
      }
      const nodes = [
        {
          id: 'db-1',
          node: { ...host, hostName: 'one' },
          shipped: '2026-11-15T00:00:00Z',
          age: 12,
          lag: 0,
          error: null,
        },
        {
          id: 'db-2',
          node: { ...host, hostName: 'two' },
          shipped: '2026-11-14T00:00:00Z',
          age: 90_000,
          lag: 2048,
          error: null,
        },
        { id: 'db-3', node: null, shipped: null, age: null, lag: null, error: 'storage-denied' },
      ]
      const page = await browser.open('about:blank')
      const nothing = { status: 404, json: { type: '/problems/unknown-path', title: 'No', detail: 'No.' } }
      await page.route('**/api/v1/config*', (route) => route.fulfill(nothing))
      await page.route('**/api/v1/log/list*', (route) => route.fulfill(nothing))
      await page.route('**/api/v1/nodes*', (route) => route.fulfill({ json: nodes }))
      await page.goto(node.url)
      await page.getByRole('heading', { name: 'Nodes' }).waitFor()
      expect(await page.locator('.fleet tbody a').allTextContents()).toEqual(['db-3', 'two', 'one'])
      expect(await page.locator('.fleet tbody').textContent()).toMatch(
        /cannot be read.*1 day ago2\.0 KB.*12 s ago/,
      )
      expect(await page.locator('.fleet tbody a').last().getAttribute('href')).toBe('nodes/db-1/')
      expect(await seriousFindings(page)).toEqual([])
      await page.getByLabel('Filter the nodes').fill('tw')
      expect(await page.locator('.fleet tbody a').allTextContents()).toEqual(['two'])
      await page.context().close()
    })

    it('shows folders where names have slashes', async () => {
      const page = await browser.open('about:blank')
      const files = ['db/a.log', 'db/a.log.1', 'db/deep/b.log', 'top.log'].map((name) => ({ name, size: 1 }))
      await page.route('**/api/v1/log/list*', (route) => route.fulfill({ json: files }))
      await page.goto(node.url)
      await page.getByRole('button', { name: 'db', exact: true }).click()
      await page.getByRole('button', { name: 'deep', exact: true }).click()
      expect(await page.locator('.files a .name').allTextContents()).toEqual(['a.log', 'b.log', 'top.log'])
      await page.getByRole('button', { name: '1 rotated file of db/a.log' }).click()
      expect(await page.locator('.files a .name').allTextContents()).toEqual([
        'a.log',
        'a.log.1',
        'b.log',
        'top.log',
      ])
      expect(await seriousFindings(page)).toEqual([])
      await page.context().close()
    })

    it('fits a phone: fields over the records, every control inside', async () => {
      const page = await browser.open('about:blank', { viewport: { width: 390, height: 780 } })
      const fields = {
        records: 3000,
        sampled: true,
        fields: [
          {
            name: 'shard',
            count: 3000,
            values: [
              { value: '3', count: 188 },
              { value: '4', count: 188 },
            ],
          },
        ],
        patterns: [
          { pattern: 'record number <*> written', count: 2999, level: 'info', first: null, last: null },
        ],
      }
      await page.route('**/api/v1/log/fields?*', (route) => route.fulfill({ json: fields }))
      await page.goto(`${node.url}/#file=broker.log`)
      await page.locator('.row').first().waitFor()
      await page.getByRole('button', { name: 'Fields' }).click()
      await page.locator('.field-list').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      const outside = await page.evaluate<
        string[]
      >(`[...document.querySelectorAll('button, summary, input, h2')]
        .filter((part) => part.getClientRects().length > 0 && part.getBoundingClientRect().right > 391)
        .map((part) => part.outerHTML.slice(0, 80))`)
      expect(outside).toEqual([])
      const title = (await page.locator('#log-title').boundingBox())!
      expect(title.width).toBeGreaterThan(200)
      await page.getByRole('button', { name: /^Only records with shard: 3/ }).click()
      await expect.poll(() => page.url()).toContain('where=shard%3A3')
      await page.context().close()
    })
  },
)
