import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { overlap } from '../../../src/log/rotated/times.ts'
import { withFastReads } from '../../../src/store/fast.ts'
import { fsStore } from '../../../src/store/fs.ts'
import type { Entry, Store } from '../../../src/store/store.ts'
import { createApp } from '../../support/app.ts'
import { numbersOf } from '../../support/log-clients.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodestate-order-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const line = (time: string, n: number) => `2026-11-${time}:00.000\tINFO\tx.go:1\t[A]: number ${n} \n`
const write = (name: string, text: string | Uint8Array, changed: string) => {
  writeFileSync(join(folder, name), text)
  const at = new Date(`2026-11-${changed}:00Z`)
  utimesSync(join(folder, name), at, at)
}

/** What a URL answers: the numbers of its lines, its note and the addresses of the pages around it. */
async function get(url: string) {
  const app = createApp({ logs: fsStore(folder), config: '' })
  const response = await app.request(url)
  expect(response.status).toBe(200)
  const linked = (rel: string) => {
    const found = new RegExp(`<([^>]+)>; rel="${rel}"`).exec(response.headers.get('Link') ?? '')?.[1]
    return found ? new URL(found, `http://localhost${url}`) : null
  }
  return {
    numbers: numbersOf(await response.text()),
    note: response.headers.get('X-Nodestate-Note'),
    next: linked('next')!,
    prev: linked('prev'),
  }
}
const view = (query: string) => get(`/api/v1/log/view?${query}`)

it('a rotated file with later records than the active one stays before it, and the answer says that it is a guess', async () => {
  // The clock was set back by a day right after the rotation.
  write('a.log.1', line('14T05:00', 1) + line('14T06:00', 2), '14T06:00')
  write('a.log', line('13T06:00', 3) + line('13T07:00', 4), '14T08:00')
  const guess = { numbers: [1, 2, 3, 4], note: 'family-order' }
  expect(await view('file=a.log&rotated=true')).toMatchObject(guess)
  expect(await view('file=a.log&rotated=true&download=true')).toMatchObject(guess)
  expect(await view('file=a.log&rotated=true&q=number&download=true')).toMatchObject(guess)
  expect(await view('file=a.log')).toMatchObject({ numbers: [3, 4], note: null })
  expect(await view('file=a.log.1&rotated=true')).toMatchObject({ numbers: [1, 2] })
})

it('a wrong date in the first line of a file neither moves the file nor loses one', async () => {
  const lines = (hour: string, from: number) => [0, 1, 2, 3].map((i) => line(`14T${hour}:0${i}`, from + i))
  const files = { 'a.log.2': lines('05', 1), 'a.log.1': lines('06', 5), 'a.log': lines('07', 9) }
  for (const wrong of Object.keys(files)) {
    Object.entries(files).forEach(([name, text], i) => {
      const first = name === wrong ? text[0]!.replace('2026-11-14', '2026-11-13') : text[0]!
      write(name, first + text.slice(1).join(''), `14T0${i + 6}:00`)
    })
    const all = Array.from({ length: 12 }, (_, i) => i + 1)
    expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: all, note: null })
    const page = await view('file=a.log&rotated=true&first=2')
    const rest = await get(`${page.next.pathname}${page.next.search.replace('first=2', 'first=50')}`)
    expect([...page.numbers, ...rest.numbers]).toEqual(all)
  }
})

it('half an hour is no contradiction', async () => {
  write('a.log.1', line('14T05:00', 1) + line('14T05:10', 2), '14T05:10')
  write('a.log', line('14T04:40', 3) + line('14T04:50', 4), '14T05:20')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2, 3, 4], note: null })
})

it('a poller loses and repeats nothing when the clock is set back at a rotation', async () => {
  write('a.log', line('14T05:00', 1), '14T05:00')
  const first = await view('file=a.log')
  expect(first.numbers).toEqual([1])
  appendFileSync(join(folder, 'a.log'), line('14T06:00', 2))
  renameSync(join(folder, 'a.log'), join(folder, 'a.log.1'))
  write('a.log.1', line('14T05:00', 1) + line('14T06:00', 2), '14T06:00')
  write('a.log', line('13T06:00', 3), '14T08:00')
  const second = await get(first.next.pathname + first.next.search)
  expect(second.numbers).toEqual([2, 3])
  appendFileSync(join(folder, 'a.log'), line('13T07:00', 4))
  const third = await get(second.next.pathname + second.next.search)
  expect(third.numbers).toEqual([4])
})

it('pages forward and backward have every record once, in the same order, where that order is a guess', async () => {
  // Copied without their times, from a node whose clock was set several times.
  const days = ['14', '11', '13', '11', '12']
  const names = ['a.log.4', 'a.log.3', 'a.log.2', 'a.log.1', 'a.log']
  for (const [i, name] of names.entries())
    write(name, [0, 1, 2].map((j) => line(`${days[i]}T05:0${j}`, i * 3 + j)).join(''), '15T00:00')
  const whole = await view('file=a.log&rotated=true')
  expect(whole.note).toBe('family-order')
  expect([...whole.numbers].sort((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, i) => i))
  const walk = async (query: string, rel: 'prev' | 'next') => {
    const pages: number[][] = []
    let page = await view(`file=a.log&rotated=true&${query}`)
    while (page.numbers.length > 0) {
      pages.push(page.numbers)
      const url: URL | null = page[rel]
      if (!url) break
      page = await get(url.pathname + url.search)
    }
    return (rel === 'prev' ? pages.reverse() : pages).flat()
  }
  for (const lines of [1, 2, 4]) {
    expect(await walk(`first=${lines}`, 'next')).toEqual(whole.numbers)
    expect(await walk(`lines=${lines}`, 'prev')).toEqual(whole.numbers)
  }
})

it('files that were written one after the other stay so if the clock was set back by hours at each rotation', async () => {
  write('a.log.3', line('14T20:00', 1) + line('14T20:01', 2), '14T20:01')
  write('a.log.2', line('14T15:00', 3) + line('14T15:01', 4), '14T20:02')
  write('a.log.1', line('14T10:00', 5) + line('14T10:01', 6), '14T20:03')
  write('a.log', line('14T05:00', 7) + line('14T05:01', 8), '14T20:04')
  const guess = { numbers: [1, 2, 3, 4, 5, 6, 7, 8], note: 'family-order' }
  expect(await view('file=a.log&rotated=true')).toMatchObject(guess)
  // The files were restored in the order of their names, and the log is written on.
  for (const [i, name] of ['a.log.1', 'a.log.2', 'a.log.3', 'a.log'].entries())
    write(name, line(`14T0${8 - i}:00`, 8 - i), `14T20:0${i}`)
  write('a.log', line('14T09:00', 9), '14T20:04')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [6, 7, 8, 9] })
})

it('an empty rotated file that is older than the archive before it does not leave the order to the records', async () => {
  // The clock was set back by an hour after the first rotation, and archives have the time at which they were made.
  write('a.log.4', line('14T20:00', 1), '14T20:00')
  write('a.log.3', line('14T19:05', 2), '14T20:05')
  write('a.log.2', line('14T19:10', 3), '14T20:12')
  write('a.log.1', '', '14T20:11')
  write('a.log', line('14T19:13', 4), '14T20:13')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2, 3, 4], note: null })
})

it('a log with one file that has text is in order, whatever the times of its empty files', async () => {
  write('a.log.2', line('14T20:00', 1), '14T20:03')
  write('a.log.1', '', '14T20:01')
  write('a.log', '', '14T20:02')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1], note: null })
})

const archive = (name: string, text: string, changed: string) => write(name, gzipSync(text), changed)

it('an archive that was made late comes before the file that was written after it, though the clock was set back', async () => {
  archive('a.log.2.gz', line('14T20:00', 1), '14T20:10')
  write('a.log.1', line('13T20:05', 2), '14T20:05')
  write('a.log', '', '14T20:06')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2], note: 'family-order' })
  // The clock was set back after the second rotation.
  write('a.log.1', line('14T20:04', 2), '14T20:05')
  write('a.log', line('13T20:11', 3), '14T20:11')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2, 3], note: 'family-order' })
})

it('a file that goes on after an archive begins comes after it, if the clock was set back and the archive made late', async () => {
  archive('a.log.2.gz', line('14T20:00', 1), '14T20:10')
  write('a.log.1', line('14T19:58', 2) + line('14T20:01', 3), '14T20:05')
  write('a.log', line('14T20:03', 4), '14T20:11')
  const guess = { numbers: [1, 2, 3, 4], note: 'family-order' }
  expect(await view('file=a.log&rotated=true')).toMatchObject(guess)
  expect(await view('file=a.log&rotated=true&download=true')).toMatchObject(guess)
})

it('lines that threads wrote out of order are no overlap', () => {
  expect(overlap([{ time: 0, last: 1050 }, { time: 1000 }])).toBe(false)
  expect(overlap([{ time: 0, last: 1200 }, { time: 1000 }])).toBe(true)
})

it('an archive that was made late comes before the file that was written after it where numbers rise', async () => {
  archive('a.log.1.gz', line('14T20:00', 1), '14T20:10')
  write('a.log.2', line('14T20:05', 2), '14T20:05')
  write('a.log', line('14T20:11', 3), '14T20:11')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2, 3], note: null })
})

it('an archive that was made late comes before files of one tick, though the clock was set back by an hour', async () => {
  archive('a.log.3.gz', line('14T20:00', 1), '14T20:10')
  write('a.log.2', line('14T19:02', 2), '14T20:05')
  write('a.log.1', line('14T19:03', 3), '14T20:05')
  const known = { numbers: [1, 2, 3], note: null }
  expect(await view('file=a.log.1&rotated=true')).toMatchObject(known)
  // Where numbers rise, too.
  rmSync(join(folder, 'a.log.3.gz'))
  archive('a.log.1.gz', line('14T20:00', 1), '14T20:10')
  rmSync(join(folder, 'a.log.1'))
  write('a.log.3', line('14T19:03', 3), '14T20:05')
  expect(await view('file=a.log.3&rotated=true')).toMatchObject(known)
})

it('a JSON record of which only the beginning is read has its time, so an archive that was made late is no newer file', async () => {
  const json = (time: string, n: number, rest = '') =>
    `{"time":"2026-11-${time}:00Z","level":"info","msg":"number ${n} ${rest}"}\n`
  archive('a.log.1.gz', json('14T20:00', 1), '14T20:10')
  write('a.log.2', json('14T20:05', 2, 'x'.repeat(20_000)), '14T20:05')
  write('a.log', json('14T20:11', 3), '14T20:11')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2, 3], note: null })
})

it('an archive that was made later than an empty file after it is no contradiction', async () => {
  archive('a.log.2.gz', line('14T20:00', 1), '14T20:10')
  write('a.log.1', '', '14T20:05')
  write('a.log', line('14T20:11', 2), '14T20:11')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2], note: null })
})

it('with rising numbers and files that begin at the same moment, a late archive comes first, as a guess', async () => {
  archive('a.log.1.gz', line('14T20:00', 1), '14T20:10')
  write('a.log.2', line('14T20:00', 2) + line('14T20:05', 3), '14T20:05')
  const guess = { numbers: [1, 2, 3], note: 'family-order' }
  expect(await view('file=a.log.2&rotated=true')).toMatchObject(guess)
})

it('a file without times is not of the same moment as others, so names and times of change that agree are certain', async () => {
  write('a.log.2', 'number 1 \n', '14T20:01')
  archive('a.log.1.gz', line('14T20:02', 2), '14T20:05')
  write('a.log', line('14T20:06', 3), '14T20:06')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2, 3], note: null })
})

it('rising numbers of which only the newer file is compressed keep their order', async () => {
  write('a.log.1', line('14T20:00', 1), '14T20:05')
  archive('a.log.2.gz', line('14T20:05', 2), '14T20:10')
  write('a.log', line('14T20:10', 3), '14T20:11')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2, 3], note: null })
})

it('without times, an archive that was made late comes first, and the answer says that it is a guess', async () => {
  archive('a.log.2.gz', 'number 1 \n', '14T20:10')
  write('a.log.1', 'number 2 \n', '14T20:05')
  write('a.log', 'number 3 \n', '14T20:11')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2, 3], note: 'family-order' })
  // Archives that keep the time of their file leave nothing to guess.
  archive('a.log.2.gz', 'number 1 \n', '14T20:00')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2, 3], note: null })
})

it('an archive that was made late comes before files that have only a header', async () => {
  archive('a.log.3.gz', line('14T20:00', 1), '14T20:15')
  write('a.log.2', 'number 2 \n', '14T20:10')
  write('a.log.1', 'number 3 \n', '14T20:20')
  expect(await view('file=a.log.1&rotated=true')).toMatchObject({ numbers: [1, 2, 3], note: 'family-order' })
  write('a.log', line('14T20:30', 4), '14T20:30')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2, 3, 4] })
  rmSync(join(folder, 'a.log.1'))
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2, 4] })
})

it('without times, names and times of change that agree outweigh an archive that was unpacked', async () => {
  write('a.log.3', 'number 1 \n', '14T20:01')
  archive('a.log.2.gz', 'number 2 \n', '14T20:02')
  archive('a.log.1.gz', 'number 3 \n', '14T20:03')
  write('a.log', 'number 4 \n', '14T20:04')
  expect(await view('file=a.log&rotated=true')).toMatchObject({ numbers: [1, 2, 3, 4], note: null })
})

it('a file that is replaced by a copy with more lines goes on where it was, though an older one has the same lines', async () => {
  const ticks = (count: number) => 'number 1 and the same again \n'.repeat(count)
  write('a.log.1', ticks(400), '14T20:01')
  write('a.log', ticks(200), '14T20:02')
  const { next } = await view('file=a.log')
  write('copy', ticks(210), '14T20:03')
  renameSync(join(folder, 'copy'), join(folder, 'a.log'))
  expect((await get(next.pathname + next.search)).numbers).toHaveLength(10)
})

it.each(['before', 'during'])(
  'a file that was made after its folder was listed, %s a rotation, has its predecessor',
  async (when) => {
    const move = () => renameSync(join(folder, 'a.log'), join(folder, 'a.log.1'))
    write('a.log', line('14T20:01', 1), '14T20:01')
    if (when === 'during') move()
    const store = fsStore(folder)
    let listed = () => {}
    const isListed = new Promise<void>((resolve) => {
      listed = resolve
    })
    let lists = 0
    const slow: Store = {
      ...store,
      async *list(prefix, options) {
        const entries: Entry[] = []
        for await (const entry of store.list(prefix, options)) entries.push(entry)
        if (lists++ === 0) {
          if (when === 'before') move()
          write('a.log', line('14T20:02', 2), '14T20:02')
          listed()
        }
        yield* entries
      },
      read: (...read) => isListed.then(() => store.read(...read)),
    }
    const app = createApp({ logs: slow, config: '' })
    const response = await app.request('/api/v1/log/view?file=a.log&rotated=true')
    expect(numbersOf(await response.text())).toEqual([1, 2])
  },
)

it.each(['before', 'after'])(
  'a file that is copied and truncated after it was opened, and grows again %s it is listed, has each line once',
  async (when) => {
    const grown = line('14T20:03', 2) + line('14T20:03', 3)
    write('a.log', line('14T20:01', 1), '14T20:01')
    const store = fsStore(folder)
    let opened = () => {}
    const isOpened = new Promise<void>((resolve) => {
      opened = resolve
    })
    let lists = 0
    const copied: Store = {
      ...store,
      async read(...asked) {
        const got = await store.read(...asked)
        opened()
        return got
      },
      async *list(prefix, options) {
        await isOpened
        if (lists++ === 0) {
          copyFileSync(join(folder, 'a.log'), join(folder, 'a.log.1'))
          write('a.log', when === 'before' ? grown : '', '14T20:02')
        }
        yield* store.list(prefix, options)
      },
      async stat(key, signal) {
        write('a.log', grown, '14T20:03')
        return store.stat(key, signal)
      },
    }
    const app = createApp({ logs: copied, config: '' })
    const response = await app.request('/api/v1/log/view?file=a.log&rotated=true')
    expect(numbersOf(await response.text()).filter((number) => number === 1)).toEqual([1])
  },
)

it.each([
  ['while files are put in order', 1],
  ['after that', 2],
])('a new copy with the inode of one that is compressed is not taken for that one: %s', async (_, reads) => {
  write('a.log.1', line('14T20:01', 1), '14T20:01')
  write('a.log', line('14T20:02', 2) + line('14T20:03', 3), '14T20:03')
  let revision = 0
  /** The log is copied, and not truncated yet. */
  const copy = () => {
    write('a.log.2.gz', gzipSync(line('14T20:01', 1)), '14T20:01')
    copyFileSync(join(folder, 'a.log'), join(folder, 'a.log.1'))
    revision++
  }
  const store = fsStore(folder)
  const identified = <T extends Entry | null>(entry: T): T => entry && { ...entry, id: entry.key }
  const reusing: Store = {
    async *list(prefix, options) {
      for await (const entry of store.list(prefix, options)) yield identified(entry)
    },
    stat: async (...asked) => identified(await store.stat(...asked)),
    async read(key, ...asked) {
      if (key === 'a.log.1' && --reads === 0) copy()
      const got = await store.read(key, ...asked)
      return got && { ...got, entry: identified(got.entry) }
    },
  }
  const logs = withFastReads(reusing, {
    listAll: async (prefix) => {
      const entries: Entry[] = []
      for await (const entry of reusing.list(prefix)) entries.push(entry)
      return entries
    },
    revision: () => String(revision),
    readInto: async () => undefined,
  })
  const url = '/api/v1/log/view?file=a.log&rotated=true&q=number'
  const response = await createApp({ logs, config: '' }).request(url)
  expect([response.status, numbersOf(await response.text())]).toEqual([200, [1, 2, 3]])
})

it.each([
  ['truncated and longer than before', '', [1, 2, 3]],
  ['longer', line('14T20:01', 1), [1]],
])('a log has each line once if it is %s when its copy is compared with it', async (_, before, numbers) => {
  write('a.log', line('14T20:01', 1), '14T20:01')
  copyFileSync(join(folder, 'a.log'), join(folder, 'a.log.1'))
  const store = fsStore(folder)
  let opened = () => {}
  const isOpened = new Promise<void>((resolve) => {
    opened = resolve
  })
  let lists = 0
  const moving: Store = {
    ...store,
    async *list(prefix, options) {
      await isOpened
      lists++
      yield* store.list(prefix, options)
    },
    async read(...asked) {
      if (lists === 1) write('a.log', before + line('14T20:03', 2) + line('14T20:03', 3), '14T20:03')
      const got = await store.read(...asked)
      opened()
      return got
    },
  }
  const app = createApp({ logs: moving, config: '' })
  const response = await app.request('/api/v1/log/view?file=a.log&rotated=true')
  expect(numbersOf(await response.text())).toEqual(numbers)
  // A log that only grows is not opened again.
  expect(lists).toBe(numbers.length === 1 ? 1 : 2)
})

it('a copy of a log that stays beside it, and an archive beside its file, are read as the file that they are copies of', async () => {
  const many = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => line('14T20:01', from + i)).join('')
  write('a.log.2', many(1, 10), '14T20:00')
  write('a.log.2.gz', gzipSync(many(1, 10)), '14T20:00')
  write('a.log', many(11, 150), '14T20:02')
  write('a.log.1', many(11, 140), '14T20:01')
  const all = Array.from({ length: 150 }, (_, i) => i + 1)
  for (const more of ['', '&q=number', '&download=true']) {
    expect((await view(`file=a.log.1&rotated=true${more}`)).numbers).toEqual(all)
    expect((await view(`file=a.log.2.gz&rotated=true${more}`)).numbers).toEqual(all.slice(0, 10))
  }
  // A copy of a copy, and an archive of one.
  write('a.log.3', many(11, 140), '14T20:01')
  write('a.log.3.gz', gzipSync(many(11, 140)), '14T20:01')
  for (const name of ['a.log', 'a.log.1', 'a.log.3', 'a.log.3.gz'])
    expect((await view(`file=${name}&rotated=true`)).numbers, name).toEqual(all)
  const { numbers, prev } = await view('file=a.log.1&rotated=true&lines=100')
  expect([...(await get(String(prev))).numbers, ...numbers]).toEqual(all)
})

it('a copy is not read as a log that was truncated and written again since it was listed', async () => {
  write('a.log', line('14T20:01', 1) + line('14T20:01', 2), '14T20:01')
  copyFileSync(join(folder, 'a.log'), join(folder, 'a.log.1'))
  const store = fsStore(folder)
  let reads = 0
  const moving: Store = {
    ...store,
    async read(key, ...asked) {
      // First it is compared with its copy.
      if (key === 'a.log' && ++reads === 2)
        write('a.log', [3, 4, 5].map((number) => line('14T20:03', number)).join(''), '14T20:03')
      return store.read(key, ...asked)
    },
  }
  const app = createApp({ logs: moving, config: '' })
  const response = await app.request('/api/v1/log/view?file=a.log.1&rotated=true')
  expect([response.status, numbersOf(await response.text())]).toEqual([200, [1, 2]])
  expect(reads).toBeGreaterThan(1)
})

it('a file that multilog renames between two lists is in one of them', async () => {
  const write = (number: number) => writeFileSync(join(folder, 'current'), line(`14T20:0${number}`, number))
  const rotate = (number: number) =>
    renameSync(join(folder, 'current'), join(folder, `@400000006a0b${number}0000a0b0c0d.s`))
  write(1)
  const { next } = await get('/api/v1/log/view?file=current')
  rotate(1)
  write(2)
  const store = fsStore(folder)
  let lists = 0
  let isBoth = false
  const moving: Store = {
    ...store,
    async *list(prefix, options) {
      // If both are asked for at once, that of the rotated files is answered first.
      if (prefix?.startsWith('@')) isBoth ||= lists === 0
      else
        do await nextTurn()
        while (isBoth && lists === 0)
      const entries: Entry[] = []
      for await (const entry of store.list(prefix, options)) entries.push(entry)
      if (lists++ === 0) {
        rotate(2)
        write(3)
      }
      yield* entries
    },
  }
  const app = createApp({ logs: moving, config: '' })
  const response = await app.request(next!)
  expect(numbersOf(await response.text())[0]).toBe(2)
})
