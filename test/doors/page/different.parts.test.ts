import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { crc32 } from '../../../src/store/codec/crc32.ts'
import { serve, temporaryDirectory } from '../../program.ts'
import { type BrowserPage, findings, settled } from './browser.ts'
import { stamp } from './logs.ts'
import { describePage } from './stage.ts'

const START = Date.UTC(2026, 0, 10)
/** Seconds after the start: the configuration changes, and a little later writes fail for ten minutes. */
const CHANGED = 9_000
const FAILING = 9_060
const HOST = { hostIp: '10.0.0.7', grpcPort: 0, httpPort: 1, version: '1.2', onlineTime: 1 }

/** A record every two seconds for four hours; what goes wrong is a message that is new then. */
function records(isBad: boolean): string {
  let text = ''
  for (let i = 0; i < 14_400; i += 2) {
    const now = isBad && i >= FAILING && i < FAILING + 600
    const said = now && i % 10 === 0 ? `disk full on sda${i % 7}` : `write ${i} took ${i % 40} ms`
    text += `${stamp(START + i * 1000)}\t${said.startsWith('disk') ? 'ERROR' : 'INFO'}\tpkg/a.go:7\t[Node]: ${said}\t{"shard":${now ? 3 : i % 16}}\n`
  }
  return text
}

function writeHome(fleet: string, id: string, versions: [at: number, workers: number][]): void {
  const home = join(fleet, id)
  mkdirSync(join(home, 'logs'), { recursive: true })
  mkdirSync(join(home, 'configs'))
  writeFileSync(join(home, 'node.json'), JSON.stringify({ ...HOST, hostName: id }))
  for (const [at, workers] of versions) {
    const text = `[query]\nmax-workers = ${workers}\n`
    const crc = crc32(new TextEncoder().encode(text)).toString(16).padStart(8, '0')
    writeFileSync(
      join(home, 'configs', `${String(999_999_999_999_999 - at).padStart(15, '0')}-${crc}.toml`),
      text,
    )
    writeFileSync(join(home, 'config.toml'), text)
  }
  writeFileSync(join(home, 'logs/broker.log'), records(versions.length > 1))
}

const fleet = temporaryDirectory()
const RANGE = 'since=2026-01-10 02:31:00&until=2026-01-10 02:41:00'
const button = (page: BrowserPage) => page.getByRole('button', { name: 'What is different?' })
const finding = (page: BrowserPage, text: string) => page.locator('.findings li').filter({ hasText: text })
const row = (page: BrowserPage, text: string) => page.locator('.row').filter({ hasText: text })
const base = (page: BrowserPage) => page.getByLabel('Compared with')

describePage(
  'what is different',
  (logs) => {
    writeFileSync(join(logs, 'broker.log'), records(true))
    writeFileSync(join(logs, 'quiet.log'), records(false))
    for (const id of ['db-1', 'db-2', 'db-3']) writeHome(fleet, id, [[START - 86_400_000, 30]])
    writeHome(fleet, 'db-4', [
      [START - 86_400_000, 30],
      [START + CHANGED * 1000, 64],
    ])
  },
  (stage) => {
    const openFleet = async (path: string) => {
      const service = await serve(['--port', '0', '--fleet', fleet], { env: { TZ: 'UTC' } })
      const page = await stage.browser.open(`${service.url}/${path}`, { timezoneId: 'UTC' })
      await settled(page)
      return page
    }

    it('takes two actions from a range that was dragged on the chart to the records', async () => {
      const page = await stage.open('file=broker.log')
      const canvas = page.locator('.histogram svg')
      await page.locator('.legend').filter({ hasText: '2026-01-10 00:00:00 to' }).waitFor()
      const box = (await canvas.boundingBox())!
      const at = (seconds: number) => box.x + (seconds / 14_400) * box.width
      await page.mouse.move(at(FAILING - 60), box.y + 30)
      await page.mouse.down()
      await page.mouse.move(at(FAILING + 600), box.y + 30, { steps: 4 })
      await page.mouse.up()
      await settled(page)
      // 1. What is different? 2. The finding.
      await button(page).click()
      const found = finding(page, 'disk full on <*>')
      await found.waitFor()
      await expect.poll(() => found.textContent()).toMatch(/New message: 60 now, none before.*disk full on/)
      expect(await findings(page)).toEqual([])
      await found.getByRole('button').click()
      await page.getByText(/^60 matches/).waitFor()
      await row(page, 'disk full on').first().waitFor()
      // One file to hand over.
      const saved = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Save incident' }).click()
      const file = await saved
      expect(file.suggestedFilename()).toBe('incident.html')
      expect(readFileSync(await file.path(), 'utf8')).toMatch(/<html[\s\S]*disk full on/)
      // The findings stay, and the next one is a click away.
      await expect.poll(() => found.getByRole('button').getAttribute('aria-pressed')).toBe('true')
      await finding(page, 'shard:3').getByRole('button').click()
      await page.locator('.chip').filter({ hasText: 'shard: 3' }).waitFor()
      await page.reload()
      await finding(page, 'disk full on <*>').waitFor()
      await page.getByRole('button', { name: 'Close what is different' }).click()
      await finding(page, 'disk full on <*>').waitFor({ state: 'detached' })
      await page.context().close()
    })

    it('says that nothing is different, and compares with a day earlier', async () => {
      const page = await stage.open(`file=quiet.log&${RANGE}`)
      await settled(page)
      await button(page).click()
      await page
        .locator('.different')
        .getByRole('status')
        .filter({ hasText: 'Nothing sets them apart' })
        .waitFor()
      await expect.poll(() => page.locator('.findings li').count()).toBe(0)
      await base(page).selectOption('day')
      await page.getByText('There is nothing to compare with').waitFor()
      expect(await findings(page)).toEqual([])
      await page.context().close()
    })

    it('keeps the findings when one of them is in a single log of several', async () => {
      const page = await stage.open(`file=broker.log&file=quiet.log&${RANGE}`)
      await settled(page)
      await button(page).click()
      const found = finding(page, 'disk full on <*>')
      await found.filter({ hasText: 'broker.log' }).waitFor()
      await found.getByRole('button').click()
      await page.getByText(/^60 matches/).waitFor()
      await found.waitFor()
      await page.context().close()
    })

    it('leads from a setting to its change and the first error after it', async () => {
      const page = await openFleet(`nodes/db-4/#file=broker.log&${RANGE}`)
      await button(page).click()
      const found = finding(page, 'query.max-workers')
      await found.filter({ hasText: '30 → 64' }).waitFor()
      await found.getByRole('button').click()
      await page.locator('.change').filter({ hasText: 'query.max-workers: 30 → 64' }).waitFor()
      await page.context().close()
    })

    it('compares a node with the others, on its own page and on that of the fleet', async () => {
      const page = await openFleet(`nodes/db-4/#file=broker.log&${RANGE}`)
      await button(page).click()
      await base(page).selectOption('only db-4')
      await finding(page, 'disk full on <*>').filter({ hasText: 'Message only here' }).waitFor()
      await finding(page, 'disk full on <*>').getByRole('button').click()
      await page.getByText(/^60 matches/).waitFor()
      await page.context().close()
      const all = await openFleet(`#file=broker.log&node=*&${RANGE}`)
      await button(all).click()
      await base(all).selectOption('only db-4')
      await finding(all, 'disk full on <*>').filter({ hasText: '60 here, none elsewhere' }).waitFor()
      await finding(all, 'query.max-workers').filter({ hasText: 'Different setting' }).waitFor()
      expect(await findings(all)).toEqual([])
      await finding(all, 'disk full on <*>').getByRole('button').click()
      await all.getByText(/^60 matches/).waitFor()
      await all.context().close()
    })
  },
)
