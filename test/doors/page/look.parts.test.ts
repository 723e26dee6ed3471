import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, type Program, serve, temporaryDirectory } from '../../program.ts'
import { type Browser, launchBrowser, missingBrowser, seriousFindings, told } from './browser.ts'
import { writeLog, writeOddLog } from './logs.ts'

const CONFIG = `# the broker
[coordinator]
endpoints = ["http://localhost:2379"]
password = "hunter2"

[broker.http]
port = 9000
title = "<img src=x onerror=alert(1)>"

[broker.grpc]
port = 9001
`

describe.skipIf(missingBrowser)(
  `the page${missingBrowser ? ` (${missingBrowser})` : ''}`,
  { timeout: 90_000 },
  () => {
    let browser: Browser
    let node: Program
    let directory: string
    beforeAll(async () => {
      directory = temporaryDirectory()
      mkdirSync(join(directory, 'logs'))
      writeLog(join(directory, 'logs/broker.log'), 3000, [2900])
      writeOddLog(join(directory, 'logs/odd.log'))
      writeFileSync(join(directory, 'broker.toml'), CONFIG)
      const args = [
        '--port',
        '0',
        '--logs',
        join(directory, 'logs'),
        '--config',
        join(directory, 'broker.toml'),
      ]
      node = await serve([...args, '--host-name', 'db-4', '--host-ip', '10.0.0.7', '--node-version', '0.4.1'])
      browser = await launchBrowser()
    })
    afterEach(() => {
      expect(browser.wrongs.splice(0)).toEqual([])
    })
    afterAll(async () => {
      await browser?.close()
      await cleanUp()
    })

    it.each([
      [1440, 900],
      [900, 700],
      [390, 780],
    ])('at %i × %i shows the name and the logs at once, and a log one click later', async (width, height) => {
      const page = await browser.open(node.url, { viewport: { width, height } })
      await page.getByRole('heading', { name: 'db-4' }).waitFor()
      const entry = page.locator('.files a').filter({ hasText: 'broker.log' })
      await entry.waitFor()
      for (const each of [page.getByRole('heading', { name: 'db-4' }), entry]) {
        const box = (await each.boundingBox())!
        expect(box.x).toBeGreaterThanOrEqual(0)
        expect(box.x + box.width).toBeLessThanOrEqual(width)
        expect(box.y + box.height).toBeLessThanOrEqual(height)
      }
      await expect.poll(() => entry.textContent()).toMatch(/\d KB/)
      await entry.click()
      const last = page.locator('.row').filter({ hasText: 'record number 2999 ' })
      await last.waitFor()
      const box = (await last.boundingBox())!
      expect(box.y).toBeGreaterThan(0)
      expect(box.y).toBeLessThan(height)
      await expect
        .poll(() => page.evaluate('document.documentElement.scrollWidth'))
        .toBeLessThanOrEqual(width)
      await page.context().close()
    })

    it('tells who the node is', async () => {
      const page = await browser.open(node.url)
      const facts = page.locator('.node-facts')
      await facts.waitFor()
      const text = await facts.textContent()
      for (const fact of ['db-4', '10.0.0.7', '9000', '9001', '0.4.1']) expect(text).toContain(fact)
      // When the node came online is not known: nodestate's own start is not presented as the node's.
      expect(text).toContain('Online sincenot known')
      await expect.poll(() => page.title()).toContain('db-4')
      await page.context().close()
    })

    it('shows the configuration in colour, and copies it; what is masked looks masked', async () => {
      const page = await browser.open(node.url)
      const toml = page.locator('.toml')
      await toml.waitFor()
      await expect.poll(() => toml.locator('.k-key').first().textContent()).toBe('endpoints')
      await expect.poll(() => toml.locator('.masked').count()).toBe(1)
      expect(await toml.textContent()).not.toContain('hunter2')
      await expect.poll(() => toml.textContent()).toContain('<img src=x onerror=alert(1)>')
      await expect.poll(() => page.locator('.toml img').count()).toBe(0)

      await told(page, 'Configuration copied', () => page.getByRole('button', { name: 'Copy' }).click())
      const copied = await page.evaluate<string>('navigator.clipboard.readText()')
      expect(copied).toContain('[broker.grpc]\nport = 9001')
      expect(copied).not.toContain('hunter2')
      await page.context().close()
    })

    it('follows the system in dark and light, and the hand over the system', async () => {
      const page = await browser.open(node.url, { colorScheme: 'dark' })
      const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
      const dark = await ground()
      expect(dark).toMatch(/rgb\(\d{1,2}, \d{1,2}, \d{1,2}\)/)
      await page.emulateMedia({ colorScheme: 'light' })
      await expect.poll(ground).toBe('rgb(255, 255, 255)')
      const button = page.getByRole('button', { name: /^Colours/ })
      await button.click()
      await expect.poll(() => button.getAttribute('aria-label')).toContain('light')
      await button.click()
      await expect.poll(() => button.getAttribute('aria-label')).toContain('dark')
      await expect.poll(ground).toBe(dark)
      await page.reload()
      await page.locator('.toml').waitFor()
      await expect.poll(ground).toBe(dark)
      await page.context().close()
    })

    it.each([
      ['light', 1280],
      ['dark', 1280],
      ['light', 390],
    ] as const)('has no serious accessibility finding: %s, %i wide', async (colorScheme, width) => {
      const page = await browser.open(node.url, { colorScheme, viewport: { width, height: 800 } })
      await page.locator('.toml').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await page.locator('.files a').filter({ hasText: 'odd.log' }).click()
      await page.locator('.row').first().waitFor()
      await page.locator('.row').last().click()
      await page.locator('.details').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await page.goto(`${node.url}/#file=broker.log&q=quota`)
      await page.locator('mark').first().waitFor()
      if (width < 640) await page.getByRole('button', { name: 'Filters' }).click()
      await page.getByRole('button', { name: 'All time' }).click()
      await page.getByRole('dialog').waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.locator('.list').focus()
      await page.keyboard.press('?')
      await page.getByRole('heading', { name: 'Keys' }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      const api = await page.getByRole('link', { name: 'openapi.json' }).getAttribute('href')
      expect((await fetch(api!)).status).toBe(200)
      await page.context().close()
    })

    it('shows where the keyboard is', async () => {
      const page = await browser.open(node.url)
      await page.locator('.toml').waitFor()
      for (let i = 0; i < 6; i++) {
        await page.keyboard.press('Tab')
        const outline = await page.evaluate<string>(
          'getComputedStyle(document.activeElement).outlineStyle + " " + document.activeElement.tagName',
        )
        expect(outline).toMatch(/^solid /)
      }
      await page.context().close()
    })

    it('runs nothing that a log, a name or a value says', async () => {
      const hostile = temporaryDirectory()
      const name = `"><script>alert(9)<!-- '.log`
      writeOddLog(join(hostile, name))
      const other = await serve(['--port', '0', '--logs', hostile])
      const page = await browser.open(other.url, { viewport: { width: 1280, height: 1400 } })
      await page.locator('.files a').filter({ hasText: name }).click()
      await page.locator('.row').nth(5).waitFor()
      for (let i = 0; i < (await page.locator('.row').count()); i++)
        await page.locator('.row .fold').nth(i).click()
      await expect.poll(() => page.locator('.list img, .list script, .list svg, .list b').count()).toBe(0)
      await expect.poll(() => page.locator('.list').textContent()).toContain('<img src=x onerror="alert(1)">')
      await expect.poll(() => page.locator('h2#log-title').textContent()).toBe(name)
      await page.goto(`${other.url}/#file=${encodeURIComponent('<img src=x onerror=alert(7)>')}`)
      await page.getByRole('alert').waitFor()
      await expect.poll(() => page.locator('main img').count()).toBe(0)
      await page.context().close()
    })

    it('asks nothing of anyone but the node', async () => {
      const page = await browser.open('about:blank')
      const asked: string[] = []
      page.on('request', (request: { url(): string }) => asked.push(request.url()))
      await page.goto(node.url)
      await page.locator('.files a').filter({ hasText: 'broker.log' }).click()
      await page.locator('.row').first().waitFor()
      expect(asked.length).toBeGreaterThan(4)
      expect(asked.filter((url) => !url.startsWith(node.url) && !url.startsWith('data:'))).toEqual([])
      await page.context().close()
    })

    it('saves a log as it is', async () => {
      const page = await browser.open(`${node.url}/#file=odd.log`)
      await page.locator('.row').first().waitFor()
      const saved = page.waitForEvent('download')
      await page.locator('summary').filter({ hasText: 'Export' }).click()
      await page.getByRole('button', { name: /^Download the whole file/ }).click()
      const download = await saved
      expect(download.suggestedFilename()).toBe('odd.log')
      expect(readFileSync(await download.path())).toEqual(readFileSync(join(directory, 'logs/odd.log')))
      await page.context().close()
    })
  },
)
