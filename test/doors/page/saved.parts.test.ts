import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findings, settled, told } from './browser.ts'
import { writeLog } from './logs.ts'
import { describePage } from './stage.ts'

describePage(
  'saved searches',
  (logs) => {
    writeLog(join(logs, 'broker.log'), 2000, [1500])
    writeLog(join(logs, 'other.log'), 200)
  },
  (stage) => {
    it('have a name, are kept in this browser, and are shared as a link', async () => {
      const page = await stage.open('file=broker.log&level=warn&where=shard:1&column=shard')
      await settled(page)
      const menu = page.locator('summary').filter({ hasText: 'saved searches' })
      await menu.click()
      await page.getByLabel('Name of this search').fill('Warnings of shard 1')
      await told(page, 'Saved as “Warnings of shard 1”', () => page.keyboard.press('Enter'))
      await menu.click()
      await page.locator('.saved').first().waitFor()
      expect(await findings(page)).toEqual([])
      await told(page, 'Link copied', () =>
        page.getByRole('button', { name: 'Copy the link to Warnings of shard 1' }).click(),
      )
      const link = await page.evaluate<string>('navigator.clipboard.readText()')
      expect(link).toBe(`${stage.node.url}/#file=broker.log&column=shard&where=shard%3A1&level=warn`)
      // From the node's own page, after a reload.
      await page.goto(`${stage.node.url}/`)
      await page.reload()
      const saved = page.locator('.searches a')
      await saved.waitFor()
      expect(await findings(page)).toEqual([])
      await saved.click()
      await page.locator('.chip').filter({ hasText: 'shard: 1' }).waitFor()
      // From another log.
      await page.locator('.files a').filter({ hasText: 'other.log' }).click()
      await settled(page)
      await menu.click()
      await page.getByRole('button', { name: 'Warnings of shard 1', exact: true }).click()
      await expect.poll(() => page.url()).toContain('#file=broker.log')
      await settled(page)
      await menu.click()
      await page.getByRole('button', { name: 'Remove Warnings of shard 1' }).click()
      await saved.waitFor({ state: 'detached' })
      await page.context().close()
    })

    it('get a name of their own where none is typed, and survive what they cannot read', async () => {
      const page = await stage.open('file=broker.log&level=error')
      await page.evaluate(`localStorage.setItem('nodestate.searches', '{"not": "a list"')`)
      await page.reload()
      await settled(page)
      await page.locator('summary').filter({ hasText: 'saved searches' }).click()
      await told(page, 'Saved as “broker.log, level: error and above”', () =>
        page.getByRole('button', { name: 'Save this search' }).click(),
      )
      await page.locator('.searches a').filter({ hasText: 'broker.log, level: error and above' }).waitFor()
      await page.context().close()
    })
  },
)
