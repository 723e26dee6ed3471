import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serve, temporaryDirectory } from '../../program.ts'
import { type BrowserPage, resting, told } from './browser.ts'
import { line, writeHugeLog, writeLog, writeOddLog } from './logs.ts'
import { describePage } from './stage.ts'

const RECORDS = 20_000
const ERRORS = [1234, 9000, 9001, 19_500]
const WIDE = `document.querySelector('.list').scrollWidth > document.querySelector('.list').clientWidth`

describePage(
  'a log on the page',
  (logs) => {
    writeLog(join(logs, 'broker.log'), RECORDS, ERRORS)
    writeOddLog(join(logs, 'odd.log'))
    writeFileSync(
      join(logs, 'broker.log.1'),
      line(-2) + line(-1, 'INFO', 'the last line before the rotation'),
    )
  },
  (stage) => {
    const { open } = stage
    /** The numbers of the records in view, top to bottom. */
    const numbers = async (page: BrowserPage) => {
      const texts = await page.locator('.row .m').allTextContents()
      return texts.flatMap((text) => /(?:number|failed at) (\d+)/.exec(text)?.[1] ?? []).map(Number)
    }
    const row = (page: BrowserPage, text: string) => page.locator('.row').filter({ hasText: text })
    const status = (page: BrowserPage) => page.locator('footer [role=status]').textContent()

    it('has columns, levels in colour, and stack traces with their record', async () => {
      const page = await open('file=odd.log')
      const error = row(page, 'it broke')
      await expect.poll(() => error.locator('.t').textContent()).toBe('01-10 00:00:04.000')
      await expect.poll(() => error.locator('.l').textContent()).toBe('ERROR')
      await expect.poll(() => error.locator('.s').textContent()).toBe('family.go:104')
      await expect.poll(() => error.locator('.s').getAttribute('title')).toBe('pkg/engine/family.go:104')
      await expect.poll(() => error.locator('.g').textContent()).toBe('[Storage] [Engine]')
      await expect.poll(() => error.locator('.rest').textContent()).toContain('runtime/debug.Stack()')
      const colours = new Set<string>()
      for (const level of ['debug', 'info', 'warn', 'error', 'fatal']) {
        colours.add(
          await page.evaluate<string>(
            `getComputedStyle(document.querySelector('.row.lv-${level} .l')).color`,
          ),
        )
      }
      expect(colours.size).toBe(5)
      await page.context().close()
    })

    it('gives no room to columns that a log does not have', async () => {
      writeFileSync(join(stage.logs, 'plain.txt'), 'just text\n'.repeat(50))
      const page = await open('file=plain.txt')
      for (const name of ['t', 'l', 's', 'g'])
        await expect.poll(() => page.locator(`.row .${name}`).first().isVisible()).toBe(false)
      const box = (await page.locator('.row .m').first().boundingBox())!
      expect(box.x).toBeLessThan((await page.locator('.list').boundingBox())!.x + 40)
      await page.getByText('have no times').waitFor()
      await page.context().close()
    })

    it('drops the escapes of terminals', async () => {
      const page = await open('file=odd.log')
      const plain = row(page, 'green words').locator('.m')
      await expect.poll(() => plain.textContent()).toMatch(/^green words and plain/)
      await page.context().close()
    })

    it('folds the context out and in, by mouse and by key', async () => {
      const page = await open('file=odd.log')
      const record = page.locator('.row').filter({ hasText: 'svg onload' })
      await record.locator('.fold').click()
      const json = record.locator('.json')
      expect(JSON.parse(await json.textContent())).toEqual({
        html: '<img src=x onerror=alert(5)>',
        deep: { n: [1, true, null] },
        onload: 'alert(4)>',
      })
      await page.keyboard.press('Enter')
      await json.waitFor({ state: 'detached' })
      await page.keyboard.press('Enter')
      await json.waitFor()
      await page.context().close()
    })

    it('shows a very long line in part, and all of it when asked', async () => {
      const page = await open('file=odd.log')
      const long = page.locator('.row.lv-fatal')
      expect((await long.textContent()).length).toBeLessThan(20_000)
      await long.locator('[data-act=whole]').click()
      await expect.poll(() => long.textContent()).toContain('end of the long one')
      await page.context().close()
    })

    it('loads older pages as one scrolls up, and nothing jumps', async () => {
      const page = await open('file=broker.log')
      await row(page, `number ${RECORDS - 1} `).waitFor()
      const box = (await page.locator('.list').boundingBox())!
      await page.mouse.move(box.x + 300, box.y + 200)
      let loaded = await status(page)
      let grown = 0
      while (grown < 3) {
        await page.mouse.wheel(0, -1800)
        await page.waitForTimeout(30)
        const seen = await numbers(page)
        // Whatever was loaded meanwhile, the rows in view are neighbours in the log.
        for (let i = 1; i < seen.length; i++) expect(seen[i]).toBe(seen[i - 1]! + 1)
        const now = await status(page)
        if (now !== loaded) grown++
        loaded = now
      }
      // And without scrolling, a row stays where it is.
      await resting(page)
      const some = page.locator('.row').nth(10)
      const [text, at] = [await some.textContent(), (await some.boundingBox())!.y]
      await page.waitForTimeout(400)
      const again = (await row(page, /number (\d+)/.exec(text)![0]!)
        .first()
        .boundingBox())!.y
      expect(Math.abs(again - at)).toBeLessThan(1)
      await page.context().close()
    })

    it('goes to the beginning and to the end', async () => {
      const page = await open('file=broker.log')
      await page.keyboard.press('g')
      await row(page, 'number 0 ').waitFor()
      await page.keyboard.press('G')
      await row(page, `number ${RECORDS - 1} `).waitFor()
      await page.context().close()
    })

    it('finds text, marks it, and steps from hit to hit', async () => {
      const page = await open('file=broker.log')
      await page.keyboard.press('/')
      await page.keyboard.type('quota')
      await page.keyboard.press('Enter')
      await page.getByText(`${ERRORS.length} matches`).waitFor()
      await expect.poll(() => numbers(page)).toEqual(ERRORS)
      await expect.poll(() => page.locator('.list mark').allTextContents()).toEqual(ERRORS.map(() => 'quota'))
      const current = () => page.locator('.row[aria-current]').textContent()
      await page.keyboard.press('N')
      await expect.poll(current).toContain('19500')
      await page.keyboard.press('N')
      await expect.poll(current).toContain('9001')
      await page.keyboard.press('n')
      await expect.poll(current).toContain('19500')
      await page.context().close()
    })

    it('finds by pattern, and says why a pattern is refused', async () => {
      const page = await open('file=broker.log')
      await page.getByRole('button', { name: 'Regular expression' }).click()
      await page.getByLabel('Find in the log').fill('number 19{3}\\d ')
      await page.keyboard.press('Enter')
      await page.getByText('10 matches').waitFor()
      expect((await page.locator('.list mark').allTextContents())[0]).toBe('number 19990 ')
      await page.getByLabel('Find in the log').fill('(')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').filter({ hasText: 'pattern' }).waitFor()
      await page.context().close()
    })

    it('shows a level and above, then the lines around an error', async () => {
      const page = await open('file=broker.log')
      await page.getByRole('button', { name: /^error/i }).click()
      await page.getByText(`${ERRORS.length} matches`).waitFor()
      await row(page, 'failed at 9001').locator('.m').click()
      await page.getByRole('button', { name: 'Show the lines around it' }).click()
      await expect.poll(() => numbers(page)).toEqual(expect.arrayContaining([8999, 9000, 9001, 9002]))
      await expect.poll(() => page.locator('.row[aria-current]').textContent()).toContain('failed at 9001')
      // From here on the hits are marked, and n and N reach those that are not loaded, too.
      await page.keyboard.press('n')
      await row(page, 'failed at 19500').waitFor()
      await page.keyboard.press('N')
      await page.keyboard.press('N')
      await page.keyboard.press('N')
      await row(page, 'failed at 1234').waitFor()
      await expect.poll(() => numbers(page)).toContain(1233)
      await page.context().close()
    })

    it('takes back a search with one press of the back button', async () => {
      const page = await open('file=broker.log')
      const before = await page.evaluate<number>('history.length')
      await page.getByLabel('Find in the log').fill('failed at 1234')
      await page.keyboard.press('Enter')
      await page.getByText('1 match').waitFor()
      await expect.poll(() => page.evaluate<number>('history.length')).toBe(before + 1)
      await page.goBack()
      await row(page, `number ${RECORDS - 1} `).waitFor()
      await page.context().close()
    })

    it('narrows to a time range, in words and by a link', async () => {
      const page = await open('file=broker.log')
      await page.getByRole('button', { name: 'All time' }).click()
      await page.getByLabel('From', { exact: true }).fill('2026-01-10 01:00:00')
      await page.getByLabel('To', { exact: true }).fill('2026-01-10 01:00:10')
      await page.keyboard.press('Enter')
      await page.getByText('10 records').waitFor()
      await expect.poll(() => numbers(page)).toEqual(Array.from({ length: 10 }, (_, i) => 3600 + i))
      const copy = await stage.browser.open(page.url())
      await copy.getByText('10 records').waitFor()
      await expect.poll(() => numbers(copy)).toEqual(await numbers(page))
      await copy.context().close()
      await page.getByRole('button', { name: 'Show all time' }).click()
      // The record at the top stays.
      await row(page, 'number 3611 ').waitFor()
      await page.goBack()
      await page.getByText('10 records').waitFor()
      await page.context().close()
    })

    it('shows a colleague the same lines', async () => {
      const page = await open('file=broker.log')
      const box = (await page.locator('.list').boundingBox())!
      await page.mouse.move(box.x + 300, box.y + 200)
      for (let i = 0; i < 12; i++) {
        await page.mouse.wheel(0, -1500)
        await page.waitForTimeout(40)
      }
      await resting(page)
      const seen = await numbers(page)
      const link = await page.evaluate<string>('location.href')
      const copy = await open(link.split('#')[1]!)
      await row(copy, `number ${seen[Math.floor(seen.length / 2)]} `)
        .first()
        .waitFor()
      const shared = async () => {
        const other = await numbers(copy)
        return seen.filter((each) => other.includes(each)).length
      }
      await expect.poll(shared).toBeGreaterThan(seen.length / 2)
      // The same link pasted into a tab that shows the log elsewhere goes there, too.
      const tab = await open('file=broker.log')
      await row(tab, `number ${RECORDS - 1} `).waitFor()
      await tab.goto(link)
      await row(tab, `number ${seen[Math.floor(seen.length / 2)]} `)
        .first()
        .waitFor()
      await tab.context().close()
      await copy.context().close()
      await page.context().close()
    })

    it('says so when the lines of a link are gone, and shows the newest', async () => {
      const page = await stage.browser.open('about:blank')
      const link = `${stage.node.url}/#file=broker.log&at=bm90LW91cnM&offset=3`
      await told(page, 'The linked lines are gone', () => page.goto(link))
      await row(page, `number ${RECORDS - 1} `).waitFor()
      await page.context().close()
    })

    it('has a chart of levels over time, in which dragging selects a range', async () => {
      const page = await open('file=broker.log')
      const chart = page.locator('.histogram svg')
      await page.getByRole('img', { name: /^Chart of records from .* 4 error/ }).waitFor()
      const box = (await chart.boundingBox())!
      await page.mouse.move(box.x + box.width * 0.25, box.y + 20)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width * 0.3, box.y + 20, { steps: 5 })
      await page.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 5 })
      await page.mouse.up()
      await page.waitForFunction(`location.hash.includes('since=')`)
      const look = new URLSearchParams(page.url().split('#')[1])
      const near = (text: string, share: number) => {
        const ms = Date.parse(`${text.replace(' ', 'T')}Z`) - Date.UTC(2026, 0, 10)
        expect(Math.abs(ms / 1000 - share * RECORDS)).toBeLessThan(RECORDS * 0.02)
      }
      near(look.get('since')!, 0.25)
      near(look.get('until')!, 0.5)
      await page.getByRole('img', { name: /^Chart of records from .* 2 error/ }).waitFor()
      // It opens at its beginning.
      const first = async () => (await numbers(page))[0]
      await expect.poll(first).toBeLessThan(RECORDS * 0.27)
      await expect.poll(first).toBeGreaterThan(RECORDS * 0.23)
      await page.context().close()
    })

    it('goes to the moment of a bar that is clicked', async () => {
      const page = await open('file=broker.log')
      await page.getByRole('img', { name: /^Chart of records from/ }).waitFor()
      const box = (await page.locator('.histogram svg').boundingBox())!
      await page.mouse.move(box.x + box.width * 0.5, box.y + 40)
      await page.mouse.down()
      await page.mouse.up()
      await page.locator('.row[aria-current]').waitFor()
      const [seen] = await numbers(page)
      expect(Math.abs(seen! - RECORDS / 2)).toBeLessThan(RECORDS * 0.03)
      await page.context().close()
    })

    it('reads on in the rotated predecessor', async () => {
      const page = await open('file=broker.log&rotated=true')
      await page.keyboard.press('g')
      await row(page, 'the last line before the rotation').waitFor()
      await row(page, 'number 0 ').waitFor()
      await page.context().close()
    })

    it('wraps long lines, or not', async () => {
      const page = await open('file=odd.log')
      const wide = () => page.evaluate<boolean>(WIDE)
      await row(page, 'it broke').waitFor()
      await expect.poll(() => wide()).toBe(true)
      await page.keyboard.press('w')
      await page.waitForFunction(`!(${WIDE})`)
      await expect
        .poll(() => page.evaluate(`document.querySelector('.tools [type=checkbox]').checked`))
        .toBe(true)
      await page.keyboard.press('w')
      await page.waitForFunction(WIDE)
      await page.context().close()
    })

    it('copies with or without columns', async () => {
      const page = await open('file=broker.log')
      await row(page, `number ${RECORDS - 3} `)
        .locator('.m')
        .click()
      await page.keyboard.press('j')
      const clip = () => page.evaluate<string>('navigator.clipboard.readText()')
      await told(page, '1 record copied', () => page.keyboard.press('c'))
      await expect.poll(() => clip()).toBe(line(RECORDS - 2))
      await page.keyboard.press('C')
      await expect.poll(clip).toBe(`record number ${RECORDS - 2} written\n`)
      await page.context().close()
    })

    it('copies what the mouse selects as whole lines, and numbers as the log wrote them', async () => {
      const text = `${line(1, 'INFO', 'first').trimEnd().slice(0, -1)},"id":12345678901234567890,"r":1.50}\n${line(2)}`
      writeFileSync(join(stage.logs, 'numbers.log'), text)
      const page = await open('file=numbers.log')
      // What comes above the list moves it.
      await page.getByRole('img', { name: /^Chart of records from/ }).waitFor()
      const from = (await row(page, 'first').locator('.l').boundingBox())!
      const to = (await row(page, 'number 2 ').locator('.m').boundingBox())!
      await page.mouse.move(from.x + 3, from.y + 8)
      await page.mouse.down()
      await page.mouse.move(to.x + 60, to.y + 8, { steps: 8 })
      await page.mouse.up()
      await expect.poll(() => page.locator('.details').count()).toBe(0)
      await page.keyboard.press('Control+c')
      await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(text)
      await page.context().close()
    })

    it('can be used by keyboard alone', async () => {
      const page = await stage.browser.open(stage.node.url)
      // With their times, by which they are put in order.
      await page
        .locator('.files a')
        .filter({ hasText: /ago|just now/ })
        .first()
        .waitFor()
      for (let i = 0; i < 30; i++) {
        await page.keyboard.press('Tab')
        if ((await page.evaluate<string>('document.activeElement.textContent')).startsWith('broker.log1'))
          continue
        if ((await page.evaluate<string>('document.activeElement.getAttribute("title")')) === 'broker.log')
          break
      }
      await page.keyboard.press('Enter')
      await row(page, `number ${RECORDS - 1} `).waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('quota')
      await page.keyboard.press('Enter')
      await page.getByText('4 matches').waitFor()
      await page.keyboard.press('N')
      await page.keyboard.press('k')
      await page.keyboard.press('a')
      await row(page, 'number 9002 ').waitFor()
      await expect.poll(() => page.locator('.row[aria-current]').textContent()).toContain('failed at 9001')
      await page.keyboard.press('?')
      await page.getByRole('heading', { name: 'Keys' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('heading', { name: 'Keys' }).waitFor({ state: 'hidden' })
      await page.context().close()
    })

    it('finds the cause of an error in a log of 1 GiB', { timeout: 300_000 }, async () => {
      const huge = temporaryDirectory()
      const { cause } = writeHugeLog(join(huge, 'storage.log'), 1024 ** 3)
      const other = await serve(['--port', '0', '--logs', huge], { env: { TZ: 'UTC' } })
      try {
        const page = await stage.browser.open(other.url)
        await page.locator('.files a').filter({ hasText: 'storage.log' }).click()
        await page.locator('.row').first().waitFor({ timeout: 60_000 })
        await page.getByRole('button', { name: /^error/i }).click()
        const error = row(page, 'no space left on device')
        await error.first().waitFor({ timeout: 60_000 })
        await page.keyboard.press('g')
        await row(page, '"try":14001').waitFor({ timeout: 60_000 })
        await row(page, '"try":14001').locator('.m').click()
        await page.getByRole('button', { name: 'Show the lines around it' }).click()
        await row(page, cause).waitFor({ timeout: 60_000 })
        await page.context().close()
      } finally {
        rmSync(huge, { recursive: true, force: true })
      }
    })
  },
)
