import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Flare, startMiniflare } from '../../support/miniflare.ts'
import { part } from '../../support/parts.ts'
import { type S3Server, startS3Server } from '../../support/s3-server.ts'
import { KEYS, lineAt } from './bucket.ts'

const COUNT = 20
const LINES = 10
const timeOf = (i: number) => Date.UTC(2026, 10, 15, 10, i)
const keyOf = (i: number) => KEYS['Fluent Bit']!('app', timeOf(i), i)

const needs = (['miniflare', 'node', 'workerd'] as const).map((name) => part(name).missing).find(Boolean)

describe.skipIf(needs)(
  `a joined log at the edge, where the work of a request ends with it${needs ? ` (${needs})` : ''}`,
  () => {
    let server: S3Server
    let flare: Flare
    /** Requests for these wait. */
    let held: (url: string) => boolean = () => false
    const waiting: (() => void)[] = []
    const proxy = createServer((incoming, outgoing) => {
      const pass = () => {
        const { method, headers } = incoming
        const upstream = request(server.endpoint + incoming.url, { method: method!, headers }, (answer) => {
          outgoing.writeHead(answer.statusCode!, answer.headers)
          answer.pipe(outgoing)
        })
        // The worker may have left.
        upstream.on('error', () => outgoing.destroy())
        incoming.pipe(upstream)
      }
      if (held(decodeURIComponent(incoming.url!))) waiting.push(pass)
      else pass()
    })
    const release = () => {
      held = () => false
      for (const pass of waiting.splice(0)) pass()
    }
    const view = (query: string) => fetch(`${flare.url}api/v1/log/view?file=app&${query}`)

    beforeAll(async () => {
      server = await startS3Server()
      for (let i = 0; i < COUNT; i++) server.put(keyOf(i), lineAt(timeOf(i), `object ${i}`).repeat(LINES))
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
      flare = await startMiniflare({
        main: 'dist/entry/cli/worker.js',
        bindings: {
          NODESTATE_LOGS: 's3://logs',
          NODESTATE_JOIN: '1',
          NODESTATE_INSECURE: '1',
          AWS_ENDPOINT_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
          AWS_ACCESS_KEY_ID: 'key',
          AWS_SECRET_ACCESS_KEY: 'secret',
        },
      })
    })
    afterAll(async () => {
      await flare?.stop()
      await server?.close()
      proxy.close()
      proxy.closeAllConnections()
    })

    it('reads objects that an earlier search was still fetching', async () => {
      // The search has its answer in the second object from the end, with those before it on their way.
      held = (url) => Array.from({ length: COUNT - 2 }, (_, i) => keyOf(i)).some((key) => url.includes(key))
      const first = await view(`q=object%20${COUNT - 2}&lines=1`)
      expect(await first.text()).toBe(lineAt(timeOf(COUNT - 2), `object ${COUNT - 2}`))
      expect(waiting.length).toBeGreaterThan(0)
      const begun = waiting.length
      const second = view('q=object')
      await expect.poll(() => waiting.length).toBeGreaterThan(begun)
      release()
      const { status, text } = await second.then(async (answer) => ({
        status: answer.status,
        text: await answer.text(),
      }))
      expect(status).toBe(200)
      expect(text.split('\n')).toHaveLength(COUNT * LINES + 1)
    })
  },
)
