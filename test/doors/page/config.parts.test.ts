import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { crc32 } from '../../../src/store/codec/crc32.ts'
import { serve, temporaryDirectory } from '../../program.ts'
import { type BrowserPage, findings } from './browser.ts'
import { stamp } from './logs.ts'
import { describePage } from './stage.ts'

const START = Date.UTC(2026, 0, 10)
const HOST = { hostIp: '10.0.0.7', grpcPort: 0, httpPort: 1, version: '1.2', onlineTime: 1 }
/** Seconds after the start at which the configuration changed, and from which on queries fail. */
const CHANGED = 7_080
const FAILING = 7_200

function configOf(id: string, workers: number, comment = ''): string {
  return `${comment}[query]\nmax-workers = ${workers}\npassword = "hunter2"\n[http]\naddress = "${id}:2891"\ndata = "/data/${id}"\n`
}

/** A home as a shipper leaves it, with every version of its configuration. */
function writeHome(fleet: string, id: string, versions: [at: number, text: string][]): void {
  const home = join(fleet, id)
  mkdirSync(join(home, 'logs'), { recursive: true })
  mkdirSync(join(home, 'configs'))
  writeFileSync(join(home, 'node.json'), JSON.stringify({ ...HOST, hostName: id }))
  for (const [at, text] of versions) {
    const masked = text.replace('hunter2', '******')
    const crc = crc32(new TextEncoder().encode(masked)).toString(16).padStart(8, '0')
    const name = `${String(999_999_999_999_999 - at).padStart(15, '0')}-${crc}.toml`
    writeFileSync(join(home, 'configs', name), masked)
    writeFileSync(join(home, 'config.toml'), masked)
  }
  let text = ''
  for (let i = 0; i < 14_400; i += 4) {
    const bad = id === 'db-4' && i >= FAILING && i < FAILING + 600
    text += `${stamp(START + i * 1000)}\t${bad ? 'ERROR' : 'INFO'}\tpkg/a.go:7\t[Node]: query ${i} ${bad ? 'failed: too many workers' : 'done'}\n`
  }
  writeFileSync(join(home, 'logs/broker.log'), text)
}

const fleet = temporaryDirectory()

describePage(
  'configurations over time and between nodes',
  () => {
    for (const id of ['db-1', 'db-2', 'db-3', 'db-5', 'db-6'])
      writeHome(fleet, id, [[START - 86_400_000, configOf(id, 30)]])
    writeHome(fleet, 'db-4', [
      [START - 86_400_000, configOf('db-4', 30)],
      [START + CHANGED * 1000, configOf('db-4', 64)],
      [START + 9_000_000, configOf('db-4', 64, '# tuned\n')],
    ])
    mkdirSync(join(fleet, 'db-9/logs'), { recursive: true })
    writeFileSync(join(fleet, 'db-9/logs/a.log'), 'nothing\n')
  },
  (stage) => {
    const open = async (path: string): Promise<BrowserPage> => {
      const service = await serve(['--port', '0', '--fleet', fleet], { env: { TZ: 'UTC' } })
      return stage.browser.open(`${service.url}/${path}`, { timezoneId: 'UTC' })
    }

    it('leads from a mark to the change and the first error after it, and on to the history and back', async () => {
      const page = await open('nodes/db-4/#file=broker.log')
      const mark = page.getByRole('button', { name: /configuration.*query\.max-workers/ })
      await mark.waitFor()
      await expect
        .poll(() => mark.getAttribute('aria-label'))
        .toBe('Change of the configuration at 2026-01-10 01:58:00: query.max-workers: 30 → 64')
      await expect.poll(() => mark.count()).toBe(1)
      await mark.click()
      const note = page.locator('.change')
      await note.filter({ hasText: 'query.max-workers: 30 → 64' }).waitFor()
      await note.filter({ hasText: 'First error 2 min later' }).waitFor()
      await expect
        .poll(() => page.locator('.row[aria-current]').textContent())
        .toContain(`query ${FAILING} failed`)
      expect(await findings(page)).toEqual([])
      await note.getByRole('link', { name: 'History' }).click()
      const version = page.locator('.versions > li[aria-current]')
      await version.filter({ hasText: 'query.max-workers: 30 → 64' }).waitFor()
      await version.locator('.toml').filter({ hasText: 'max-workers = 64' }).waitFor()
      expect(await page.locator('body').textContent()).not.toContain('hunter2')
      expect(page.url()).toContain(`#history=${START + CHANGED * 1000}`)
      await page.goBack()
      await page.locator('.row.lv-error').first().waitFor()
      await page.context().close()
    })

    it('marks the changes of every node on the chart of a fleet, by name', async () => {
      const page = await open('#file=broker.log&node=db-1&node=db-4')
      const mark = page.getByRole('button', { name: /configuration.*query\.max-workers/ })
      await mark.waitFor()
      await expect
        .poll(() => mark.getAttribute('aria-label'))
        .toBe('Change of the configuration at 2026-01-10 01:58:00: db-4: query.max-workers: 30 → 64')
      await mark.click()
      await page.locator('.change').filter({ hasText: 'db-4: query.max-workers: 30 → 64' }).waitFor()
      await expect
        .poll(() => page.locator('.row[aria-current]').textContent())
        .toContain(`query ${FAILING} failed`)
      await page.locator('.change').getByRole('link', { name: 'History' }).click()
      await page.locator('.versions > li[aria-current]').waitFor()
      expect(page.url()).toContain('/nodes/db-4/#history=')
      await page.context().close()
    })

    it('lists the versions of a node, what each changed, and its text', async () => {
      const page = await open('nodes/db-4/')
      await page.getByRole('button', { name: 'History' }).click()
      const versions = page.locator('.versions > li')
      await versions.nth(2).waitFor()
      expect(
        (await versions.allTextContents()).map((text) => text.replace(/UTC.*?KB|UTC.*? B/, '|')),
      ).toEqual([
        expect.stringContaining('Only comments or layout changed'),
        expect.stringContaining('query.max-workers: 30 → 64'),
        expect.stringContaining('The first version'),
      ])
      await versions.nth(2).getByRole('button', { name: 'Text of this version' }).click()
      await page.locator('.toml').filter({ hasText: 'max-workers = 30' }).waitFor()
      expect(await findings(page)).toEqual([])
      const around = page.getByRole('link', { name: 'Logs around this change' })
      await expect.poll(() => around.count()).toBe(1)
      expect(decodeURIComponent((await around.getAttribute('href'))!)).toBe(
        `#file=*&time=${new Date(START + CHANGED * 1000).toISOString()}`,
      )
      await page.getByRole('button', { name: 'Configuration' }).click()
      await page.getByRole('heading', { name: 'Configuration', exact: true }).waitFor()
      await page.context().close()
    })

    it('says beside each line when it changed, the errors around that, and who differs', async () => {
      const page = await open('nodes/db-4/')
      await page.getByRole('button', { name: 'Blame' }).click()
      const line = page.locator('.tl').filter({ hasText: 'max-workers' })
      await line
        .locator('.beside')
        .filter({ hasText: /ago, was 30/ })
        .waitFor()
      await expect
        .poll(() => line.locator('.beside').textContent())
        .toMatch(/0 → 150 errors\/h.*30 on 5 nodes/)
      expect(await findings(page)).toEqual([])
      await page.getByRole('button', { name: 'Blame' }).click()
      await line.locator('.beside').waitFor({ state: 'detached' })
      await page.context().close()
    })

    it('compares the nodes of a fleet, marks the odd one, and hides what differs on purpose', async () => {
      const page = await open('')
      await page.getByRole('button', { name: 'Compare' }).click()
      const rows = page.locator('.compare tbody tr')
      await rows.first().waitFor()
      await expect.poll(() => rows.count()).toBe(1)
      await expect.poll(() => rows.first().textContent()).toContain('query.max-workers')
      await expect.poll(() => page.locator('.compare .odd').textContent()).toMatch(/64.*differs: .*db-4/)
      await expect.poll(() => rows.first().locator('td').first().textContent()).toBe('30 5 nodes')
      await page.getByText('db-9 (no config)').waitFor()
      await page.getByLabel(/show expected differences/i).click()
      await rows.nth(2).waitFor()
      expect((await rows.allTextContents()).slice(1).join()).toMatch(/http\.address[\s\S]*http\.data/)
      expect(await findings(page)).toEqual([])
      expect(page.url()).toContain('compare=*')
      await page.goBack()
      await page.getByRole('heading', { name: 'Nodes' }).waitFor()
      await page.context().close()
    })
  },
)
