import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type BrowserPage, seriousFindings, settled, told } from './browser.ts'
import { line, stamp } from './logs.ts'
import { describePage } from './stage.ts'

const START = Date.UTC(2026, 0, 10)

/** A quiet log with two kinds of noise, and one warning before the errors that it explains. */
function incident(): string {
  let text = ''
  for (let i = 0; i < 4000; i++) {
    const at = stamp(START + i * 1000)
    if (i === 2000) text += line(i, 'WARN', 'volume /data is full, writes will be refused')
    else if (i > 2000 && i < 2100 && i % 3 === 0)
      text += `${at}\tERROR\tpkg/wal/log.go:77\t[Storage] [Wal]: append failed: no space left\t{"shard":${i % 4},"deep":{"try":"a b"}}\n`
    else if (i % 2 === 0)
      text += `${at}\tINFO\tpkg/app/beat.go:9\t[Runtime]: heartbeat ${i} sent\t{"shard":${i % 4}}\n`
    else text += `${at}\tWARN\tpkg/query/slow.go:5\t[Query]: slow query took ${i} ms\t{"shard":${i % 4}}\n`
  }
  return text
}

describePage(
  'digging on the page',
  (logs) => {
    writeFileSync(join(logs, 'storage.log'), incident())
    writeFileSync(join(logs, 'storage.log.1'), line(-1))
    writeFileSync(join(logs, 'storage-2026-01-08.log'), line(-90_000))
    writeFileSync(
      join(logs, 'other.log'),
      line(1) + line(5, 'WARN', 'elected in 3726 ms, leader;  task panicked: write "x"'),
    )
  },
  (stage) => {
    const { open } = stage
    const row = (page: BrowserPage, text: string) => page.locator('.row').filter({ hasText: text })
    const hash = (page: BrowserPage) => new URLSearchParams(page.url().split('#')[1])
    const act = (page: BrowserPage, name: string) => page.getByRole('menuitem', { name }).click()
    const chips = (page: BrowserPage) => page.locator('.chip .what').allTextContents()

    it('includes and excludes a value that is clicked, and shows what is active as chips', async () => {
      const page = await open('file=storage.log')
      await row(page, 'slow query took 3999 ').locator('.g .v').click()
      await act(page, 'Hide records with this')
      await expect.poll(() => hash(page).getAll('where')).toEqual(['!tag:Query'])
      await row(page, 'slow query took 3999 ').waitFor({ state: 'hidden' })
      await expect.poll(() => chips(page)).toEqual(['not tag: Query'])
      await page.locator('.chip .what').click()
      await expect.poll(() => hash(page).getAll('where')).toEqual(['tag:Query'])
      await row(page, 'slow query took 3999 ').waitFor()
      await page.getByRole('button', { name: 'Remove tag: Query' }).click()
      await expect.poll(() => hash(page).has('where')).toBe(false)
      // The topmost record stays, so that the last one may be below the window.
      await row(page, 'slow query took').first().waitFor()
      await page.context().close()
    })

    it('includes and copies a value of an expanded record', async () => {
      const page = await open('file=storage.log')
      await row(page, 'slow query took 3999 ').locator('.m').click()
      const json = row(page, 'slow query took 3999 ').locator('.json')
      await json.locator('.v').click()
      await told(page, 'Value copied', () => act(page, 'Copy'))
      await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe('3')
      await json.locator('.v').click()
      await act(page, 'Only records with this')
      await expect.poll(() => hash(page).getAll('where')).toEqual(['shard:3'])
      await page.goBack()
      await row(page, 'slow query took 3999 ').waitFor()
      await row(page, 'slow query took 3999 ').locator('.l').click()
      await act(page, 'Only records with this')
      await expect.poll(() => hash(page).get('level')).toBe('=warn')
      await page.context().close()
    })

    it('works by a word that is selected with the mouse', async () => {
      const page = await open('file=storage.log')
      await row(page, 'heartbeat 3998 ').waitFor()
      await row(page, 'heartbeat 3998 ')
        .locator('.m')
        .click({ position: { x: 30, y: 10 }, clickCount: 2 })
      await act(page, 'Hide records with this')
      await expect.poll(() => hash(page).getAll('not')).toEqual(['heartbeat'])
      await page.context().close()
    })

    it('goes to a time without narrowing', async () => {
      const page = await open('file=storage.log')
      await page.keyboard.press('t')
      await page.getByLabel('Go to a time').fill('2026-01-10 00:33:20')
      await page.keyboard.press('Enter')
      await row(page, 'slow query took 1999 ').waitFor()
      await row(page, 'volume /data is full').waitFor()
      expect(hash(page).has('since')).toBe(false)
      await page.context().close()
    })

    it('hides columns, and keeps the time in view', async () => {
      const page = await open('file=storage.log', { viewport: { width: 1000, height: 700 } })
      const menu = page.locator('summary').filter({ hasText: 'columns' })
      await menu.click()
      await page.getByLabel('Tags').click()
      await page.keyboard.press('Escape')
      await expect.poll(() => page.locator('.row .g').first().isVisible()).toBe(false)
      await page.reload()
      await page.locator('.row').first().waitFor()
      await expect.poll(() => page.locator('.row .g').first().isVisible()).toBe(false)
      await settled(page)
      writeFileSync(join(stage.logs, 'wide.log'), line(1, 'INFO', 'wide '.repeat(400)))
      await page.goto(`${stage.node.url}/#file=wide.log`)
      await row(page, 'wide wide').waitFor()
      await page.evaluate(`document.querySelector('.list').scrollLeft = 2000`)
      const list = (await page.locator('.list').boundingBox())!
      const time = async () => (await page.locator('.row .t').boundingBox())!
      await expect.poll(async () => (await time()).x).toBeGreaterThanOrEqual(list.x)
      expect((await time()).x).toBeLessThan(list.x + 60)
      await page.context().close()
    })

    it('groups rotated files under their log', async () => {
      const page = await open('file=storage.log')
      const names = () => page.locator('.files a .name').allTextContents()
      await expect.poll(async () => (await names()).sort()).toContain('storage.log')
      await expect.poll(() => names()).not.toContain('storage.log.1')
      await page.getByRole('button', { name: '2 rotated files of storage.log' }).click()
      expect((await names()).slice(-4)).toEqual(
        expect.arrayContaining(['storage.log.1', 'storage-2026-01-08.log']),
      )
      await page.locator('.files a').filter({ hasText: 'storage.log.1' }).click()
      await row(page, 'record number -1 ').waitFor()
      await page.context().close()
    })

    it('finds the hidden cause with the noise excluded by two clicks', async () => {
      const page = await open('file=storage.log')
      for (const [text, tag] of [
        ['heartbeat 3998 ', 'Runtime'],
        ['slow query took 3999 ', 'Query'],
      ]) {
        await row(page, text!).locator('.g .v').filter({ hasText: tag! }).click()
        await act(page, 'Hide records with this')
      }
      await row(page, 'volume /data is full').waitFor()
      await row(page, 'append failed').first().waitFor()
      await expect.poll(() => row(page, 'heartbeat').count()).toBe(0)
      await page.context().close()
    })

    it('exports what the filters choose', async () => {
      const page = await open('file=storage.log&q=append')
      await page.locator('summary').filter({ hasText: 'Export' }).click()
      const saved = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Matching records as text' }).click()
      const download = await saved
      expect(download.suggestedFilename()).toBe('storage.log-filtered.txt')
      const wanted = incident()
        .split('\n')
        .filter((each) => each.includes('append'))
        .join('\n')
      expect(readFileSync(await download.path(), 'utf8').trimEnd()).toBe(wanted)
      await page.context().close()
    })

    it('lists fields with their values and kinds of messages, and filters by them', async () => {
      const page = await open('file=storage.log')
      await page.keyboard.press('e')
      const panel = page.getByRole('complementary', { name: 'Fields and patterns' })
      await panel.locator('.field-list .name').filter({ hasText: 'shard' }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await page.getByRole('tab', { name: 'Patterns' }).click()
      await panel.locator('.patterns .pick').filter({ hasText: 'heartbeat' }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await page.getByRole('button', { name: /^Hide records like heartbeat/ }).click()
      await row(page, 'heartbeat').first().waitFor({ state: 'detached' })
      await row(page, 'slow query').first().waitFor()
      await page.getByRole('tab', { name: 'Fields' }).click()
      await page.getByRole('button', { name: 'Hide records with tag: Query' }).click()
      await row(page, 'volume /data is full').waitFor()
      await page.context().close()
    })

    it('has read the fields again after a filter that was taken back before it was answered', async () => {
      const page = await open('file=storage.log')
      await page.keyboard.press('e')
      const hint = () => page.locator('#fields-body .hint').textContent()
      await expect.poll(hint).toMatch(/^From /)
      await page.route('**/api/v1/log/fields?*', (route) =>
        route.request().url().includes('q=volume') ? undefined : route.continue(),
      )
      await page.keyboard.press('/')
      await page.keyboard.type('volume')
      await page.keyboard.press('Enter')
      await expect.poll(hint).toBe('Reading records…')
      await page.getByRole('button', { name: 'Clear', exact: true }).click()
      await expect.poll(hint).toMatch(/^From /)
      await page.context().close()
    })
  },
)
