import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  openSync,
  read as readCallback,
  readdirSync,
  readlinkSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type ByteRange, clampRange, type ReadOptions, type StoreRead } from '../store.ts'
import { checkConditions, isSame, readAtOnce, SLICE, shrunk } from './file.ts'
import type { Snapshot } from './snapshot.ts'
import { type Hot, KEPT_OF_ONE, restlessFor, type Tails } from './tails.ts'

/** Bun hands a file to the kernel from 1 MiB on; a shorter part goes out faster from memory. */
const LEAST = 2 * SLICE + 1
/** A file that was written to so lately will be written to again: its copy would be of no use. */
const REST_MS = 2000
/** How many copies there may be, with those that only slow clients still hold: 32 MiB at most. */
const MOST = 4
/** After there were too many, or no room: so long no other is tried. */
const PAUSE_MS = 1000
/** Bun opens the file by the descriptor's number, when it renders the answer: until long after, it must be no other's. */
const GRACE_MS = 10_000
/** Memory that looks like files, on any Linux. */
const SHM = '/dev/shm'
const OPEN_FILES = '/proc/self/fd'

const readAsync = promisify(readCallback)

/** What is used of Bun. */
interface Files {
  file(path: string): Blob
}

/**
 * Long ends of files at rest as files that the server sends itself: the kernel then takes the pages as they are, and a
 * client that reads slowly holds none of our memory. Not from the log file: once handed over, nobody can look at what
 * is sent, and a log that is truncated and written anew would go out mixed. So it is sent from a copy, made once per
 * state of the file. A copy is right for as long as a remembered tail is.
 */
export class Snapshots {
  readonly #tails: Tails
  readonly #files: Files
  readonly #place: string
  /** Names of copies that may still be open, by us or by an answer. */
  #made: string[] = []
  #notBefore = 0

  constructor(tails: Tails, files: Files, place = SHM) {
    this.#tails = tails
    this.#files = files
    this.#place = place
  }

  /** A range of a file that was just looked at, if there is a copy of it. */
  get(key: string, stats: Stats, range: ByteRange | undefined, options: ReadOptions): StoreRead | null {
    const hot = this.#tails.known(key, stats)
    return hot?.snapshot ? this.#give(hot, range, options) : null
  }

  /** A range of an open file, after a copy was made of it; null when it is not worth one, or none can be made. */
  async read(
    fd: number,
    key: string,
    range: ByteRange | undefined,
    options: ReadOptions,
  ): Promise<StoreRead | null> {
    // Whoever comes meanwhile waits for the same copy; should it begin too late in the file, for one more.
    for (let tries = 0; tries < 2; tries++) {
      const hot = this.#tails.look(key, fstatSync(fd))
      const { offset, length } = clampRange(range, hot.entry.size)
      const bytes = hot.entry.size - offset
      if (length < LEAST || bytes > KEPT_OF_ONE || !isAtRest(hot.stats)) return null
      const given = this.#give(hot, range, options)
      if (given) return given
      hot.making ??= this.#make(fd, hot, offset).finally(() => {
        hot.making = null
      })
      await hot.making
    }
    const hot = this.#tails.look(key, fstatSync(fd))
    return this.#give(hot, range, options)
  }

  #give(hot: Hot, range: ByteRange | undefined, options: ReadOptions): StoreRead | null {
    const { snapshot, entry } = hot
    const { offset, length } = clampRange(range, entry.size)
    if (!snapshot || offset < snapshot.base || length < LEAST) return null
    checkConditions(entry, options)
    if (snapshot.last?.offset !== offset || snapshot.last.length !== length) {
      const at = offset - snapshot.base
      // The same first slice that a stream would have, so that the same is seen of it.
      const first = Math.min(length, (Math.floor(offset / SLICE) + 1) * SLICE - offset)
      const head = readAtOnce(snapshot.fd, hot.key, at, first)
      snapshot.last = { offset, length, body: snapshot.file.slice(at, at + length), head }
    }
    return { entry, ...snapshot.last }
  }

  /** Makes a copy from `base` on, unless the file changes meanwhile. */
  async #make(fd: number, hot: Hot, base: number): Promise<void> {
    const { version, stats, key } = hot
    if (!this.#hasRoom()) return
    const name = `${this.#place}/nodestate-${process.pid}-${randomUUID()}`
    let copy: number | null = null
    let kept = false
    try {
      // Read later than a tick after its times were first seen, so that these times tell of any change.
      const restless = restlessFor(hot)
      if (restless > 0) await sleep(restless)
      if (!isSame(fstatSync(fd), stats)) return
      copy = openSync(name, 'wx+', 0o600)
      unlinkSync(name)
      this.#made.push(name)
      await copyRange(fd, key, base, stats.size, copy)
      if (hot.version !== version || !isSame(fstatSync(fd), stats)) return
      kept = this.#tails.keepSnapshot(hot, this.#snapshot(copy, base, stats.size - base))
    } catch {
      // No room there, or no right to write: the slices serve as well.
      this.#notBefore = performance.now() + PAUSE_MS
    } finally {
      if (copy !== null && !kept) closeSync(copy)
    }
  }

  #snapshot(fd: number, base: number, bytes: number): Snapshot {
    return {
      base,
      bytes,
      fd,
      file: this.#files.file(`${OPEN_FILES}/${fd}`),
      last: null,
      close: () => void setTimeout(() => closeSync(fd), GRACE_MS).unref(),
    }
  }

  /** Whether there may be one more. Only the system knows which copies slow clients still hold: it is asked. */
  #hasRoom(): boolean {
    if (performance.now() < this.#notBefore) return false
    if (this.#made.length < MOST) return true
    const open = openFiles()
    this.#made = this.#made.filter((name) => open.has(`${name} (deleted)`))
    if (this.#made.length < MOST) return true
    this.#notBefore = performance.now() + PAUSE_MS
    return false
  }
}

/** What makes files that a server sends by itself: Bun on Linux, from the version on that this was tried with. */
export function sendableFiles(): Files | null {
  const { Bun: bun } = globalThis as { Bun?: Files & { version: string } }
  if (!bun || process.platform !== 'linux') return null
  const [major = 0, minor = 0] = bun.version.split('.').map(Number)
  if (major < 1 || (major === 1 && minor < 4)) return null
  try {
    readdirSync(OPEN_FILES)
    return bun
  } catch {
    return null
  }
}

function isAtRest({ mtimeMs, ctimeMs }: Stats): boolean {
  return Date.now() - Math.max(mtimeMs, ctimeMs) > REST_MS
}

async function copyRange(fd: number, key: string, from: number, to: number, copy: number): Promise<void> {
  const buffer = new Uint8Array(SLICE)
  for (let at = from; at < to; ) {
    const { bytesRead } = await readAsync(fd, buffer, 0, Math.min(SLICE, to - at), at)
    if (bytesRead === 0) throw shrunk(key)
    for (let done = 0; done < bytesRead; )
      done += writeSync(copy, buffer, done, bytesRead - done, at - from + done)
    at += bytesRead
  }
}

/** What the descriptors of this process stand for. */
function openFiles(): Set<string> {
  const targets = new Set<string>()
  for (const name of readdirSync(OPEN_FILES)) {
    try {
      targets.add(readlinkSync(`${OPEN_FILES}/${name}`))
    } catch {
      // Closed meanwhile: the one that the list itself was read with, at least.
    }
  }
  return targets
}
