import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type BrowserPage, settled } from './browser.ts'
import { line, writeLog } from './logs.ts'
import { describePage } from './stage.ts'

const RECORDS = 20_000
const ERRORS = [1234, 9000, 19_500]
/** Lines of a log without times. */
const HITS = new Set([100, 35_000])

/** The numbers of the records in view, top to bottom. */
export function inView(page: BrowserPage): Promise<number[]> {
  return page.evaluate<number[]>(`(() => {
    const list = document.querySelector('.list').getBoundingClientRect()
    return [...document.querySelectorAll('.row')]
      .filter((row) => {
        const { top, bottom } = row.getBoundingClientRect()
        return bottom > list.top + 1 && top < list.bottom - 1
      })
      .flatMap((row) => /(?:number|failed at) (-?\\d+)/.exec(row.textContent)?.[1] ?? [])
      .map(Number)
  })()`)
}

describePage(
  'your place, whatever you click',
  (logs) => {
    writeLog(join(logs, 'broker.log'), RECORDS, ERRORS)
    let before = ''
    for (let i = -8640; i < 0; i++) before += line(i * 10)
    writeFileSync(join(logs, 'broker.log.1'), before)
    writeLog(join(logs, 'storage.log'), RECORDS, [9003])
    writeFileSync(join(logs, 'plain.txt'), 'just text\n'.repeat(50))
  },
  (stage) => {
    const { open } = stage
    const row = (page: BrowserPage, text: string) => page.locator('.row').filter({ hasText: text })
    const hash = (page: BrowserPage) => new URLSearchParams(page.url().split('#')[1])
    const top = async (page: BrowserPage) => (await inView(page))[0]!
    const marked = (page: BrowserPage) => page.locator('.row[aria-current] .m').first().textContent()
    const level = (page: BrowserPage, name: string) =>
      page
        .locator('.levels button')
        .filter({ hasText: new RegExp(`^${name}`, 'i') })
        .click()
    /** Opens the log in the middle, nothing selected. */
    async function openAt(number: number, more = '', options = {}): Promise<BrowserPage> {
      const time = new Date(Date.UTC(2026, 0, 10) + number * 1000).toISOString()
      const page = await open(`file=broker.log&time=${time}${more}`, options)
      await page
        .getByText(new RegExp(`(number|failed at) ${number}\\b`))
        .first()
        .waitFor()
      await settled(page)
      return page
    }

    it('keeps the record at the top when rotated files are included', async () => {
      const page = await openAt(9660)
      const before = await top(page)
      await page.getByRole('button', { name: 'Include rotated' }).click()
      await expect.poll(() => page.url()).toContain('rotated=true')
      await settled(page)
      await expect.poll(() => top(page)).toBe(before)
      await page.getByRole('button', { name: 'Include rotated' }).click()
      await settled(page)
      await expect.poll(() => top(page)).toBe(before)
      await page.context().close()
    })

    it('shows the nearest neighbour of a record that a filter leaves out, and goes back without it', async () => {
      const page = await openAt(9100)
      const before = await top(page)
      await level(page, 'warn')
      await expect.poll(() => page.url()).toContain('level=warn')
      await settled(page)
      expect(Math.abs((await top(page)) - before)).toBeLessThanOrEqual(50)
      await level(page, 'error')
      await settled(page)
      await expect.poll(() => inView(page)).toContain(9000)
      await level(page, 'all')
      await settled(page)
      await expect.poll(() => top(page)).toBe(before)
      await page.context().close()
    })

    it('keeps a marked record where it is on the screen, through filters and all lines', async () => {
      const page = await openAt(9010)
      await row(page, 'failed at 9000').locator('.t').click()
      const place = async () =>
        (await page.locator('.row[aria-current]').boundingBox())!.y -
        (await page.locator('.list').boundingBox())!.y
      await settled(page)
      const before = await place()
      for (const act of [
        () => page.getByRole('button', { name: 'Include rotated' }).click(),
        () => page.locator('.row[aria-current] .g .v').last().click(),
      ]) {
        await act()
        if ((await page.getByRole('menu').count()) > 0)
          await page.getByRole('menuitem', { name: 'Only records with this' }).click()
        await settled(page)
        await expect.poll(() => marked(page)).toContain('failed at 9000')
      }
      expect(Math.abs((await place()) - before)).toBeLessThan(4)
      await level(page, 'error')
      await settled(page)
      await expect.poll(() => marked(page)).toContain('failed at 9000')
      await page.getByRole('button', { name: 'All lines' }).click()
      await settled(page)
      await expect.poll(() => marked(page)).toContain('failed at 9000')
      await expect.poll(() => inView(page)).toContain(9001)
      await page.context().close()
    })

    it('never shows what the range leaves out: rows, chart, pill and address agree', async () => {
      const range = '&since=2026-01-10 02:25:00&until=2026-01-10 02:35:00'
      const page = await open(`file=broker.log${range}`)
      await row(page, 'number 8700 ').waitFor()
      await settled(page)
      await level(page, 'error')
      await row(page, 'failed at 9000').waitFor()
      await row(page, 'failed at 9000').locator('.m').click()
      await page.getByRole('button', { name: 'Show the lines around it' }).click()
      await row(page, 'number 9001 ').waitFor()
      await page.keyboard.press('G')
      await row(page, 'number 9299 ').waitFor()
      await settled(page)
      const seen = await inView(page)
      expect(Math.max(...seen)).toBe(9299)
      expect(hash(page).get('since')).toBe('2026-01-10 02:25:00')
      await expect.poll(() => page.locator('[data-range]').textContent()).toContain('02:25:00')
      await page.keyboard.press('N')
      await expect.poll(() => marked(page)).toContain('failed at 9000')
      await page.keyboard.press('N')
      await page.getByText('No earlier hit').waitFor()
      // A place outside of the range leads to its edge.
      await page.goto(
        `${stage.node.url}/#file=broker.log${range}&time=${new Date(Date.UTC(2026, 0, 10, 5)).toISOString()}`,
      )
      await row(page, 'number 9299 ').waitFor()
      expect(Math.max(...(await inView(page)))).toBe(9299)
      await page.goto(
        `${stage.node.url}/#file=broker.log${range}&time=${new Date(Date.UTC(2026, 0, 10, 0)).toISOString()}`,
      )
      await row(page, 'number 8700 ').waitFor()
      await settled(page)
      await expect.poll(() => top(page)).toBe(8700)
      await page.context().close()
    })

    it('keeps the record at the top under wrap, columns, fields, and another size', async () => {
      const page = await openAt(9660)
      const before = await top(page)
      const same = async (what: string) => {
        await settled(page)
        expect(await top(page), what).toBe(before)
      }
      await page.keyboard.press('w')
      await same('wrap')
      await page.keyboard.press('e')
      await page.locator('.field-list').waitFor()
      await same('fields')
      await page.locator('summary').filter({ hasText: 'columns' }).click()
      await page.getByLabel('Tags').click()
      await page.keyboard.press('Escape')
      await same('columns')
      await page.setViewportSize({ width: 900, height: 500 })
      await same('a smaller window')
      await page.setViewportSize({ width: 1500, height: 900 })
      await same('a larger window')
      await page.keyboard.press('w')
      await same('no wrap')
      await page.locator('.row .fold').nth(18).click()
      await same('an expanded record')
      await page.context().close()
    })

    it('steps from hit to hit in a log without times, however far apart they are', async () => {
      let text = ''
      for (let i = 0; i < 40_000; i++)
        text += `line ${i} of a log without times${HITS.has(i) ? ': needle' : ''}\n`
      writeFileSync(join(stage.logs, 'untimed.log'), text)
      const page = await open('file=untimed.log&q=needle&all=true')
      await page.keyboard.press('g')
      await row(page, 'line 0 of').waitFor()
      for (const [key, hit] of [
        ['n', 100],
        ['n', 35_000],
        ['N', 100],
        ['n', 35_000],
      ] as const) {
        await page.keyboard.press(key)
        await expect.poll(() => marked(page)).toBe(`line ${hit} of a log without times: needle`)
      }
      await page.keyboard.press('n')
      await page.getByText('No later hit').waitFor()
      await page.context().close()
    })

    it('keeps a hit inside a record of 2 MB in view when lines wrap', async () => {
      const long = `${'x '.repeat(600_000)}needle in the depth ${'y '.repeat(400_000)}`
      let text = ''
      for (let i = 0; i < 40; i++) text += line(i, 'INFO', i === 20 ? long : undefined)
      writeFileSync(join(stage.logs, 'long.log'), text)
      const page = await open('file=long.log&q=needle&all=true')
      await page.locator('.list').focus()
      await page.keyboard.press('N')
      const visible = () =>
        page.evaluate<boolean>(`(() => {
          const mark = document.querySelector('.list mark')?.getBoundingClientRect()
          const list = document.querySelector('.list').getBoundingClientRect()
          return mark !== undefined && mark.top >= list.top && mark.bottom <= list.bottom &&
            mark.left >= list.left && mark.right <= list.right
        })()`)
      await expect.poll(visible).toBe(true)
      for (const key of ['w', 'w', 'w']) {
        await page.keyboard.press(key)
        await settled(page)
        await expect.poll(() => visible()).toBe(true)
      }
      await page.context().close()
    })

    it('asks another log the same question, at the same moment', async () => {
      const page = await openAt(9000, '&level=error&since=2026-01-10 02:00:00&q=failed')
      await page.locator('.files a').filter({ hasText: 'storage.log' }).click()
      await row(page, 'failed at 9003').waitFor()
      expect(hash(page).get('level')).toBe('error')
      expect(hash(page).get('since')).toBe('2026-01-10 02:00:00')
      expect(hash(page).get('q')).toBe('failed')
      await level(page, 'all')
      await settled(page)
      await page.getByRole('button', { name: 'Remove “failed”' }).click()
      await settled(page)
      await row(page, 'number 9001 ').waitFor()
      const place = await top(page)
      await page.locator('.files a').filter({ hasText: 'broker.log' }).click()
      await settled(page)
      expect(Math.abs((await inView(page))[0]! - place)).toBeLessThan(20)
      await page.context().close()
    })

    it('opens a log without times at its end', async () => {
      const page = await stage.browser.open('about:blank')
      await page.goto(`${stage.node.url}/#file=broker.log&time=2026-01-10T01:00:00Z`)
      await row(page, 'number 3600 ').waitFor()
      await page.locator('.files a').filter({ hasText: 'plain.txt' }).click()
      await row(page, 'just text').first().waitFor()
      await page.context().close()
    })
  },
)
