import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { directoryBucket } from '../../src/entry/ship/directory.ts'
import { nativeOf, nodeDisk } from '../../src/entry/ship/disk.ts'
import { verify } from '../../src/ship/verify.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { segmentStore } from '../../src/store/segments.ts'
import { createApp } from '../support/app.ts'
import { objectsIn } from './home.ts'
import { until, useLocal } from './local.ts'

const local = useLocal()
const { at, once, shipper, texts } = local

let count = 0
const lines = (many: number, minute = 10) =>
  Array.from(
    { length: many },
    () => `2026-11-14 02:${minute}:00.000\tINFO\ta.go:1\t[A] [B]: line ${count++}\n`,
  ).join('')
const BANNER = Array.from(
  { length: 40 },
  (_, i) =>
    `2026-11-14 02:00:00.000\tINFO\tmain.go:${i}\t[Start]: option ${i} of this build is its default\n`,
).join('')
/** Longer than what an end has a checksum of. */
const EQUAL_END = '2026-11-14 02:30:00.000\tINFO\ta.go:1\t[Heart] [Beat]: alive\n'.repeat(1500)

/** A file that was last changed an hour ago: nobody is writing it. */
function put(name: string, text: string | Uint8Array): void {
  writeFileSync(at(name), text)
  utimesSync(at(name), Date.now() / 1000 - 3600, Date.now() / 1000 - 3600)
}

const verified = async () =>
  (await verify(
    nodeDisk(local.logs, () => {}),
    directoryBucket(local.home),
    nativeOf(),
    [],
  ))!.findings.map(({ name, kind }) => `${kind} ${name}`)

/** What readers see. */
async function view(query: string): Promise<{ text: string; note: string | null }> {
  const home = memoryStore()
  for (const [key, bytes] of objectsIn(local.home)) home.put(key, bytes)
  const store = segmentStore(home, memoryStore())
  const app = createApp({ logs: store, config: async () => '', node: async () => ({}) } as never)
  const answer = await app.request(`/api/v1/log/view?${query}`)
  return { text: await answer.text(), note: answer.headers.get('X-Nodestate-Note') }
}

describe('a file counts as shipped by its own content', () => {
  it('ships files that differ only in the middle', async () => {
    const same = (name: string) => `${BANNER}${`2026-11-14 02:10:00.000\tINFO\t${name}\n`}${EQUAL_END}`
    const names = ['broker.log.3', 'broker.log.2', 'broker.log.1', 'broker.log']
    put('broker.log.3', same('a'))
    expect(await once()).toBe('done')
    for (const [i, name] of names.entries()) put(name, same('abcd'[i]!))
    expect(await once()).toBe('done')
    expect([...texts().values()].sort()).toEqual(['a', 'b', 'c', 'd'].map(same))
    expect(await verified()).toEqual([])
    await once()
    expect(texts().size).toBe(4)
  })

  it('ships every file that waits, whatever was finished after it', async () => {
    const a = BANNER + lines(20)
    put('broker.log', a)
    await once()
    // Three rotations while the shipper is down; one file is compressed.
    const files = [BANNER + lines(3), BANNER + lines(4), BANNER]
    put('broker.log.3', a)
    put('broker.log.2.gz', gzipSync(files[0]!))
    put('broker.log.1', files[1]!)
    put('broker.log', files[2]!)
    expect(await once()).toBe('done')
    expect([...texts()]).toEqual([a, ...files].map((text, i) => [i + 1, text]))
  })

  it('ships a file that is restored later, and shows it where its records belong', async () => {
    const [a, b, c] = [lines(3, 10), lines(3, 20), lines(3, 30)]
    put('broker.log.1', a)
    put('broker.log', c)
    await once()
    put('broker.log.2', b)
    expect(await once()).toBe('done')
    expect([...texts()]).toEqual([
      [-1, b],
      [1, a],
      [2, c],
    ])
    expect(await view('file=broker.log')).toEqual({ text: c, note: null })
    expect(await view('file=broker.log&rotated=true')).toEqual({ text: a + b + c, note: null })
    expect(await view('file=broker.log@older-000001')).toEqual({ text: b, note: null })
    const d = lines(2, 30)
    put('broker.log.9', d)
    await once()
    // Times that are equal do not tell.
    const { text, note } = await view('file=broker.log&rotated=true')
    expect(note).toBe('family-order')
    expect(text).toBe(a + b + d + c)
  })

  it('ships both of two files that differ only in their ending', async () => {
    const [a, b, c] = [lines(3), lines(4), lines(5)]
    put('broker.log.1.gz', gzipSync(a))
    put('broker.log.1', b)
    put('broker.log', c)
    expect(await once()).toBe('done')
    expect([...texts().values()].sort()).toEqual([a, b, c].sort())
  })

  it('ships equal files once', async () => {
    put('broker.log.3.gz', gzipSync(BANNER))
    put('broker.log.2', BANNER)
    put('broker.log.1', BANNER)
    put('broker.log', BANNER + lines(1))
    expect(await once()).toBe('done')
    expect(texts().size).toBe(2)
    expect(await verified()).toEqual([])
  })

  it('waits for a copy that is being made', async () => {
    const a = BANNER + lines(2000)
    put('broker.log', a)
    await once()
    put('broker.log.1', '')
    const running = shipper({ once: false })
    const done = running.run()
    for (let size = 1; size < a.length; size += 30_000) {
      writeFileSync(at('broker.log.1'), a.slice(0, size))
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
    writeFileSync(at('broker.log.1'), a)
    truncateSync(at('broker.log'))
    const b = lines(10)
    appendFileSync(at('broker.log'), b)
    await until(() => texts().get(2) === b)
    running.stop()
    await done
    expect([...texts()]).toEqual([
      [1, a],
      [2, b],
    ])
  })

  it('ships the log once beside a copy of its beginning, whether that is finished later or not', async () => {
    const [a, b] = [lines(20), lines(3)]
    put('broker.log', a)
    // An hour ago, the disk was full.
    put('broker.log.1', a.slice(0, 100))
    expect(await once()).toBe('done')
    expect([...texts()]).toEqual([[1, a]])
    expect(await verified()).toEqual([])
    put('broker.log.1', a.slice(0, 500))
    expect(await once()).toBe('done')
    expect([...texts()]).toEqual([[1, a]])
    put('broker.log.1', a)
    put('broker.log', b)
    expect(await once()).toBe('done')
    expect([...texts()]).toEqual([
      [1, a],
      [2, b],
    ])
    expect(await verified()).toEqual([])
  })

  it('ships a file that was renamed, although the log begins like it', async () => {
    const a = lines(3)
    put('broker.log', a)
    renameSync(at('broker.log'), at('broker.log.1'))
    // The next file is made a moment later, by the clock of the disk.
    await until(() => {
      put('broker.log', a + lines(1))
      if (statSync(at('broker.log')).birthtimeMs > statSync(at('broker.log.1')).birthtimeMs) return true
      unlinkSync(at('broker.log'))
      return false
    })
    const b = readFileSync(at('broker.log'), 'utf8')
    expect(await once()).toBe('done')
    expect([...texts().values()]).toEqual([a, b])
  })

  it('passes over nothing because of a broken archive, and ships it when it is whole', async () => {
    const [a, b, c] = [lines(200), lines(300), lines(4)]
    const packed = gzipSync(b)
    put('broker.log.2', a)
    put('broker.log.1.gz', packed.subarray(0, 400))
    put('broker.log', c)
    expect(await once()).toBe('left')
    expect(local.reports).toEqual(['"broker.log.1.gz" is left: the archive is broken.'])
    expect([...texts().values()]).toEqual([a, c])
    expect(await verified()).toEqual(['missing broker.log.1.gz'])
    put('broker.log.1.gz', packed)
    expect(await once()).toBe('done')
    expect(texts().get(-1)).toBe(b)
  })

  it('continues a life with late lines after its file was compressed', async () => {
    const [a, late, b] = [lines(200), lines(2), lines(4)]
    put('broker.log.1', a)
    put('broker.log', b)
    await once()
    unlinkSync(at('broker.log.1'))
    put('broker.log.1.gz', gzipSync(a + late))
    expect(await once()).toBe('done')
    expect([...texts()]).toEqual([
      [1, a + late],
      [2, b],
    ])
  })

  it('does not continue a banner that ended with a file that begins like it', async () => {
    const long = BANNER.repeat(2)
    put('broker.log.1', long)
    put('broker.log', lines(3))
    await once()
    unlinkSync(at('broker.log.1'))
    const [b, c] = [long + lines(3), long + lines(4)]
    put('broker.log.1', b)
    put('broker.log', c)
    await once()
    expect([...texts().values()]).toEqual(expect.arrayContaining([long, b, c]))
  })

  it('ends a life as lost when its file was removed while the shipper was down', async () => {
    put('broker.log', lines(30))
    await once()
    unlinkSync(at('broker.log'))
    put('broker.log', lines(3))
    await once()
    expect(readdirSync(join(local.home, 'ends/broker.log'))).toEqual([expect.stringMatching(/-lost$/)])
    expect(local.reports).toEqual(['Life 1 of "broker.log" is lost: its file is gone.'])
  })

  it.each([
    ['numbers that rise', ['app.log.1', 'app.log.2', 'app.log.3', 'app.log'], 'app.log'],
    ['dates', ['app-2026-11-12.log', 'app-2026-11-13.log', 'app-2026-11-14.log', 'app.log'], 'app.log'],
    ['svlogd', ['@400000006af5a1000c5d3e34.s', '@400000006af5a2000c5d3e34.s', 'current'], 'current'],
  ])('ships all files named with %s into an empty bucket, and nothing twice', async (_, names, log) => {
    const written = names.map((_, i) => BANNER + lines(5, 10 + i))
    for (const [i, name] of names.entries()) put(name, written[i]!)
    for (let time = 0; time < 2; time++) {
      expect(await once()).toBe('done')
      expect([...texts(log).values()].sort()).toEqual([...written].sort())
    }
    expect(await verified()).toEqual([])
  })

  it('compares many files after a start in a few rounds', async () => {
    for (let i = 1; i <= 60; i++) put(`broker.log.${i}`, lines(2))
    put('broker.log', lines(2))
    await once()
    const disk = nodeDisk(local.logs, () => {})
    let lists = 0
    const list = () => {
      lists++
      return disk.list()
    }
    expect(await once({ disk: { ...disk, list } })).toBe('done')
    expect(lists).toBeLessThan(30)
    expect(texts().size).toBe(61)
  })

  it('changes nothing in a full bucket beside an empty directory', async () => {
    put('broker.log.1', lines(3))
    put('broker.log', lines(3))
    await once()
    const before = texts()
    for (const name of readdirSync(local.logs)) unlinkSync(at(name))
    expect(await once()).toBe('done')
    expect(texts()).toEqual(before)
  })

  it('refuses a destination that another layout was shipped to', async () => {
    put('broker.log', lines(3))
    await once()
    const path = join(local.home, 'ship.json')
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), layout: 2 }))
    await expect(once()).rejects.toThrow('layout 2, not 3')
  })
})

describe('a comparison of a directory with a bucket', () => {
  it('finds what is missing, incomplete or different, and creates nothing', async () => {
    const [a, b, c] = [lines(300), lines(200), lines(100)]
    put('broker.log.2', a)
    put('broker.log.1.gz', gzipSync(b))
    put('broker.log', c)
    put('empty.log', '')
    expect(await verified()).toEqual([
      'missing broker.log',
      'missing broker.log.1.gz',
      'missing broker.log.2',
    ])
    expect(existsSync(join(local.home, 'segments'))).toBe(false)
    await once()
    const before = readdirSync(local.home, { recursive: true })
    expect(await verified()).toEqual([])
    appendFileSync(at('broker.log'), lines(1))
    put('broker.log.2', a.replace('line', 'LINE'))
    put('broker.log.3', lines(7))
    put('broker.log.4.bz2', 'BZh9')
    put('other.log', lines(1))
    expect((await verified()).sort()).toEqual([
      'different broker.log.2',
      'incomplete broker.log',
      'missing broker.log.3',
      'missing broker.log.4.bz2',
      'missing other.log',
    ])
    expect(readdirSync(local.home, { recursive: true })).toEqual(before)
  })

  it('finds a life incomplete when its first segment is gone or one of its segments is missing', async () => {
    put('broker.log.1', lines(60_000))
    put('broker.log', lines(1))
    await once()
    expect(await verified()).toEqual([])
    const folder = join(local.home, 'segments/broker.log/99999998')
    const segments = readdirSync(folder).filter((name) => name.endsWith('.log.gz'))
    const [middle, first] = [segments.at(-2)!, segments.at(-1)!]
    renameSync(join(folder, middle), join(local.home, 'kept'))
    expect(await verified()).toEqual(['different broker.log.1'])
    renameSync(join(local.home, 'kept'), join(folder, middle))
    unlinkSync(join(folder, first))
    expect(await verified()).toEqual(['incomplete broker.log.1'])
  })
})

describe('two shippers on one host', () => {
  it('are one before the next segment: the earlier one is replaced', async () => {
    const a = lines(10)
    put('broker.log', a)
    const first = shipper({ once: false })
    const ended = first.run()
    await until(() => texts().get(1) === a)
    const run = () => JSON.parse(readFileSync(join(local.home, 'ship.json'), 'utf8')).run
    const before = run()
    const second = shipper({ once: false })
    const done = second.run()
    await until(() => run() !== before)
    await once()
    const b = lines(10)
    appendFileSync(at('broker.log'), b)
    expect(await ended).toBe('replaced')
    expect(await done).toBe('replaced')
    expect(texts().get(1)).toBe(a)
    await once()
    expect([...texts()]).toEqual([[1, a + b]])
  })

  it('ship nothing twice if the earlier one is told to stop after the later one has stopped', async () => {
    const a = lines(10)
    put('broker.log', a)
    const first = shipper({
      once: false,
      rules: { segmentBytes: 1e6, segmentAgeMs: 3_600_000, flushMs: 3_600_000, lineAgeMs: 60_000 },
    })
    const ended = first.run()
    await until(() => existsSync(join(local.home, 'segments/broker.log/99999998/~')))
    await once()
    expect([...texts()]).toEqual([[1, a]])
    // The earlier one knows of nothing that was shipped.
    copyFileSync(at('broker.log'), at('broker.log.1'))
    truncateSync(at('broker.log'))
    const b = lines(5)
    appendFileSync(at('broker.log'), b)
    first.stop()
    expect(await ended).toBe('done')
    expect([...texts()]).toEqual([
      [1, a],
      [2, b],
    ])
    expect(await verified()).toEqual([])
  })

  it('do not mix files that begin alike', async () => {
    const names = ['broker.log.3', 'broker.log.2', 'broker.log.1', 'broker.log']
    const written = names.map((_, i) => BANNER + lines(3000 + i))
    for (const [i, name] of names.entries()) put(name, written[i]!)
    await Promise.all([once(), once(), once()])
    copyFileSync(at('broker.log'), at('broker.log.0'))
    await once()
    expect([...texts().values()].sort()).toEqual([...written].sort())
  })
})
