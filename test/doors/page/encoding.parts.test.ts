import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findings, settled, told } from './browser.ts'
import { stamp } from './logs.ts'
import { describePage } from './stage.ts'

const lines = (count: number) =>
  Array.from(
    { length: count },
    (_, i) => `${stamp(Date.UTC(2026, 0, 10) + i * 1000)} INFO café ${i} fermé\n`,
  ).join('')

describePage(
  'a log that is not UTF-8',
  (logs) => {
    writeFileSync(join(logs, 'latin.log'), Buffer.from(lines(200), 'latin1'))
    writeFileSync(join(logs, 'wide.log'), Buffer.from(lines(200), 'utf16le'))
    writeFileSync(join(logs, 'plain.log'), lines(200))
  },
  (stage) => {
    it('is shown as it is meant once its encoding is chosen, which is in the address', async () => {
      const page = await stage.open('file=latin.log')
      const choice = page.getByLabel('Encoding')
      await choice.waitFor()
      expect(await findings(page)).toEqual([])
      await choice.selectOption('latin1')
      await page.locator('.row').filter({ hasText: 'café 199 fermé' }).waitFor()
      expect(page.url()).toContain('encoding=latin1')
      await page.reload()
      await settled(page)
      await page.locator('.row').filter({ hasText: 'café 199 fermé' }).waitFor()
      await told(page, 'A log can be followed only as UTF-8', () => page.keyboard.press('f'))
      await page.keyboard.press('/')
      await page.keyboard.type('café 7 ')
      await page.keyboard.press('Enter')
      await page.getByText(/^1 match/).waitFor()
      // Another log is read as its bytes say.
      await page.locator('.files a').filter({ hasText: 'plain.log' }).click()
      await expect.poll(() => page.url()).not.toContain('encoding')
      await choice.waitFor({ state: 'detached' })
      await page.context().close()
    })

    it('may be UTF-16 without a byte order mark', async () => {
      const page = await stage.open('file=wide.log')
      await page.getByLabel('Encoding').selectOption('utf-16le')
      await page.locator('.row').filter({ hasText: 'café 199 fermé' }).waitFor()
      await page.context().close()
    })
  },
)
