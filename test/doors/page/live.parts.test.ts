import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, lastingPort, serve, temporaryDirectory } from '../../program.ts'
import {
  type Browser,
  type BrowserPage,
  launchBrowser,
  missingBrowser,
  resting,
  seriousFindings,
} from './browser.ts'
import { line, writeLog } from './logs.ts'

/** Pixels of the list below what is in view. */
const BELOW = `(({ scrollTop, scrollHeight, clientHeight }) =>
  scrollHeight - clientHeight - scrollTop)(document.querySelector('.list'))`

describe.skipIf(missingBrowser)(
  `a living node on the page${missingBrowser ? ` (${missingBrowser})` : ''}`,
  { timeout: 90_000 },
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterEach(async () => {
      await cleanUp()
      expect(browser.wrongs.splice(0)).toEqual([])
    })
    afterAll(() => browser?.close())

    function makeLogs(records = 500): { logs: string; log: string } {
      const logs = join(temporaryDirectory(), 'logs')
      mkdirSync(logs)
      const log = join(logs, 'broker.log')
      writeLog(log, records)
      return { logs, log }
    }
    const start = (logs: string, ...more: string[]) =>
      serve(['--logs', logs, ...(more.includes('--port') ? [] : ['--port', '0']), ...more], {
        env: { TZ: 'UTC' },
      })
    const row = (page: BrowserPage, text: string) => page.locator('.row').filter({ hasText: text })
    const numbers = async (page: BrowserPage) => {
      const texts = await page.locator('.row .m').allTextContents()
      return texts.flatMap((text) => /number (\d+)/.exec(text)?.[1] ?? []).map(Number)
    }
    const follow = (page: BrowserPage) =>
      page.getByRole('button', { name: /^(Follow|Following|Reconnecting)$/ })

    it('follows what is appended, sticks to the end, and counts what comes while one reads', async () => {
      const { logs, log } = makeLogs()
      const node = await start(logs)
      const page = await browser.open(`${node.url}/#file=broker.log`)
      await row(page, 'number 499 ').waitFor()
      await page.keyboard.press('f')
      await page.getByRole('button', { name: 'Following' }).waitFor()
      await page.locator('.follow.live').waitFor()
      appendFileSync(log, line(500) + line(501))
      await row(page, 'number 501 ').waitFor()
      const end = (await row(page, 'number 501 ').boundingBox())!
      const list = (await page.locator('.list').boundingBox())!
      expect(end.y + end.height).toBeLessThanOrEqual(list.y + list.height + 1)

      await page.mouse.move(list.x + 300, list.y + 100)
      await page.mouse.wheel(0, -900)
      await expect.poll(() => page.evaluate<number>(BELOW)).toBeGreaterThan(100)
      await resting(page)
      const before = await numbers(page)
      appendFileSync(log, line(502) + line(503) + line(504))
      await page.getByRole('button', { name: '3 new records' }).waitFor()
      await expect.poll(() => numbers(page)).toEqual(before)
      await page.getByRole('button', { name: '3 new records' }).click()
      await row(page, 'number 504 ').waitFor()
      await page.locator('.unseen').waitFor({ state: 'detached' })
      expect(page.url()).toContain('follow=true')
      await page.keyboard.press('f')
      await page.getByRole('button', { name: 'Follow', exact: true }).waitFor()
      appendFileSync(log, line(505))
      await page.waitForTimeout(600)
      await expect.poll(() => numbers(page)).not.toContain(505)
      await page.context().close()
    })

    it('follows through a rotation by rename, and shows it', async () => {
      const { logs, log } = makeLogs()
      const node = await start(logs)
      const page = await browser.open(`${node.url}/#file=broker.log&follow=true`)
      await page.locator('.follow.live').waitFor()
      appendFileSync(log, line(500))
      await row(page, 'number 500 ').waitFor()
      appendFileSync(log, line(501))
      renameSync(log, join(logs, 'broker.log.1'))
      writeFileSync(log, line(502))
      await row(page, 'number 502 ').waitFor()
      appendFileSync(log, line(503))
      await row(page, 'number 503 ').waitFor()
      await page.locator('.note-rotated').waitFor()
      const seen = (await numbers(page)).filter((each) => each >= 495)
      expect(seen).toEqual([495, 496, 497, 498, 499, 500, 501, 502, 503])
      await page.context().close()
    })

    it('follows through copy and truncate, and shows it', async () => {
      const { logs, log } = makeLogs()
      const node = await start(logs)
      const page = await browser.open(`${node.url}/#file=broker.log&follow=true`)
      await page.locator('.follow.live').waitFor()
      appendFileSync(log, line(500))
      await row(page, 'number 500 ').waitFor()
      copyFileSync(log, join(logs, 'broker-2026-01-10T00-00-00.000.log'))
      truncateSync(log)
      await page.locator('.note').first().waitFor()
      appendFileSync(log, line(501))
      await row(page, 'number 501 ').waitFor()
      const seen = (await numbers(page)).filter((each) => each >= 498)
      expect(seen).toEqual([498, 499, 500, 501])
      await page.context().close()
    })

    it('follows only what is looked for', async () => {
      const { logs, log } = makeLogs()
      const node = await start(logs)
      const page = await browser.open(`${node.url}/#file=broker.log&level=error&follow=true`)
      await page.locator('.follow.live').waitFor()
      appendFileSync(log, line(500) + line(501, 'ERROR', 'trouble number 501 here') + line(502))
      await row(page, 'trouble number 501').waitFor()
      await expect.poll(() => numbers(page)).toEqual([501])
      await page.context().close()
    })

    it('says when the node goes away, and goes on when it comes back', async () => {
      const { logs, log } = makeLogs()
      const port = await lastingPort()
      const node = await start(logs, '--port', String(port))
      const page = await browser.open(`${node.url}/#file=broker.log&follow=true`)
      await page.locator('.follow.live').waitFor()
      appendFileSync(log, line(500))
      await row(page, 'number 500 ').waitFor()
      node.child.kill('SIGKILL')
      await node.exited
      await page.locator('.follow.lost').waitFor()
      await page.getByText('connection lost, trying again').waitFor()
      await page.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor()
      appendFileSync(log, line(501) + line(502))
      await start(logs, '--port', String(port))
      // The longer it was away, the longer the page waits between two attempts, up to half a minute.
      await page.locator('.follow.live').waitFor({ timeout: 90_000 })
      await row(page, 'number 502 ').waitFor()
      appendFileSync(log, line(503))
      await row(page, 'number 503 ').waitFor()
      const seen = (await numbers(page)).filter((each) => each >= 498)
      expect(seen).toEqual([498, 499, 500, 501, 502, 503])
      await page.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor({ state: 'detached' })
      await page.context().close()
    }, 240_000)

    it('says that a followed log is gone, keeps its lines, and offers what took its place', async () => {
      const { logs, log } = makeLogs()
      const node = await start(logs)
      const page = await browser.open(`${node.url}/#file=broker.log&follow=true`)
      await page.locator('.follow.live').waitFor()
      await page.locator('.files a').filter({ hasText: 'broker.log' }).waitFor()
      renameSync(log, join(logs, 'broker.log.1'))
      await page.getByRole('alert').filter({ hasText: 'broker.log is gone' }).waitFor({ timeout: 15_000 })
      await page.getByRole('button', { name: 'Follow', exact: true }).waitFor()
      await expect.poll(() => page.locator('footer').textContent()).not.toContain('live')
      expect(page.url()).not.toContain('follow')
      await expect.poll(() => numbers(page)).toContain(499)
      await page.getByRole('button', { name: 'Open broker.log.1' }).click()
      await expect.poll(() => page.url()).toContain('file=broker.log.1')
      await row(page, 'number 499 ').waitFor()
      await page.context().close()
    })

    it('has the chart in full resolution after the node was away', async () => {
      const { logs } = makeLogs()
      const node = await start(logs)
      const page = await browser.open('about:blank')
      const asked: number[] = []
      let away = true
      await page.route('**/api/v1/log/histogram?*', async (route) => {
        asked.push(Number(new URL(route.request().url()).searchParams.get('buckets')))
        await (away ? route.abort() : route.continue())
      })
      await page.goto(`${node.url}/#file=broker.log`)
      await row(page, 'number 499 ').waitFor()
      await expect.poll(() => asked.length).toBeGreaterThan(0)
      await page.locator('.histogram.none').waitFor()
      away = false
      asked.length = 0
      await page.keyboard.press('f')
      await page.getByRole('img', { name: /^Chart of records from/ }).waitFor()
      expect(Math.min(...asked)).toBeGreaterThan(100)
      await page.context().close()
    })

    it('asks for the token, keeps it for the tab, and puts it into no address', async () => {
      const { logs } = makeLogs()
      const secret = 'a-secret-token-of-this-test'
      const file = join(temporaryDirectory(), 'token')
      writeFileSync(file, secret)
      const node = await start(logs, '--token-file', file)
      const asked: string[] = []
      const page = await browser.open('about:blank')
      page.on('request', (request: { url(): string }) => asked.push(request.url()))
      await page.goto(`${node.url}/#file=broker.log`)
      await page.getByLabel('Token').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await page.getByLabel('Token').fill('wrong')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').filter({ hasText: 'did not accept this token' }).waitFor()
      await page.getByLabel('Token').fill(secret)
      await page.keyboard.press('Enter')
      await row(page, 'number 499 ').waitFor()
      await page.keyboard.press('f')
      await page.locator('.follow.live').waitFor()
      const saved = page.waitForEvent('download')
      await page.locator('summary').filter({ hasText: 'Export' }).click()
      await page.getByRole('button', { name: /^Download the whole file/ }).click()
      await (await saved).path()
      expect(asked.length).toBeGreaterThan(5)
      expect(asked.filter((url) => url.includes(secret))).toEqual([])
      expect(page.url()).not.toContain(secret)
      expect(
        await page.evaluate<string>('JSON.stringify({ ...localStorage }) + document.cookie'),
      ).not.toContain(secret)
      expect(await page.evaluate<string>('JSON.stringify({ ...sessionStorage })')).not.toContain(secret)
      await page.reload()
      await row(page, 'number 499 ').waitFor()
      expect(await page.evaluate<string>('JSON.stringify({ ...sessionStorage })')).not.toContain(secret)
      const other = await browser.open(node.url)
      await other.getByLabel('Token').waitFor()
      await other.context().close()
      // An open tab hands it on to a new one of the same page, and signing out ends it in both.
      const tab = await page.context().newPage()
      await tab.goto(`${node.url}/#file=broker.log`)
      await row(tab, 'number 499 ').waitFor()
      await expect.poll(() => tab.getByLabel('Token').count()).toBe(0)
      await tab.getByRole('button', { name: 'Sign out' }).click()
      await tab.getByLabel('Token').waitFor()
      await page.getByLabel('Token').waitFor()
      await page.getByLabel('Token').fill(secret)
      await page.keyboard.press('Enter')
      await row(page, 'number 499 ').waitFor()
      await row(tab, 'number 499 ').waitFor()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('Token').waitFor()
      await page.context().close()
    })

    it('says what to do when there are no logs yet, and shows the first as it comes', async () => {
      const logs = join(temporaryDirectory(), 'logs')
      mkdirSync(logs)
      const node = await start(logs)
      const page = await browser.open(node.url)
      await page.getByText('No logs yet').waitFor()
      writeFileSync(join(logs, 'first.log'), '')
      await page.locator('.files a').filter({ hasText: 'first.log' }).waitFor()
      await page.locator('.files a').filter({ hasText: 'first.log' }).click()
      await page.getByText('This log is empty').waitFor()
      await follow(page).click()
      await page.locator('.follow.live').waitFor()
      appendFileSync(join(logs, 'first.log'), line(1))
      await row(page, 'number 1 ').waitFor()
      await page.context().close()
    })

    it('says what to do about a directory that is not there, a log that is gone, and a search without hits', async () => {
      const { logs } = makeLogs()
      const gone = await start(join(logs, 'nowhere'))
      const page = await browser.open(gone.url)
      await page
        .getByRole('alert')
        .filter({ hasText: 'check that the log directory or bucket exists' })
        .waitFor()
      await page.context().close()
      const node = await start(logs)
      const other = await browser.open(`${node.url}/#file=nothing.log`)
      await other.getByRole('alert').filter({ hasText: 'No such log file' }).waitFor()
      await other.goto(`${node.url}/#file=broker.log&q=notinthere`)
      await other.getByText('No record matches').waitFor()
      await other.goto(`${node.url}/#file=broker.log&since=15m`)
      await other
        .getByText('This log has records from 2026-01-10 00:00:00.000 to 2026-01-10 00:08:19.000')
        .waitFor()
      await other.getByRole('button', { name: 'Clear all filters' }).click()
      await row(other, 'number 499 ').waitFor()
      await other.context().close()
    })

    it('goes on searching where a search has a small budget, back and forth', async () => {
      const { logs } = makeLogs(20_000)
      appendFileSync(join(logs, 'broker.log'), line(20_000, 'INFO', 'needle at the end'))
      writeFileSync(join(logs, 'front.log'), line(0, 'ERROR', 'needle at the front'))
      writeLog(join(logs, 'rest.log'), 20_000, [9000])
      appendFileSync(join(logs, 'front.log'), readFileSync(join(logs, 'rest.log')))
      const node = await start(logs, '--scan-bytes', '262144')
      const page = await browser.open(`${node.url}/#file=front.log&level=error`)
      await row(page, 'needle at the front').waitFor()
      await row(page, 'failed at 9000').waitFor()
      await page.goto(`${node.url}/#file=broker.log&q=needle`)
      await row(page, 'needle at the end').waitFor()
      await page.keyboard.press('g')
      await page.locator('.list[aria-busy=false]').waitFor()
      await row(page, 'needle at the end').waitFor()
      await page.context().close()
    })

    it('reads a log where only small pages are allowed', async () => {
      const { logs } = makeLogs(3000)
      const node = await start(logs, '--max-size', '4096')
      // A window that takes several of them to fill.
      const page = await browser.open(`${node.url}/#file=broker.log`, {
        viewport: { width: 1280, height: 2400 },
      })
      await row(page, 'number 2999 ').waitFor()
      await row(page, 'number 2900 ').waitFor({ state: 'attached' })
      await page.context().close()
    })
  },
)
