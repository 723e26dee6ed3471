import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeCursor, encodeCursor, seal, unseal } from '../../../src/log/text/cursor.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { wholes } from '../../support/random.mjs'

const line = (i: number, text = 'line') =>
  `2026-11-15 02:00:${String(i).padStart(2, '0')}.000\tINFO\ta.go:1\t[A]: ${text} ${i};\n`
const LINES = Array.from({ length: 60 }, (_, i) => line(i))
const OTHER = Array.from({ length: 30 }, (_, i) => line(2 * i, 'other'))
const logs = memoryStore({
  'a.log.2.gz': gzipSync(LINES.slice(0, 20).join('')),
  'a.log.1': LINES.slice(20, 40).join(''),
  'a.log': LINES.slice(40).join(''),
  'b.log': OTHER.join(''),
})
const failures: unknown[] = []
const app = createApp({ logs, config: '', onError: (error) => failures.push(error) })
const get = (query: string, headers: Record<string, string> = {}) =>
  app.request(`/api/v1/log/view?${query}`, { headers })
const cursorsOf = (response: Response) =>
  [...(response.headers.get('Link') ?? '').matchAll(/(?:before|after)=([^>&]+)/g)].map((match) => match[1]!)

/** Every answer is a problem that says what to do, or a part of the logs, in order. */
async function check(query: string, headers: Record<string, string> = {}): Promise<void> {
  const response = await get(query, headers)
  const said = `${response.status} of ${query} ${JSON.stringify(headers)}`
  expect(failures, said).toEqual([])
  expect([200, 400, 410], said).toContain(response.status)
  if (response.status !== 200) {
    const { type, detail } = (await response.json()) as { type: string; detail: string }
    expect([type, detail.length > 20], said).toEqual([expect.stringMatching(/^\/problems\/[a-z-]+$/), true])
    return
  }
  if (headers['Last-Event-ID']) return response.body!.cancel()
  const text = await response.text()
  // A place inside a line is one that a cursor may have: a page may end within a long line.
  if (!query.includes('b.log')) return expect(LINES.join('').includes(text), `${said}\n${text}`).toBe(true)
  if (text === '') return
  const numbers = [...text.matchAll(/^(?:[ab]\.log\t)?2026-.*: (line|other) (\d+);$/gm)]
  expect(numbers.length, `${said}\n${text}`).toBe(text.split('\n').length - 1)
  for (const name of ['line', 'other']) {
    const own = numbers.filter((match) => match[1] === name).map((match) => Number(match[2]))
    const step = name === 'line' ? 1 : 2
    expect(own, `${said}\n${text}`).toEqual(own.map((_, i) => own[0]! + step * i))
  }
}

const KINDS = {
  one: 'file=a.log',
  rotated: 'file=a.log&rotated=true',
  archive: 'file=a.log.2.gz',
  merged: 'file=a.log&file=b.log',
}

async function checkEverywhere(kind: string, cursor: string): Promise<void> {
  const text = encodeURIComponent(cursor)
  for (const part of ['lines=5', 'size=300', 'first=5'])
    for (const side of ['before', 'after']) await check(`${kind}&${part}&${side}=${text}`)
  // An archive cannot be followed at all.
  if (!kind.includes('.gz')) await check(`${kind}&follow=true&lines=1`, { 'Last-Event-ID': cursor })
}

describe.each(Object.entries(KINDS))('a forged cursor of %s log', (name, kind) => {
  it('is refused or leads to lines of the log, never to a failure', async () => {
    const upTo = wholes(3)
    const genuine = [...cursorsOf(await get(`${kind}&lines=7`)), ...cursorsOf(await get(`${kind}&size=500`))]
    expect(genuine.length).toBeGreaterThan(2)
    for (let round = 0; round < 15; round++) {
      const cursor = genuine[upTo(genuine.length)]!
      const at = upTo(cursor.length)
      const forged = [
        cursor.slice(0, at),
        cursor.slice(0, at) + 'Az09-_'[upTo(6)] + cursor.slice(at + 1),
        cursor + cursor,
        [...cursor].reverse().join(''),
      ]
      await checkEverywhere(kind, forged[upTo(forged.length)]! || 'x')
    }
    for (const odd of ['0', '..', '%00', 'a'.repeat(5000), '💥', 'null', '-1', 'AAAAAAAAAAAA'])
      for (const side of ['before', 'after']) await check(`${kind}&${side}=${encodeURIComponent(odd)}`)
  })

  it('with the right check digits is refused or leads to lines of the log', async () => {
    const upTo = wholes(5)
    const genuine = cursorsOf(await get(`${kind}&lines=7`))
    for (let round = 0; round < 20; round++) {
      const text = genuine[upTo(genuine.length)]!
      await checkEverywhere(kind, name === 'merged' ? forgedMerged(text, upTo) : forgedOne(text, upTo))
    }
  })
})

describe('a cursor that an older version issued', () => {
  it('still leads on in one log', async () => {
    const response = await get('file=a.log&before=NHR4MS82NTAvNjAwLzUwLzYyNDA3MDMxOTQ3NDQxNzUvL2EubG9n')
    expect(await response.text()).toBe(LINES.slice(40, 53).join(''))
  })

  it('is refused for several logs', async () => {
    const old = 'LLZtARZgRwgYA8BEszkFYi5sb2cA9QvLAWYzBKVHxmelI1CAtwVhLmxvZwDoB_MDZDIXuChVuqhd'
    const response = await get(`file=a.log&file=b.log&before=${old}`)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ type: '/problems/bad-cursor' })
  })
})

/** Of one log: another place, file or fingerprint, in a cursor that is well formed. */
function forgedOne(text: string, upTo: (below: number) => number): string {
  const cursor = decodeCursor(text, 'after')
  const numbers = [0, 1, 17, cursor.offset + 1, 1200, 99_999, Number.MAX_SAFE_INTEGER]
  const names = ['a.log', 'a.log.1', 'a.log.2.gz', 'b.log', 'no.log', '../a.log', '\0', 'a.log/']
  const pick = <T>(values: readonly T[]) => values[upTo(values.length)]!
  return encodeCursor({
    ...cursor,
    ...(upTo(2) && { offset: pick(numbers) }),
    ...(upTo(3) === 0 && { name: pick(names) }),
    ...(upTo(3) === 0 && { id: pick([null, '', '1-2', '../x']) }),
    ...(upTo(2) && { print: { offset: pick(numbers), length: pick([0, 1, 24, 64]), hash: pick(numbers) } }),
    splitsRecord: upTo(4) === 0,
  })
}

/** Of several logs: some bytes changed, and the check made anew. */
function forgedMerged(text: string, upTo: (below: number) => number): string {
  const bytes = Uint8Array.from(unseal(text), (char) => char.charCodeAt(0))
  expect(bytes.length).toBeGreaterThan(20)
  for (let i = 0; i <= upTo(3); i++) bytes[upTo(bytes.length)] = upTo(256)
  const own = bytes.subarray(0, upTo(3) === 0 ? upTo(bytes.length) : undefined)
  return seal(String.fromCharCode(...own))
}
