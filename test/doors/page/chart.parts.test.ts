import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type BrowserPage, findings, type Route } from './browser.ts'
import { line, stamp } from './logs.ts'
import { describePage } from './stage.ts'

describePage(
  'a chart that counts or says that it does not',
  (logs) => {
    // Three records of 2005, a day of 2026 with errors in its last hour.
    let text = ''
    for (let i = 0; i < 3; i++) text += `${stamp(Date.UTC(2005, 2, 1 + i))}\tINFO\ta.go:1\t[A]: old ${i}\n`
    for (let i = 0; i < 86_400; i += 20) text += line(i, i > 84_000 ? 'ERROR' : 'INFO')
    writeFileSync(join(logs, 'years.log'), text)
    writeFileSync(join(logs, 'one.log'), Array.from({ length: 500 }, (_, i) => line(i)).join(''))
    writeFileSync(join(logs, 'two.log'), Array.from({ length: 500 }, (_, i) => line(i)).join(''))
    // An hour of errors only.
    let large = ''
    for (let i = 0; i < 40_000; i++) large += line(i, i > 36_000 ? 'ERROR' : 'INFO')
    writeFileSync(join(logs, 'large.log'), large)
    writeFileSync(join(logs, 'notes.txt'), 'a line without a time\n'.repeat(50))
  },
  (stage) => {
    /** Pixels of the chart that have a colour, by its name. */
    const pixels = (page: BrowserPage, name: string) =>
      page.evaluate<number>(`(() => {
        const canvas = document.querySelector('.histogram canvas')
        const probe = document.createElement('canvas').getContext('2d')
        probe.fillStyle = getComputedStyle(canvas).getPropertyValue('--h-${name}')
        probe.fillRect(0, 0, 1, 1)
        const want = probe.getImageData(0, 0, 1, 1).data
        const { width, height } = canvas
        const { data } = canvas.getContext('2d').getImageData(0, 0, width, height - 18)
        let found = 0
        for (let at = 0; at < data.length; at += 4)
          if (data[at + 3] > 200 && [0, 1, 2].every((c) => Math.abs(data[at + c] - want[c]) < 6)) found++
        return found
      })()`)
    const chart = (page: BrowserPage) => page.locator('.histogram canvas').getAttribute('aria-label')

    it('hatches what is not counted yet, and says that it counts', async () => {
      const page = await stage.browser.open('about:blank')
      const held: Route[] = []
      await page.route('**/api/v1/log/histogram?*', async (route) => void held.push(route))
      await page.goto(`${stage.node.url}/#file=large.log`)
      await page.locator('.legend').filter({ hasText: 'Counting' }).waitFor()
      await expect.poll(() => held.length).toBe(1)
      await expect.poll(() => pixels(page, 'error')).toBe(0)
      await expect.poll(() => pixels(page, 'axis')).toBeGreaterThan(200)
      await held[0]!.continue()
      await page.locator('.legend').filter({ hasText: 'Counting' }).waitFor({ state: 'detached' })
      await expect.poll(() => pixels(page, 'error')).toBeGreaterThan(50)
      await expect.poll(() => pixels(page, 'axis')).toBeLessThan(200)
      await page.context().close()
    })

    it('names what stays uncounted, and tries again', async () => {
      const page = await stage.open('file=one.log&file=two.log&file=gone.log')
      await page.locator('.uncounted').filter({ hasText: 'gone.log not counted' }).waitFor()
      writeFileSync(join(stage.logs, 'gone.log'), line(3))
      await expect
        .poll(async () => {
          const again = page.locator('.uncounted button')
          if ((await again.count()) > 0) await again.click()
          return page.locator('.uncounted').count()
        })
        .toBe(0)
      await page.context().close()
    })

    it('names a log without times, and hatches nothing for it', async () => {
      const page = await stage.open('file=one.log&file=two.log&file=notes.txt')
      await page.locator('.legend').filter({ hasText: 'notes.txt has no times' }).waitFor()
      await expect.poll(() => page.locator('.uncounted').count()).toBe(0)
      await expect.poll(() => pixels(page, 'axis')).toBeLessThan(200)
      await expect.poll(() => pixels(page, 'info')).toBeGreaterThan(200)
      expect(await findings(page)).toEqual([])
      await page.context().close()
    })

    it('opens on the last day with records where times span years, and shows all of them on demand', async () => {
      const page = await stage.open('file=years.log')
      const all = page.getByRole('button', { name: 'Last day with records. Show all time' })
      await all.waitFor()
      await expect
        .poll(() => chart(page))
        .toMatch(/^Chart of records from 2026-01-(09|10) .* to 2026-01-1[01] /)
      // The pills count everything.
      await expect.poll(() => page.locator('.lv-info .tally').textContent()).toBe('4,204')
      await all.click()
      await expect.poll(() => chart(page)).toMatch(/^Chart of records from 200[45]-/)
      await page.getByRole('button', { name: 'Show the last day with records' }).waitFor()
      await page.context().close()
    })
  },
)
