import { soundsCompressed } from '../../codec/kind.ts'
import { type Entry, StoreError } from '../../store/store.ts'
import { Budget } from '../../work/budget.ts'
import { LogError } from '../error.ts'
import type { LogFiles } from '../files/files.ts'
import type { ArchiveLimits } from '../text/archive.ts'
import { collect } from '../text/bytes.ts'
import { type Cursor, fingerprint, PRINT_READ } from '../text/cursor.ts'
import { kindOf } from '../text/kind.ts'
import { findAmong, listFamily, type Opener, openText } from '../text/open.ts'
import { equal, type Text } from '../text/text.ts'

/** What happened to a log: bytes were appended, or something happened to its file. */
export type Change =
  | { kind: 'data'; name: string; id: string | null; offset: number; bytes: Uint8Array }
  | { kind: 'rotated'; file: string; to: string }
  | { kind: 'truncated'; file: string }
  | { kind: 'gap'; file: string }

/** Bytes per read, and per poll. */
const BATCH = 1024 * 1024
const MAX_POLLED = 4 * BATCH

/**
 * Goes along with a log as it grows, through rotations: a renamed file is read to its end and then the new one, a
 * file that was copied and truncated in its copy. What the file was before is proven by its last bytes at each read.
 */
export class Tracker {
  readonly #files: LogFiles
  readonly #file: string
  readonly #opener: Opener
  #name: string
  #id: string | null = null
  #offset = 0
  /** The last bytes before the offset. */
  #seen: Uint8Array = new Uint8Array(0)
  /** What the store need not send again; undefined while there may be more to read. */
  #etag: string | undefined
  /** The rest of a file that was compressed meanwhile. */
  #archive: Text | null = null

  private constructor(files: LogFiles, file: string, limits: ArchiveLimits) {
    this.#files = files
    this.#file = file
    this.#name = file
    this.#opener = { files, limits, budget: new Budget() }
  }

  /** Starts at the present end of a file. */
  static async open(files: LogFiles, file: string, limits: ArchiveLimits): Promise<Tracker> {
    const tracker = new Tracker(files, file, limits)
    if (soundsCompressed(file) && (await kindOf(files, await files.stat(file))) !== 'plain')
      throw new LogError('unsupported', 'A compressed file does not grow; view it without follow.')
    const got = await files.read(file, { suffix: PRINT_READ })
    tracker.#id = got.entry.id ?? null
    tracker.#offset = got.entry.size
    tracker.#seen = await collect(got)
    tracker.#etag = got.entry.etag
    return tracker
  }

  /** Where it is: everything before was given. */
  get place(): Cursor {
    const print = fingerprint(this.#seen, this.#offset - this.#seen.length)
    return { name: this.#name, id: this.#id, offset: this.#offset, print, inside: false }
  }

  /** Whether it waits in a renamed file for the new one to grow, so that it should look again soon. */
  get between(): boolean {
    return this.#name !== this.#file
  }

  /** The bytes right before the place, at most `length`; null when the file is no longer what it was. */
  async before(length: number): Promise<Uint8Array | null> {
    if (this.#archive) return null
    const from = Math.max(0, this.#offset - length)
    const got = await this.#files.read(this.#name, { offset: from, length: this.#offset - from })
    const bytes = await collect(got)
    const whole = (got.entry.id ?? null) === this.#id && bytes.length === this.#offset - from
    return whole && equal(bytes.subarray(bytes.length - this.#seen.length), this.#seen) ? bytes : null
  }

  /** Looks for changes. `more` says that there are more than one look brings. */
  async poll(): Promise<{ changes: Change[]; more: boolean }> {
    const changes: Change[] = []
    try {
      return { changes, more: await this.#advance(changes) }
    } catch (error) {
      // What was read is read: it goes out, and the failure shows again at the next look if it has not passed.
      if (changes.length > 0) return { changes, more: true }
      throw error
    }
  }

  /** Adds what happened. Returns whether there is more than one look brings. */
  async #advance(changes: Change[]): Promise<boolean> {
    let total = 0
    for (let steps = 0; steps < 32; steps++) {
      const read = await this.#readOn()
      if (read instanceof Uint8Array) {
        changes.push({
          kind: 'data',
          name: this.#name,
          id: this.#id,
          offset: this.#offset - read.length,
          bytes: read,
        })
        total += read.length
        if (total >= MAX_POLLED) return true
        continue
      }
      if (read === 'lost') {
        if (!(await this.#relocate(changes))) return false
        continue
      }
      if (!this.between || !(await this.#toNext(changes))) return false
    }
    return true
  }

  /** What comes next in the file: bytes, `end`, or `lost` when the file under the name is another one. */
  async #readOn(): Promise<Uint8Array | 'end' | 'lost'> {
    if (this.#archive) return this.#readArchive(this.#archive)
    const back = this.#seen.length
    try {
      const got = await this.#files.read(
        this.#name,
        { offset: this.#offset - back, length: back + BATCH },
        { ifNoneMatch: this.#etag },
      )
      const bytes = await collect(got)
      const { id = null, size, etag } = got.entry
      if (id !== this.#id || size < this.#offset || !equal(bytes.subarray(0, back), this.#seen)) return 'lost'
      this.#etag = size === this.#offset - back + bytes.length ? etag : undefined
      if (bytes.length === back) return 'end'
      return this.#move(bytes.subarray(back))
    } catch (error) {
      if (error instanceof StoreError && error.code === 'unchanged') return 'end'
      // Replaced while it was read: the next look tells by what.
      if (error instanceof StoreError && error.code === 'changed') return 'lost'
      if (error instanceof LogError && error.code === 'unknown-file') return 'lost'
      throw error
    }
  }

  async #readArchive(archive: Text): Promise<Uint8Array | 'end' | 'lost'> {
    try {
      const to = Math.min(await archive.size(), this.#offset + BATCH)
      return to <= this.#offset ? 'end' : this.#move(await archive.read(this.#offset, to))
    } catch (error) {
      if (error instanceof StoreError && error.code === 'changed') return 'lost'
      if (error instanceof LogError && error.code === 'unknown-file') return 'lost'
      throw error
    }
  }

  #move(bytes: Uint8Array): Uint8Array {
    this.#offset += bytes.length
    const known = bytes.length >= PRINT_READ ? bytes : joinEnd(this.#seen, bytes)
    this.#seen = known.slice(Math.max(0, known.length - PRINT_READ))
    return bytes
  }

  /** Looks for the file among its relatives. False when nothing can be done but wait. */
  async #relocate(changes: Change[]): Promise<boolean> {
    const family = await listFamily(this.#files, this.#file)
    const found = await this.#tolerant(() => findAmong(this.#opener, family, this.place))
    if (found === undefined) return false
    if (found !== null) {
      if (this.#name === this.#file && found.name !== this.#file)
        changes.push({ kind: 'rotated', file: this.#file, to: found.name })
      this.#name = found.name
      this.#id = found.entry.id ?? null
      this.#etag = undefined
      this.#archive = found.compressed ? found : null
      return true
    }
    const active = family.find(({ key }) => key === this.#file)
    if (!active) return false
    // In place, it was truncated; another file means that the old one is gone with what was not read of it.
    const truncated = (active.id ?? null) === this.#id && this.#name === this.#file
    changes.push({ kind: truncated ? 'truncated' : 'gap', file: this.#file })
    await this.#start(active)
    return true
  }

  /** From the end of a renamed file to the next one, once that has grown: until then, the writer may not have moved. */
  async #toNext(changes: Change[]): Promise<boolean> {
    const family = await listFamily(this.#files, this.#file)
    const at = family.findIndex(({ key }) => key === this.#name)
    // Another rotation may have given the name to another file. A plain file is proven by the read below.
    if (this.#archive && family[at]?.etag !== this.#archive.entry.etag) return this.#relocate(changes)
    const next = at < 0 ? undefined : family[at + 1]
    const own = family.findIndex(({ key }) => key === this.#file)
    if (!next || at >= own || (next.size === 0 && next.key === this.#file)) return false
    // The writer moved after its last line here: what it wrote until then is there now.
    const last = await this.#readOn()
    if (last === 'lost') return true
    if (last instanceof Uint8Array) {
      const offset = this.#offset - last.length
      changes.push({ kind: 'data', name: this.#name, id: this.#id, offset, bytes: last })
      return true
    }
    if (family[at]!.gap) changes.push({ kind: 'gap', file: this.#file })
    await this.#start(next)
    return true
  }

  /** Moves on to the start of another file. Nothing changes before it is open. */
  async #start(entry: Entry): Promise<void> {
    const text = await openText(this.#opener, entry)
    this.#name = entry.key
    this.#id = entry.id ?? null
    this.#offset = 0
    this.#seen = new Uint8Array(0)
    this.#etag = undefined
    this.#archive = text.compressed ? text : null
  }

  /** Files move while they are looked at; undefined means to look again later. */
  async #tolerant<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof StoreError && error.code === 'changed') return undefined
      if (error instanceof LogError && (error.code === 'unknown-file' || error.code === 'bad-archive'))
        return undefined
      throw error
    }
  }
}

function joinEnd(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}
