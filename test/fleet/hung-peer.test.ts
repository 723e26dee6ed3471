// A node that stops answering, and one that is back.
import { expect, it } from 'vitest'
import { memoryStore } from '../../src/store/memory.ts'
import { createApp, createFleet } from '../support/app.ts'
import { manualClock } from '../support/manual-clock.ts'

const line = (id: string) => `2026-11-14 02:10:00.000\tINFO\ta.go:1\t[A]: ${id}\n`

function cluster() {
  const clock = manualClock()
  const hung = new Set<string>()
  const asked: string[] = []
  const peers = ['db-1', 'db-2'].map((id) => {
    const app = createApp({ logs: memoryStore({ 'a.log': line(id) }), config: '', clock })
    return {
      id,
      url: `http://${id}:9000`,
      random: () => 0,
      async fetch(
        url: string,
        {
          connectMillis: _,
          reconnects: __,
          ...init
        }: RequestInit & { connectMillis?: number; reconnects?: boolean },
      ) {
        asked.push(`${id} ${new URL(url).pathname}`)
        if (!hung.has(id)) return app.fetch(new Request(url, init))
        return new Promise<Response>((_resolve, reject) => {
          init.signal?.addEventListener('abort', () => reject(init.signal!.reason), { once: true })
        })
      },
    }
  })
  const fleet = createFleet({ peers, clock, onError() {} })
  /** Asks, and lets at most `ms` pass until there is an answer; how long it took. */
  const get = async (path: string, ms = 30_000) => {
    const start = clock.elapsed()
    let response: Response | null = null
    const asking = Promise.resolve(fleet.request(path)).then((answer) => {
      response = answer
    })
    while (!response && clock.elapsed() - start < ms) await clock.pass(50)
    await asking
    const { status, headers } = response!
    return { status, headers, body: await response!.text(), ms: clock.elapsed() - start }
  }
  /** Loads what is imported on first use, which takes no time of the clock. */
  const warm = async () => (await fleet.request(BOTH)).text()
  return { clock, hung, asked, get, warm }
}

const BOTH = '/api/v1/log/view?node=*&file=a.log&lines=10'
const ONE = '/nodes/db-2/api/v1/log/view?file=a.log'

it('a hung node costs nothing after the first request, is named with its address, and is used as soon as it is back', async () => {
  const { clock, hung, asked, get, warm } = cluster()
  await warm()
  expect((await get(BOTH)).body).toBe(`db-1/a.log\t${line('db-1')}db-2/a.log\t${line('db-2')}`)
  hung.add('db-2')
  const first = await get(BOTH)
  expect(first.headers.get('X-Nodestate-Missing')).toContain('db-2')
  for (let i = 0; i < 20; i++) {
    const { headers, body, ms } = await get(BOTH)
    expect(ms).toBeLessThanOrEqual(300)
    expect(body).toBe(`db-1/a.log\t${line('db-1')}`)
    expect(headers.get('X-Nodestate-Missing')).toContain('db-2')
    await clock.pass(1000)
  }
  const one = await get(ONE)
  expect([one.status, one.headers.get('Retry-After')]).toEqual([503, '2'])
  expect(JSON.parse(one.body).detail).toBe(
    'The node db-2 at http://db-2:9000 does not answer; check that nodestate runs there and can be reached, or leave the node out.',
  )
  // Only the probe asks it.
  asked.length = 0
  await get(BOTH)
  await clock.pass(5000)
  expect(new Set(asked.filter((each) => each.startsWith('db-2')))).toEqual(new Set(['db-2 /healthz']))
  hung.delete('db-2')
  await clock.pass(2000)
  const back = await get(BOTH)
  expect(back.headers.get('X-Nodestate-Missing')).toBeNull()
  expect(back.body).toContain(line('db-2'))
  expect((await get(ONE)).body).toBe(line('db-2'))
})

it('a node that nobody wants is not probed, and found to be back by the request that wants it', async () => {
  const { clock, hung, asked, get, warm } = cluster()
  await warm()
  hung.add('db-2')
  await get(BOTH)
  await get(BOTH)
  await clock.pass(70_000)
  asked.length = 0
  await clock.pass(60_000)
  expect(asked).toEqual([])
  hung.delete('db-2')
  const back = await get(BOTH)
  expect(back.headers.get('X-Nodestate-Missing')).toBeNull()
})
