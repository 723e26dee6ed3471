import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type BrowserPage, barsOf, findings, type Route } from './browser.ts'
import { line } from './logs.ts'
import { describePage } from './stage.ts'

describePage(
  'a chart that counts or says that it does not',
  (logs) => {
    writeFileSync(join(logs, 'one.log'), Array.from({ length: 500 }, (_, i) => line(i)).join(''))
    writeFileSync(join(logs, 'two.log'), Array.from({ length: 500 }, (_, i) => line(i)).join(''))
    // An hour of errors only.
    let large = ''
    for (let i = 0; i < 40_000; i++) large += line(i, i > 36_000 ? 'ERROR' : 'INFO')
    writeFileSync(join(logs, 'large.log'), large)
    writeFileSync(join(logs, 'notes.txt'), 'a line without a time\n'.repeat(50))
  },
  (stage) => {
    const bars = async (page: BrowserPage, name: string) => (await barsOf(page, name)).length
    const hatches = (page: BrowserPage) => page.locator('.histogram .hatch').count()

    it('hatches what is not counted yet, and says that it counts', async () => {
      const page = await stage.browser.open('about:blank')
      const held: Route[] = []
      await page.route('**/api/v1/log/histogram?*', async (route) => void held.push(route))
      await page.goto(`${stage.node.url}/#file=large.log`)
      await page.locator('.legend').filter({ hasText: 'Counting' }).waitFor()
      await expect.poll(() => held.length).toBe(1)
      expect(await bars(page, 'error')).toBe(0)
      await expect.poll(() => hatches(page)).toBe(1)
      await held[0]!.continue()
      await page.locator('.legend').filter({ hasText: 'Counting' }).waitFor({ state: 'detached' })
      await expect.poll(() => bars(page, 'error')).toBeGreaterThan(5)
      expect(await hatches(page)).toBe(0)
      await page.context().close()
    })

    it('names a log that is missing once, under the records', async () => {
      const page = await stage.open('file=one.log&file=two.log&file=gone.log')
      await page.locator('.status .lacks').filter({ hasText: 'gone.log (no such log file)' }).waitFor()
      await expect.poll(() => bars(page, 'info')).toBeGreaterThan(5)
      expect(await page.locator('.uncounted').count()).toBe(0)
      expect(await hatches(page)).toBe(0)
      await page.context().close()
    })

    it('says that only a part was counted, and counts again on demand', async () => {
      const page = await stage.browser.open('about:blank')
      let asked = 0
      await page.route('**/api/v1/log/histogram?*', async (route) => {
        asked++
        const json = (await (await fetch(route.request().url())).json()) as object
        await route.fulfill({ json: { ...json, complete: asked > 1 } })
      })
      await page.goto(`${stage.node.url}/#file=one.log`)
      const again = page.locator('.uncounted').filter({ hasText: 'Only the newest part was counted' })
      await again.getByRole('button', { name: 'Try again' }).click()
      await again.waitFor({ state: 'detached' })
      await page.context().close()
    })

    it('names a log without times, and hatches nothing for it', async () => {
      const page = await stage.open('file=one.log&file=two.log&file=notes.txt')
      await page.locator('.legend').filter({ hasText: 'notes.txt has no times' }).waitFor()
      await expect.poll(() => page.locator('.uncounted').count()).toBe(0)
      await expect.poll(() => hatches(page)).toBe(0)
      await expect.poll(() => bars(page, 'info')).toBeGreaterThan(5)
      expect(await findings(page)).toEqual([])
      await page.context().close()
    })
  },
)
