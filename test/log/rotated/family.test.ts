import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inTurns } from '../../../src/kit/limits/yield.ts'
import { type Family, familyOf, type Head, lastFor, placeIn } from '../../../src/log/rotated/family.ts'
import { logNames, namedFiles } from '../../../src/log/rotated/kin.ts'
import { parseName } from '../../../src/log/rotated/names.ts'
import type { Entry } from '../../../src/store/store.ts'
import { NAMINGS, type Naming } from './namings.ts'

const entry = (key: string, modified = 0, id?: string): Entry => ({
  key,
  size: 100,
  modified,
  etag: `"${key}"`,
  ...(id !== undefined && { id }),
})
const keys = (family: Family) => family.members.map(({ key }) => key)

/** Asks as a caller does: until nothing more is wanted. Returns how many heads were read, too. */
async function ask(name: string, entries: readonly Entry[], headOf: (entry: Entry) => Head = () => NONE) {
  const read = new Map<string, Head>()
  const named = await namedFiles(entries)
  const known = (entry: Entry) => read.get(entry.key)
  const inOrder = () => inTurns(familyOf(name, named, known, () => true))
  let family = await inOrder()
  for (let round = 0; family.wanted.length > 0; round++) {
    expect(round, 'rounds').toBeLessThan(3)
    for (const wanted of family.wanted) read.set(wanted.key, headOf(wanted))
    family = await inOrder()
  }
  return { family, heads: read.size }
}
const NONE: Head = { time: null, print: null }
const DAY = 86_400_000
const START = Date.UTC(2026, 10, 10)

/** The files of a naming with the times their records would have; links share the identity of their target. */
function build({ files, others = [], links = [] }: Naming, change: (i: number) => number) {
  const times = new Map(files.map((key, i) => [key, START + i * DAY]))
  const entries = files.map((key, i) => entry(key, change(i), `id-${key}`))
  for (const [link, target] of links)
    entries.push({ ...entries[files.indexOf(target)]!, key: link, etag: `"${link}"` })
  for (const key of others) entries.push(entry(key, START, `id-${key}`))
  const headOf = ({ key }: Entry): Head => {
    const target = links.find(([link]) => link === key)?.[1] ?? key
    return { time: times.get(target) ?? null, print: target }
  }
  return { entries: entries.sort((a, b) => (a.key < b.key ? -1 : 1)), headOf }
}

describe('every naming', () => {
  const named = NAMINGS.map((naming) => [`${naming.who}: ${naming.how}`, naming] as const)

  it.each(named)('%s is one log, in order of its records', async (_, naming) => {
    const { files, log, others = [], links = [] } = naming
    // Local files were changed in their order; in a bucket, the time of change is that of the upload.
    const orders = [(i: number) => START + i * DAY, (i: number) => START + ((i * 7) % files.length) * 1000]
    for (const [where, change] of orders.entries()) {
      const { entries, headOf } = build(naming, change)
      for (const file of files) {
        const { family } = await ask(file, entries, headOf)
        expect(keys(family), `${where === 0 ? 'local' : 'bucket'}, asked for ${file}`).toEqual(files)
        expect(family.certain).toBe(true)
      }
      const names = await logNames(entries)
      for (const file of files) expect(names.get(file), file).toBe(log)
      for (const [link] of links) expect(names.get(link), link).toBe(log)
      for (const other of others) expect(names.get(other), other).not.toBe(log)
    }
  })

  it.each(named)('%s reads few heads where the times of change agree', async (_, naming) => {
    const { entries, headOf } = build(naming, (i) => START + i * DAY)
    const { heads } = await ask(naming.files[0]!, entries, headOf)
    // Where names recur, only the records show the order.
    const recur = /in turn|%a/.test(naming.how)
    expect(heads).toBeLessThanOrEqual(recur ? naming.files.length : 5)
  })

  it('reaches the newest file from a file with a date, and stays with a rotated file where there is a fixed one', async () => {
    for (const naming of NAMINGS) {
      const { entries, headOf } = build(naming, (i) => START + i * DAY)
      const fixed = parseName(naming.files.at(-1)!)
      const isFixed = fixed.date === '' && fixed.index < 0 && !fixed.unclear
      const first = naming.files[0]!
      const { family } = await ask(first, entries, headOf)
      expect(family.fixed, naming.how).toBe(isFixed)
      expect(lastFor(family, first), naming.how).toBe(isFixed ? 0 : naming.files.length - 1)
    }
  })
})

describe('familyOf', () => {
  it('counts a file once while it is being compressed', async () => {
    const { family } = await ask('a.log', [entry('a.log', 2), entry('a.log.1', 1), entry('a.log.1.gz', 2)])
    expect(keys(family)).toEqual(['a.log.1', 'a.log'])
    expect(placeIn(family, 'a.log.1.gz')).toBe(0)
  })

  it('counts the same text once: a sync that is half done, a copy before its original is truncated', async () => {
    const texts: Record<string, string> = {
      'a.log.3.gz': 'x',
      'a.log.2.gz': 'y',
      'a.log.1': 'y',
      'a.log': 'z',
    }
    const time = { x: 1, y: 2, z: 3 } as Record<string, number>
    const headOf = ({ key }: Entry): Head => ({ time: time[texts[key]!]!, print: texts[key]!, length: 100 })
    const entries = [entry('a.log', 9), entry('a.log.1', 5), entry('a.log.2.gz', 5), entry('a.log.3.gz', 3)]
    expect(keys((await ask('a.log', entries, headOf)).family)).toEqual(['a.log.3.gz', 'a.log.1', 'a.log'])
    // In a bucket the times of change say nothing.
    const bucket = [entry('a.log', 9), entry('a.log.1', 5), entry('a.log.2.gz', 7), entry('a.log.3.gz', 8)]
    expect(keys((await ask('a.log', bucket, headOf)).family)).toEqual(['a.log.3.gz', 'a.log.1', 'a.log'])
    texts['a.log.1'] = 'z'
    const copied = [entry('a.log', 5), entry('a.log.1', 5), entry('a.log.2.gz', 3)]
    expect(keys((await ask('a.log', copied, headOf)).family)).toEqual(['a.log.2.gz', 'a.log'])
  })

  it('does not take a file for a copy that begins as another one and is longer, or of unknown length', async () => {
    const lengths: Record<string, number | undefined> = { 'a.log': 10, 'a.log.1.gz': 5000 }
    const headOf = ({ key }: Entry): Head => {
      const length = lengths[key]
      return { time: 1, print: 'same', ...(length !== undefined && { length }) }
    }
    const entries = [entry('a.log', 5), entry('a.log.1.gz', 5)]
    expect(keys((await ask('a.log', entries, headOf)).family)).toEqual(['a.log.1.gz', 'a.log'])
    lengths['a.log.1.gz'] = undefined
    const { family } = await ask('a.log', entries, headOf)
    expect(keys(family)).toEqual(['a.log.1.gz', 'a.log'])
    expect(family.unmeasured.map(({ key }) => key)).toEqual(['a.log.1.gz'])
    lengths['a.log.1.gz'] = 10
    expect(keys((await ask('a.log', entries, headOf)).family)).toEqual(['a.log'])
  })

  it('takes a link for the file that it leads to', async () => {
    const entries = [
      entry('a.log', 9, 'new'),
      entry('a.log.1794477600', 9, 'new'),
      entry('a.log.1794391200', 3, 'old'),
    ]
    const { family } = await ask('a.log', entries)
    expect(keys(family)).toEqual(['a.log.1794391200', 'a.log.1794477600'])
    expect(placeIn(family, 'a.log')).toBe(1)
  })

  it('puts dates and numbers together in order of their records, else of change', async () => {
    const entries = [
      entry('a.log', 9),
      entry('a.log.1', 5),
      entry('a.log-20261114', 7),
      entry('a.log-20261113', 3),
    ]
    const order = ['a.log-20261113', 'a.log.1', 'a.log-20261114', 'a.log']
    expect(keys((await ask('a.log', entries)).family)).toEqual(order)
    const times: Record<string, number> = {
      'a.log': 4,
      'a.log.1': 3,
      'a.log-20261114': 2,
      'a.log-20261113': 1,
    }
    const told = await ask('a.log', entries, ({ key }) => ({ time: times[key]!, print: key }))
    expect(keys(told.family)).toEqual(['a.log-20261113', 'a.log-20261114', 'a.log.1', 'a.log'])
  })

  it('says that it guesses where nothing tells the order, or everything tells another one', async () => {
    const mixed = [entry('a.log', 9), entry('a.log.1', 3), entry('a.log.2', 7), entry('a.log.3', 5)]
    expect((await ask('a.log', mixed)).family.certain).toBe(false)
    const dated = [1, 2, 3].map((day) => entry(`a-2026-11-0${day}-1.log`, day))
    dated.push(entry('a-2026-11-01-2.log', 1))
    const lies = await ask('a-2026-11-01-1.log', dated, ({ key }) => ({
      time: -Number(key.slice(10, 12)) * DAY,
      print: key,
    }))
    expect(lies.family.certain).toBe(false)
  })

  describe('the file without a number', () => {
    const HOUR = 3_600_000
    /** Asks for files of [name, time of change, time of the first record]. */
    const arranged = async (...files: [key: string, modified: number, time: number][]) => {
      const times = new Map(files.map(([key, , time]) => [key, time]))
      const entries = files.map(([key, modified]) => entry(key, modified))
      const { family } = await ask(files[0]![0], entries, ({ key }) => ({
        time: times.get(key)!,
        print: key,
      }))
      return [...keys(family), family.certain ? 'certain' : 'guessed']
    }

    it('is the newest where it was changed last, whatever its first record says', async () => {
      // The clock was set back by half an hour at the rotation, or by a day.
      expect(await arranged(['a.log', 2000, 0], ['a.log.1', 1000, HOUR / 2])).toEqual([
        'a.log.1',
        'a.log',
        'certain',
      ])
      expect(await arranged(['a.log', 2000, 0], ['a.log.1', 1000, DAY])).toEqual([
        'a.log.1',
        'a.log',
        'guessed',
      ])
      // Nobody can tell when it was changed: names are better than half an hour.
      expect(await arranged(['a.log', 2000, 0], ['a.log.1', 2000, HOUR / 2])).toEqual([
        'a.log.1',
        'a.log',
        'guessed',
      ])
    })

    it('is the newest though another one was changed in the same tick of the clock', async () => {
      // The clock was set back by two hours after the first rotation, and forward after the second.
      const files = (tick: number): [string, number, number][] => [
        ['a.log', tick, 3 * HOUR],
        ['a.log.1', 2000, 0],
        ['a.log.2', 1000, 2 * HOUR],
      ]
      const order = ['a.log.2', 'a.log.1', 'a.log', 'guessed']
      expect(await arranged(...files(3000))).toEqual(order)
      expect(await arranged(...files(2000))).toEqual(order)
    })

    it('is the newest of several, one of which begins with a stray line', async () => {
      const files = (stray: number): [string, number, number][] => [
        ['a.log', 5000, 4 * DAY],
        ['a.log.1', 4000, 3 * DAY],
        ['a.log.2.gz', 3000, stray],
        ['a.log.3.gz', 2000, DAY],
      ]
      const order = ['a.log.3.gz', 'a.log.2.gz', 'a.log.1', 'a.log']
      expect(await arranged(...files(2 * DAY))).toEqual([...order, 'certain'])
      expect(await arranged(...files(9 * DAY))).toEqual([...order, 'guessed'])
      expect(await arranged(...files(0))).toEqual([...order, 'guessed'])
    })

    it('is the newest in the hour that comes twice, in either direction of the numbers', async () => {
      expect(
        await arranged(
          ['a.log', 4000, 10 * HOUR],
          ['a.log.1', 3000, 9 * HOUR],
          ['a.log.2', 2000, 9.5 * HOUR],
        ),
      ).toEqual(['a.log.2', 'a.log.1', 'a.log', 'certain'])
      expect(
        await arranged(
          ['a.log', 5000, 10 * HOUR],
          ['a.log.1', 2000, 8 * HOUR],
          ['a.log.2', 3000, 9.5 * HOUR],
          ['a.log.3', 4000, 9 * HOUR],
        ),
      ).toEqual(['a.log.1', 'a.log.2', 'a.log.3', 'a.log', 'certain'])
    })

    it('is the oldest where records and times of change say so: rotatelogs -n, Serilog', async () => {
      expect(await arranged(['a.log', 1000, 0], ['a.log.1', 2000, DAY])).toEqual([
        'a.log',
        'a.log.1',
        'certain',
      ])
      expect(await arranged(['a.log', 1000, 0], ['a.log.1', 2000, 9], ['a.log.2', 3000, 99])).toEqual([
        'a.log',
        'a.log.1',
        'a.log.2',
        'certain',
      ])
      const serilog = await arranged(
        ['log.txt', 1000, 0],
        ['log_001.txt', 2000, DAY],
        ['log_002.txt', 3000, 2 * DAY],
      )
      expect(serilog).toEqual(['log.txt', 'log_001.txt', 'log_002.txt', 'certain'])
    })

    it('is where its first record says, if the times of change fit no order', async () => {
      expect(
        await arranged(['a.log', 2000, 3 * DAY], ['a.log.1', 1000, DAY], ['a.log.2', 3000, 2 * DAY]),
      ).toEqual(['a.log.1', 'a.log.2', 'a.log', 'certain'])
    })
  })

  it('knows no relatives of a name in no family', async () => {
    const others = ['b.log', 'a.log2', 'a.logs', 'a.log', 'a-1.log', 'a.1.2.log'].map((key) => entry(key))
    expect(keys((await ask('a.log', others)).family)).toEqual(['a.log'])
    // Two brokers, not one that is rotated.
    expect(keys((await ask('node.1.log', [entry('node.1.log'), entry('node.2.log')])).family)).toEqual([
      'node.1.log',
    ])
  })

  it('asks for no more heads than it may', async () => {
    const many = Array.from({ length: 1000 }, (_, i) => entry(`a.log.${i}`, (i * 37) % 1000))
    const { family, heads } = await ask('a.log.1', many, ({ key }) => ({
      time: Number(key.slice(6)),
      print: key,
    }))
    expect(heads).toBeLessThanOrEqual(210)
    expect(family.certain).toBe(false)
    const alike = Array.from({ length: 5000 }, (_, i) => entry(`a.log.${i + 1}`, START))
    const none = await ask('a.log.1', alike)
    expect(none.heads).toBeLessThanOrEqual(710)
    expect(none.family.members).toHaveLength(5000)
  })
})

describe('no name pattern', () => {
  const part = fc.constantFrom('app', 'db-4', 'x')
  const two = fc.integer({ min: 1, max: 12 }).map((n) => String(n).padStart(2, '0'))
  const day = fc
    .tuple(two, two)
    .chain(([month, day]) =>
      fc.constantFrom(
        `2026-${month}-${day}`,
        `2026${month}${day}`,
        `${month}-${day}-2026`,
        `2026_${month}_${day}`,
      ),
    )
  const number = fc.integer({ min: 0, max: 30 }).map(String)
  const name = fc.oneof(
    fc.tuple(part, number).map(([p, n]) => `${p}.log.${n}`),
    fc.tuple(part, number).map(([p, n]) => `${p}.${n}.log`),
    fc.tuple(part, day, number).map(([p, d, n]) => `${p}-${d}-${n}.log`),
    fc.tuple(part, day, number).map(([p, d, n]) => `${p}.${d}.${n}.log.gz`),
    fc.tuple(part, day, number).map(([p, d, n]) => `${p}-${d}.log.${n}`),
    fc.tuple(part, fc.constantFrom('Mon', 'Tue', 'Wed')).map(([p, d]) => `${p}-${d}.log`),
    part.map((p) => `${p}.log`),
  )

  it('hides a contradiction behind those that were asked', async () => {
    const files: [string, number, number][] = [
      ['x.2026-01-01.0.log.gz', 1, 1],
      ['x-2026-01-02.log.0', 2, 2],
      ['x.log.0', 1, 0],
      ['x-Mon.log', 1, 0],
      ['x-Wed.log', 2, 0],
    ]
    const time = new Map(files.map(([key, time]) => [key, time * 7_200_000]))
    const entries = files.map(([key, , modified]) => entry(key, modified))
    const { family } = await ask('x-Mon.log', entries, ({ key }) => ({ time: time.get(key)!, print: key }))
    const times = keys(family).map((key) => time.get(key)!)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('makes an order that contradicts the times of the records, unless it is said', async () => {
    const files = fc.uniqueArray(fc.tuple(name, fc.integer({ min: 1, max: 1e6 }), fc.nat(1e6)), {
      selector: ([name]) => name,
      minLength: 2,
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(files, async (files) => {
        const time = new Map(files.map(([key, time]) => [key, time * 7_200_000]))
        const entries = files.map(([key, , modified]) => entry(key, modified))
        for (const { key } of entries) {
          const { family } = await ask(key, entries, (entry) => ({
            time: time.get(entry.key)!,
            print: entry.key,
          }))
          const times = keys(family).map((key) => time.get(key)!)
          const dates = new Set(keys(family).map((key) => parseName(key).date))
          // A date that no other file has is believed; a counter never is.
          if (family.certain && dates.size < times.length)
            expect(times).toEqual(times.toSorted((a, b) => a - b))
          expect(new Set(keys(family)).size).toBe(keys(family).length)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
