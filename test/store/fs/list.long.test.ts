import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fastReads } from '../../../src/store/fast.ts'
import { atOneMoment } from '../../../src/store/fs/list.ts'
import { fsStore } from '../../../src/store/fs.ts'
import type { Entry, Store } from '../../../src/store/store.ts'
import { directory, root, store, useFresh } from './fresh.ts'

useFresh()

const at = (name: string | Uint8Array) =>
  Buffer.concat([Buffer.from(`${directory}/`), typeof name === 'string' ? Buffer.from(name) : name])

const atOnce = (from: Store, prefix?: string): Promise<Entry[]> =>
  fastReads(from)!.listAll(prefix ?? '', Number.POSITIVE_INFINITY)

async function oneByOne(from: Store, prefix?: string): Promise<Entry[]> {
  const list: Entry[] = []
  for await (const entry of from.list(prefix)) list.push(entry)
  return list
}

/** The contract, said plainly: name and size of what may be listed, by UTF-8 bytes. */
function plainly(): { key: string; size: number }[] {
  const real = realpathSync(directory)
  const found = new Map<string, number>()
  for (const raw of readdirSync(directory, { encoding: 'buffer' }).sort(Buffer.compare)) {
    const key = raw.toString()
    const isUtf8 = Buffer.from(key).equals(raw)
    const look = lstatSync(at(raw))
    if (key.includes('\\') || found.has(key)) continue
    if (look.isFile()) found.set(key, look.size)
    else if (look.isSymbolicLink() && isUtf8) {
      try {
        const target = realpathSync(at(raw))
        if (target.startsWith(`${real}/`) && statSync(target).isFile()) found.set(key, statSync(target).size)
      } catch {}
    }
  }
  return [...found]
    .map(([key, size]) => ({ key, size }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
}

/** Names whose order differs by code unit and by code point, that are prefixes of others, and that are not UTF-8. */
const NAMES = [
  ...[
    'a',
    'a.log',
    'a.log.1',
    'ab',
    'b',
    'B',
    '.h',
    '-',
    'é',
    'e\u0301',
    '😀',
    '😀x',
    '\uFF5E',
    '\uE000',
    'back\\slash',
  ],
  Buffer.from([0x62, 0xff]),
  // By its bytes behind 😀, as it is shown before it.
  Buffer.from([0xf5, 0x78]),
  Buffer.from([0x78, 0xfe, 0x2e]),
]
const ACTS = {
  write: (name: string | Uint8Array, size: number) => writeFileSync(at(name), 'x'.repeat(size)),
  append: (name: string | Uint8Array, size: number) => appendFileSync(at(name), 'y'.repeat(size)),
  remove: (name: string | Uint8Array) => rmSync(at(name), { recursive: true }),
  replace: (name: string | Uint8Array, size: number) => {
    writeFileSync(join(root, 'fresh'), 'z'.repeat(size))
    renameSync(join(root, 'fresh'), at(name))
  },
  rename: (name: string | Uint8Array, size: number) => renameSync(at(name), at(NAMES[size % NAMES.length]!)),
  link: (name: string | Uint8Array) => symlinkSync('a.log', at(name)),
  linkOut: (name: string | Uint8Array) => symlinkSync('../outside', at(name)),
  directory: (name: string | Uint8Array) => mkdirSync(at(name)),
}

describe('a list of a directory', () => {
  // The names of many files are read by another thread.
  it.each([0, 1000])('is right after any changes, whatever it remembers, beside %i files', async (others) => {
    writeFileSync(join(root, 'outside'), 'secret')
    for (let i = 0; i < others; i++) writeFileSync(at(`a-${i}`), '')
    const act = fc.record({
      what: fc.constantFrom(...(Object.keys(ACTS) as (keyof typeof ACTS)[])),
      name: fc.constantFrom(...NAMES),
      size: fc.integer({ min: 0, max: 9 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(act, { maxLength: 8 }), { maxLength: 8 }), async (rounds) => {
        for (const name of NAMES) rmSync(at(name), { recursive: true, force: true })
        for (const round of rounds) {
          for (const { what, name, size } of round)
            try {
              ACTS[what](name, size)
            } catch {
              // Not possible now: nothing to remove, or a directory in the way.
            }
          const listed = await atOnce(store)
          expect(listed.map(({ key, size }) => ({ key, size }))).toEqual(plainly())
          expect(listed).toEqual(await oneByOne(fsStore(directory)))
          expect(await oneByOne(store, 'a')).toEqual(listed.filter(({ key }) => key.startsWith('a')))
        }
      }),
      { numRuns: others === 0 ? 150 : 15, seed: 20261115 },
    )
  })

  it('lets others have their turn, and leaves out what goes meanwhile', async () => {
    for (let i = 0; i < 2000; i++) writeFileSync(at(`f${String(i).padStart(4, '0')}`), '')
    let turns = 0
    let running = true
    const count = () => {
      turns++
      if (running) setImmediate(count)
    }
    setImmediate(count)
    const listing = atOnce(store)
    // The first batch is looked at by now; these are not.
    rmSync(at('f1999'))
    writeFileSync(at('f1500'), 'grown')
    rmSync(at('f1600'))
    mkdirSync(at('f1600'))
    const other = atOnce(store)
    const entries = await listing
    running = false
    expect(turns).toBeGreaterThanOrEqual(3)
    expect(entries.length).toBe(1998)
    expect(entries.find(({ key }) => key === 'f1500')!.size).toBe(5)
    expect(await other).toEqual(entries)
    expect(await atOnce(store)).toEqual(entries)
  })

  it('leaves out what goes while a list is renewed, and gives what has grown', async () => {
    for (let i = 0; i < 2000; i++) writeFileSync(at(`f${String(i).padStart(4, '0')}`), '')
    await atOnce(store)
    const listing = atOnce(store)
    rmSync(at('f1999'))
    writeFileSync(at('f1500'), 'grown')
    rmSync(at('f1600'))
    mkdirSync(at('f1600'))
    const entries = await listing
    expect(entries.length).toBe(1998)
    expect(entries.find(({ key }) => key === 'f1500')!.size).toBe(5)
    writeFileSync(at('f0000x'), 'new')
    expect((await atOnce(store)).map(({ key, size }) => ({ key, size }))).toEqual(plainly())
  })

  it.each([0, 1, 2000])(
    'of a directory that is gone fails, also after %i files were in it',
    async (count) => {
      for (let i = 0; i < count; i++) writeFileSync(at(`f${i}`), '')
      expect((await atOnce(store)).length).toBe(count)
      renameSync(directory, join(root, 'away'))
      await expect(atOnce(store)).rejects.toMatchObject({ name: 'StoreError', code: 'unavailable' })
      renameSync(join(root, 'away'), directory)
      expect((await atOnce(store)).length).toBe(count)
    },
  )

  it('has a file that was renamed while it was made, under one of its names', async () => {
    for (let i = 0; i < 2000; i++) writeFileSync(at(`f${String(i).padStart(4, '0')}`), '')
    const from = at('f1999')
    for (let round = 0; round < 10; round++) {
      const [before, after] = round % 2 === 0 ? [from, at('e')] : [at('e'), from]
      const listing = atOnce(store)
      // The names have been read by now, and the last files have not been looked at.
      await nextTurn()
      renameSync(before, after)
      expect((await listing).length).toBe(2000)
    }
  })

  it('has a file that one pass missed because it was renamed, and the next because it was compressed', async () => {
    const entry = (key: string, id: string) => ({ key, id, size: 1, modified: 0, etag: '""' })
    const [older, active] = [entry('a.log.2.gz', '1'), entry('a.log', '3')]
    const whole = [older, entry('a.log.1.gz', '2'), active]
    let passes = 0
    const found = await atOneMoment(directory, async (missed) => {
      writeFileSync(at(`f${passes++}`), '')
      if (passes === 2) missed('a.log.1')
      return passes <= 2 ? [older, active] : whole
    })
    expect(found).toEqual(whole)
  })

  it('forgets what it saw of files that are gone', async () => {
    writeFileSync(at('a'), 'one')
    const [first] = await atOnce(store)
    renameSync(at('a'), join(root, 'away'))
    expect(await atOnce(store)).toEqual([])
    renameSync(join(root, 'away'), at('a'))
    const [again] = await atOnce(store)
    expect(again).not.toBe(first)
    expect(readFileSync(at('a'), 'utf8').length).toBe(again!.size)
  })
})
