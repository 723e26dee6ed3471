import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type BrowserPage, findings, settled } from './browser.ts'
import { line, stamp, writeLog } from './logs.ts'
import { describePage } from './stage.ts'

const START = Date.UTC(2026, 0, 10)
const RANGE = 'since=2026-01-10 00:10:00&until=2026-01-10 00:40:00'

describePage(
  'room for the text, and for everyone',
  (logs) => {
    writeLog(join(logs, 'broker.log'), 3000, [1500])
    for (let i = 1; i <= 6; i++) writeFileSync(join(logs, `broker.log.${i}`), line(-i * 100))
    let short = ''
    for (let i = 0; i < 300; i++)
      short += `${stamp(START + i * 1000)}\tINFO\ta.go:1\t[KV]: short ${i} ${'words '.repeat(60)}\n`
    writeFileSync(join(logs, 'short.log'), short)
    writeFileSync(join(logs, 'notes.txt'), 'a line without a time\n'.repeat(9))
    const at = (i: number) => new Date(START + i * 1000).toISOString()
    let json = ''
    for (let i = 0; i < 50; i++)
      json += `{"time":"${at(i)}","level":"info","msg":"done","status":200,"path":"/a"}\n`
    writeFileSync(join(logs, 'json.log'), json)
    writeFileSync(
      join(logs, 'slow.log'),
      `# Time: ${at(1)}\n# User@Host: app[app] @ localhost []  Id: 12\n# Query_time: 3.2  Lock_time: 0.1\nSET timestamp=1767571205;\nSELECT name FROM orders;\n`.repeat(
        3,
      ),
    )
    writeFileSync(
      join(logs, 'slow-json.log'),
      `${stamp(START)}\tWARN\tq.go:1\t[Query]: slow query\t{"cost":"3s","sql":"select f from cpu"}\n`.repeat(
        3,
      ),
    )
  },
  (stage) => {
    const { open } = stage
    const size = (page: BrowserPage, selector: string) =>
      page.evaluate<{ x: number; width: number; height: number; right: number; y: number; bottom: number }>(
        `document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().toJSON()`,
      )

    it('gives the records two thirds of a phone, with filters and a range set', async () => {
      const page = await open(`file=broker.log&level=info&q=record&${RANGE}`, {
        viewport: { width: 390, height: 844 },
      })
      await page.getByRole('img', { name: /^Chart of records from/ }).waitFor()
      await settled(page)
      expect((await size(page, '.list')).height).toBeGreaterThanOrEqual((844 * 2) / 3)
      await expect.poll(() => page.getByRole('heading', { level: 1 }).isVisible()).toBe(true)
      // The filters are one press away.
      await page.getByRole('button', { name: 'Filters' }).click()
      await page.locator('.levels').waitFor()
      await page.context().close()
    })

    it('shows at least ten rows at 200 % zoom, with two filters', async () => {
      const page = await open(`file=broker.log&level=info&q=record&${RANGE}`, {
        viewport: { width: 720, height: 450 },
      })
      await page.getByRole('img', { name: /^Chart of records from/ }).waitFor()
      await settled(page)
      expect((await size(page, '.list')).height).toBeGreaterThanOrEqual(200)
      await page.context().close()
    })

    it('shows fields and groups over the records at 200 % zoom, where both have no room', async () => {
      const page = await open('file=json.log&where=status>=200', { viewport: { width: 720, height: 450 } })
      await page.keyboard.press('e')
      await page.getByRole('button', { name: 'Group by path' }).click()
      await page.locator('.groups tbody tr').first().waitFor()
      const [first, work] = [await size(page, '.groups tbody tr'), await size(page, '.work')]
      expect(first.bottom).toBeLessThanOrEqual(work.bottom)
      expect((await size(page, '.fields')).height).toBeGreaterThanOrEqual(work.height - 2)
      expect(await findings(page)).toEqual([])
      await page.context().close()
    })

    it('says on a phone how much is loaded and what is missing, in full', async () => {
      const page = await open('file=broker.log&file=notes.txt', { viewport: { width: 390, height: 844 } })
      await page.locator('.status .lacks').waitFor()
      const cut = await page.evaluate<number>(
        `[...document.querySelectorAll('.status > span:not(.keys)')].filter((each) => each.scrollWidth > each.clientWidth).length`,
      )
      expect(cut).toBe(0)
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      await page.context().close()
    })

    it('leaves the message half the width at 820 px with the fields open', async () => {
      const page = await open('file=broker.log', { viewport: { width: 820, height: 900 } })
      await page.keyboard.press('e')
      await page.locator('.field-list').waitFor()
      await settled(page)
      const list = await size(page, '.list')
      const message = await size(page, '.row .m')
      expect(Math.min(message.right, list.right) - message.x).toBeGreaterThanOrEqual(list.width / 2)
      expect((await size(page, '.finder .find')).width).toBeGreaterThanOrEqual(300)
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(820)
      await page.context().close()
    })

    it.each([820, 1280])(
      'keeps the age and the rotated files apart, and the find box wide, at %i px',
      async (width) => {
        const page = await open('file=broker.log', { viewport: { width, height: 800 } })
        await page
          .locator('.files li:has(.rotated) .age')
          .filter({ hasText: /ago|now/ })
          .first()
          .waitFor()
        const [age, button] = [
          await size(page, '.files li:has(.rotated) .age'),
          await size(page, '.files .rotated'),
        ]
        expect(age.right <= button.x || button.y >= age.bottom).toBe(true)
        expect((await size(page, '.finder .find')).width).toBeGreaterThanOrEqual(300)
        await page.context().close()
      },
    )

    it('moves nothing when the counts arrive', async () => {
      const page = await stage.browser.open('about:blank')
      let release: (() => Promise<void>)[] = []
      await page.route('**/api/v1/log/histogram?*', (route) => void release.push(() => route.continue()))
      await page.goto(`${stage.node.url}/#file=broker.log`)
      await page.locator('.row').first().waitFor()
      await page.locator('.levels').waitFor()
      const places = () =>
        page.evaluate<number[]>(`[...document.querySelectorAll('.levels button, [data-range], .list')]
          .flatMap((part) => { const { x, y } = part.getBoundingClientRect(); return [x, y] })`)
      const before = await places()
      while ((await page.getByRole('img', { name: /^Chart of records from/ }).count()) === 0) {
        for (const go of release.splice(0)) await go()
        await page.waitForTimeout(50)
      }
      release = []
      await expect.poll(() => places()).toEqual(before)
      await page.context().close()
    })

    it('aligns the presets', async () => {
      const page = await open('file=broker.log')
      await page.locator('[data-range]').click()
      const lefts = await page.evaluate<number[]>(
        `[...document.querySelectorAll('.presets button')].map((each) => Math.round(each.getBoundingClientRect().x))`,
      )
      expect(new Set(lefts).size).toBeLessThanOrEqual(2)
      await page.context().close()
    })

    it('begins short messages in the first third, and wraps them over the whole width', async () => {
      const page = await open('file=short.log')
      await settled(page)
      const list = await size(page, '.list')
      expect((await size(page, '.row .m')).x - list.x).toBeLessThan(list.width / 3)
      await page.keyboard.press('w')
      await settled(page)
      const lines = await page.evaluate<{ left: number; right: number }>(`(() => {
        const rects = [...document.querySelector('.row .m').getClientRects()]
        return { left: Math.min(...rects.map((each) => each.left)), right: Math.max(...rects.map((each) => each.right)) }
      })()`)
      expect(lines.left - list.x).toBeLessThan(60)
      expect(list.right - lines.right).toBeLessThan(120)
      await page.context().close()
    })

    it('shows fields of JSON as JSON, and the SQL of a slow query first', async () => {
      const page = await open('file=json.log')
      expect((await page.locator('.row .c').first().textContent()).trim()).toBe('{"status":200,"path":"/a"}')
      await page.goto(`${stage.node.url}/#file=slow.log`)
      await page.locator('.row').filter({ hasText: 'SELECT name' }).first().waitFor()
      await expect
        .poll(() => page.locator('.row .m').first().textContent())
        .toMatch(/^SELECT name FROM orders;/)
      await page.goto(`${stage.node.url}/#file=slow-json.log`)
      await page.locator('.row').filter({ hasText: 'select f' }).first().waitFor()
      await expect.poll(() => page.locator('.row .m').first().textContent()).toMatch(/^select f from cpu/)
      await page.context().close()
    })

    it('leads the keyboard to the records by a skip link', async () => {
      const page = await open(`file=short.log&level=info&q=short`)
      await settled(page)
      await page.keyboard.press('Tab')
      await expect.poll(() => page.evaluate<string>('document.activeElement.textContent')).toContain('Skip')
      await page.keyboard.press('Enter')
      await expect.poll(() => page.evaluate<string>('document.activeElement.className')).toBe('list')
      await page.context().close()
    })

    it('moves nothing for those who want less motion', async () => {
      const page = await open('file=broker.log&follow=true', { reducedMotion: 'reduce' })
      await page.locator('.follow.live').waitFor()
      const running = await page.evaluate<number>('document.getAnimations().length')
      expect(running).toBe(0)
      await page.context().close()
    })

    it.each([
      ['light', 390],
      ['dark', 390],
      ['light', 820],
      ['dark', 820],
      ['light', 1440],
      ['dark', 1440],
    ] as const)('has no finding of axe on any view: %s, %i px', async (colorScheme, width) => {
      const page = await stage.browser.open(stage.node.url, { colorScheme, viewport: { width, height: 844 } })
      await page.locator('.toml').waitFor()
      await page.locator('.files a').first().waitFor()
      expect(await findings(page), 'the node').toEqual([])
      const look = async (fragment: string, part: string) => {
        await page.goto(`${stage.node.url}/#${fragment}`)
        await page.locator(part).first().waitFor()
      }
      await look(`file=broker.log&level=info&q=record&column=shard&${RANGE}`, '.list mark')
      await settled(page)
      await page.locator('.row .fold').first().click()
      expect(await findings(page), 'a log with filters').toEqual([])
      await page.keyboard.press('e')
      await page.locator('.field-list').waitFor()
      expect(await findings(page), 'with fields').toEqual([])
      await page.locator('.field-list button.name').first().click()
      await page.getByRole('menu').waitFor()
      expect(await findings(page), 'with a menu').toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Close fields and patterns' }).click()
      await look('file=broker.log&regex=(', '.failure')
      expect(await findings(page), 'with an error').toEqual([])
      await look('file=broker.log&q=nowhere', '.over .title')
      expect(await findings(page), 'with nothing').toEqual([])
      await page.context().close()
    })
  },
)
