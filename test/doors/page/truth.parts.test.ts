import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serve, temporaryDirectory } from '../../program.ts'
import { type BrowserPage, barsOf, settled } from './browser.ts'
import { line, stamp, writeLog } from './logs.ts'
import { describePage } from './stage.ts'

const START = Date.UTC(2026, 0, 10)

describePage(
  'what the page says is true, and said once',
  (logs) => {
    writeLog(join(logs, 'broker.log'), 20_000)
    writeFileSync(join(logs, 'broker.log.1'), line(-1))
    writeFileSync(join(logs, 'other.log'), line(1))
    // A thousand records in each of 60 minutes: one error in the 20th, two thousand in the 40th.
    let text = ''
    for (let minute = 0; minute < 60; minute++)
      for (let i = 0; i < 3000; i++) {
        const bad = minute === 20 ? i === 7 : minute === 40 && i < 2000
        text += `${stamp(START + minute * 60_000 + i * 20)}\t${bad ? 'ERROR' : 'INFO'}\ta.go:1\t[A]: said ${i}\n`
      }
    writeFileSync(join(logs, 'night.log'), text)
    const bytes = Buffer.alloc(100_000)
    for (let i = 0; i < bytes.length; i++) bytes[i] = (i * 7919 + ((i * i) >> 3)) & 255
    writeFileSync(join(logs, 'core.bin'), bytes)
    const cairo = (ms: number) => new Date(ms + 7_200_000).toISOString().replace('Z', '+02:00')
    writeFileSync(
      join(logs, 'east.log'),
      Array.from(
        { length: 50 },
        (_, i) => `{"time":"${cairo(START + i * 1000)}","level":"info","msg":"east ${i}"}\n`,
      ).join(''),
    )
  },
  (stage) => {
    const { open } = stage
    const row = (page: BrowserPage, text: string) => page.locator('.row').filter({ hasText: text })
    const status = (page: BrowserPage) => page.locator('footer [role=status]').textContent()
    const hash = (page: BrowserPage) => new URLSearchParams(page.url().split('#')[1])
    const counted = (page: BrowserPage) => page.getByRole('img', { name: /^Chart of records from/ }).waitFor()

    it('says records for a range, matches for a filter, and of how many', async () => {
      const page = await open('file=broker.log&since=2026-01-10 01:00:00&until=2026-01-10 03:00:00')
      await counted(page)
      await expect.poll(() => status(page)).toMatch(/^[\d,]+ of 7,200 records/)
      await page.goto(`${stage.node.url}/#file=broker.log&level=info`)
      await expect.poll(() => status(page)).toMatch(/^[\d,]+ of 20,000 matches/)
      await expect.poll(() => page.locator('.log').textContent()).not.toMatch(/hits loaded/)
      await page.context().close()
    })

    it('has the time range in one place, with one way to clear it', async () => {
      const page = await open('file=broker.log&since=2026-01-10 02:41:00&until=2026-01-10 02:45:00')
      await counted(page)
      const shown = (await page.locator('.log > :not(.work)').allInnerTexts()).join('\n')
      expect(shown.match(/02:41:00/g)?.length).toBe(1)
      await expect.poll(() => page.locator('.chip').count()).toBe(0)
      await expect.poll(() => page.getByRole('button', { name: /Clear|Remove|all time/i }).count()).toBe(1)
      await page.getByRole('button', { name: 'Show all time' }).click()
      await expect.poll(() => hash(page).has('since')).toBe(false)
      await page.context().close()
    })

    it('keeps “Last hour” relative, in the address and after a reload', async () => {
      const recent = join(stage.logs, 'recent.log')
      const now = Date.now()
      writeFileSync(
        recent,
        [90, 30].map((ago) => `${stamp(now - ago * 60_000)}\tINFO\ta.go:1\t[A]: ${ago} ago\n`).join(''),
      )
      const page = await open('file=recent.log')
      await page.getByRole('button', { name: 'All time' }).click()
      await page.getByRole('button', { name: 'Last hour' }).click()
      await row(page, '90 ago').waitFor({ state: 'detached' })
      await row(page, '30 ago').waitFor()
      expect(hash(page).get('since')).toBe('1h')
      await page.reload()
      await row(page, '30 ago').waitFor()
      expect(hash(page).get('since')).toBe('1h')
      await expect.poll(() => page.locator('[data-range]').textContent()).toContain('Last hour')
      await page.context().close()
    })

    it('names the time zone, lets one choose it, and keeps the choice', async () => {
      const east = await serve(['--port', '0', '--logs', stage.logs, '--timezone', 'Africa/Cairo'])
      const page = await stage.browser.open(`${east.url}/#file=east.log`, { timezoneId: 'Asia/Tokyo' })
      await page.locator('.row').first().waitFor()
      const zone = page.getByLabel('Time zone')
      const first = () => page.locator('.row .t').first().textContent()
      const named = await page.evaluate<string>(
        `document.querySelector('.zone').selectedOptions[0].textContent`,
      )
      expect(named).toContain('UTC+02:00')
      await page.locator('[data-range]').click()
      await page.getByLabel('From', { exact: true }).fill('2026-01-10 02:00:10')
      await page.keyboard.press('Enter')
      await expect.poll(first).toBe('01-10 02:00:10.000')
      await zone.selectOption('browser')
      await expect.poll(first).toBe('01-10 09:00:10.000')
      await expect.poll(() => page.locator('[data-range]').textContent()).toContain('09:00:10')
      expect(hash(page).get('since')).toBe('2026-01-10 02:00:10')
      await zone.selectOption('UTC')
      await expect.poll(first).toBe('01-10 00:00:10.000')
      // What is typed is read on the same clock.
      await page.locator('[data-range]').click()
      await page.getByLabel('From', { exact: true }).fill('2026-01-10 00:00:20')
      await page.keyboard.press('Enter')
      await expect.poll(first).toBe('01-10 00:00:20.000')
      expect(hash(page).get('since')).toBe('2026-01-10 02:00:20.000')
      await page.goto(`${east.url}/#file=broker.log`)
      await row(page, 'number 19999 ').waitFor()
      await expect.poll(() => zone.inputValue()).toBe('UTC')
      await page.context().close()
    })

    it('shows errors in the chart by their number: one can be seen, two thousand look very different', async () => {
      const page = await open('file=night.log')
      await counted(page)
      await expect.poll(() => page.locator('.legend').textContent()).not.toContain('Counting')
      const width = (await page.locator('.histogram svg').boundingBox())!.width
      const bars = await barsOf(page, 'error')
      const at = (share: number) =>
        Math.max(0, ...bars.filter(({ x }) => Math.abs(x - width * share) < 12).map(({ height }) => height))
      expect(at(20.2 / 60)).toBeGreaterThanOrEqual(2)
      expect(at(40.5 / 60)).toBeGreaterThan(at(20.2 / 60) * 5)
      expect(at(0.9)).toBe(0)
      await page.context().close()
    })

    it('offers what helps: another try against an outage, the pattern against a wrong pattern', async () => {
      const page = await open('file=broker.log')
      await page.goto(`${stage.node.url}/#file=broker.log&regex=(`)
      const alert = page.getByRole('alert')
      await alert.filter({ hasText: 'The pattern is not valid' }).waitFor()
      const said = await alert.textContent()
      expect(said.match(/not valid/g)?.length).toBe(1)
      await expect.poll(() => page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
      await page.getByRole('button', { name: 'Edit the pattern' }).click()
      await expect.poll(() => page.evaluate<string>('document.activeElement.value')).toBe('(')
      await page.keyboard.press('e')
      await page.context().close()

      const away = await stage.browser.open('about:blank')
      await away.route('**/api/v1/log/view?*', (route) =>
        route.fulfill({
          status: 503,
          json: { type: '/problems/storage-unavailable', title: 'The storage does not answer', detail: 'x' },
        }),
      )
      await away.goto(`${stage.node.url}/#file=broker.log`)
      const outage = away.getByRole('alert').filter({ hasText: 'The storage does not answer' })
      await outage.waitFor()
      expect((await outage.textContent()).match(/answer/g)?.length).toBe(1)
      await expect.poll(() => away.getByRole('button', { name: 'Try again' }).count()).toBe(1)
      await away.context().close()
    })

    it('tells a refused bucket, a wrong token and a missing node apart', async () => {
      const env = {
        AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
        AWS_ACCESS_KEY_ID: 'k',
        AWS_SECRET_ACCESS_KEY: 's',
      }
      const bucket = await serve(['--port', '0', '--logs', 's3://none'], { env })
      const page = await stage.browser.open(bucket.url)
      await page
        .getByRole('alert')
        .filter({ hasText: 'The storage does not answer' })
        .waitFor({ timeout: 60_000 })
      await page.context().close()

      const fleet = temporaryDirectory()
      mkdirSync(join(fleet, 'db-1/logs'), { recursive: true })
      writeFileSync(join(fleet, 'db-1/logs/a.log'), line(1))
      writeFileSync(join(fleet, 'token'), 'right')
      const other = await serve(['--port', '0', '--fleet', fleet])
      const absent = await stage.browser.open(`${other.url}/nodes/db-99/`)
      await absent.getByRole('alert').filter({ hasText: 'No such node' }).waitFor()
      await expect.poll(() => absent.getByRole('alert').count()).toBe(1)
      await absent.getByRole('link', { name: 'All nodes' }).click()
      await absent.getByRole('heading', { name: 'Nodes' }).waitFor()
      await absent.context().close()
    })

    it('ranks patterns by what it knows', async () => {
      const page = await open('file=broker.log')
      await page.keyboard.press('e')
      await page.getByRole('tab', { name: 'Patterns' }).click()
      await page.locator('.patterns').waitFor()
      await expect.poll(() => page.locator('.fields').textContent()).not.toMatch(/new first/i)
      await page.getByRole('button', { name: 'Newest' }).waitFor()
      await page.context().close()
    })

    it('offers rotated files only where there are some', async () => {
      const page = await open('file=broker.log')
      await page.getByRole('button', { name: 'Include rotated' }).waitFor()
      await page.goto(`${stage.node.url}/#file=other.log`)
      await row(page, 'number 1 ').waitFor()
      await settled(page)
      await expect.poll(() => page.getByRole('button', { name: 'Include rotated' }).count()).toBe(0)
      await page.context().close()
    })

    it('says that a file is binary', async () => {
      const page = await stage.browser.open(`${stage.node.url}/#file=core.bin`)
      await page.getByText('This file is not text').waitFor()
      await page.getByRole('button', { name: 'Show it as text anyway' }).click()
      await page.getByText('This file is not text').waitFor({ state: 'detached' })
      await page.locator('.row').first().waitFor()
      await page.context().close()
    })

    it('shows a fleet in plain words, with rows to click, and without errors in the console', async () => {
      const fleet = temporaryDirectory()
      for (let i = 1; i <= 12; i++) {
        const home = join(fleet, `db-${String(i).padStart(2, '0')}`)
        mkdirSync(join(home, 'logs'), { recursive: true })
        writeFileSync(join(home, 'config.toml'), 'a = 1\n')
        const known = {
          hostIp: '10.0.0.1',
          hostName: `db-${String(i).padStart(2, '0')}`,
          grpcPort: 0,
          httpPort: 1,
        }
        writeFileSync(join(home, 'node.json'), JSON.stringify({ ...known, version: '1.2', onlineTime: 1 }))
        writeFileSync(join(home, 'logs/broker.log'), line(i) + line(i + 1, 'ERROR', `failed at ${i}`))
      }
      const other = await serve(['--port', '0', '--fleet', fleet])
      const page = await stage.browser.open('about:blank')
      const missing: string[] = []
      page.on('console', (message: { type(): string; text(): string }) => {
        if (message.type() === 'error') missing.push(message.text())
      })
      await page.goto(other.url)
      await page.locator('.fleet tbody tr').nth(11).waitFor()
      await expect.poll(() => page.locator('.fleet').textContent()).not.toMatch(/Waiting|not known/)
      const last = (await page.locator('.fleet tbody tr').nth(11).boundingBox())!
      await page.mouse.move(last.x + last.width - 40, last.y + last.height / 2)
      await page.mouse.down()
      await page.mouse.up()
      await expect.poll(() => page.url()).toContain('/nodes/db-12/')
      await page.locator('.nodes a[aria-current]').filter({ hasText: 'db-12' }).waitFor()
      // The same question of another node, at the same moment.
      await page.goto(
        `${other.url}/nodes/db-12/#file=broker.log&level=error&q=failed&since=2026-01-10 00:00:05`,
      )
      await row(page, 'failed at 12').waitFor()
      await settled(page)
      await page.locator('.nodes a').filter({ hasText: 'db-07' }).click()
      await row(page, 'failed at 7').waitFor()
      expect(page.url()).toContain('/nodes/db-07/')
      expect(hash(page).get('level')).toBe('error')
      expect(hash(page).get('q')).toBe('failed')
      expect(hash(page).get('since')).toBe('2026-01-10 00:00:05')
      expect(missing.join('\n')).toBe('')
      await page.context().close()
    })
  },
)
