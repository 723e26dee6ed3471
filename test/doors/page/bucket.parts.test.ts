import { resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Asked, longestChain } from '../../../bench/chain.mjs'
import { cleanUp, type Program, serve } from '../../program.ts'
import { type Running, start } from '../../support/child.ts'
import { type Browser, launchBrowser, missingBrowser } from './browser.ts'

const reason = missingBrowser ? ` (${missingBrowser})` : ''

/** 64 MiB of log among 205 others, 50 ms away. */
const FAR = { delay: 50, rate: 1e8, size: 64 * 2 ** 20 }

describe.skipIf(missingBrowser)(`the page in front of a far bucket${reason}`, { timeout: 90_000 }, () => {
  let bucket: Running
  let node: Program
  let browser: Browser

  beforeAll(async () => {
    const script = resolve(import.meta.dirname, '../../../bench/far-bucket.mjs')
    bucket = await start(process.execPath, [script, JSON.stringify(FAR)], {
      byStdin: true,
      isReady: (line) => /^\d+$/.test(line),
    })
    browser = await launchBrowser()
  })
  // One for each test: it remembers lists, and may still be reading for a page that was closed.
  beforeEach(async () => {
    const env = {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${bucket.line}`,
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
    }
    node = await serve(['--port', '0', '--logs', 's3://logs'], { env })
  })
  afterEach(cleanUp)
  afterAll(async () => {
    await browser?.close()
    await bucket?.stop()
  })

  const asked = async (): Promise<Asked[]> => (await fetch(`http://127.0.0.1:${bucket.line}/-/report`)).json()

  /** The round trips that led to the first request which `isLast` accepts, with that one. */
  async function tripsTo(fragment: string, selector: string, isLast: (asked: Asked) => boolean) {
    await asked()
    const page = await browser.open(`${node.url}/${fragment}`)
    await page.locator(selector).first().waitFor()
    await page.context().close()
    const requests = await asked()
    const end = requests.find(isLast)!.to!
    return longestChain(requests.filter(({ to }) => to !== null && to <= end))
  }

  it('has the first lines after at most 5 round trips', async () => {
    // One request brings the end of the log; the format is found from it and from the beginning, side by side.
    const isTail = ({ url, range }: Asked) => url.includes('big.log') && /^bytes=-/.test(range ?? '')
    expect(await tripsTo('#file=big.log', '.row', isTail)).toBeLessThanOrEqual(5)
  })

  it('has the names of the logs after at most 5 round trips', async () => {
    expect(await tripsTo('', '.files a', ({ url }) => url.includes('list-type=2'))).toBeLessThanOrEqual(5)
  })
})
