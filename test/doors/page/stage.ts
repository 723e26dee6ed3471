import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { cleanUp, type Program, serve, temporaryDirectory } from '../../program.ts'
import { type Browser, type BrowserPage, launchBrowser, missingBrowser } from './browser.ts'

/** A service with logs, and a browser. */
export interface Stage {
  readonly browser: Browser
  readonly node: Program
  /** The directory of the logs. */
  readonly logs: string
  /** Opens the page at a fragment, such as `file=broker.log`, and waits for the first row. */
  open(fragment: string, options?: object): Promise<BrowserPage>
}

/** A suite of tests in a browser. `prepare` writes the logs; a page that logs an error or a warning fails its test. */
export function describePage(
  title: string,
  prepare: (logs: string) => void,
  tests: (stage: Stage) => void,
): void {
  const reason = missingBrowser ? ` (${missingBrowser})` : ''
  describe.skipIf(missingBrowser)(`${title}${reason}`, { timeout: 90_000 }, () => {
    let browser: Browser
    let node: Program
    let logs: string
    beforeAll(async () => {
      logs = join(temporaryDirectory(), 'logs')
      mkdirSync(logs)
      prepare(logs)
      node = await serve(['--port', '0', '--logs', logs], { env: { TZ: 'UTC' } })
      browser = await launchBrowser()
    })
    afterEach(() => {
      expect(browser.wrongs.splice(0)).toEqual([])
    })
    afterAll(async () => {
      await browser?.close()
      await cleanUp()
    })
    tests({
      get browser() {
        return browser
      },
      get node() {
        return node
      },
      get logs() {
        return logs
      },
      async open(fragment, options = {}) {
        const page = await browser.open(`${node.url}/#${fragment}`, options)
        await page.locator('.row').first().waitFor()
        return page
      },
    })
  })
}
