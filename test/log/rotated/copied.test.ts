import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { fsStore } from '../../../src/store/fs.ts'
import { createApp } from '../../support/app.ts'

const directory = mkdtempSync(join(tmpdir(), 'nodestate-copied-'))
afterAll(() => rmSync(directory, { recursive: true }))
const app = createApp({ logs: fsStore(directory), config: '', onError: () => {} })

const line = (i: number) =>
  `2026-11-15 02:00:00.${String(i).padStart(3, '0')}\tINFO\ta.go:1\t[A]: line ${i}\n`
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => line(from + i)).join('')
const NOW = 1_794_708_100

function write(name: string, text: string, modified: number): void {
  writeFileSync(join(directory, name), text)
  utimesSync(join(directory, name), modified, modified)
}

const whole = async (query: string) => {
  const response = await app.request(`/api/v1/log/view?file=broker.log&rotated=true&${query}`)
  return [response.status, await response.text()]
}

// Less than what is compared at once, and more; copied in part, and to the end; of a log that is idle, and of one in use.
for (const [size, copied] of [
  [6, 3],
  [6, 6],
  [400, 100],
  [400, 399],
] as const)
  for (const age of [3600, 0])
    it(`lines are there once while a log of ${size} lines is copied, after ${copied}, last written ${age} s ago`, async () => {
      write('broker.log.2', lines(0, 5), NOW - 7200)
      write('broker.log', lines(5, 5 + size), NOW - age)
      // The copy may end anywhere in a line.
      write('broker.log.1', lines(5, 5 + copied).slice(0, copied < size ? -10 : undefined), NOW)
      const expected = [200, lines(0, 5 + size)]
      expect(await whole('lines=1000')).toEqual(expected)
      expect(await whole('download=true')).toEqual(expected)
    })

it('lines are there once if the clock is set forward while more than 4 KiB of a log are copied', async () => {
  write('broker.log.2', lines(0, 5), NOW - 7200)
  write('broker.log.1', lines(5, 105).slice(0, -10), NOW - 30)
  write('broker.log', lines(5, 405), NOW)
  expect(await whole('lines=1000')).toEqual([200, lines(0, 405)])
})

it('a short file that begins like the log is a part of it if it is older', async () => {
  write('broker.log.2', 'starting\nstopped\n', NOW - 7200)
  write('broker.log.1', 'starting\n', NOW - 30)
  write('broker.log', 'starting\nrunning\n', NOW)
  expect(await whole('lines=1000')).toEqual([200, 'starting\nstopped\nstarting\nstarting\nrunning\n'])
})

it('a file that only begins like the log is a part of it', async () => {
  write('broker.log.2', lines(0, 5), NOW - 7200)
  write('broker.log', lines(5, 20), NOW)
  write('broker.log.1', `${lines(5, 9)}${line(9).replace('line', 'LINE')}`, NOW)
  const [status, text] = await whole('lines=1000')
  expect([status, (text as string).includes('LINE 9')]).toEqual([200, true])
})

it.each([
  ['shorter', 300],
  ['as long', 400],
])(
  'a file that begins like the log for more than 4 KiB is a part of it if the rest differs: %s',
  async (_, count) => {
    const begin = lines(0, 200)
    expect(begin.length).toBeGreaterThan(8192)
    write('broker.log.2', lines(900, 905), NOW - 7200)
    write('broker.log.1', begin + lines(200, count).replaceAll('line', 'LINE'), NOW - 3600)
    write('broker.log', begin + lines(200, 400), NOW)
    const [status, text] = await whole('lines=10000')
    expect([status, (text as string).match(/LINE/g)?.length]).toEqual([200, count - 200])
    expect((text as string).match(/line 399\n/g)).toHaveLength(1)
  },
)
