import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { part } from '../support/parts.ts'
import { type Answer, ask, comparable } from './answer.ts'
import { CELLS, type Cell, type Ground } from './cells.ts'
import { type Asked, REQUESTS } from './requests.ts'

const title = ({ method = 'GET', path, headers }: Asked) =>
  `${method} ${path.length > 120 ? `${path.slice(0, 120)}…` : path}${headers ? ` ${JSON.stringify(headers)}` : ''}`

/** Compares the answers of cells with those of Node over a directory, and calls `onPass` with the key of a cell. */
export function conformance(
  cells: readonly Cell[],
  prepare: () => Promise<Ground>,
  onPass: (key: string) => void = () => {},
): void {
  const reference = new Map<Asked, unknown>()
  let ground: Ground
  beforeAll(async () => {
    ground = await prepare()
    const first = await CELLS[0]!.start(ground)
    try {
      for (const asked of REQUESTS) reference.set(asked, comparable(await ask(first.url, asked)))
    } finally {
      await first.stop()
    }
  })
  afterAll(() => ground?.stop())

  it('has a reference that is worth comparing with', () => {
    const statuses = [...reference.values()].map((answer) => (answer as Answer).status)
    for (const status of [200, 304, 400, 404, 405]) expect(statuses).toContain(status)
    expect(statuses.filter((status) => status >= 500)).toEqual([])
  })

  describe.each([...cells])('$runtime over $store', ({ runtime, store, needs, start }) => {
    const lacks = needs.map((name) => part(name).missing).find(Boolean)
    let url: string
    let stop: () => Promise<void>
    const count = () => onPass(`${runtime} ${store}`)
    beforeAll(async () => {
      if (!lacks) ({ url, stop } = await start(ground))
    })
    afterAll(() => stop?.())

    it.each(REQUESTS.map((asked) => [title(asked), asked] as const))('%s', async (_, asked) => {
      expect(comparable(await ask(url, asked))).toEqual(reference.get(asked))
      count()
    })

    const tagged = ['/api/v1/config', '/api/v1/log/list', '/api/v1/log/view?file=broker.log&size=500']
    it.each(tagged)('GET %s again with its tag is a 304 without a body', async (path) => {
      const first = await ask(url, { path })
      const etag = first.headers.etag!
      for (const sent of [etag, `W/${etag}`, `"x", ${etag}`]) {
        const again = await ask(url, { path, headers: { 'If-None-Match': sent } })
        expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag])
      }
      expect((await ask(url, { path })).headers.etag).toBe(etag)
      count()
    })

    it('a HEAD claims no other length than its GET', async () => {
      const path = '/api/v1/log/view?file=broker.log&size=500'
      const answer = await fetch(`${url}${path}`, { method: 'HEAD' })
      const length = answer.headers.get('Content-Length')
      expect(length === null || Number(length) === (await ask(url, { path })).body.length).toBe(true)
      count()
    })

    it('follows a log: first its tail, then it stays open until the client leaves', async () => {
      const text = await events(
        `${url}/api/v1/log/view?file=broker.log&lines=2&follow=true`,
        {},
        'request 499',
      )
      expect(numbersOf(text)).toEqual([498, 499])
      expect(text).toMatch(/^id: ?\S+$/m)
      count()
    })

    it('goes on with a follower where its last event was', async () => {
      const path = '/api/v1/log/view?file=broker.log&lines=3&follow=true'
      const first = await events(`${url}${path}`, {}, 'request 499 ')
      const id = /^id: ?(\S+)$/m.exec(first)![1]!
      const again = await events(`${url}${path}`, { 'Last-Event-ID': id }, 'request 499 ')
      expect(numbersOf(first)).toEqual([497, 498, 499])
      expect(numbersOf(again)).toEqual([498, 499])
      count()
    })

    it('answers many at once, each with its own', async () => {
      const sizes = Array.from({ length: 24 }, (_, i) => 1000 + i * 5000)
      const answers = await Promise.all(
        sizes.map((size) => ask(url, { path: `/api/v1/log/view?file=big.log&size=${size}` })),
      )
      const whole = (await ask(url, { path: '/api/v1/log/view?file=big.log&size=999999999' })).body
      for (const [i, { status, body }] of answers.entries()) {
        expect(status).toBe(200)
        expect(body.length).toBeLessThanOrEqual(sizes[i]!)
        expect(Buffer.compare(body, whole.subarray(whole.length - body.length))).toBe(0)
      }
      count()
    })
  })
}

/** What a follower hears until the words come; then it leaves, and only that ends the answer. */
async function events(url: string, headers: Record<string, string>, words: string): Promise<string> {
  const client = new AbortController()
  const answer = await fetch(url, {
    headers: { Accept: 'text/event-stream', ...headers },
    signal: client.signal,
  })
  expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'text/event-stream'])
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes(words)) {
    const { done, value } = await reader.read()
    if (done) break
    text += value
  }
  client.abort()
  await expect(reader.read()).rejects.toThrow()
  return text
}

function numbersOf(text: string): number[] {
  return [...text.matchAll(/request (\d+) /g)].map((match) => Number(match[1]))
}
