import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serve, temporaryDirectory } from '../../program.ts'
import { type BrowserPage, barsOf, settled } from './browser.ts'
import { line, writeLog } from './logs.ts'
import { describePage } from './stage.ts'

describePage(
  'a page that says what is so',
  (logs) => {
    writeLog(join(logs, 'broker.log'), 3000)
    writeFileSync(join(logs, 'plain.txt'), 'just text\n'.repeat(50))
    let one = ''
    for (let i = 0; i < 3000; i++) one += line(i, i === 1500 ? 'ERROR' : 'INFO')
    writeFileSync(join(logs, 'one.log'), one)
    writeFileSync(join(logs, 'lonely.log'), line(0, 'ERROR', 'the only error') + line(5000))
  },
  (stage) => {
    const { open } = stage
    const tallest = async (page: BrowserPage, level: string) =>
      Math.max(0, ...(await barsOf(page, level)).map(({ height }) => height))
    const counted = (page: BrowserPage) => page.getByRole('img', { name: /^Chart of records from/ }).waitFor()

    it('shows on each level how many records have it, and says what a click shows', async () => {
      const page = await open('file=one.log')
      await counted(page)
      const tallies = page.locator('.levels .tally')
      await expect.poll(() => tallies.allTextContents()).toEqual(['2,999', '0', '1', '0'])
      const warn = page.locator('.levels .lv-warn')
      expect(await warn.getAttribute('title')).toBe('Show warn and above: 1 record')
      await page.context().close()
    })

    it('draws one error as one error', async () => {
      const page = await open('file=one.log')
      await counted(page)
      await expect.poll(() => tallest(page, 'error')).toSatisfy((pixels) => pixels > 0 && pixels < 8)
      await expect.poll(() => tallest(page, 'info')).toBeGreaterThan(20)
      await page.goto(`${stage.node.url}/#file=lonely.log&level=error`)
      await page.getByText('1 match').waitFor()
      await counted(page)
      await expect.poll(() => tallest(page, 'error')).toSatisfy((pixels) => pixels > 0 && pixels < 8)
      await page.context().close()
    })

    it('has no level buttons for a log without levels', async () => {
      const page = await open('file=plain.txt')
      await page.getByText('have no times').waitFor()
      await expect.poll(() => page.locator('.levels').count()).toBe(0)
      await page.goto(`${stage.node.url}/#file=broker.log`)
      await page.locator('.levels').waitFor()
      await page.context().close()
    })

    it('keeps the time range open when what was typed is no time, and says what is', async () => {
      const page = await open('file=broker.log')
      await page.getByRole('button', { name: 'All time' }).click()
      await page.getByLabel('From', { exact: true }).fill('yesterdy')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').filter({ hasText: 'That is not a time' }).waitFor()
      await expect.poll(() => page.getByRole('dialog').isVisible()).toBe(true)
      await expect.poll(() => page.getByLabel('From', { exact: true }).inputValue()).toBe('yesterdy')
      await expect.poll(() => page.evaluate('document.activeElement.value')).toBe('yesterdy')
      await page.getByLabel('From', { exact: true }).fill('2026-01-10 00:10:00')
      await page.getByRole('button', { name: 'Apply' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.context().close()
    })

    it('says what went wrong once, and in its own words', async () => {
      const page = await stage.browser.open(`${stage.node.url}/#file=plain.txt&level=error`)
      await page.getByRole('alert').waitFor()
      const text = await page.locator('main').textContent()
      expect(text).toContain('This log has no levels')
      expect(text).not.toMatch(/parameter|ask without|\bsince\b|\bq\b/)
      await page.goto(`${stage.node.url}/#file=plain.txt&since=2026-01-10`)
      await page.getByText('This log has no times').waitFor()
      await expect.poll(() => page.getByRole('alert').count()).toBe(1)
      expect((await page.locator('main').textContent()).match(/no time/g)!.length).toBe(1)
      await page.goto(`${stage.node.url}/#file=broker.log&since=nonsense`)
      await page.getByText('This filter does not work here').waitFor()
      await expect.poll(() => page.locator('main').textContent()).not.toMatch(/parameter/i)
      await page.context().close()
    })

    it('says that Enter starts the search', async () => {
      const page = await open('file=broker.log')
      await page.keyboard.press('/')
      await page.keyboard.type('record')
      await page.getByText('Enter to search').waitFor()
      await page.keyboard.press('Enter')
      await page.getByText('Enter to search').waitFor({ state: 'hidden' })
      await page.context().close()
    })

    it('shows a new file after a list or two', async () => {
      const page = await stage.browser.open(stage.node.url)
      await page.locator('.files a').first().waitFor()
      const lists = `performance.getEntriesByType('resource')
        .filter(({ name }) => name.includes('/api/v1/log/list')).length`
      const before = await page.evaluate<number>(lists)
      writeFileSync(join(stage.logs, 'brand-new.log'), line(1))
      // Counted in the page itself, in the frame in which the file appears.
      const after = await page.evaluate<number>(`new Promise((done) => {
        const look = () =>
          document.querySelector('.files').textContent.includes('brand-new.log')
            ? done(${lists})
            : requestAnimationFrame(look)
        look()
      })`)
      // A list may be a second old, and the page asks for names before details.
      expect(after - before).toBeLessThanOrEqual(4)
      await page.context().close()
    })

    it('shows of the node what is known of the node, and says what is not', async () => {
      const directory = temporaryDirectory()
      writeFileSync(join(directory, 'db.toml'), '[broker.http]\nport = 3000\n')
      const other = await serve(['--port', '0', '--logs', stage.logs, '--config', join(directory, 'db.toml')])
      const page = await stage.browser.open(other.url)
      const facts = page.locator('.node-facts')
      await facts.waitFor()
      await expect.poll(() => facts.textContent()).toContain('3000')
      await expect.poll(() => facts.textContent()).toMatch(/Versionnot known/)
      await expect.poll(() => facts.textContent()).toMatch(/Online sincenot known/)
      await expect.poll(() => page.locator('.top').textContent()).not.toMatch(/v\d|online/)
      await page.context().close()
    })

    it('finds by search what a row shows', async () => {
      writeFileSync(
        join(stage.logs, 'logfmt.log'),
        Array.from(
          { length: 20 },
          (_, i) =>
            `time=2026-01-10T00:00:${String(i).padStart(2, '0')}Z level=info msg="took a step" shard=${i} who="a b"\n`,
        ).join(''),
      )
      const page = await open('file=broker.log')
      await settled(page)
      await expect.poll(() => page.locator('.row .g').first().textContent()).toBe('[Storage] [Engine]')
      await page.goto(`${stage.node.url}/#file=logfmt.log`)
      const shown = async () => (await page.locator('.row .c').last().textContent()).trim()
      await expect.poll(shown).toBe('shard=19 who="a b"')
      await page.keyboard.press('/')
      await page.keyboard.type('shard=19 who="a b"')
      await page.keyboard.press('Enter')
      await page.getByText('1 match').waitFor()
      await expect.poll(() => page.locator('.list mark').allTextContents()).toEqual(['shard=19 who="a b"'])
      await page.context().close()
    })
  },
)
