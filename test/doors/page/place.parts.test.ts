import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serve, temporaryDirectory } from '../../program.ts'
import { type BrowserPage, resting, told } from './browser.ts'
import { line, STACK, writeLog } from './logs.ts'
import { describePage } from './stage.ts'

const RECORDS = 20_000
const DAY = 86_400

describePage(
  'a page that keeps your place',
  (logs) => {
    writeLog(join(logs, 'broker.log'), RECORDS, [1234, 9000, 19_500])
    // The day before, one record in ten seconds.
    let before = ''
    for (let i = -DAY; i < 0; i += 10) before += line(i)
    writeFileSync(join(logs, 'broker.log.1'), before)
  },
  (stage) => {
    const { open } = stage
    const row = (page: BrowserPage, text: string) => page.locator('.row').filter({ hasText: text })
    const current = (page: BrowserPage) => page.locator('.row[aria-current] .m').first()
    /** Whether a row, or a part of it, is inside the list's box. */
    const inView = async (page: BrowserPage, selector: string) =>
      page.evaluate<boolean>(`(() => {
        const part = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect()
        const list = document.querySelector('.list').getBoundingClientRect()
        return part.width > 0 && part.left >= list.left && part.right <= list.right + 1 &&
          part.top >= list.top - 1 && part.bottom <= list.bottom + 1
      })()`)
    const linked = (page: BrowserPage) => expect.poll(() => page.url()).toContain('record=true')

    it('opens at the same record after a jump by the chart and a reload', async () => {
      const page = await open('file=broker.log')
      await page.getByRole('img', { name: /^Chart of records from/ }).waitFor()
      const box = (await page.locator('.histogram svg').boundingBox())!
      await page.mouse.move(box.x + box.width * 0.5, box.y + 30)
      await page.mouse.down()
      await page.mouse.up()
      await page.locator('.row[aria-current]').waitFor()
      await linked(page)
      const text = await current(page).textContent()
      for (let turn = 0; turn < 2; turn++) {
        await page.reload()
        await page.locator('.row[aria-current] .details').waitFor()
        await expect.poll(() => current(page).textContent()).toContain(/record number \d+/.exec(text)![0])
        await expect.poll(() => inView(page, '.row[aria-current]')).toBe(true)
        // The address may be put right once more before the next reload.
        await resting(page)
      }
      await page.context().close()
    })

    it('opens a copied link at its record, highlighted and expanded, also after a rotation', async () => {
      const moving = join(temporaryDirectory(), 'logs')
      mkdirSync(moving)
      const log = join(moving, 'storage.log')
      writeLog(log, 5000, [2500])
      const other = await serve(['--port', '0', '--logs', moving], { env: { TZ: 'UTC' } })
      const page = await stage.browser.open(`${other.url}/#file=storage.log&level=error`)
      await row(page, 'failed at 2500').locator('.m').click()
      await page.getByRole('button', { name: 'Show the lines around it' }).click()
      await row(page, 'number 2501 ').waitFor()
      await told(page, 'Link copied', () => page.getByRole('button', { name: 'Copy link' }).click())
      const link = await page.evaluate<string>('navigator.clipboard.readText()')
      await page.context().close()
      renameSync(log, join(moving, 'storage.log.1'))
      writeFileSync(log, line(5000))
      const colleague = await stage.browser.open(link)
      await colleague.locator('.row[aria-current] .details').waitFor()
      await expect.poll(() => current(colleague).textContent()).toContain('failed at 2500')
      await expect.poll(() => inView(colleague, '.row[aria-current]')).toBe(true)
      await row(colleague, 'number 2499 ').waitFor()
      await row(colleague, 'number 2501 ').waitFor()
      await colleague.context().close()
    })

    it('shows the log at the time of a link whose lines are gone', async () => {
      const page = await stage.browser.open('about:blank')
      const place = 'at=bm90LW91cnM&offset=3&record=true&time=2026-01-10T01%3A00%3A00.000Z'
      const link = `${stage.node.url}/#file=broker.log&${place}`
      await told(page, 'This is the log at that time', () => page.goto(link))
      await row(page, 'number 3600 ').waitFor()
      await page.context().close()
    })

    it('puts dates into links for a time of day, and leaves an age as it is', async () => {
      const page = await open('file=broker.log')
      const hash = () => new URLSearchParams(page.url().split('#')[1])
      await page.getByRole('button', { name: 'All time' }).click()
      await page.getByLabel('From', { exact: true }).fill('01:00:00')
      await page.getByLabel('To', { exact: true }).fill('01:00:10')
      await page.keyboard.press('Enter')
      await expect.poll(() => hash().get('since')).toMatch(/^\d{4}-\d\d-\d\d 01:00:00\.000$/)
      expect(hash().get('until')).toMatch(/^\d{4}-\d\d-\d\d 01:00:10\.000$/)
      // An age moves on with every reload.
      await page.goto(`${stage.node.url}/#file=broker.log&since=15m`)
      await page.getByText('Last 15 minutes').waitFor()
      await page.getByText('No record matches').waitFor()
      expect(hash().get('since')).toBe('15m')
      await page.context().close()
    })

    it('selects everything between a click and a Shift-click', async () => {
      const page = await open('file=broker.log')
      await row(page, `number ${RECORDS - 9} `)
        .locator('.t')
        .click()
      await row(page, `number ${RECORDS - 5} `)
        .locator('.m')
        .click({ modifiers: ['Shift'] })
      await page.getByText('5 selected').waitFor()
      await told(page, '5 records copied', () => page.keyboard.press('c'))
      const copied = await page.evaluate<string>('navigator.clipboard.readText()')
      expect(copied).toBe([9, 8, 7, 6, 5].map((back) => line(RECORDS - back)).join(''))
      await page.context().close()
    })

    it('goes to the true beginning with rotated files included', async () => {
      const page = await open('file=broker.log&rotated=true')
      await page
        .locator('.files a')
        .filter({ hasText: /ago|just now/ })
        .first()
        .waitFor()
      await page.keyboard.press('g')
      await row(page, `number ${-DAY} `).waitFor()
      await page.context().close()
    })

    it('stays where it is between hits and all lines', async () => {
      const page = await open('file=broker.log&q=failed')
      await row(page, 'failed at 9000').locator('.t').click()
      await page.getByRole('button', { name: 'All lines' }).click()
      await row(page, 'number 9001 ').waitFor()
      await expect.poll(() => current(page).textContent()).toContain('failed at 9000')
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.getByRole('button', { name: 'Only hits' }).click()
      await row(page, 'number 9001 ').waitFor({ state: 'detached' })
      await row(page, 'failed at 9000').waitFor()
      await row(page, 'failed at 19500').waitFor()
      await page.context().close()
    })

    it('expands the record at Enter after a filter was clicked', async () => {
      const page = await open('file=broker.log')
      await page.getByRole('button', { name: /^error/i }).click()
      await page.getByText('3 matches').waitFor()
      await page.keyboard.press('k')
      await page.keyboard.press('Enter')
      await page.locator('.row[aria-current] .details').waitFor()
      expect(page.url()).toContain('level=error')
      await page.context().close()
    })

    it('reveals a hit beyond the right edge, inside collapsed lines, and far inside a long line', async () => {
      const deep = `${STACK}${Array.from({ length: 30 }, (_, i) => `\tat frame ${i}\n`).join('')}\tat the hidden culprit\n`
      writeFileSync(
        join(stage.logs, 'hidden.log'),
        line(1, 'INFO', `${'wide '.repeat(150)}culprit at the right`) +
          line(2, 'ERROR', 'with a stack') +
          deep +
          line(3, 'INFO', `${'x'.repeat(300_000)} culprit in the depth ${'y'.repeat(300_000)}`),
      )
      const page = await open('file=hidden.log&q=culprit')
      for (const [key, seconds] of [
        ['N', '03'],
        ['N', '02'],
        ['N', '01'],
        ['n', '02'],
      ]) {
        await page.keyboard.press(key!)
        await page
          .locator('.row[aria-current] .t')
          .filter({ hasText: `:${seconds}.000` })
          .waitFor()
        const shown = expect.poll(() => inView(page, '.row[aria-current] mark'), {
          message: `the hit of second ${seconds}`,
        })
        await shown.toBe(true)
      }
      await page.context().close()
    })

    it('shows a log of long lines whole: every record once, with its time', async () => {
      let text = ''
      for (let i = 0; i < 30; i++) {
        const filler = 'z'.repeat(500_000)
        text += line(i, 'INFO', `long ${i} ${filler}${i === 7 ? ' needle ' : ' '}${filler}`)
      }
      writeFileSync(join(stage.logs, 'long.log'), text)
      const page = await open('file=long.log')
      await page.getByText('30 records').waitFor()
      await expect
        .poll(() => page.locator('.row .t').allTextContents())
        .toEqual(Array.from({ length: 30 }, (_, i) => `01-10 00:00:${String(i).padStart(2, '0')}.000`))
      await page.keyboard.press('/')
      await page.keyboard.type('needle')
      await page.keyboard.press('Enter')
      await page.getByText('1 match').waitFor()
      await expect.poll(() => page.locator('.row .t').allTextContents()).toEqual(['01-10 00:00:07.000'])
      await page.keyboard.press('N')
      await page.locator('.row[aria-current] mark').waitFor()
      await expect.poll(() => inView(page, '.row[aria-current] mark')).toBe(true)
      await page.context().close()
    })
  },
)
