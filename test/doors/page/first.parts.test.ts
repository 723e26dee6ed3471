import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serve, temporaryDirectory } from '../../program.ts'
import { type Route, seriousFindings } from './browser.ts'
import { line, writeLog } from './logs.ts'
import { describePage } from './stage.ts'

describePage(
  'what the page shows first, and what it makes of others',
  (logs) => {
    mkdirSync(join(logs, 'db'))
    writeLog(join(logs, 'broker.log'), 3000, [1500])
    // A log of at most 1 MiB is counted at once.
    writeLog(join(logs, 'long.log'), 20_000, [1500])
    writeFileSync(join(logs, 'other.log'), line(1))
  },
  (stage) => {
    it('shows the lines of a link while everything else is still on its way', async () => {
      const page = await stage.browser.open('about:blank')
      const held: Route[] = []
      for (const path of ['config', 'log/list', 'log/histogram'])
        await page.route(`**/api/v1/${path}*`, (route) => void held.push(route))
      await page.goto(`${stage.node.url}/#file=broker.log`)
      await page.locator('.row').filter({ hasText: 'number 2999 ' }).waitFor()
      // One request after the assets: nothing is asked before the lines.
      await expect.poll(() => held.length).toBeGreaterThanOrEqual(3)
      await Promise.all(held.map((route) => route.abort()))
      await page.context().close()
    })

    it('shows the names of the logs first, and their times as they come', async () => {
      const page = await stage.browser.open('about:blank')
      let release: (() => Promise<void>) | null = null
      await page.route('**/api/v1/log/list?detail=true', (route) => {
        release = () => route.continue()
      })
      await page.goto(stage.node.url)
      const entry = page.locator('.files a').filter({ hasText: 'broker.log' })
      await entry.waitFor()
      await expect.poll(() => entry.textContent()).toMatch(/KB$/)
      await expect.poll(() => release).not.toBe(null)
      await release!()
      await expect.poll(() => entry.textContent()).toMatch(/ago|just now/)
      await page.context().close()
    })

    it('shows the nodes of a fleet, the silent ones first, and leads to each and back', async () => {
      const fleet = temporaryDirectory()
      const host = { hostIp: '10.0.0.7', grpcPort: 0, httpPort: 1, version: '1.2', onlineTime: 1 }
      for (const id of ['db-1', 'db-2']) {
        mkdirSync(join(fleet, id, 'logs'), { recursive: true })
        writeFileSync(join(fleet, id, 'config.toml'), 'a = 1\n')
        writeFileSync(join(fleet, id, 'node.json'), JSON.stringify({ ...host, hostName: `host-of-${id}` }))
        writeFileSync(join(fleet, id, 'logs/storage.log'), line(Number(id.slice(-1))))
      }
      const other = await serve(['--port', '0', '--fleet', fleet])
      const page = await stage.browser.open('about:blank')
      const silent = { id: 'db-9', node: null, shipped: null, age: null, lag: null, error: 'storage-denied' }
      await page.route('**/api/v1/nodes*', async (route) => {
        const nodes = (await (await fetch(route.request().url())).json()) as { id: string }[]
        const late = { ...nodes[1], age: 90_000, lag: 2048 }
        await route.fulfill({ json: [{ ...nodes[0], age: 12, lag: 0 }, late, silent] })
      })
      await page.goto(other.url)
      await page.getByRole('heading', { name: 'Nodes' }).waitFor()
      await expect
        .poll(() => page.locator('.fleet tbody a').allTextContents())
        .toEqual(['db-9', 'host-of-db-2', 'host-of-db-1'])
      await expect
        .poll(() => page.locator('.fleet tbody').textContent())
        .toMatch(/cannot be read.*1 day ago2\.0 KB.*12 s ago/)
      expect(await seriousFindings(page)).toEqual([])
      await page.getByLabel('Filter the nodes').fill('db-1')
      await expect.poll(() => page.locator('.fleet tbody a').allTextContents()).toEqual(['host-of-db-1'])
      await page.locator('.fleet tbody a').click()
      await page.getByRole('heading', { name: 'host-of-db-1' }).waitFor()
      await page.locator('.files a').filter({ hasText: 'storage.log' }).click()
      await page.locator('.row').filter({ hasText: 'number 1 ' }).waitFor()
      await page.locator('.nodes a').filter({ hasText: 'host-of-db-2' }).click()
      await page.getByRole('heading', { name: 'host-of-db-2' }).waitFor()
      await page.getByRole('link', { name: 'Nodes', exact: true }).click()
      await page.getByRole('heading', { name: 'Nodes' }).waitFor()
      await page.context().close()
    })

    it('fits a phone: fields over the records, every control inside', async () => {
      const page = await stage.browser.open('about:blank', { viewport: { width: 390, height: 780 } })
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
      await page.goto(`${stage.node.url}/#file=broker.log`)
      await page.locator('.row').first().waitFor()
      await page.getByRole('button', { name: 'Fields' }).click()
      await page.locator('.field-list').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      const outside = () =>
        page.evaluate<string[]>(`[...document.querySelectorAll('button, summary, input, h2')]
        .filter((part) => part.checkVisibility() && part.getClientRects().length > 0)
        .filter((part) => part.getBoundingClientRect().right > 391 || part.getBoundingClientRect().left < -1)
        .map((part) => part.outerHTML.slice(0, 80))`)
      await expect.poll(() => outside()).toEqual([])
      const menus = page.locator('.tools .menu > summary:visible')
      const count = await menus.count()
      expect(count).toBeGreaterThan(1)
      for (let i = 0; i < count; i++) {
        await menus.nth(i).click()
        await expect.poll(() => outside()).toEqual([])
        await menus.nth(i).click()
      }
      const title = (await page.locator('#log-title').boundingBox())!
      expect(title.width).toBeGreaterThan(180)
      await page.getByRole('button', { name: /^Only records with shard: 3/ }).click()
      await expect.poll(() => page.url()).toContain('where=shard%3A3')
      await page.context().close()
    })
  },
)
