import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { partsFolder } from '../../parts/parts.mjs'
import { lacking } from '../../support/parts.ts'

/** Structural types of what the tests use of Playwright: it is installed only when they run. */
export interface Locator {
  click(options?: object): Promise<void>
  first(): Locator
  last(): Locator
  nth(index: number): Locator
  locator(selector: string, options?: object): Locator
  getByRole(role: string, options?: object): Locator
  filter(options: { hasText?: string | RegExp }): Locator
  or(other: Locator): Locator
  selectOption(value: string): Promise<unknown>
  count(): Promise<number>
  textContent(): Promise<string>
  allInnerTexts(): Promise<string[]>
  allTextContents(): Promise<string[]>
  getAttribute(name: string): Promise<string | null>
  inputValue(): Promise<string>
  fill(text: string): Promise<void>
  press(key: string): Promise<void>
  focus(): Promise<void>
  hover(): Promise<void>
  isVisible(): Promise<boolean>
  boundingBox(): Promise<{ x: number; y: number; width: number; height: number } | null>
  waitFor(options?: {
    state?: 'visible' | 'hidden' | 'attached' | 'detached'
    timeout?: number
  }): Promise<void>
  evaluate<T>(run: string): Promise<T>
}

export interface BrowserPage {
  goto(url: string): Promise<unknown>
  reload(): Promise<unknown>
  goBack(): Promise<unknown>
  url(): string
  title(): Promise<string>
  locator(selector: string, options?: object): Locator
  getByRole(role: string, options?: object): Locator
  getByText(text: string | RegExp, options?: object): Locator
  getByLabel(text: string | RegExp, options?: object): Locator
  evaluate<T>(run: string): Promise<T>
  waitForFunction(run: string, argument?: unknown, options?: { timeout?: number }): Promise<unknown>
  waitForEvent(name: string): Promise<Download>
  waitForTimeout(ms: number): Promise<void>
  setViewportSize(size: { width: number; height: number }): Promise<void>
  screenshot(options: object): Promise<Uint8Array>
  emulateMedia(options: object): Promise<void>
  addScriptTag(options: { content: string }): Promise<unknown>
  on(name: string, listener: (event: never) => void): void
  route(url: string, handler: (route: Route) => unknown): Promise<void>
  keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> }
  mouse: {
    move(x: number, y: number, options?: object): Promise<void>
    down(): Promise<void>
    up(): Promise<void>
    wheel(x: number, y: number): Promise<void>
  }
  context(): { close(): Promise<void>; newPage(): Promise<BrowserPage> }
}

/** A request of the page that a test holds back or answers itself. */
export interface Route {
  request(): { url(): string }
  continue(): Promise<void>
  abort(): Promise<void>
  fulfill(answer: { status?: number; json: unknown }): Promise<void>
}

interface Download {
  suggestedFilename(): string
  path(): Promise<string>
}

interface Launched {
  newContext(options: object): Promise<{ newPage(): Promise<BrowserPage>; close(): Promise<void> }>
  close(): Promise<void>
}

/** The first one is the same browser without its own windows and menus, and takes half of the time. */
const CHROMIUM = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** Why there is no browser here, or null. */
export const missingBrowser: string | null = (() => {
  if (!existsSync(join(partsFolder, 'node_modules/playwright-core')))
    return lacking('playwright-core is not installed: run npm run test:all')
  if (!executable()) return lacking('chromium is not installed: apt-get install chromium')
  return null
})()

function executable(): string | undefined {
  return [process.env.CHROMIUM ?? '', ...CHROMIUM].find((path) => path !== '' && existsSync(path))
}

/** A real Chromium with an empty profile. What goes wrong in any of its pages is kept in `wrongs`. */
export async function launchBrowser() {
  const require = createRequire(join(partsFolder, 'package.json'))
  const { chromium } = require('playwright-core') as {
    chromium: { launch(options: object): Promise<Launched> }
  }
  const profile = mkdtempSync(join(tmpdir(), 'nodestate-browser-'))
  const browser = await chromium.launch({
    executablePath: executable(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--crash-dumps-dir=${profile}`,
    ],
  })
  const wrongs: string[] = []
  return {
    wrongs,
    /** A separate page that shares no storage with another. */
    async open(url: string, options: object = {}): Promise<BrowserPage> {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        permissions: ['clipboard-read', 'clipboard-write'],
        acceptDownloads: true,
        ...options,
      })
      const page = await context.newPage()
      page.on('pageerror', (error: Error) => wrongs.push(`page error: ${error.message}`))
      page.on('dialog', (dialog: { message(): string; dismiss(): Promise<void> }) => {
        wrongs.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      page.on('console', (message: { type(): string; text(): string }) => {
        // The browser itself writes a line for every answer that is an error; those are expected where they come.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          wrongs.push(`console: ${message.text()}`)
      })
      await page.goto(url)
      return page
    },
    async close(): Promise<void> {
      await browser.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

export type Browser = Awaited<ReturnType<typeof launchBrowser>>

/**
 * Does something that the page tells of for a few seconds, and waits for the words. It looks for them from before the
 * act on, so that they are not missed.
 */
export async function told(page: BrowserPage, words: string, act: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.getByText(words).waitFor(), act()])
}

/** Waits until the list rests: for half a second, nothing scrolls, no row changes and the address stays. */
export function resting(page: BrowserPage): Promise<void> {
  return page.evaluate(`new Promise((done) => {
    const list = document.querySelector('.list')
    const state = () => [list.scrollTop, location.hash, list.textContent].join(' ')
    let [before, since, frames] = [state(), performance.now(), 0]
    const look = () => {
      const now = state()
      if (now !== before) [before, since, frames] = [now, performance.now(), 0]
      else if (++frames > 30 && performance.now() - since > 500) return done()
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })`)
}

/** Waits until what was asked for is loaded and the list rests. */
export async function settled(page: BrowserPage): Promise<void> {
  await page.locator('.list[aria-busy=false] .row').first().waitFor()
  await resting(page)
  await page.locator('.list[aria-busy=false] .row').first().waitFor()
}

/** The bars of a series in the chart, from left to right; pixels. */
export function barsOf(
  page: BrowserPage,
  name: string,
): Promise<{ x: number; width: number; height: number }[]> {
  return page.evaluate(`[...(document.querySelector('.histogram .b-${name}')?.getAttribute('d') ?? '')
    .matchAll(/M([\\d.]+) [\\d.]+h([\\d.]+)v([\\d.]+)/g)]
    .map(([, x, width, height]) => ({ x: Number(x), width: Number(width), height: Number(height) }))`)
}

/** What axe-core finds serious or critical, one line each. */
export function seriousFindings(page: BrowserPage): Promise<string[]> {
  return findings(page, ['serious', 'critical'])
}

/** What axe-core finds, of these impacts or of all. */
export async function findings(
  page: BrowserPage,
  impacts = ['minor', 'moderate', 'serious', 'critical'],
): Promise<string[]> {
  const require = createRequire(join(partsFolder, 'package.json'))
  const { source } = require('axe-core') as { source: string }
  // As an expression of the debugger, not as a script tag: the page's policy allows none.
  await page.evaluate(`(() => { ${source} })()`)
  return page.evaluate<string[]>(`axe.run(document, { resultTypes: ['violations'] }).then((found) =>
    found.violations
      .filter((each) => ${JSON.stringify(impacts)}.includes(each.impact))
      .map((each) => each.id + ': ' + each.help + ' — ' + each.nodes.map((node) => node.html.slice(0, 140)).slice(0, 3).join(' | ')))`)
}
