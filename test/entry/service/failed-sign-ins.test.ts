import { expect, it } from 'vitest'
import { slowedSignIns } from '../../../src/entry/service/failed-sign-ins.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'

const app = createApp({ logs: memoryStore({ 'a.log': 'x\n' }), config: '', token: 'valid' })

/** A clock that moves by hand; `held` are the answers that wait. */
function slowed() {
  let now = 0
  const held: { at: number; wake: () => void }[] = []
  const fetch = slowedSignIns((request, env) => app.fetch(request, env), {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((wake) => {
        held.push({ at: now + ms, wake })
        signal.addEventListener('abort', () => wake(), { once: true })
      }),
  })
  const ask = async (token: string | null, address: string, signal?: AbortSignal) => {
    const headers: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` }
    const request = new Request('http://h/api/v1/log/list', { headers, ...(signal && { signal }) })
    return fetch(request, { address })
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    held,
    ask,
    settle,
    async to(time: number) {
      now = time
      for (const each of held.filter(({ at }) => at <= time)) {
        held.splice(held.indexOf(each), 1)
        each.wake()
      }
      await settle()
    },
  }
}

it('answers the first wrong tokens at once, and then holds each longer than the one before', async () => {
  const { ask, held, to, settle } = slowed()
  for (let i = 0; i < 10; i++) expect((await ask('wrong', '10.0.0.1')).status).toBe(401)
  const statuses: number[] = []
  for (let i = 0; i < 8; i++) void ask('wrong', '10.0.0.1').then(({ status }) => statuses.push(status))
  await settle()
  expect(held.map(({ at }) => at)).toEqual([500, 1000, 1500, 2000, 2500, 3000])
  // Beyond that nothing is held: no more sockets, and an answer that says when to come back.
  expect(statuses).toEqual([429, 429])
  await to(1000)
  expect(statuses).toEqual([429, 429, 401, 401])
  await to(3000)
  expect(statuses).toHaveLength(8)
})

it('never holds a valid token, nor a request without one, nor another address', async () => {
  const { ask, held } = slowed()
  for (let i = 0; i < 40; i++) void ask('wrong', '10.0.0.1')
  expect((await ask('valid', '10.0.0.1')).status).toBe(200)
  expect((await ask(null, '10.0.0.1')).status).toBe(401)
  expect((await ask('wrong', '10.0.0.2')).status).toBe(401)
  expect(held).toHaveLength(6)
})

it('forgets failures as time passes', async () => {
  const { ask, held, to } = slowed()
  for (let i = 0; i < 10; i++) await ask('wrong', '10.0.0.1')
  await to(5000)
  for (let i = 0; i < 10; i++) expect((await ask('wrong', '10.0.0.1')).status).toBe(401)
  expect(held).toEqual([])
})

it('counts the addresses of one IPv6 site together, and IPv4 clients apart', async () => {
  const { ask, held, settle } = slowed()
  for (let i = 0; i < 11; i++) void ask('wrong', `2001:db8:0:7::${i.toString(16)}`)
  await settle()
  expect(held).toHaveLength(1)
  for (let i = 0; i < 100; i++) expect((await ask('wrong', `::ffff:10.1.0.${i}`)).status).toBe(401)
  expect((await ask('wrong', '2001:db8:0:8::1')).status).toBe(401)
})

it('holds a bounded number of answers, and lets go when the client leaves', async () => {
  const { ask, held, settle } = slowed()
  for (let n = 0; n < 60; n++) for (let i = 0; i < 16; i++) void ask('wrong', `10.0.0.${n}`)
  await settle()
  expect(held).toHaveLength(256)
  expect((await ask('valid', '10.0.0.1')).status).toBe(200)

  const other = slowed()
  const abort = new AbortController()
  for (let i = 0; i < 10; i++) await other.ask('wrong', '10.0.0.1')
  const left = other.ask('wrong', '10.0.0.1', abort.signal)
  await other.settle()
  abort.abort()
  expect((await left).status).toBe(401)
})

it('says in its refusal when to come back', async () => {
  const { ask, settle } = slowed()
  for (let i = 0; i < 16; i++) void ask('wrong', '10.0.0.1')
  await settle()
  const refused = await ask('wrong', '10.0.0.1')
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '3'])
  expect(refused.headers.get('X-Request-Id')).toBeTruthy()
  expect((await refused.json()).type).toBe('/problems/too-many-failures')
})
