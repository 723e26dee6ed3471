import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type BrowserPage, findings, settled } from './browser.ts'
import { line } from './logs.ts'
import { describePage } from './stage.ts'

const START = Date.UTC(2026, 0, 10)
const PATHS = ['/api/login', '/api/query', '/static/app.js']

describePage(
  'conditions by hand',
  (logs) => {
    let text = ''
    for (let i = 0; i < 3000; i++) {
      const path = PATHS[i % 3]!
      const status = i % 30 === 1 ? 503 : 200
      const duration = status === 503 && i % 60 === 1 ? '2.5s' : `${i % 400}ms`
      const time = new Date(START + i * 1000).toISOString()
      text += `${JSON.stringify({ time, level: status === 503 ? 'error' : 'info', msg: `request ${i}`, path, status, duration })}\n`
    }
    writeFileSync(join(logs, 'http.log'), text)
    writeFileSync(join(logs, 'broker.log'), Array.from({ length: 500 }, (_, i) => line(i)).join(''))
  },
  (stage) => {
    const { open } = stage
    const hash = (page: BrowserPage) => new URLSearchParams(page.url().split('#')[1])
    const chips = (page: BrowserPage) => page.locator('.chip .what').allTextContents()
    const type = async (page: BrowserPage, text: string) => {
      await page.keyboard.press('/')
      await page.keyboard.type(text)
    }

    it('become filters of the API, several at once', async () => {
      const page = await open('file=http.log')
      await type(page, 'status>=500 duration>1s')
      expect(await findings(page)).toEqual([])
      await page.keyboard.press('Enter')
      await page.getByText('50 matches').waitFor()
      expect(hash(page).getAll('where')).toEqual(['status>=500', 'duration>1s'])
      await expect.poll(() => chips(page)).toEqual(['status ≥ 500', 'duration > 1s'])
      await expect.poll(() => page.getByLabel('Find in the log').inputValue()).toBe('')
      const typed: [text: string, parameter: string, value: string][] = [
        ['path:/api/query', 'where', 'path:/api/query'],
        ['path~/api/*', 'where', 'path~/api/*'],
        ['level:error', 'level', '=error'],
        ['-request', 'not', 'request'],
        ['"request 61"', 'q', 'request 61'],
        ['/request 6\\d$/', 'regex', 'request 6\\d$'],
      ]
      for (const [text, parameter, value] of typed) {
        await type(page, text)
        await page.keyboard.press('Enter')
        await expect.poll(() => hash(page).getAll(parameter), { message: text }).toContain(value)
      }
      await page.context().close()
    })

    it('match what the node matches where all lines are shown', async () => {
      const page = await open('file=http.log&all=true')
      await type(page, 'path~/static/*')
      await page.keyboard.press('Enter')
      await expect.poll(() => hash(page).getAll('where')).toEqual(['path~/static/*'])
      await settled(page)
      const rows = () => page.locator('.row').allTextContents()
      const hits = () => page.locator('.row.hit').allTextContents()
      await expect.poll(async () => (await hits()).length).toBeGreaterThan(3)
      expect(await hits()).toEqual((await rows()).filter((row) => row.includes('/static/')))
      await page.context().close()
    })

    it('stay text where that is meant, and the page says what else it could be', async () => {
      const page = await open('file=http.log')
      await type(page, '"status>=500"')
      await page.keyboard.press('Enter')
      await page.getByText('No record matches').waitFor()
      expect(hash(page).getAll('q')).toEqual(['status>=500'])
      await page.getByText('“status>=500” was searched for as text.').waitFor()
      expect(await findings(page)).toEqual([])
      await page.getByRole('button', { name: 'Filter: status ≥ 500' }).click()
      await page.getByText('100 matches').waitFor()
      await expect.poll(() => chips(page)).toEqual(['status ≥ 500'])
      await page.context().close()
    })

    it('that leave nothing can be taken back one by one', async () => {
      const page = await stage.browser.open(
        `${stage.node.url}/#file=http.log&where=status:503&where=path:/nowhere`,
      )
      await page.getByText('No record matches').waitFor()
      await page.getByRole('button', { name: 'Without path: /nowhere' }).click()
      await page.getByText('100 matches').waitFor()
      expect(hash(page).getAll('where')).toEqual(['status:503'])
      await page.goto(`${stage.node.url}/#file=http.log&where=statsu:503`)
      await page.getByText('This log does not seem to have such a field').waitFor()
      await page.context().close()
    })

    it('come from the menu of a field', async () => {
      const page = await open('file=http.log')
      await page.keyboard.press('e')
      await page.locator('.field-list .name').filter({ hasText: 'duration' }).click()
      expect(await findings(page)).toEqual([])
      await page.getByRole('menuitem', { name: 'Filter by its value' }).click()
      await expect.poll(() => page.getByLabel('Find in the log').inputValue()).toBe('duration:')
      await page.keyboard.press('Backspace')
      await page.keyboard.type('>=1s')
      await page.keyboard.press('Enter')
      await page.getByText('50 matches').waitFor()
      await page.context().close()
    })
  },
)
