import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { directoryBucket } from '../../src/entry/ship/directory.ts'
import { nodeDisk } from '../../src/entry/ship/disk.ts'
import type { Bucket } from '../../src/ship/bucket.ts'
import { UnreadableLog } from '../../src/ship/files/disk.ts'
import { ShipMetrics } from '../../src/ship/metrics.ts'
import { readClock } from '../support/manual-clock.ts'
import { livesOf, objectsIn, textOf } from './home.ts'
import { until, useLocal } from './local.ts'

const local = useLocal()
const { at, once, shipper } = local

let line = 0
const lines = (count: number, width = 40) =>
  Array.from(
    { length: count },
    () => `2026-11-14 02:10:00.000\tINFO\tline ${line++} ${'x'.repeat(width)}\n`,
  ).join('')

const shipped = (log = 'broker.log') => textOf(objectsIn(local.home), log)
const lives = (log = 'broker.log') => livesOf(objectsIn(local.home), log)

/**
 * A bucket whose names cannot be read until it is opened: nothing is decided before, but files are seen. `looks` waits
 * until they were.
 */
function shutBucket() {
  const real = directoryBucket(local.home)
  const disk = nodeDisk(local.logs, (line) => local.reports.push(line))
  let lists = 0
  const list = () => {
    lists++
    return disk.list()
  }
  const looks = () => {
    const before = lists
    return until(() => lists > before + 4)
  }
  let isOpen = false
  const names: Bucket['names'] = (...asked) =>
    isOpen ? real.names(...asked) : Promise.reject(new Error('shut'))
  const open = () => {
    isOpen = true
  }
  return { bucket: { ...real, names }, disk: { ...disk, list }, open, looks }
}

/** A disk that changes when broker.log is first read: the sizes were taken, and its head is about to be read. */
function changedAtRead(change: () => void) {
  const disk = nodeDisk(local.logs, (line) => local.reports.push(line))
  let isDone = false
  const open: typeof disk.open = async (name) => {
    const file = await disk.open(name)
    if (name !== 'broker.log' || !file) return file
    const read: typeof file.read = (...asked) => {
      if (!isDone) change()
      isDone = true
      return file.read(...asked)
    }
    return Object.assign(Object.create(file), { read })
  }
  return { ...disk, open }
}

describe('a shipper', () => {
  it('ships a file, and goes on where it was', async () => {
    writeFileSync(at('broker.log'), lines(100))
    expect(await once()).toBe('done')
    expect(shipped()).toBe(readFileSync(at('broker.log'), 'utf8'))
    expect(lives()[0]!.ends).toEqual([])
    appendFileSync(at('broker.log'), lines(100))
    await once()
    appendFileSync(at('broker.log'), lines(10_000))
    await once()
    expect(lives()).toHaveLength(1)
    expect(shipped()).toBe(readFileSync(at('broker.log'), 'utf8'))
  })

  it('writes nothing anew for a log that is quiet', async () => {
    writeFileSync(at('broker.log'), lines(100))
    await once()
    const before = [...objectsIn(local.home).keys()]
    await once()
    expect([...objectsIn(local.home).keys()]).toEqual(before)
  })

  it('keeps the young text of a life in ~, and makes it a segment when its life ends', async () => {
    writeFileSync(at('broker.log'), lines(10))
    await once()
    const text = readFileSync(at('broker.log'), 'utf8')
    expect(lives()[0]!.plain.length).toBe(0)
    renameSync(at('broker.log'), at('broker.log.1'))
    writeFileSync(at('broker.log'), lines(5))
    await once()
    expect(lives()[0]!.plain.toString()).toBe(text)
    expect(lives()[0]!.ends).toEqual([{ size: text.length, how: 'end' }])
    expect(lives()).toHaveLength(2)
  })

  it('cuts at line ends, with at least 256 KiB but at the end', async () => {
    writeFileSync(at('broker.log.1'), lines(60_000))
    writeFileSync(at('broker.log'), 'x\n')
    await once()
    const [first] = lives()
    expect(first!.plain.equals(readFileSync(at('broker.log.1')))).toBe(true)
    const isWhole = (key: string) => key.includes('/99999998/') && key.endsWith('.log.gz')
    const segments = [...objectsIn(local.home).keys()].filter(isWhole).sort()
    const lengths = segments.map((key) => 10 ** 8 - 1 - Number(key.split('-').at(-2)))
    expect(lengths.length).toBeGreaterThan(3)
    expect(lengths.slice(1).every((length) => length >= 256 * 1024 && length <= 1024 * 1024)).toBe(true)
  })

  it('ships files that were rotated before it first came, oldest first, archives as their text', async () => {
    const [a, b, c] = [lines(2000), lines(300), lines(10)]
    writeFileSync(at('broker.log.2.gz'), gzipSync(a))
    writeFileSync(at('broker.log.1'), b)
    writeFileSync(at('broker.log'), c)
    await once()
    expect(lives().map(({ text }) => text!.toString())).toEqual([a, b, c])
    await once()
    expect(lives()).toHaveLength(3)
  })

  it('finds its place after several rotations and compression while it was down', async () => {
    writeFileSync(at('broker.log'), lines(50))
    await once()
    appendFileSync(at('broker.log'), lines(50))
    const a = readFileSync(at('broker.log'), 'utf8')
    writeFileSync(at('broker.log.2.gz'), gzipSync(a))
    unlinkSync(at('broker.log'))
    const b = lines(20)
    const c = lines(30)
    writeFileSync(at('broker.log.1'), b)
    writeFileSync(at('broker.log'), c)
    await once()
    expect(lives().map(({ text }) => text!.toString())).toEqual([a, b, c])
  })

  it('tells files with the same first lines apart', async () => {
    const header = '=== started ===\n'
    writeFileSync(at('broker.log'), header)
    await once()
    appendFileSync(at('broker.log'), lines(3))
    renameSync(at('broker.log'), at('broker.log.1'))
    writeFileSync(at('broker.log'), header + lines(2))
    await once()
    const text = readFileSync(at('broker.log.1'), 'utf8') + readFileSync(at('broker.log'), 'utf8')
    expect(shipped()).toBe(text)
    await once()
    renameSync(at('broker.log.1'), at('broker.log.2'))
    renameSync(at('broker.log'), at('broker.log.1'))
    writeFileSync(at('broker.log'), header)
    await once()
    expect(shipped()).toBe(text + header)
  })

  it('goes on in the copy after a copy and truncate', async () => {
    writeFileSync(at('broker.log'), lines(50))
    await once()
    appendFileSync(at('broker.log'), lines(5))
    copyFileSync(at('broker.log'), at('broker.log.1'))
    // Two files with the same text: the copy is in the making.
    await once()
    expect(lives()).toHaveLength(1)
    const a = readFileSync(at('broker.log'), 'utf8')
    truncateSync(at('broker.log'))
    const b = lines(100)
    appendFileSync(at('broker.log'), b)
    await once()
    expect(lives().map(({ text }) => text!.toString())).toEqual([a, b])
    expect(lives()[0]!.ends).toEqual([{ size: a.length, how: 'end' }])
  })

  it('loses no copy that is made between the check of a file and the beginning of its life', async () => {
    const before = lines(50)
    const after = lines(30)
    writeFileSync(at('broker.log'), before)
    const inner = directoryBucket(local.home)
    let isDone = false
    const bucket: Bucket = {
      ...inner,
      async names(...asked) {
        // The files were checked; which of them is which life is not yet decided.
        if (!isDone) {
          isDone = true
          copyFileSync(at('broker.log'), at('broker.log.1'))
          truncateSync(at('broker.log'))
          appendFileSync(at('broker.log'), after)
        }
        return inner.names(...asked)
      },
    }
    expect(await once({ bucket })).toBe('done')
    expect(isDone).toBe(true)
    expect(shipped()).toBe(before + after)
  })

  it('loses no copy that was still empty at the check', async () => {
    const before = lines(50)
    const after = lines(30)
    writeFileSync(at('broker.log'), before)
    writeFileSync(at('broker.log.1'), '')
    const disk = changedAtRead(() => {
      copyFileSync(at('broker.log'), at('broker.log.1'))
      truncateSync(at('broker.log'))
      appendFileSync(at('broker.log'), after)
    })
    expect(await once({ disk })).toBe('done')
    expect(shipped()).toBe(before + after)
  })

  it('goes on after a file that it holds was truncated, and then replaced by another', async () => {
    const before = lines(50)
    const after = lines(30)
    writeFileSync(at('broker.log'), before)
    const disk = changedAtRead(() => {
      copyFileSync(at('broker.log'), at('broker.log.1'))
      truncateSync(at('broker.log'))
      writeFileSync(at('new'), after)
      renameSync(at('new'), at('broker.log'))
    })
    expect(await once({ disk })).toBe('done')
    expect(shipped()).toBe(before + after)
    expect(local.reports.join()).not.toContain('Gave up')
  })

  it('keeps the place of the newest file when it is compressed and nothing has followed it', async () => {
    const texts = [lines(50), lines(40), lines(30)]
    for (const [i, text] of texts.entries()) writeFileSync(at(`broker.log.${3 - i}`), text)
    const { bucket, disk, open, looks } = shutBucket()
    const running = shipper({ once: false, bucket, disk })
    const done = running.run()
    await looks()
    writeFileSync(at('broker.log.1.gz'), gzipSync(texts[2]!))
    unlinkSync(at('broker.log.1'))
    await looks()
    open()
    await until(() => lives().length > 0 && shipped().endsWith(texts[2]!))
    running.stop()
    await done
    expect(shipped()).toBe(texts.join(''))
  })

  it('ends a life as lost when no file holds it', async () => {
    const a = lines(50)
    writeFileSync(at('broker.log'), a)
    await once()
    unlinkSync(at('broker.log'))
    const b = lines(5)
    writeFileSync(at('broker.log'), b)
    const metrics = new ShipMetrics()
    await once({ metrics })
    expect(lives()[0]!.ends).toEqual([{ size: a.length, how: 'lost' }])
    expect(shipped()).toBe(a + b)
    expect(metrics.lost).toBe(1)
  })

  it('ships late lines to the life that had ended', async () => {
    const a = lines(50)
    writeFileSync(at('broker.log.1'), a)
    writeFileSync(at('broker.log'), lines(3))
    await once()
    const late = lines(2)
    appendFileSync(at('broker.log.1'), late)
    await once()
    const [first, second] = lives()
    expect(first!.text!.toString()).toBe(a + late)
    expect(first!.plain.toString()).toBe(a + late)
    expect(first!.ends.map(({ size }) => size).sort((a, b) => a - b)).toEqual([a.length, (a + late).length])
    expect(second!.text!.toString()).toBe(readFileSync(at('broker.log'), 'utf8'))
    await once()
    expect(lives()).toHaveLength(2)
  })

  it('leaves broken archives and names that are not UTF-8 alone, and says so', async () => {
    writeFileSync(at('broker.log.1.gz'), gzipSync(lines(100)).subarray(0, 50))
    // No runtime can read bzip2.
    writeFileSync(at('broker.log.2.bz2'), Buffer.from('425a683931415926535944f7136a0000', 'hex'))
    writeFileSync(at('broker.log'), lines(3))
    const odd = Buffer.concat([Buffer.from(`${local.logs}/bad`), Buffer.from([0xff]), Buffer.from('.log')])
    writeFileSync(odd, 'x\n')
    expect(await once()).toBe('left')
    expect(lives()).toHaveLength(1)
    const beat = JSON.parse(readFileSync(join(local.home, 'ship.json'), 'utf8'))
    expect(beat.leftFiles).toBe(2)
    expect(beat.left).toContainEqual({ name: 'broker.log.1.gz', reason: 'the archive is broken' })
    for (const name of ['broker.log.1.gz', 'broker.log.2.bz2'])
      expect(local.reports.filter((line) => line.includes(name))).toHaveLength(1)
    expect(local.reports.filter((line) => line.includes('UTF-8'))).toHaveLength(1)
  })

  it('ships the others while a file cannot be read, says so without its path, and ships it when it can be read', async () => {
    const [a, b, c] = [lines(3), lines(4), lines(5)]
    writeFileSync(at('broker.log.1'), a)
    writeFileSync(at('broker.log'), b)
    writeFileSync(at('other.log'), c)
    const real = nodeDisk(local.logs, (line) => local.reports.push(line))
    let denied = true
    const open: typeof real.open = async (name) => {
      if (denied && name === 'broker.log.1') throw new UnreadableLog('Cannot read "broker.log.1": EACCES')
      return real.open(name)
    }
    expect(await once({ disk: { ...real, open } })).toBe('left')
    expect(local.reports).toEqual(['"broker.log.1" is left: it cannot be opened (EACCES).'])
    expect(shipped()).toBe(b)
    expect(shipped('other.log')).toBe(c)
    const running = shipper({ once: false, disk: { ...real, open } })
    const done = running.run()
    await until(() => local.reports.length > 1)
    expect(local.reports.slice(1)).toEqual(['"broker.log.1" is left: it cannot be opened (EACCES).'])
    expect(running.waiting.left).toEqual([{ name: 'broker.log.1', reason: 'it cannot be opened (EACCES)' }])
    denied = false
    await until(() => lives().some(({ text }) => text!.toString() === a))
    expect(lives().map(({ life, text }) => [life, text!.toString()])).toEqual([
      [-1, a],
      [1, b],
    ])
    running.stop()
    await done
  })

  it('waits for a copy in the making while its log cannot be opened', async () => {
    const [a, b] = [lines(10), lines(10)]
    writeFileSync(at('broker.log'), a + b)
    writeFileSync(at('broker.log.1'), a)
    const real = nodeDisk(local.logs, (line) => local.reports.push(line))
    let refusals = 0
    let denied = true
    const open: typeof real.open = async (name) => {
      if (!denied || name !== 'broker.log') return real.open(name)
      refusals++
      throw new UnreadableLog('Cannot read "broker.log": EACCES')
    }
    const done = once({ disk: { ...real, open } })
    await Promise.race([done, until(() => refusals > 20)])
    appendFileSync(at('broker.log.1'), b)
    writeFileSync(at('broker.log.1.gz'), gzipSync(a + b))
    unlinkSync(at('broker.log.1'))
    truncateSync(at('broker.log'))
    denied = false
    expect(await done).toBe('done')
    expect(shipped()).toBe(a + b)
  })

  it('does not wait for an older file that can never be opened', async () => {
    const [a, b] = [lines(1), lines(1)]
    writeFileSync(at('broker.log.2'), lines(20))
    writeFileSync(at('broker.log.1'), a)
    writeFileSync(at('broker.log'), b)
    const real = nodeDisk(local.logs, (line) => local.reports.push(line))
    const open: typeof real.open = async (name) => {
      if (name !== 'broker.log.2') return real.open(name)
      throw new UnreadableLog('Cannot read "broker.log.2": EACCES')
    }
    const writer = setInterval(() => utimesSync(at('broker.log.1'), new Date(), new Date()), 100)
    try {
      const running = shipper({ once: false, disk: { ...real, open } })
      const done = running.run()
      await until(() => shipped() === a + b)
      running.stop()
      await done
    } finally {
      clearInterval(writer)
    }
  })

  it('follows a file while it runs: growth, rename, copy and truncate, removal', async () => {
    const written: string[] = []
    const write = (text: string) => {
      written.push(text)
      appendFileSync(at('broker.log'), text)
    }
    const caughtUp = () => shipped() === written.join('')
    write(lines(10))
    const running = shipper({ once: false })
    const done = running.run()
    await until(caughtUp)
    write(lines(100))
    await until(caughtUp)
    renameSync(at('broker.log'), at('broker.log.1'))
    write(lines(20))
    await until(caughtUp)
    renameSync(at('broker.log.1'), at('broker.log.2'))
    copyFileSync(at('broker.log'), at('broker.log.1'))
    truncateSync(at('broker.log'))
    write(lines(40))
    await until(caughtUp)
    write(lines(5))
    unlinkSync(at('broker.log'))
    write(lines(5))
    await until(caughtUp)
    write('an unfinished line')
    running.stop()
    expect(await done).toBe('done')
    expect(caughtUp()).toBe(true)
    expect(lives().map(({ ends }) => ends[0]?.how)).toEqual(['end', 'end', 'end', undefined])
  })

  it('ends a life as cut when its file is truncated in place', async () => {
    const a = lines(50)
    writeFileSync(at('broker.log'), a)
    const running = shipper({ once: false })
    const done = running.run()
    await until(() => shipped() === a)
    const b = lines(60)
    writeFileSync(at('broker.log'), b)
    await until(() => shipped() === a + b)
    running.stop()
    await done
    expect(lives()[0]!.ends).toEqual([{ size: a.length, how: 'cut' }])
    expect(lives()[0]!.plain.toString()).toBe(a)
  })

  it('leaves an unfinished line alone until it ends', async () => {
    appendFileSync(at('broker.log'), 'one\ntw')
    const running = shipper({ once: false })
    const done = running.run()
    await until(() => shipped() === 'one\n')
    // What is appended to another log is shipped by a later look, which sees both logs.
    for (let look = 0; look < 3; look++) {
      appendFileSync(at('storage.log'), lines(1))
      await until(() => shipped('storage.log') === readFileSync(at('storage.log'), 'utf8'))
      expect(shipped()).toBe('one\n')
    }
    appendFileSync(at('broker.log'), 'o\n')
    await until(() => shipped() === 'one\ntwo\n')
    running.stop()
    await done
  })

  it('two at once repeat facts only', async () => {
    writeFileSync(at('broker.log.2'), lines(9000))
    writeFileSync(at('broker.log.1'), lines(5000))
    writeFileSync(at('broker.log'), lines(3000))
    const rules = {
      segmentBytes: 1024 * 1024 + 12345,
      segmentAgeMs: 3_600_000,
      flushMs: 20,
      lineAgeMs: 60_000,
    }
    await Promise.all([once(), once({ rules })])
    const files = ['broker.log.2', 'broker.log.1', 'broker.log'].map((name) => readFileSync(at(name), 'utf8'))
    expect(lives().map(({ text }) => text!.toString())).toEqual(files)
  })

  it('survives a storage that fails, and lost answers', async () => {
    const real = directoryBucket(local.home)
    let calls = 0
    const flaky: Bucket = {
      names: (...asked) => (calls++ % 3 === 0 ? Promise.reject(new Error('no')) : real.names(...asked)),
      get: (...asked) => (calls++ % 3 === 0 ? Promise.reject(new Error('no')) : real.get(...asked)),
      async put(...asked) {
        const written = await real.put(...asked)
        if (calls++ % 2 === 0) throw new Error('the answer is lost')
        return written
      },
    }
    writeFileSync(at('broker.log.1'), lines(5000))
    writeFileSync(at('broker.log'), lines(3000))
    await once({ bucket: flaky })
    const text = readFileSync(at('broker.log.1'), 'utf8') + readFileSync(at('broker.log'), 'utf8')
    expect(shipped()).toBe(text)
    expect(local.reports.filter((line) => line.endsWith('trying again.'))).toHaveLength(1)
  })

  it('holds removed files while they wait', async () => {
    const a = lines(10)
    writeFileSync(at('broker.log'), a)
    const { bucket, disk, open, looks } = shutBucket()
    const running = shipper({ once: false, bucket, disk })
    const done = running.run()
    await looks()
    renameSync(at('broker.log'), at('broker.log.1'))
    const b = lines(7)
    writeFileSync(at('broker.log'), b)
    await looks()
    unlinkSync(at('broker.log.1'))
    await looks()
    open()
    await until(() => shipped() === a + b)
    running.stop()
    await done
  })

  it('sees files that come and go while a heartbeat waits for the storage', async () => {
    const a = lines(10)
    writeFileSync(at('broker.log'), a)
    const real = directoryBucket(local.home)
    let open = true
    const shut = () => Promise.reject(new Error('shut'))
    const bucket: Bucket = {
      names: (...asked) => (open ? real.names(...asked) : shut()),
      get: (...asked) => (open ? real.get(...asked) : shut()),
      put: (...asked) => (open ? real.put(...asked) : shut()),
    }
    const disk = nodeDisk(local.logs, (line) => local.reports.push(line))
    let lists = 0
    const list = () => {
      lists++
      return disk.list()
    }
    let time = 1_000_000
    const running = shipper({ once: false, bucket, disk: { ...disk, list }, clock: readClock(() => time) })
    const done = running.run()
    await until(() => {
      time += 20
      return shipped() === a
    })
    open = false
    time += 61_000
    await until(() => local.reports.some((line) => line.endsWith('trying again.')))
    const seen = async () => {
      const before = lists
      await until(() => lists > before + 4)
    }
    const b = lines(7)
    renameSync(at('broker.log'), at('broker.log.1'))
    writeFileSync(at('broker.log'), b)
    await seen()
    unlinkSync(at('broker.log.1'))
    unlinkSync(at('broker.log'))
    const c = lines(3)
    writeFileSync(at('broker.log'), c)
    await seen()
    open = true
    await until(() => {
      time += 20
      return shipped() === a + b + c
    })
    running.stop()
    expect(await done).toBe('done')
    expect(lives().map(({ ends }) => ends[0]?.how)).toEqual(['end', 'end', undefined])
  })

  it('ends when it is told to stop while another host ships', async () => {
    writeFileSync(at('broker.log'), lines(10))
    const running = shipper({ once: false })
    const done = running.run()
    await until(() => shipped() !== '')
    const other = { host: 'db-9', run: 'other', version: '1', node: null, logs: {}, error: null }
    writeFileSync(join(local.home, 'ship.json'), JSON.stringify(other))
    appendFileSync(at('broker.log'), lines(5))
    await until(() => local.reports.some((line) => line.includes('db-9')))
    running.stop()
    expect(await done).toBe('done')
  })

  it('ends after it has shipped once, though another host has taken over meanwhile', async () => {
    writeFileSync(at('broker.log'), lines(10))
    const other = { host: 'db-9', run: 'other', version: '1', node: null, logs: {}, error: null }
    const bucket = directoryBucket(local.home)
    let writes = 0
    const put: Bucket['put'] = async (key, ...write) => {
      const isPut = await bucket.put(key, ...write)
      // The life is begun, and then its text is there.
      if (key.endsWith('~') && ++writes === 2)
        writeFileSync(join(local.home, 'ship.json'), JSON.stringify(other))
      return isPut
    }
    expect(await once({ bucket: { ...bucket, put } })).toBe('done')
    expect(JSON.parse(readFileSync(join(local.home, 'ship.json'), 'utf8'))).toEqual(other)
  })

  it('steps back for a later one on the same host, and waits for another host', async () => {
    writeFileSync(at('broker.log'), lines(10))
    let time = 1_000_000
    const first = shipper({ once: false, clock: readClock(() => time) })
    const ended = first.run()
    await until(() => {
      time += 20
      return shipped() !== ''
    })
    await once()
    time += 61_000
    expect(await ended).toBe('replaced')

    const other = shipper({ once: false, host: 'db-5' })
    const stopped = other.run()
    await until(() => local.reports.some((line) => line.includes('db-4')))
    other.stop()
    expect(await stopped).toBe('done')
  })

  it('says how it stands in ship.json', async () => {
    writeFileSync(at('broker.log'), lines(10))
    await once({ nodeFiles: { node: async () => ({ hostName: 'db-4' }), config: async () => 'a = 1\n' } })
    const beat = JSON.parse(readFileSync(join(local.home, 'ship.json'), 'utf8'))
    expect(Object.keys(beat)).toEqual([
      'host',
      'run',
      'pid',
      'version',
      'layout',
      'stopped',
      'node',
      'logs',
      'open',
      'waitingFiles',
      'waitingBytes',
      'leftFiles',
      'left',
      'error',
    ])
    expect(beat).toMatchObject({ layout: 3, stopped: true, open: { 'broker.log': [1] } })
    expect(beat).toMatchObject({ waitingFiles: 0, waitingBytes: 0, leftFiles: 0, left: [] })
    const size = readFileSync(at('broker.log')).length
    expect(beat.logs).toEqual({ 'broker.log': { life: 1, size, lagBytes: 0, lagSeconds: 0 } })
    expect(readFileSync(join(local.home, 'config.toml'), 'utf8')).toBe('a = 1\n')
    expect(JSON.parse(readFileSync(join(local.home, 'node.json'), 'utf8'))).toEqual({ hostName: 'db-4' })
  })

  it('counts lag from when the oldest unshipped byte was seen, however much was shipped since', async () => {
    writeFileSync(at('broker.log'), lines(60_000))
    const size = readFileSync(at('broker.log')).length
    const real = directoryBucket(local.home)
    let allowed = 0
    const held: (() => void)[] = []
    const put: Bucket['put'] = async (key, ...rest) => {
      if (key.endsWith('.gz') && allowed-- <= 0) await new Promise<void>((resolve) => held.push(resolve))
      return real.put(key, ...rest)
    }
    let time = 1_000_000
    const running = shipper({ once: false, bucket: { ...real, put }, clock: readClock(() => time) })
    const done = running.run()
    await until(() => held.length === 1)
    time += 30_000
    allowed = 2
    held.pop()!()
    await until(() => held.length === 1)
    const { size: shippedBytes, lagBytes, lagSeconds } = running.status.get('broker.log')!
    expect(shippedBytes).toBeGreaterThan(2.9 * 1024 * 1024)
    expect(lagBytes).toBe(size - shippedBytes)
    expect(lagSeconds).toBe(30)
    allowed = 100
    held.pop()!()
    await until(() => {
      time += 20
      return running.status.get('broker.log')!.lagBytes === 0
    })
    expect(running.status.get('broker.log')!.lagSeconds).toBe(0)
    running.stop()
    await done
  })

  it('writes segments that ls, xargs and zcat put together', async () => {
    writeFileSync(at('broker.log.1'), lines(30_000))
    writeFileSync(at('broker.log'), lines(1))
    await once()
    const folder = join(local.home, 'segments/broker.log/99999998')
    const text = execFileSync('sh', ['-c', 'ls -r *.log.gz | xargs zcat'], {
      cwd: folder,
      maxBuffer: 2 ** 28,
    })
    expect(text.equals(readFileSync(at('broker.log.1')))).toBe(true)
  })

  it('waits for a directory that is not there yet; once, it gives up', async () => {
    rmSync(local.logs, { recursive: true })
    expect(await once()).toBe('no-directory')
    const running = shipper({ once: false })
    const done = running.run()
    await until(() => local.reports.length > 0)
    mkdirSync(local.logs)
    const text = lines(3)
    writeFileSync(at('broker.log'), text)
    await until(() => shipped() === text)
    running.stop()
    await done
  })
})
