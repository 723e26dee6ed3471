import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type BrowserPage, barsOf, settled } from './browser.ts'
import { line, stamp } from './logs.ts'
import { describePage } from './stage.ts'

const RECORDS = 22_000
const START = Date.UTC(2026, 0, 10)

describePage(
  'your place, when something is taken back',
  (logs) => {
    let text = ''
    for (let i = 0; i < RECORDS; i++)
      text += line(
        i,
        i % 700 === 399 ? 'ERROR' : 'INFO',
        `record number ${i} written ${'and more '.repeat(i % 23)}`,
      )
    writeFileSync(join(logs, 'broker.log'), text)
    // Twelve hours more than the other.
    let later = ''
    for (let i = 0; i < RECORDS + 43_200; i += 10) later += line(i)
    writeFileSync(join(logs, 'storage.log'), later)
    // JSON without levels, of a format that may have them.
    let bare = ''
    for (let i = 0; i < 2000; i++)
      bare += `{"time":"${new Date(START + i * 10_000).toISOString()}","msg":"record number ${i * 10} bare"}\n`
    writeFileSync(join(logs, 'bare.log'), bare)
    // In one bar of the chart ten thousand records, half of them errors, and one error in another.
    let bars = ''
    for (let minute = 0; minute < 120; minute++)
      for (let i = 0; i < 10_000; i += minute === 30 || minute === 90 ? 1 : 2000) {
        const bad = minute === 30 ? i < 5000 : minute === 90 && i === 7
        bars += `${stamp(START + minute * 60_000 + i * 6)}\t${bad ? 'ERROR' : 'INFO'}\ta.go:1\t[A]: said ${i}\n`
      }
    writeFileSync(join(logs, 'bars.log'), bars)
  },
  (stage) => {
    const { open } = stage
    /** The first record of which a pixel is in view, and where it begins. */
    const top = (page: BrowserPage) =>
      page.evaluate<{ number: number; y: number }>(`(() => {
        const list = document.querySelector('.list').getBoundingClientRect()
        const row = [...document.querySelectorAll('.row')].find((each) => each.getBoundingClientRect().bottom > list.top + 0.5)
        return { number: Number(/number (\\d+)/.exec(row.textContent)[1]), y: row.getBoundingClientRect().top - list.top }
      })()`)
    const level = (page: BrowserPage, name: string) => page.locator(`.levels .lv-${name}`).click()
    const openLog = (page: BrowserPage, name: string) =>
      page.locator('.files a').filter({ hasText: name }).click()
    const gone = (page: BrowserPage, text: string) => expect.poll(() => page.url()).not.toContain(text)

    it('keeps the topmost record when a level is taken back, from the end of the log on', async () => {
      const page = await open('file=broker.log')
      await settled(page)
      await level(page, 'error')
      await expect.poll(() => page.url()).toContain('level=error')
      await settled(page)
      const { number } = await top(page)
      expect(number).toBeLessThan(RECORDS - 700)
      await level(page, 'all')
      await gone(page, 'level=error')
      await settled(page)
      expect((await top(page)).number).toBe(number)
      await page.context().close()
    })

    it('keeps the topmost record when a text is taken back', async () => {
      const page = await open('file=broker.log&q=99%20written')
      await settled(page)
      const { number } = await top(page)
      await page.getByRole('button', { name: 'Remove “99 written”' }).click()
      await gone(page, 'q=')
      await settled(page)
      expect((await top(page)).number).toBe(number)
      await page.context().close()
    })

    it('keeps the topmost record under Wrap and in a narrower window, wherever one is', async () => {
      for (const place of ['', '&time=2026-01-10T03:00:00.000Z']) {
        const page = await open(`file=broker.log${place}`)
        await settled(page)
        if (place !== '') {
          await page.mouse.move(700, 500)
          await page.mouse.wheel(0, 333)
          await settled(page)
        }
        const { number } = await top(page)
        await page.keyboard.press('w')
        await settled(page)
        expect((await top(page)).number, `wrapped${place}`).toBe(number)
        for (const width of [1000, 860, 700]) {
          await page.setViewportSize({ width, height: 800 })
          await settled(page)
          expect((await top(page)).number, `${width} px${place}`).toBe(number)
        }
        await page.context().close()
      }
    })

    it('opens another log at the moment of the newest record in view', async () => {
      const page = await open('file=broker.log')
      await settled(page)
      await openLog(page, 'storage.log')
      await expect.poll(() => page.url()).toContain('file=storage.log')
      await settled(page)
      const { number } = await top(page)
      expect(Math.abs(number - RECORDS)).toBeLessThan(300)
      await page.context().close()
    })

    it('keeps the zone in the next log and after a reload', async () => {
      const page = await open('file=broker.log', { timezoneId: 'Asia/Tokyo' })
      await page.getByLabel('Time zone').selectOption('browser')
      await openLog(page, 'storage.log')
      await expect.poll(() => page.url()).toContain('file=storage.log')
      await settled(page)
      const shown = async () => [
        await page.getByLabel('Time zone').inputValue(),
        (await page.locator('.row .t').first().textContent()).slice(0, 9),
      ]
      await expect.poll(() => shown()).toEqual(['browser', '01-10 15:'])
      await page.reload()
      await settled(page)
      await expect.poll(() => shown()).toEqual(['browser', '01-10 15:'])
      await page.context().close()
    })

    it('opens a range at its beginning, with the first error one key away', async () => {
      const page = await open('file=broker.log')
      await settled(page)
      await page.keyboard.press('t')
      await page.getByLabel('From', { exact: true }).fill('2026-01-10 02:00:00')
      await page.getByLabel('To', { exact: true }).fill('2026-01-10 04:00:00')
      await page.keyboard.press('Enter')
      await expect.poll(() => page.url()).toContain('since=')
      await settled(page)
      expect((await top(page)).number).toBe(7200)
      await page.keyboard.press('n')
      const marked = () => page.locator('.row[aria-current] .m').textContent()
      await expect.poll(marked).toContain('record number 7399 ')
      await page.keyboard.press('n')
      await expect.poll(marked).toContain('record number 8099 ')
      // A record that is read and inside of the range stays.
      await settled(page)
      const before = await top(page)
      await page.getByRole('button', { name: 'Show all time' }).click()
      await gone(page, 'since=')
      await settled(page)
      expect((await top(page)).number).toBe(before.number)
      await page.context().close()
    })

    it('hears its keys after a box was checked, and keeps the time panel inside the window', async () => {
      const page = await open('file=broker.log', { viewport: { width: 1440, height: 900 } })
      await page.getByRole('checkbox', { name: 'storage.log' }).click()
      await expect.poll(() => page.url()).toContain('file=storage.log')
      await settled(page)
      await page.keyboard.press('t')
      const panel = (await page.getByRole('dialog', { name: 'Time range' }).boundingBox())!
      expect(panel.x + panel.width).toBeLessThanOrEqual(1440)
      await page.keyboard.press('Escape')
      await page.getByRole('checkbox', { name: 'storage.log' }).focus()
      await page.keyboard.press('?')
      await page.getByRole('heading', { name: 'Keys' }).waitFor()
      await page.context().close()
    })

    it('draws half of ten thousand as half of the chart, and one as hardly anything', async () => {
      const page = await open('file=bars.log')
      await page.getByRole('img', { name: /^Chart of records from/ }).waitFor()
      const width = (await page.locator('.histogram svg').boundingBox())!.width
      const tallest = async (from: number, to: number) =>
        Math.max(
          0,
          ...(await barsOf(page, 'error'))
            .filter(({ x }) => x >= width * from && x < width * to)
            .map(({ height }) => height),
        )
      const half = await tallest(0, 0.5)
      expect(half).toBeGreaterThanOrEqual(30)
      await expect.poll(() => tallest(0.5, 1)).toBeLessThanOrEqual(2)
      await page.context().close()
    })
  },
)
