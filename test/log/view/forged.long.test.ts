import { expect, it } from 'vitest'
import { decodeCursor, encodeCursor } from '../../../src/log/text/cursor.ts'
import { memoryStore } from '../../../src/store/memory.ts'
import { createApp } from '../../support/app.ts'
import { wholes } from '../../support/random.mjs'

const line = (i: number) =>
  `${new Date(Date.UTC(2026, 10, 15, 2) + i * 1000).toISOString().replace('T', ' ').slice(0, 23)}\tINFO\ta.go:1\t[A]: number ${i}\n`
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => line(from + i)).join('')
const FILES = { 'a.log.1': lines(0, 50), 'a.log': lines(50, 100), 'b.log': lines(100, 150) }
const SECRET = 'nobody may read this'
const app = createApp({
  logs: memoryStore({ ...FILES, 'private/c.log': SECRET }),
  config: '',
  onError: () => {},
})

const ask = async (query: string) => {
  const answer = await app.request(`/api/v1/log/view?${query}`)
  return { status: answer.status, body: await answer.text(), link: answer.headers.get('Link') ?? '' }
}

const cursorIn = (link: string, name: string) => new RegExp(`[?&]${name}=([^&>]+)`).exec(link)![1]!

it.each([1, 2, 3, 4])(
  'a forged cursor gives a part of the log that was asked for, or a problem: %i',
  async (seed) => {
    const random = wholes(seed * 7919)
    const pick = <T>(all: readonly T[]) => all[random(all.length)]!
    const numbers = [0, 1, 63, 64, 65, 1000, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]
    const names = [
      'a.log',
      'a.log.1',
      'b.log',
      'a.log.9.gz',
      'private/c.log',
      '../../etc/passwd',
      '\0',
      '__proto__',
    ]
    for (let n = 0; n < 300; n++) {
      const rotated = random(2) === 0
      const page = await ask(`file=a.log&lines=10&rotated=${rotated}`)
      const name = pick(['before', 'after'])
      const cursor = decodeCursor(cursorIn(page.link, name === 'before' ? 'before' : 'after'), name)
      const forged = { ...cursor, print: { ...cursor.print } }
      for (let k = 1 + random(2); k > 0; k--)
        pick([
          () => {
            forged.offset = pick([...numbers, random(5000)])
          },
          () => {
            forged.print.offset = pick([...numbers, random(5000)])
          },
          () => {
            forged.print.length = random(65)
          },
          () => {
            forged.print.hash = pick(numbers)
          },
          () => {
            forged.print = { offset: 0, length: 0, hash: 0 }
          },
          () => {
            forged.name = pick(names)
          },
          () => {
            forged.id = pick(['', '1-2', '../..', 'x'.repeat(50)])
          },
          () => {
            forged.splitsRecord = random(2) === 0
          },
        ])()
      const filter = pick([
        '',
        '&q=number',
        '&since=2026-11-15T02:00:30Z',
        '&format=ndjson',
        '&download=true',
      ])
      const query = `file=a.log&lines=20&rotated=${rotated}&${name}=${encodeURIComponent(encodeCursor(forged))}${filter}`
      const { status, body } = await ask(query)
      expect([200, 400, 404, 410], `${query}: ${body}`).toContain(status)
      expect(body, query).not.toContain(SECRET)
      if (status !== 200 || filter === '&format=ndjson') continue
      const whole = rotated ? FILES['a.log.1'] + FILES['a.log'] : FILES['a.log']
      expect(
        whole.includes(body) || FILES['a.log.1'].includes(body),
        `${JSON.stringify(forged)} ${query}\n${body}`,
      ).toBe(true)
    }
  },
)

it('a damaged cursor of several logs is a problem, or continues them', async () => {
  const random = wholes(17)
  const all = lines(0, 150).split('\n')
  const page = await ask('file=a.log&file=b.log&lines=20')
  const cursor = decodeURIComponent(cursorIn(page.link, 'before'))
  for (let n = 0; n < 300; n++) {
    const at = random(cursor.length)
    const other = 'ABCxyz019-_'[random(11)]!
    const made = cursor.slice(0, at) + other.repeat(random(3)) + cursor.slice(at + random(3))
    const { status, body } = await ask(`file=a.log&file=b.log&lines=20&before=${encodeURIComponent(made)}`)
    expect([200, 400, 410], body).toContain(status)
    if (status === 200)
      for (const text of body.split('\n')) expect(all.some((each) => text.endsWith(each))).toBe(true)
  }
})
