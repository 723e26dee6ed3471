import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { BrowserPage } from './browser.ts'
import { describePage } from './stage.ts'

const START = Date.UTC(2026, 0, 10)

describePage(
  'fields as columns',
  (logs) => {
    let text = ''
    for (let i = 0; i < 400; i++) {
      const rest = `"status":${i % 7 === 0 ? 500 : 200},"path":"/api/v1/thing/${i % 5}","duration":${(i * 37) % 900}`
      text += `{"time":"${new Date(START + i * 1000).toISOString()}","level":"info","msg":"request ${i} done",${rest}}\n`
    }
    writeFileSync(join(logs, 'access.log'), text)
  },
  (stage) => {
    const { open } = stage
    const hash = (page: BrowserPage) => new URLSearchParams(page.url().split('#')[1])
    const act = (page: BrowserPage, name: string) => page.getByRole('menuitem', { name, exact: true }).click()
    const header = (page: BrowserPage) => page.locator('.header .x').allTextContents()
    const cells = (page: BrowserPage) => page.locator('.row').last().locator('.x').allTextContents()

    it('come from the panel and from a record, and are in the address', async () => {
      const page = await open('file=access.log')
      await page.keyboard.press('e')
      await page.locator('.field-list button.name').filter({ hasText: 'status' }).click()
      await act(page, 'Show as column')
      await expect.poll(() => hash(page).getAll('column')).toEqual(['status'])
      await page.keyboard.press('e')
      await page.locator('.row').last().locator('.m').click()
      await page.locator('.json .v').filter({ hasText: '/api/v1' }).click()
      await act(page, 'Show as column')
      await expect.poll(() => hash(page).getAll('column')).toEqual(['status', 'path'])
      await expect.poll(() => cells(page)).toEqual(['500', '/api/v1/thing/4'])
      await page.reload()
      await page.locator('.header').waitFor()
      await expect.poll(() => header(page)).toEqual(['status', 'path'])
      await page.context().close()
    })

    it('can be removed from their header, and align numbers right, under their names', async () => {
      const page = await open('file=access.log&column=status&column=path&column=duration')
      const aligned = () =>
        page.evaluate<string[]>(
          `[...document.querySelector('.row').querySelectorAll('.x')].map((cell) => getComputedStyle(cell).textAlign)`,
        )
      await expect.poll(aligned).toEqual(['right', 'start', 'right'])
      const places = await page.evaluate<[number[], number[]]>(`['.header .line', '.row .line'].map((line) =>
        [...document.querySelector(line).querySelectorAll('.x')].map((each) => Math.round(each.getBoundingClientRect().x)))`)
      expect(places[0]).toEqual(places[1])
      await page.getByRole('button', { name: 'Column duration' }).click()
      await act(page, 'Remove the column')
      await expect.poll(() => hash(page).getAll('column')).toEqual(['status', 'path'])
      // The value of a cell has a menu as in the record.
      await page.locator('.row').last().locator('.x').first().click()
      await act(page, 'Only records with this')
      await expect.poll(() => hash(page).get('where')).toBe('status:500')
      await page.context().close()
    })

    it('are those of an export as CSV', async () => {
      const page = await open('file=access.log&where=status:500&column=status&column=path')
      await page.locator('summary').filter({ hasText: 'Export' }).click()
      const saved = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Matching records as CSV, with these columns' }).click()
      const download = await saved
      expect(download.suggestedFilename()).toBe('access.log-filtered.csv')
      const lines = readFileSync(await download.path(), 'utf8').split('\r\n')
      expect(lines[0]).toBe('time,level,status,path,message')
      expect(lines[1]).toBe('2026-01-10T00:00:00.000Z,info,500,/api/v1/thing/0,request 0 done')
      expect(lines.length).toBe(Math.ceil(400 / 7) + 2)
      await page.context().close()
    })
  },
)
