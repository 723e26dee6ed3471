import { appendFileSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { fsStore } from '../../../src/store/fs.ts'
import { createApp } from '../../support/app.ts'
import { wholes } from '../../support/random.mjs'

const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true })
})

const line = (i: number) =>
  `2026-11-15 02:00:${String(i).padStart(2, '0')}.000\tINFO\ta.go:1\t[A]: line ${i};\n`
const LINES = Array.from({ length: 60 }, (_, i) => line(i))

/** A file: its name, which of the lines it has, and when it was changed. */
type File = [name: string, from: number, to: number, modified: number]

function nodeWith(files: readonly File[]) {
  const directory = mkdtempSync(join(tmpdir(), 'nodestate-restored-'))
  directories.push(directory)
  for (const [name, from, to, modified] of files) {
    const text = LINES.slice(from, to).join('')
    writeFileSync(join(directory, name), name.endsWith('.gz') ? gzipSync(text) : text)
    utimesSync(join(directory, name), modified, modified)
  }
  const app = createApp({ logs: fsStore(directory), config: '', onError: () => {} })
  return { directory, view: (query: string) => app.request(`/api/v1/log/view?file=broker.log&${query}`) }
}

/** The lines of a follow until one of them is `last`. */
async function followed(response: Response, last: string): Promise<string[]> {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (!text.includes(last)) text += decoder.decode((await reader.read()).value, { stream: true })
  await reader.cancel()
  return text.match(/line \w+;|event: \w+/g)!
}

async function expectOwn(files: readonly File[]): Promise<void> {
  const { directory, view } = nodeWith(files)
  for (const rotated of ['', '&rotated=true']) {
    const tail = await view(`lines=2${rotated}`)
    expect([tail.status, (await tail.text()).match(/line \d+/g)], JSON.stringify(files)).toEqual([
      200,
      ['line 58', 'line 59'],
    ])
    const follow = await view(`lines=1&follow=true${rotated}`)
    expect(follow.status, JSON.stringify(files)).toBe(200)
    const lines = followed(follow, 'line new;')
    appendFileSync(join(directory, 'broker.log'), line(60).replace('line 60', 'line new'))
    expect(await lines, JSON.stringify(files)).toEqual(['line 59;', 'line new;'])
    writeFileSync(join(directory, 'broker.log'), LINES.slice(files[0]![1]).join(''))
    utimesSync(join(directory, 'broker.log'), files[0]![3], files[0]![3])
  }
}

describe('a plain log beside copies of its lines that were changed later', () => {
  it.each<[string, File[]]>([
    [
      'of its beginning',
      [
        ['broker.log.1', 0, 40, 2000],
        ['broker.log.2.gz', 0, 20, 3000],
      ],
    ],
    [
      'of its middle',
      [
        ['broker.log.1', 20, 40, 2000],
        ['broker.log.2.gz', 10, 30, 3000],
      ],
    ],
    [
      'of its end',
      [
        ['broker.log.1', 50, 60, 3000],
        ['broker.log.2.gz', 40, 60, 2000],
      ],
    ],
    [
      'of all of it',
      [
        ['broker.log.1', 0, 60, 3000],
        ['broker.log.2.gz', 0, 60, 2000],
      ],
    ],
    ['as an archive alone', [['broker.log.2.gz', 0, 60, 3000]]],
  ])('%s is the one that is followed', (_, copies) => expectOwn([['broker.log', 0, 60, 1000], ...copies]))

  it('is the one that is followed, whatever was restored', async () => {
    const upTo = wholes(7)
    for (let round = 0; round < 25; round++) {
      const start = upTo(30)
      const copies = Array.from({ length: 1 + upTo(4) }, (_, i): File => {
        const from = start + upTo(60 - start)
        const name = `broker.log.${i + 1}${upTo(5) < 2 ? '.gz' : ''}`
        return [name, from, from + 1 + upTo(60 - from), 1000 + upTo(3) * 1000]
      })
      await expectOwn([['broker.log', start, 60, 1000], ...copies])
    }
  })
})

it('a log that reuses its names in turn goes on in another file', async () => {
  const { view } = nodeWith([
    ['broker.log', 20, 40, 2000],
    ['broker.log.1', 40, 60, 3000],
    ['broker.log.2', 0, 20, 1000],
  ])
  expect((await (await view('lines=1&rotated=true')).text()).match(/line \d+/g)).toEqual(['line 59'])
  expect(await followed(await view('lines=1&follow=true'), 'line 59;')).toEqual(['line 59;'])
})
