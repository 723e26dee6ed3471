import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { launch, serve, temporaryDirectory } from '../../program.ts'
import { type BrowserPage, findings, settled } from './browser.ts'
import { line, NIGHT, night, stamp } from './logs.ts'
import { describePage } from './stage.ts'

const CAUSE = 'volume /data is full, writes will be refused'
const HOUR = 3_600_000
const row = (page: BrowserPage, text: string) => page.locator('.row').filter({ hasText: text })

/** A log whose last record is of now; it had errors 23 hours ago if something went wrong. */
function recent(isBad: boolean): string {
  const now = Date.now()
  let text = ''
  for (let at = now - 24 * HOUR; at <= now; at += 60_000) {
    const failed = isBad && at > now - 23.2 * HOUR && at < now - 22.9 * HOUR
    text += `${stamp(at)}\t${failed ? 'ERROR' : 'INFO'}\tpkg/a.go:7\t[Node]: ${failed ? 'write failed' : 'heartbeat'}\n`
  }
  return text
}

describePage(
  'a fleet',
  (logs) =>
    writeFileSync(
      join(logs, 'a.log'),
      night(() => null),
    ),
  (stage) => {
    it('shows an incident of 23 hours ago in the line of a node, as its shipper counted it', async () => {
      const fleet = temporaryDirectory()
      for (const id of ['db-1', 'db-2']) {
        const logs = join(temporaryDirectory(), 'logs')
        mkdirSync(logs)
        writeFileSync(join(logs, 'broker.log'), recent(id === 'db-2'))
        const ship = launch(['ship', '--once', '--logs', logs, join(fleet, id)], { env: { TZ: 'UTC' } })
        expect(await ship.exited).toBe(0)
      }
      const service = await serve(['--port', '0', '--fleet', fleet], { env: { TZ: 'UTC' } })
      const page = await stage.browser.open(service.url)
      const line = (id: string) =>
        page.locator('.fleet tbody tr').filter({ hasText: id }).locator('.sparkline')
      await line('db-2').waitFor()
      await expect
        .poll(() => line('db-2').getAttribute('aria-label'))
        .toMatch(/^Last 24 hours: 1\d errors, most of them 2[23] h ago, 0 warnings/)
      await expect
        .poll(() => line('db-1').getAttribute('aria-label'))
        .toMatch(/^Last 24 hours: 0 errors, 0 warnings/)
      await expect.poll(() => line('db-2').locator('.b-error').getAttribute('d')).not.toBe('')
      await expect.poll(() => line('db-1').locator('.b-error').getAttribute('d')).toBe('')
      expect(await findings(page)).toEqual([])
      await page.setViewportSize({ width: 390, height: 780 })
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      expect(await findings(page)).toEqual([])
      await page.context().close()
    })

    it('of 80 nodes reads as many logs as fit, says so, and shows another node instead of one', async () => {
      const fleet = temporaryDirectory()
      for (let i = 10; i < 90; i++) {
        mkdirSync(join(fleet, `db-${i}`, 'logs'), { recursive: true })
        writeFileSync(join(fleet, `db-${i}`, 'logs/broker.log'), line(i))
        writeFileSync(join(fleet, `db-${i}`, 'logs/query.log'), line(i))
      }
      const service = await serve(['--port', '0', '--fleet', fleet], { env: { TZ: 'UTC' } })
      const page = await stage.browser.open(`${service.url}/#file=*&node=*`)
      await page.locator('.row').first().waitFor()
      await page
        .locator('.limit')
        .filter({ hasText: '75 nodes of 80, since at most 150 logs are read at once' })
        .waitFor()
      const nodes = page.getByRole('group', { name: 'Nodes' })
      await expect.poll(() => nodes.locator('input:checked').count()).toBe(75)
      await nodes.getByRole('checkbox', { name: 'db-10' }).click()
      await nodes.getByRole('checkbox', { name: 'db-89' }).click()
      await page.locator('.row .nn').filter({ hasText: 'db-89' }).first().waitFor()
      await page.context().close()
    })

    it('of living nodes leads from the errors to the cause on another node in four actions, with one node dead', async () => {
      const failing = (i: number): [string, string] | null =>
        i >= 9660 && i < 9900 ? ['ERROR', `query ${i} failed: storage does not accept writes`] : null
      const cause = (i: number): [string, string] | null => (i === 9570 ? ['WARN', CAUSE] : null)
      const nodes = await Promise.all(
        [failing, cause, () => null].map((said) => {
          const logs = join(temporaryDirectory(), 'logs')
          mkdirSync(logs)
          writeFileSync(join(logs, 'broker.log'), night(said))
          return serve(['--port', '0', '--logs', logs], { env: { TZ: 'UTC' } })
        }),
      )
      const dead = nodes[2]!
      dead.child.kill('SIGKILL')
      await dead.exited
      const peers = nodes.flatMap(({ url }, index) => ['--peer', `db-${index + 1}=${url}`])
      const service = await serve(['--port', '0', ...peers], { env: { TZ: 'UTC' } })
      const page = await stage.browser.open(service.url)
      await page
        .locator('.fleet tr')
        .filter({ hasText: 'does not answer' })
        .filter({ hasText: 'db-3' })
        .waitFor()
      expect(await findings(page)).toEqual([])
      // 1. The logs of all nodes as one. 2. Which node has errors? 3. The first of them.
      await page.getByRole('button', { name: 'Timeline' }).click()
      await settled(page)
      await page
        .locator('.status')
        .filter({ hasText: /Without db-3/ })
        .waitFor()
      await page.locator('.levels .lv-error').click()
      await row(page, 'query 9899 failed').first().waitFor()
      await page.keyboard.press('g')
      const first = page.locator('.row[aria-current]')
      await first.filter({ hasText: 'query 9660 failed' }).waitFor()
      await expect.poll(() => first.locator('.nn').textContent()).toBe('db-1')
      // 4. Warnings as well: the cause is on another node.
      await page.locator('.levels .lv-warn').click()
      await row(page, CAUSE).waitFor()
      await expect.poll(() => row(page, CAUSE).locator('.nn').textContent()).toBe('db-2')
      await expect
        .poll(() => row(page, CAUSE).locator('.t').textContent())
        .toContain(stamp(NIGHT + 9570 * 1000).slice(11, 19))
      await page
        .locator('.status')
        .filter({ hasText: /Without db-3/ })
        .waitFor()
      await page.context().close()
    })
  },
)
