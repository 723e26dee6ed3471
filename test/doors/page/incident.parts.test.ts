import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serve, temporaryDirectory } from '../../program.ts'
import { type BrowserPage, findings, settled } from './browser.ts'
import { NIGHT, night } from './logs.ts'
import { describePage } from './stage.ts'

const CAUSE = 'volume /data is full, writes will be refused'
const failing = (i: number): [string, string] | null =>
  i >= 9660 && i < 9900 ? ['ERROR', `query ${i} failed: storage does not accept writes`] : null
const cause = (i: number): [string, string] | null => (i === 9570 ? ['WARN', CAUSE] : null)

/** Three logs of a night: one complains, another has the cause, a minute and a half earlier. */
function writeLogs(logs: string, [bad, full]: [typeof failing, typeof cause] = [failing, cause]): void {
  mkdirSync(logs, { recursive: true })
  writeFileSync(join(logs, 'broker.log'), night(bad))
  writeFileSync(join(logs, 'storage.log'), night(full))
  writeFileSync(
    join(logs, 'gateway.log'),
    night(() => null),
  )
}

/** Requests of an hour. Those of one path fail, and slowly. */
function requests(): string {
  let text = ''
  for (let i = 0; i < 6000; i++) {
    const path = ['/api/login', '/api/query', '/api/write', '/health'][i % 4]!
    const isBad = i % 40 === 1 || i % 120 === 2
    const duration = isBad ? (path === '/api/query' ? 1500 + (i % 900) : 1100 + (i % 90)) : i % 300
    const time = new Date(NIGHT + i * 600).toISOString()
    text += `${JSON.stringify({ time, level: isBad ? 'error' : 'info', msg: 'request', path, status: isBad ? 503 : 200, duration: `${duration}ms` })}\n`
  }
  return text
}

/** Counts what a person does: a click, a key, a line that is typed and its Enter. */
function counter(page: BrowserPage) {
  let done = 0
  return {
    get done() {
      return done
    },
    async click(locator: { click(): Promise<void> }) {
      done++
      await locator.click()
    },
    async press(key: string) {
      done++
      await page.keyboard.press(key)
    },
    async type(text: string) {
      done++
      await page.keyboard.press('/')
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    },
  }
}

const row = (page: BrowserPage, text: string) => page.locator('.row').filter({ hasText: text })
const current = (page: BrowserPage) => page.locator('.row[aria-current]').textContent()

describePage(
  'an incident, in actions',
  (logs) => {
    writeLogs(logs)
    writeFileSync(join(logs, 'requests.log'), requests())
  },
  (stage) => {
    it('has its cause in another log, 90 seconds earlier: five actions on a node', async () => {
      const page = await stage.browser.open(stage.node.url)
      const act = counter(page)
      // 1. The log that complains. 2. Its first error.
      await act.click(page.locator('.files a').filter({ hasText: 'broker.log' }))
      await settled(page)
      await act.click(page.locator('.levels .lv-error'))
      await row(page, 'query 9899 failed').waitFor()
      await act.press('g')
      await expect.poll(() => current(page)).toContain('query 9660 failed')
      // 4. All logs at this moment. 5. Warnings and above.
      await act.press('o')
      await expect.poll(() => page.url()).toContain('file=*')
      await settled(page)
      await act.click(page.locator('.levels .lv-warn'))
      await row(page, CAUSE).waitFor()
      await expect.poll(() => row(page, CAUSE).locator('.ln').textContent()).toBe('storage.log')
      expect(act.done).toBeLessThanOrEqual(5)
      await page.context().close()
    })

    it('has its cause on another node: five actions on a fleet', async () => {
      const fleet = temporaryDirectory()
      const none = () => null
      writeLogs(join(fleet, 'db-1/logs'), [failing, none])
      writeLogs(join(fleet, 'db-2/logs'), [none, none])
      writeLogs(join(fleet, 'db-4/logs'), [none, cause])
      const service = await serve(['--port', '0', '--fleet', fleet], { env: { TZ: 'UTC' } })
      const page = await stage.browser.open(service.url)
      const act = counter(page)
      // 1. The logs of all nodes as one. 2. Their errors. 3. The first of them.
      await act.click(page.getByRole('button', { name: 'Timeline' }))
      await settled(page)
      await act.click(page.locator('.levels .lv-error'))
      await row(page, 'query 9899 failed').first().waitFor()
      await act.press('g')
      await expect.poll(() => current(page)).toContain('query 9660 failed')
      // 4. Warnings as well.
      await act.click(page.locator('.levels .lv-warn'))
      await row(page, CAUSE).waitFor()
      await expect.poll(() => row(page, CAUSE).locator('.nn').textContent()).toBe('db-4')
      expect(act.done).toBeLessThanOrEqual(5)
      await page.context().close()
    })

    it('shows the worst of the slow and failing URLs in four actions', async () => {
      const page = await stage.browser.open(stage.node.url)
      const act = counter(page)
      await act.click(page.locator('.files a').filter({ hasText: 'requests.log' }))
      await settled(page)
      await act.type('status>=500 duration>1s')
      await page.getByText(/^200 matches/).waitFor()
      await act.press('e')
      await act.click(page.getByRole('button', { name: 'Group by path' }))
      const worst = page.locator('.groups tbody tr').first()
      await worst.waitFor()
      await expect.poll(() => worst.textContent()).toContain('/api/query')
      expect(act.done).toBe(4)
      expect(await findings(page)).toEqual([])
      // The rows lead to the records.
      await worst.getByRole('button').click()
      await page.getByText(/^150 matches/).waitFor()
      await page.context().close()
    })

    it('shows how numbers are distributed, and sorts groups by errors or count', async () => {
      const page = await stage.open('file=requests.log')
      await page.keyboard.press('e')
      const field = page.locator('.field-list > li').filter({ hasText: 'duration' })
      await field
        .locator('.spread')
        .filter({ hasText: /0 ms to 2\.\d+ s, median \d+ ms, p95 \d+ ms/ })
        .waitFor()
      expect(await findings(page)).toEqual([])
      await page.getByRole('button', { name: 'Group by path' }).click()
      const first = page.locator('.groups tbody tr').first()
      await first.filter({ hasText: '/api/query' }).waitFor()
      await page.locator('.groups').getByRole('button', { name: 'Records', exact: true }).click()
      await first.filter({ hasText: '/api/login' }).waitFor()
      await page.locator('.groups').getByRole('button', { name: 'Errors', exact: true }).click()
      await first.filter({ hasText: '/api/query' }).waitFor()
      await page.context().close()
    })
  },
)
