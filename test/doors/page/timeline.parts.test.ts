import { appendFileSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Program, serve, temporaryDirectory } from '../../program.ts'
import { type BrowserPage, findings, resting, settled, told } from './browser.ts'
import { NIGHT, night, stamp } from './logs.ts'
import { describePage } from './stage.ts'

const CAUSE = 'volume /data is full, writes will be refused'

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
      await page.locator('.bar .size').waitFor()
      await box(page, 'storage.log').click()
      await row(page, 'heartbeat 14999').nth(1).waitFor()
      expect(hash(page)).toContain('file=broker.log&file=storage.log')
      await expect.poll(() => page.locator('.bar .size').count()).toBe(0)
      const rows = page.locator('.row .o')
      // The letters follow the list, from top to bottom.
      await expect.poll(() => page.locator('.side .o').allTextContents()).toEqual(['A', 'B'])
      const letter = (name: string) =>
        page.locator('.files li').filter({ hasText: name }).locator('.o').textContent()
      const both = [await letter('broker.log'), await letter('storage.log')]
      await expect.poll(async () => (await rows.allTextContents()).slice(-4)).toEqual([...both, ...both])
      await expect.poll(() => rows.last().getAttribute('title')).toBe('storage.log')
      expect((await page.locator('.row .ln').allTextContents()).slice(-2)).toEqual([
        'broker.log',
        'storage.log',
      ])
      await page.locator('.row').last().locator('.fold').click()
      await page.locator('.details').filter({ hasText: 'Logstorage.log' }).waitFor()
      await page.reload()
      await page.locator('.side .o').first().waitFor()
      await box(page, 'broker.log').click()
      await expect.poll(() => hash(page)).not.toContain('broker.log')
      await page.locator('.row').first().waitFor()
      await expect.poll(() => page.locator('.side .o').count()).toBe(0)
      await page.context().close()
    })

    it('takes a log out and back in the sidebar, and says why one is missing', async () => {
      const page = await stage.open('file=broker.log')
      await box(page, 'All logs').click()
      await page.locator('.status').filter({ hasText: 'Without notes.txt (this log has no times)' }).waitFor()
      await settled(page)
      expect(await findings(page)).toEqual([])
      await box(page, 'access.log').click()
      await expect.poll(() => hash(page)).not.toContain('access.log')
      await settled(page)
      expect(new Set(await page.locator('.row .ln').allTextContents())).toEqual(
        new Set(['broker.log', 'storage.log']),
      )
      await box(page, 'access.log').click()
      await expect.poll(() => hash(page)).toContain('access.log')
      await settled(page)
      expect(new Set(await page.locator('.row .ln').allTextContents())).toEqual(
        new Set(['access.log', 'broker.log', 'storage.log']),
      )
      await page.context().close()
    })

    it('begins its records in the upper third with ten logs and a filter, and has half of a zoomed window', async () => {
      for (const name of ['d', 'e', 'f', 'g', 'h', 'i', 'j'])
        writeFileSync(join(stage.logs, `${name}-node.log`), night(() => null).slice(0, 20_000))
      const top = async (page: BrowserPage) => (await page.locator('.list').boundingBox())!
      const page = await stage.open('file=*.log&level=info', { viewport: { width: 1440, height: 900 } })
      await settled(page)
      await page.getByRole('img', { name: /^Chart of records from/ }).waitFor()
      expect((await top(page)).y).toBeLessThanOrEqual(260)
      expect(new Set(await page.locator('.side .o').allTextContents()).size).toBe(10)
      await page.setViewportSize({ width: 720, height: 450 })
      await settled(page)
      expect((await top(page)).height).toBeGreaterThanOrEqual(225)
      await page.context().close()
      for (const name of ['d', 'e', 'f', 'g', 'h', 'i', 'j']) rmSync(join(stage.logs, `${name}-node.log`))
    })

    it('stacks the chart by log', async () => {
      const page = await stage.open('file=*')
      await page.getByLabel('Stack by').selectOption('file')
      const name = () => page.locator('.histogram svg').getAttribute('aria-label')
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
      await expect.poll(() => page.locator('.row[aria-current]').textContent()).toContain('query 9660 failed')
      expect(hash(page)).not.toContain('level')
      await resting(page)
      await page.reload()
      await row(page, CAUSE).waitFor()
      await expect.poll(() => page.locator('.row[aria-current]').textContent()).toContain('query 9660 failed')
      await page.goBack()
      await expect.poll(() => page.locator('.row[aria-current]').textContent()).toContain('query 9660')
      expect(hash(page)).toContain('level=error')
      await page.context().close()
    })

    it('puts a record that comes late where it belongs', async () => {
      const page = await stage.open('file=broker.log&file=storage.log&follow=true')
      await page.locator('.follow.live').waitFor()
      const say = (log: string, second: number, text: string) =>
        appendFileSync(
          join(stage.logs, log),
          `${stamp(NIGHT + second * 1000)}\tINFO\tpkg/a.go:1\t[Node]: ${text}\n`,
        )
      say('broker.log', 20_010, 'came in time')
      await row(page, 'came in time').waitFor()
      say('storage.log', 20_005, 'came late')
      await row(page, 'came late').waitFor()
      say('storage.log', 20_020, 'came last')
      await row(page, 'came last').waitFor()
      const said = (await page.locator('.row .m').allTextContents()).filter((text) => text.startsWith('came'))
      expect(said).toEqual(['came late', 'came in time', 'came last'])
      await page.context().close()
    })
  },
)

const fleet = temporaryDirectory()

/** A heartbeat of a shipper that has shipped everything up to a second of the night. */
function beat(id: string, second: number, [errors, warnings] = [0, 0]): void {
  const path = join(fleet, id, 'ship.json')
  const minute = Math.floor(Date.now() / 60_000)
  const counts = {
    'broker.log': { lastLine: Date.now() - 60_000, minutes: { [minute]: [errors, warnings] } },
  }
  const host = { hostName: id, hostIp: '10.0.0.7', grpcPort: 0, httpPort: 1, version: '1.2', onlineTime: 1 }
  const logs = { 'broker.log': { life: 1, size: 1, lagBytes: 0, lagSeconds: 0 } }
  writeFileSync(path, JSON.stringify({ host: id, run: 'a', version: '1', node: host, logs, counts }))
  const at = (NIGHT + second * 1000) / 1000
  utimesSync(path, at, at)
}

describePage(
  'several nodes as one',
  () => {
    const host = { hostIp: '10.0.0.7', grpcPort: 0, httpPort: 1, version: '1.2', onlineTime: 1 }
    for (const id of ['db-1', 'db-2', 'db-4']) {
      mkdirSync(join(fleet, id, 'logs'), { recursive: true })
      writeFileSync(join(fleet, id, 'node.json'), JSON.stringify({ ...host, hostName: id }))
      const failing = (i: number): [string, string] | null =>
        id === 'db-1' && i >= 9660 && i < 9900 ? ['ERROR', `query ${i} failed: no answer from db-4`] : null
      writeFileSync(join(fleet, id, 'logs/broker.log'), night(failing))
      writeFileSync(
        join(fleet, id, 'logs/storage.log'),
        night((i) => (id === 'db-4' && i === 9600 ? ['WARN', CAUSE] : null)),
      )
    }
  },
  (stage) => {
    let service: Program | null = null
    const open = async (path: string): Promise<BrowserPage> => {
      service ??= await serve(['--port', '0', '--fleet', fleet], { env: { TZ: 'UTC' } })
      return stage.browser.open(`${service.url}/${path}`, { timezoneId: 'UTC' })
    }
    const hash = (page: BrowserPage) => decodeURIComponent(new URL(page.url()).hash)
    const row = (page: BrowserPage, text: string) => page.locator('.row').filter({ hasText: text })

    it("leads from a red bar to the cause in another node's log in four actions", async () => {
      const page = await open('nodes/db-1/#file=broker.log')
      await page.locator('.levels .lv-error .tally').filter({ hasText: '240' }).waitFor()
      // 1. The first red bar.
      const box = (await page.locator('.histogram svg').boundingBox())!
      const x = (box.width * 9_700) / 14_999
      await page.locator('.histogram svg').click({ position: { x, y: box.height - 20 } })
      await page.locator('.row.lv-error[aria-current]').first().waitFor()
      // 2. All others at this moment, on every node. 3. Warnings and above. 4. The record before the errors.
      await page.keyboard.press('o')
      await page.locator('.side .o').first().waitFor()
      await expect
        .poll(() => page.locator('.row[aria-current]').textContent())
        .toContain('failed: no answer from db-4')
      expect(hash(page)).toContain('node=*')
      await page.locator('.levels .lv-warn').click()
      await settled(page)
      await page.keyboard.press('g')
      await row(page, CAUSE).waitFor()
      await expect.poll(() => row(page, CAUSE).locator('.o').getAttribute('title')).toBe('db-4/storage.log')
      // And back, to the record of the beginning.
      await page.goBack()
      await page.goBack()
      await page.locator('.row.lv-error[aria-current]').first().waitFor()
      expect(page.url()).toContain('/nodes/db-1/')
      await page.context().close()
    })

    it('picks nodes and logs together, takes a node out, and stacks the chart by node', async () => {
      const page = await open('')
      await page.getByRole('checkbox', { name: 'db-1', exact: true }).click()
      await page.getByRole('checkbox', { name: 'db-4', exact: true }).click()
      await page.getByRole('button', { name: 'Timeline' }).click()
      await page.locator('.side .o').first().waitFor()
      await settled(page)
      expect(new Set(await page.locator('.row .o').allTextContents())).toEqual(new Set(['A', 'B']))
      expect(new Set(await page.locator('.row .nn').allTextContents())).toEqual(new Set(['db-1', 'db-4']))
      expect(await findings(page)).toEqual([])
      await page.locator('.side').getByRole('checkbox', { name: 'storage.log' }).click()
      await expect.poll(() => hash(page)).toContain('file=broker.log')
      await page.getByLabel('Stack by').selectOption('node')
      const name = () => page.locator('.histogram svg').getAttribute('aria-label')
      await expect.poll(name).toMatch(/15,000 db-1, 15,000 db-4/)
      await page.locator('.side').getByRole('checkbox', { name: 'db-1', exact: true }).click()
      await expect.poll(() => hash(page)).not.toContain('db-1')
      await page.locator('.row').first().waitFor()
      await expect.poll(name).toMatch(/15,000 db-4/)
      await page.context().close()
    })

    it('reads another node as well, from a node of the fleet', async () => {
      const page = await open('nodes/db-1/#file=broker.log')
      await page.locator('.row').first().waitFor()
      await page.locator('.side').getByRole('checkbox', { name: 'db-4', exact: true }).click()
      await page.locator('.side .o').first().waitFor()
      expect(new URL(page.url()).pathname).toBe('/')
      expect(hash(page)).toMatch(/^#file=broker\.log&node=db-1&node=db-4/)
      await page.context().close()
    })

    it('names a node that is not there, and saves the records of the others', async () => {
      const page = await open('#file=broker.log&node=db-1&node=db-4&node=db-9')
      await page.locator('.status').filter({ hasText: 'db-9 (no such node)' }).waitFor()
      await settled(page)
      const save = async (format: string) => {
        await page.locator('summary').filter({ hasText: 'Export' }).click()
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          told(page, 'Download complete, without db-9', () =>
            page.getByRole('button', { name: `All records as ${format}` }).click(),
          ),
        ])
        const text = readFileSync(await download.path(), 'utf8')
        return { name: download.suggestedFilename(), lines: text.trimEnd().split('\n') }
      }
      const text = await save('text')
      expect(text.name).toBe('timeline.txt')
      expect(text.lines.slice(0, 2).map((line) => line.split('\t')[0])).toEqual([
        'db-1/broker.log',
        'db-4/broker.log',
      ])
      expect(text.lines).toHaveLength(30_000)
      const json = await save('JSON lines')
      expect(json.name).toBe('timeline.ndjson')
      expect(JSON.parse(json.lines[29_999]!)).toMatchObject({ node: 'db-4', message: 'heartbeat 14999' })
      await page.context().close()
    })

    it('begins with the nodes that have the most errors', async () => {
      beat('db-1', 14_990)
      beat('db-2', 14_995, [2, 9])
      beat('db-4', 14_995, [12_000, 0])
      const known = async () => (await fetch(`${service!.url}/api/v1/nodes`)).text()
      await expect.poll(known).toMatch(/"errors":2\D.*"errors":12000/s)
      const page = await open('')
      const rows = page.locator('.fleet tbody tr')
      await rows.first().filter({ hasText: '12,000' }).waitFor()
      await expect.poll(() => rows.locator('a').allTextContents()).toEqual(['db-4', 'db-2', 'db-1'])
      await expect
        .poll(() => page.locator('.fleet thead th').allTextContents())
        .toEqual(expect.arrayContaining(['Errors, 1 h', 'Warnings, 1 h', 'Last line']))
      await page.context().close()
    })

    it('draws a line where records may still come, and moves it while nothing comes', async () => {
      const page = await open('#file=broker.log&node=*&follow=true')
      await page.locator('.follow.live').waitFor()
      const line = page.locator('.row.unsettled')
      await expect.poll(() => line.allTextContents()).toHaveLength(1)
      await expect.poll(() => line.textContent()).toContain('heartbeat 14991')
      await page.getByText('Complete up to 01-10 04:09:50').waitFor()
      beat('db-1', 14_995)
      await page.getByText('Complete up to 01-10 04:09:55').waitFor()
      await expect.poll(() => line.allTextContents()).toHaveLength(1)
      await expect.poll(() => line.textContent()).toContain('heartbeat 14996')
      await page.context().close()
    })
  },
)
