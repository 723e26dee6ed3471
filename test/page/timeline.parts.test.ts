import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type BrowserPage, findings, resting, settled } from './browser.ts'
import { stamp } from './logs.ts'
import { describePage } from './stage.ts'

const START = Date.UTC(2026, 0, 10)
const CAUSE = 'volume /data is full, writes will be refused'

/** A night of records, one a second; what `said` returns for a second stands in its place. */
function night(said: (second: number) => [level: string, message: string] | null): string {
  let text = ''
  for (let i = 0; i < 15_000; i++) {
    const [level, message] = said(i) ?? ['INFO', `heartbeat ${i}`]
    text += `${stamp(START + i * 1000)}\t${level}\tpkg/a.go:${i % 90}\t[Node]: ${message}\n`
  }
  return text
}

describePage(
  'several logs as one',
  (logs) => {
    const failing = (i: number): [string, string] | null =>
      i >= 9660 && i < 9900 ? ['ERROR', `query ${i} failed: storage does not accept writes`] : null
    writeFileSync(join(logs, 'broker.log'), night(failing))
    writeFileSync(
      join(logs, 'storage.log'),
      night((i) => (i === 9655 ? ['WARN', CAUSE] : null)),
    )
    writeFileSync(
      join(logs, 'access.log'),
      night(() => null),
    )
    writeFileSync(join(logs, 'notes.txt'), 'nothing here says when\nit was written\n')
  },
  (stage) => {
    const row = (page: BrowserPage, text: string) => page.locator('.row').filter({ hasText: text })
    const box = (page: BrowserPage, name: string) =>
      page.locator('.side').getByRole('checkbox', { name, exact: true })
    const hash = (page: BrowserPage) => decodeURIComponent(new URL(page.url()).hash)

    it('picks logs together in the sidebar, and each row says which one it is from', async () => {
      const page = await stage.open('file=broker.log')
      await box(page, 'storage.log').click()
      await row(page, 'heartbeat 14999').nth(1).waitFor()
      expect(hash(page)).toContain('file=broker.log&file=storage.log')
      const rows = page.locator('.row .o')
      expect((await rows.allTextContents()).slice(-4)).toEqual(['A', 'B', 'A', 'B'])
      expect(await rows.last().getAttribute('title')).toBe('storage.log')
      await page.locator('.row').last().locator('.fold').click()
      await page.locator('.details').filter({ hasText: 'Logstorage.log' }).waitFor()
      await page.reload()
      await page.locator('.sources').filter({ hasText: 'broker.log' }).waitFor()
      await box(page, 'broker.log').click()
      await expect.poll(() => hash(page)).not.toContain('broker.log')
      await page.locator('.row').first().waitFor()
      expect(await page.locator('.sources').count()).toBe(0)
      await page.context().close()
    })

    it('hides a log, shows one alone, and says why one is missing', async () => {
      const page = await stage.open('file=broker.log')
      await box(page, 'All logs').click()
      const chip = (name: string) => page.locator('.chip.source').filter({ hasText: name })
      await chip('notes.txt').filter({ hasText: 'no time' }).waitFor()
      expect(await chip('notes.txt').getAttribute('class')).toContain('missing')
      await settled(page)
      expect(await findings(page)).toEqual([])
      await page.getByRole('button', { name: 'access.log', exact: true }).click()
      await expect.poll(() => hash(page)).toContain('hide=access.log')
      await settled(page)
      expect(new Set(await page.locator('.row .o').allTextContents())).toEqual(new Set(['B', 'D']))
      await page.getByRole('button', { name: 'Only storage.log' }).click()
      await settled(page)
      expect(new Set(await page.locator('.row .o').allTextContents())).toEqual(new Set(['D']))
      await page.getByRole('button', { name: 'Only storage.log' }).click()
      await settled(page)
      expect(new Set(await page.locator('.row .o').allTextContents())).toEqual(new Set(['A', 'B', 'D']))
      await page.context().close()
    })

    it('stacks the chart by log', async () => {
      const page = await stage.open('file=*')
      await page.getByLabel('Stack by').selectOption('file')
      const name = () => page.locator('.histogram canvas').getAttribute('aria-label')
      await expect.poll(name).toMatch(/15,000 access\.log, 15,000 broker\.log, 15,000 storage\.log/)
      expect(hash(page)).toContain('by=file')
      await page.context().close()
    })

    it('shows all others at the moment of a record with one key, and returns', async () => {
      const page = await stage.open('file=broker.log&level=error')
      await page.keyboard.press('g')
      await expect.poll(() => page.locator('.row[aria-current]').textContent()).toContain('query 9660')
      await page.keyboard.press('o')
      await row(page, CAUSE).waitFor()
      expect(await page.locator('.row[aria-current]').textContent()).toContain('query 9660 failed')
      expect(hash(page)).not.toContain('level')
      await resting(page)
      await page.reload()
      await row(page, CAUSE).waitFor()
      expect(await page.locator('.row[aria-current]').textContent()).toContain('query 9660 failed')
      await page.goBack()
      await expect.poll(() => page.locator('.row[aria-current]').textContent()).toContain('query 9660')
      expect(hash(page)).toContain('level=error')
      await page.context().close()
    })
  },
)
