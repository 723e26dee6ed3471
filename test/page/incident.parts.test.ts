import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { BrowserPage } from './browser.ts'
import { night } from './logs.ts'
import { describePage } from './stage.ts'

const CAUSE = 'volume /data is full, writes will be refused'

describePage(
  'an incident whose cause is in another log, 90 seconds earlier',
  (logs) => {
    const failing = (i: number): [string, string] | null =>
      i >= 9660 && i < 9900 ? ['ERROR', `query ${i} failed: storage does not accept writes`] : null
    writeFileSync(join(logs, 'broker.log'), night(failing))
    writeFileSync(
      join(logs, 'storage.log'),
      night((i) => (i === 9570 ? ['WARN', CAUSE] : null)),
    )
    writeFileSync(
      join(logs, 'access.log'),
      night(() => null),
    )
  },
  (stage) => {
    const row = (page: BrowserPage, text: string) => page.locator('.row').filter({ hasText: text })
    const level = (page: BrowserPage, name: string) =>
      page
        .locator('.levels button')
        .filter({ hasText: new RegExp(`^${name}`, 'i') })
        .click()

    it('is found in six actions, without typing a time', async () => {
      const page = await stage.browser.open(stage.node.url)
      // 1. The log that complains. 2. Its errors. 3. The first of them.
      await page.locator('.files a').filter({ hasText: 'broker.log' }).click()
      await page.locator('.row').first().waitFor()
      await level(page, 'error')
      await row(page, 'query 9899 failed').waitFor()
      await page.keyboard.press('g')
      await row(page, 'query 9660 failed').waitFor()
      await expect.poll(() => page.locator('.row[aria-current]').textContent()).toContain('query 9660 failed')
      // 4. The other log, at the same moment. 5. Its warnings as well.
      await page.locator('.files a').filter({ hasText: 'storage.log' }).click()
      await expect.poll(() => page.url()).toContain('file=storage.log')
      await page.getByText('No record matches').waitFor()
      await level(page, 'warn')
      const cause = row(page, CAUSE)
      await cause.waitFor()
      // 6. What came around it.
      await cause.locator('.m').click()
      await page.getByRole('button', { name: 'Show the lines around it' }).click()
      await row(page, 'heartbeat 9569').waitFor()
      await page.context().close()
    })
  },
)
