import * as fs from 'node:fs'
import {
  appendFileSync,
  chmodSync,
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Snapshots } from '../../../src/store/fs/snapshots.ts'
import { Tails } from '../../../src/store/fs/tails.ts'
import type { ByteRange, ReadOptions, StoreRead } from '../../../src/store/store.ts'
import { wholes } from '../../support/random.mjs'

// Watched, not changed: something happens between two writes of a copy.
vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  const watched = { ...real, writeSync: vi.fn(real.writeSync) }
  return { ...watched, default: watched }
})

const MIB = 1024 * 1024

describe.skipIf(process.platform !== 'linux')('copies that a server sends by itself', () => {
  let directory: string
  let path: string
  let snapshots: Snapshots
  /** Copies of earlier tests: a store keeps its last ones for as long as the process lives. */
  let before: Set<string>

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'nodestate-snapshots-'))
    path = join(directory, 'a.log')
    snapshots = new Snapshots(new Tails(), files)
    before = new Set(copyNames())
    rest()
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
    rmSync(directory, { recursive: true, force: true })
  })

  /** What Bun.file does, for a runtime without it: the file is read when the Blob is made. */
  const files = { file: (name: string) => new Blob([readFileSync(name)]) }
  /** Every file looks as if it had not been touched for long. */
  const rest = () => {
    const now = Date.now
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 60_000)
  }
  const ask = async (range?: ByteRange, options: ReadOptions = {}, of = snapshots) => {
    const known = of.get('a.log', statSync(path), range, options)
    if (known) return known
    const fd = openSync(path, 'r')
    try {
      return await of.read(fd, 'a.log', range, options)
    } finally {
      closeSync(fd)
    }
  }
  const bytesOf = async (read: StoreRead | null) =>
    Buffer.from(await (read!.body as Blob).slice().arrayBuffer())
  const targetOf = (name: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      return ''
    }
  }
  const isCopy = (target: string) => target.includes(`nodestate-${process.pid}-`)
  const copyNames = () => readdirSync('/proc/self/fd').map(targetOf).filter(isCopy)
  /** Descriptors of this test's copies. */
  const copies = () =>
    readdirSync('/proc/self/fd').filter((name) => isCopy(targetOf(name)) && !before.has(targetOf(name)))
  /** Opens the copies that are not held yet, as an answer on its way does. */
  const hold = (held: number[]) => {
    const known = held.map((fd) => targetOf(String(fd)))
    for (const name of copies())
      if (!known.includes(targetOf(name)) && !held.includes(Number(name)))
        held.push(openSync(`/proc/self/fd/${name}`, 'r'))
  }

  it('are right to the byte, for any range of the last 8 MiB', async () => {
    const text = Buffer.from(
      Array.from({ length: 900_000 }, (_, i) => `line ${i} of a log\n`).join(''),
    ).subarray(0, 12 * MIB + 77)
    writeFileSync(path, text)
    const { length } = text
    const ranges: [ByteRange, number, number][] = [
      [{ suffix: 5 * MIB }, length - 5 * MIB, length],
      [{ suffix: 2 * MIB + 1 }, length - 2 * MIB - 1, length],
      [{ suffix: 8 * MIB }, length - 8 * MIB, length],
      [{ offset: length - 6 * MIB }, length - 6 * MIB, length],
      [{ offset: length - 6 * MIB, length: 3 * MIB }, length - 6 * MIB, length - 3 * MIB],
      [{ offset: length - 6 * MIB, length: 1e9 }, length - 6 * MIB, length],
    ]
    for (const [range, from, to] of ranges) {
      const read = await ask(range)
      expect(read).toMatchObject({ offset: from, length: to - from })
      expect((await bytesOf(read)).equals(text.subarray(from, to))).toBe(true)
      expect(text.indexOf(read!.head!, from)).toBe(from)
    }
  })

  it('are none of a short range, of one that begins early, and of a file that is written', async () => {
    writeFileSync(path, Buffer.alloc(9 * MIB, 'a\n'))
    expect(await ask({ suffix: MIB })).toBeNull()
    expect(await ask()).toBeNull()
    vi.restoreAllMocks()
    expect(await ask({ suffix: 5 * MIB })).toBeNull()
    expect(copies()).toEqual([])
  })

  it('are asked the conditions of a read', async () => {
    writeFileSync(path, Buffer.alloc(3 * MIB, 'a\n'))
    const { etag } = (await ask())!.entry
    expect((await ask(undefined, { ifMatch: etag }))?.length).toBe(3 * MIB)
    await expect(ask(undefined, { ifNoneMatch: etag })).rejects.toMatchObject({ code: 'unchanged' })
    await expect(ask(undefined, { ifMatch: '"other"' })).rejects.toMatchObject({ code: 'changed' })
  })

  it('are made once for all who come at once', async () => {
    writeFileSync(path, Buffer.alloc(5 * MIB, 'a\n'))
    const reads = await Promise.all(Array.from({ length: 30 }, () => ask({ suffix: 4 * MIB })))
    for (const read of reads) expect(read?.body).toBeInstanceOf(Blob)
    expect(copies()).toHaveLength(1)
  })

  it('stay as they are when the file is changed in place', async () => {
    writeFileSync(path, Buffer.alloc(3 * MIB, 'old\n'))
    await ask()
    const copy = openSync(`/proc/self/fd/${copies()[0]}`, 'r')
    writeFileSync(path, Buffer.alloc(4 * MIB, 'new\n'))
    expect((await bytesOf(await ask())).equals(Buffer.alloc(4 * MIB, 'new\n'))).toBe(true)
    expect(readFileSync(copy).equals(Buffer.alloc(3 * MIB, 'old\n'))).toBe(true)
    closeSync(copy)
  })

  it('are given up when the file changes while they are made', async () => {
    writeFileSync(path, Buffer.alloc(6 * MIB, 'old\n'))
    const asked = ask()
    setTimeout(() => appendFileSync(path, 'more\n'), 3)
    const read = await asked
    if (read) expect(await bytesOf(read)).toHaveLength(6 * MIB + 5)
    expect((await bytesOf(await ask())).equals(readFileSync(path))).toBe(true)
  })

  it('are given up when the file changes and is asked for anew while they are made', async () => {
    const [old, other] = [Buffer.alloc(6 * MIB, 'old\n'), Buffer.alloc(6 * MIB, 'new\n')]
    writeFileSync(path, old)
    let second: ReturnType<typeof ask> | null = null
    let writes = 0
    const write = vi.mocked(fs.writeSync).getMockImplementation()!
    vi.mocked(fs.writeSync).mockImplementation(((...args: Parameters<typeof write>) => {
      if (++writes === 4) {
        writeFileSync(path, other)
        second = ask()
      }
      return write(...args)
    }) as typeof write)
    try {
      for (const read of [await ask(), await second!, await ask()])
        if (read) expect((await bytesOf(read)).equals(other)).toBe(true)
      expect(writes).toBeGreaterThan(12)
    } finally {
      vi.mocked(fs.writeSync).mockImplementation(write)
    }
  })

  it('are read a tick after the file was first seen: a change in the same tick shows in no time', async () => {
    for (let i = 0; i < 3; i++) {
      writeFileSync(path, Buffer.alloc(2 * MIB, `${i}\n`))
      const start = performance.now()
      expect(await ask()).not.toBeNull()
      expect(performance.now() - start).toBeGreaterThanOrEqual(19)
      expect(await ask()).not.toBeNull()
    }
  })

  it('are closed a while after they were let go, and no sooner', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    for (let i = 0; i < 3; i++) {
      writeFileSync(path, Buffer.alloc((2 + i) * MIB, 'a\n'))
      expect(await ask()).not.toBeNull()
    }
    expect(copies()).toHaveLength(3)
    vi.advanceTimersByTime(9_000)
    expect(copies()).toHaveLength(3)
    vi.advanceTimersByTime(2_000)
    expect(copies()).toHaveLength(1)
  })

  it('are no more than four, with those that slow clients hold', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const held: number[] = []
    const change = (i: number) => writeFileSync(path, Buffer.alloc(2 * MIB + i, 'a\n'))
    for (let i = 1; i <= 4; i++) {
      change(i)
      expect(await ask()).not.toBeNull()
      hold(held)
      expect(held).toHaveLength(i)
    }
    vi.advanceTimersByTime(20_000)
    change(5)
    expect(await ask()).toBeNull()
    vi.advanceTimersByTime(20_000)
    expect(copies()).toHaveLength(4)
    for (const fd of held) closeSync(fd)
    expect(copies()).toEqual([])
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 5_000)
    expect((await ask())?.length).toBe(2 * MIB + 5)
  })

  it('are done without where there is no place for them', async () => {
    writeFileSync(path, Buffer.alloc(3 * MIB, 'a\n'))
    const nowhere = new Snapshots(new Tails(), files, join(directory, 'none'))
    expect(await ask(undefined, {}, nowhere)).toBeNull()
    expect(await ask(undefined, {}, nowhere)).toBeNull()
  })

  it('leave no name behind, and nobody else may open them by one', async () => {
    writeFileSync(path, Buffer.alloc(3 * MIB, 'a\n'))
    await ask()
    expect(readdirSync('/dev/shm').filter((name) => name.includes(`nodestate-${process.pid}-`))).toEqual([])
    expect(statSync(`/proc/self/fd/${copies()[0]}`).mode & 0o777).toBe(0o600)
  })

  it('never hold a byte that the file did not have, whatever its writer does', {
    timeout: 60_000,
  }, async () => {
    const random = wholes(4711)
    const fill = () => Buffer.alloc(random(4 * MIB) + MIB, `${random(1e9)}\n`)
    const operations = [
      () => appendFileSync(path, `${random(1e9)}\n`.repeat(1 + random(3000))),
      () => truncateSync(path, random(statSync(path).size)),
      () => writeFileSync(path, fill()),
      // To the same size at once, in place: only the times can tell.
      () => writeFileSync(path, Buffer.alloc(statSync(path).size, `${random(1e9)}\n`)),
      () => {
        writeFileSync(`${path}.new`, fill())
        renameSync(`${path}.new`, path)
      },
      () => {
        const fd = openSync(path, 'r+')
        writeSync(fd, `${random(1e9)}`, random(statSync(path).size))
        if (random(2)) ftruncateSync(fd, statSync(path).size + random(5000))
        closeSync(fd)
      },
      () => chmodSync(path, 0o600 + random(0o177)),
      () => {},
      () => {},
    ]
    // No copy is held by anyone: what was let go is closed at once, so that there is always room.
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void) => {
      run()
      return { unref() {} }
    }) as never)
    writeFileSync(path, fill())
    let given = 0
    for (let i = 0; i < 200; i++) {
      operations[random(operations.length)]!()
      const suffix = MIB + random(6 * MIB)
      const read = await ask({ suffix })
      if (!read) continue
      given++
      const now = readFileSync(path)
      expect(read.entry.size, `step ${i}`).toBe(now.length)
      expect((await bytesOf(read)).equals(now.subarray(-suffix)), `step ${i}`).toBe(true)
      expect(now.subarray(-suffix).subarray(0, read.head!.length).equals(read.head!), `step ${i}`).toBe(true)
    }
    expect(given).toBeGreaterThan(100)
    expect(copies().length).toBeLessThanOrEqual(1)
  })
})
