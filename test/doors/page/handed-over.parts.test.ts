import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.ts'
import { cleanUp, temporaryDirectory } from '../../program.ts'
import { NOW, planted, RANGE, SECRETS } from '../../routes/insight/incident/plant.ts'
import { createFleet } from '../../support/app.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { type Browser, launchBrowser, missingBrowser, seriousFindings } from './browser.ts'

const title = missingBrowser ? `the file of an incident (${missingBrowser})` : 'the file of an incident'

describe.skipIf(missingBrowser)(title, { timeout: 120_000 }, () => {
  let browser: Browser
  let url: string
  beforeAll(async () => {
    const fleet = createFleet({ store: memoryStore(planted()), clock: manualClock(NOW), onError: () => {} })
    const response = await fleet.request(`/api/v1/log/incident?node=*&file=*.log&${RANGE}`)
    const path = join(temporaryDirectory(), 'incident.html')
    writeFileSync(path, await response.text())
    url = pathToFileURL(path).href
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await cleanUp()
  })

  it('is read without scripts and without a network, and asks for nothing', async () => {
    const page = await browser.open('about:blank', { javaScriptEnabled: false, offline: true })
    const requests: string[] = []
    page.on('request', (request: { url(): string }) => void requests.push(request.url()))
    await page.goto(url)
    await expect
      .poll(() => page.title())
      .toBe('Incident 2026-11-16T02:30:00.000Z to 2026-11-16T03:00:00.000Z')
    expect((await page.locator('svg').boundingBox())!.width).toBeGreaterThan(600)
    await expect.poll(() => page.locator('svg rect.error').count()).toBeGreaterThan(10)
    await expect
      .poll(() => page.locator('h2').allInnerTexts())
      .toEqual([
        'Records over time',
        'What is different',
        'First errors',
        'Records around the first error',
        'Changes of the configuration',
        'Settings that differ between the nodes',
        'Nodes',
      ])
    await expect.poll(() => page.locator('.records').first().locator('tr').count()).toBe(26)
    // Its policy allows its own style, and nothing else.
    await expect.poll(() => page.evaluate<string>('getComputedStyle(document.body).maxWidth')).toBe('1760px')
    const shown = (await page.locator('body').allInnerTexts()).join('')
    for (const secret of SECRETS) expect(shown.includes(secret), secret).toBe(false)
    expect(requests).toEqual([url])
    await page.context().close()
  })

  it('is accessible, in light and in dark', async () => {
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.open(url, { offline: true, colorScheme })
      expect(await seriousFindings(page), colorScheme).toEqual([])
      await page.context().close()
    }
    expect(browser.wrongs).toEqual([])
  })
})
