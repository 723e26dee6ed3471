import { describe, expect, it } from 'vitest'
import { EndlessError, textOf } from '../../../src/doors/client/body.ts'
import { serverEvents } from '../../../src/doors/client/events.ts'
import { createClient, ProblemError } from '../../../src/doors/client.ts'

/** A body that repeats a text for ever, and whether it was left. */
function endless(text: string) {
  const state = { pulls: 0, isLeft: false }
  const bytes = new TextEncoder().encode(text)
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        state.pulls++
        controller.enqueue(bytes)
      },
      cancel() {
        state.isLeft = true
      },
    },
    { highWaterMark: 0 },
  )
  return { state, body }
}

const clientOf = (answer: (url: URL) => Response) =>
  createClient({ base: 'http://node', fetch: async (url) => answer(new URL(String(url))) })

describe('an answer without an end', () => {
  it('is left after as much as is taken of it', async () => {
    const { state, body } = endless('x'.repeat(1000))
    await expect(textOf(new Response(body), 10_000)).rejects.toThrow(EndlessError)
    expect(state).toEqual({ pulls: 11, isLeft: true })
    expect(await textOf(new Response('ä€😀'), 9)).toBe('ä€😀')
  })

  it('is a problem of which little is read', async () => {
    const { state, body } = endless('{"detail":'.repeat(100))
    const client = clientOf(() => new Response(body, { status: 500, headers: { 'Retry-After': '9' } }))
    const error = await client.list().catch((error: unknown) => error)
    expect(error).toBeInstanceOf(ProblemError)
    expect(error).toMatchObject({ status: 500, code: 'foreign', retryAfter: 9 })
    expect(state.isLeft).toBe(true)
    expect(state.pulls).toBeLessThan(70)
  })

  it.each(['data: x', '\ndata: x', 'data: x\n', 'id: 7\n'])('is an event of %j for ever', async (text) => {
    const { state, body } = endless(text)
    const events = serverEvents(body, () => {}, 1000)
    await expect(events.next()).rejects.toThrow(EndlessError)
    expect(state.isLeft).toBe(true)
  })

  it('is none where every event ends', async () => {
    const { body } = endless('data: 0123456789\n\n')
    let events = 0
    for await (const { data } of serverEvents(body, () => {}, 100)) {
      expect(data).toBe('0123456789')
      if (++events === 1000) break
    }
  })
})

describe('a list', () => {
  it.each([
    ['leads to itself', ['x', 'x']],
    ['leads in a circle', ['x', 'y', 'z', 'x']],
  ])('that %s ends and says that it is cut', async (_, cursors) => {
    let pages = 0
    const client = clientOf(() => {
      const next = cursors[pages++ % cursors.length]
      return Response.json([{ name: 'a.log', size: 1 }], {
        headers: { Link: `<?after=${next}>; rel="next"` },
      })
    })
    expect(await client.list()).toMatchObject({ notes: ['list-cut'] })
    expect(pages).toBe(cursors.length)
  })
})

describe('headers of a hostile node', () => {
  it('do not stop the client', async () => {
    const headers = {
      Link: '<http://[>; rel="prev"',
      'X-Nodestate-Missing': '%zz;gone',
      'Retry-After': '1e99',
    }
    const view = await clientOf(() => new Response('x\n', { headers })).view({ file: 'a.log' })
    expect(view).toMatchObject({ content: 'x\n', prev: null, missing: [{ name: '%zz', reason: 'gone' }] })
    const odd = clientOf(() =>
      Response.json({ type: 7, title: [], detail: { a: 1 } }, { status: 503, headers }),
    )
    await expect(odd.list()).rejects.toMatchObject({ status: 503, code: '7' })
  })

  it('ask a follower to wait for an hour at most', async () => {
    const client = clientOf(
      () => new Response('{"detail":"x"}', { status: 503, headers: { 'Retry-After': '99999999999' } }),
    )
    for await (const event of client.follow({ file: 'a.log' })) {
      expect(event).toMatchObject({ type: 'lost', retryIn: 3_600_000 })
      break
    }
  })
})

/** A body whose bytes come one at a time. */
function dripping(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  return new ReadableStream({
    pull: (controller) =>
      at < bytes.length ? controller.enqueue(bytes.subarray(at, ++at)) : controller.close(),
  })
}

it('an answer and an event that come byte by byte are whole', async () => {
  const text = 'ä→'.repeat(3000)
  expect(await textOf(new Response(dripping(text)))).toBe(text)
  const events: string[] = []
  for await (const { data } of serverEvents(dripping(`data: ${text}\n\ndata: next\r\n\r\n`)))
    events.push(data!)
  expect(events).toEqual([text, 'next'])
})
