import { concat } from '../../kit/bytes.ts'
import { Budget } from '../../kit/limits/budget.ts'
import type { Clock } from '../../kit/limits/clock.ts'
import { soundsCompressed } from '../../store/codec/kind.ts'
import { type Entry, MissingBytes, StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import type { LogFiles } from '../files/files.ts'
import { type Family, lastFor, nameIn, placeIn } from '../rotated/family.ts'
import { isRotatedName } from '../rotated/names.ts'
import { findAmong } from '../rotated/open.ts'
import { listFamily, newestFilesOf } from '../rotated/relatives.ts'
import type { ArchiveLimits } from '../text/archive.ts'
import { collect, equal } from '../text/bytes.ts'
import { type Cursor, fingerprint, isDistinctive, PRINT_READ } from '../text/cursor.ts'
import { kindOf } from '../text/kind.ts'
import { type Opener, openText } from '../text/open.ts'
import type { Text } from '../text/text.ts'
import { bytesIn, type Change, type Followed, moveChange } from './change.ts'
import { beginningOf, pastHole } from './holes.ts'
import { unlessMoving } from './moving.ts'
import { copiesAfter, copySince, endBefore, isUnfinished, nextAfter, wasRotated } from './neighbours.ts'

/** Bytes per read, and per poll. */
const READ_BYTES = 1024 * 1024
const MAX_POLLED = 4 * READ_BYTES

/** The pause between two checks for a newer file if the store has no mark: a list may be a request to a bucket. */
const LOOK_MS = 2000
/** File times are coarse: a list made later than this after a change shows all of it. */
const COARSE_MS = 50
/** A list of a large directory is made again after this many times what it cost, but no later than this. */
const LOOK_PER_COST = 30
const LOOK_MOST_MS = 5000
/** How long a file that is gone is looked for while the log has none under its own name. */
const LOST_MS = 5000

/**
 * Follows a log as it grows, through rotations. A renamed file is read to its end before the new one; the rest of a file
 * that was copied and truncated is read from the copy; and a file with a date in its name is left once a newer one has
 * grown. At each read, the last bytes prove that the file is still the same.
 */
export class Tracker {
  readonly #files: LogFiles
  readonly #file: string
  readonly #opener: Opener
  readonly #clock: Clock
  #name: string
  #id: string | null = null
  #offset = 0
  /** When it was last changed, as far as it was seen. */
  #modified = 0
  /** The last bytes before the offset. */
  #seen: Uint8Array = new Uint8Array(0)
  /** The version that the store need not send again; undefined while there may be more to read. */
  #etag: string | undefined
  /** The rest of a file that was compressed meanwhile. */
  #archive: Text | null = null
  /** Whether the file was renamed, so that a new one under its name is to be expected. */
  #renamed = false
  /** Whether it moves on to newer files. */
  #moves = true
  /** A newer file that is still empty. */
  #awaited: string | null = null
  /** Since when neither its file nor one under the log's own name is there. */
  #lostAt: number | null = null
  /** When the next check for a newer file is due. */
  #lookAt = 0
  /** The state of the directory at the last list, and when it was first and last listed in that state. */
  #listed: { mark: string | null; since: number; last: number } = { mark: null, since: 0, last: 0 }

  private constructor(files: LogFiles, file: string, limits: ArchiveLimits, clock: Clock) {
    this.#files = files
    this.#file = file
    this.#name = file
    this.#opener = { files, limits, budget: new Budget({ clock }) }
    this.#clock = clock
  }

  /**
   * Starts at the current end of the newest file of a log. With `alone`, it starts at the end of the file itself and
   * stays with it: a file that is not the newest of its log does not grow.
   */
  static async open(
    files: LogFiles,
    file: string,
    { limits, alone, archived, clock }: Omit<Followed, 'file'> & { limits: ArchiveLimits; clock: Clock },
  ): Promise<Tracker> {
    const tracker = new Tracker(files, file, limits, clock)
    tracker.#moves = !alone
    if (!alone) await tracker.#toNewest()
    const name = tracker.#name
    if (soundsCompressed(name) && (await kindOf(files, await files.stat(name))) !== 'plain') {
      if (archived && (await tracker.#toEndBefore(null))) return tracker
      throw new LogError('unsupported', 'A compressed file does not grow; view it without follow.')
    }
    const got = await files.read(name, { suffix: PRINT_READ })
    const seen = await collect(got)
    if (!alone && !isDistinctive(seen) && (await tracker.#toEndBefore(name))) return tracker
    tracker.#id = got.entry.id ?? null
    tracker.#offset = got.entry.size
    tracker.#modified = got.entry.modified
    tracker.#seen = seen
    tracker.#etag = got.entry.etag
    return tracker
  }

  /** Only a name with a date or number, or a log that reuses its names in turn, needs a list. */
  async #toNewest(): Promise<void> {
    if (!isRotatedName(this.#file) && (this.#files.revision?.() ?? null) === null) return
    const family = await listFamily(this.#opener, this.#file)
    const last = lastFor(family, this.#file)
    const newest = last < 0 ? this.#file : nameIn(family, family.members[last]!, this.#file)
    // An archive does not grow, whatever the order says: the file that was asked for may.
    if (!soundsCompressed(newest) || soundsCompressed(this.#file)) this.#name = newest
  }

  /** Moves to the end of the file before one that has no text yet, or too little. False if there is none. */
  async #toEndBefore(name: string | null, listed?: Family): Promise<boolean> {
    const family = listed ?? (await listFamily(this.#opener, this.#file))
    const found = await endBefore(this.#opener, family, name)
    if (!found) return false
    this.#enter(found.text.entry, found.text, family)
    this.#offset = found.size
    this.#seen = found.seen
    return true
  }

  /** The current place: everything before was sent. */
  get place(): Cursor {
    const print = fingerprint(this.#seen, this.#offset - this.#seen.length)
    return { name: this.#name, id: this.#id, offset: this.#offset, print }
  }

  /** Whether it waits for a new file to grow, so that it should look again soon. */
  get between(): boolean {
    return this.#renamed || this.#awaited !== null
  }

  /** At most `length` bytes before the place, from after any hole on; null if the file was replaced. */
  async before(length: number): Promise<Uint8Array | null> {
    const from = Math.max(0, this.#offset - length)
    if (this.#archive) return this.#archive.read(from, this.#offset)
    const got = await this.#files
      .read(this.#name, { offset: from, length: this.#offset - from })
      .catch((error) => {
        if (!(error instanceof MissingBytes) || error.missing.to >= this.#offset) throw error
        return error.missing
      })
    if ('to' in got) return this.before(this.#offset - got.to)
    const bytes = await collect(got)
    const whole = (got.entry.id ?? null) === this.#id && bytes.length === this.#offset - from
    return whole && equal(bytes.subarray(bytes.length - this.#seen.length), this.#seen) ? bytes : null
  }

  /** Adds what happened. Returns whether there is more than one poll returns. */
  async advance(changes: Change[]): Promise<boolean> {
    for (let steps = 0; steps < 32 && bytesIn(changes) < MAX_POLLED; steps++) {
      const read = await this.#readOn(changes)
      if (read === 'skipped') continue
      if (read instanceof Uint8Array) {
        changes.push(this.#data(read))
        continue
      }
      if (read === 'lost' || read === 'emptied') {
        if (!(await (read === 'lost' ? this.#relocate(changes) : this.#toCopy(changes)))) return false
        continue
      }
      if (!(await this.#mayMove()) || !(await this.#toNext(changes))) return false
    }
    return true
  }

  #data(bytes: Uint8Array): Change {
    return { kind: 'data', name: this.#name, id: this.#id, offset: this.#offset - bytes.length, bytes }
  }

  /**
   * What comes next in the file: bytes, `end`, `lost` when the file under the name is another one, `emptied` when it was
   * empty and is empty again, or `skipped` when bytes are missing.
   */
  async #readOn(changes: Change[]): Promise<Uint8Array | 'end' | 'lost' | 'emptied' | 'skipped'> {
    const back = this.#seen.length
    try {
      if (this.#archive) {
        const to = Math.min(await this.#archive.size(), this.#offset + READ_BYTES)
        return to <= this.#offset ? 'end' : this.#move(await this.#archive.read(this.#offset, to))
      }
      const got = await this.#files.read(
        this.#name,
        { offset: this.#offset - back, length: back + READ_BYTES },
        { ifNoneMatch: this.#etag },
      )
      const bytes = await collect(got)
      const { id = null, size, etag, modified } = got.entry
      if (id !== this.#id || size < this.#offset || !equal(bytes.subarray(0, back), this.#seen)) return 'lost'
      // Too little was read to recognize the file by its bytes, so its time of change decides.
      if (this.#offset === back && !isDistinctive(this.#seen) && modified > this.#modified) {
        if (size === 0) return 'emptied'
        const since = { entry: got.entry, bytes, back, since: this.#modified }
        const copy = await copySince(this.#opener, this.#file, since)
        if (copy && back > 0) return this.#goOnIn(copy, changes)
        if (copy) changes.push({ kind: 'gap', file: this.#file })
      }
      this.#modified = modified
      this.#etag = size === this.#offset - back + bytes.length ? etag : undefined
      return bytes.length === back ? 'end' : this.#move(bytes.subarray(back))
    } catch (error) {
      if (error instanceof StoreError && error.code === 'unchanged') return 'end'
      // Replaced while it was read: the next poll shows by what.
      if (error instanceof StoreError && error.code === 'changed') return 'lost'
      if (error instanceof LogError && error.code === 'unknown-file') return 'lost'
      if (!(error instanceof MissingBytes)) throw error
      const next = await pastHole(this.#files, this.place, error.missing)
      if (next instanceof Uint8Array) return this.#move(next)
      return next ? this.#skipTo(next, changes) : 'lost'
    }
  }

  /** Goes on after missing bytes. If they had been sent before they expired, nothing is lost, but they no longer prove the place. */
  #skipTo({ offset, print }: Pick<Cursor, 'offset' | 'print'>, changes: Change[]): 'skipped' {
    this.#seen = this.#seen.slice(this.#seen.length - Math.max(0, this.#offset - offset))
    if (offset <= this.#offset) return 'skipped'
    this.#offset = offset
    changes.push({ kind: 'missing', file: this.#file, place: { ...this.place, print } })
    return 'skipped'
  }

  #move(bytes: Uint8Array): Uint8Array {
    this.#offset += bytes.length
    const known = bytes.length >= PRINT_READ ? bytes : concat([this.#seen, bytes])
    this.#seen = known.slice(Math.max(0, known.length - PRINT_READ))
    return bytes
  }

  /** Searches for the file among the files of its log. False if it can only wait. */
  async #relocate(changes: Change[]): Promise<boolean> {
    const family = await listFamily(this.#opener, this.#file)
    const found = await unlessMoving(() => findAmong(this.#opener, family, this.place, this.#modified))
    if (found === undefined) return false
    if (found !== null) {
      this.#goOnIn(found, changes)
      return true
    }
    const last = this.#successor(family)
    if (!last) return false
    this.#lostAt = null
    // The same file was truncated; another one means that the old file is gone, with everything not yet read.
    const truncated = (last.id ?? null) === this.#id && nameIn(family, last, this.#file) === this.#name
    const change = { kind: truncated ? ('truncated' as const) : ('gap' as const), file: this.#file }
    // An archive may be newer only because it was made late, of text that was sent, if any was.
    const isSent = this.#offset > 0 && this.#isMissing(family) && soundsCompressed(last.key)
    if ((isSent || last.size === 0) && (await this.#toEndBefore(isSent ? null : last.key, family))) {
      changes.push(change, { kind: 'place', place: this.place })
      return true
    }
    const first = await unlessMoving(() => this.#start(last, family))
    if (!first) return false
    changes.push(change, this.#data(first))
    return true
  }

  /** Goes on at the same offset of a file that was renamed, copied or compressed. */
  #goOnIn(found: Text, changes: Change[]): 'skipped' {
    if (!this.#renamed && found.name !== this.#name)
      changes.push({ kind: 'rotated', file: this.#name, to: found.name })
    this.#lostAt = null
    this.#renamed = found.name !== this.#file
    this.#name = found.name
    this.#id = found.entry.id ?? null
    this.#etag = undefined
    this.#archive = found.compressed ? found : null
    this.#lookAt = 0
    return 'skipped'
  }

  /**
   * An empty file has nothing that proves it is the same, except its time: what was written to it may have been copied and
   * truncated since the last poll. Continues in the first copy. False if it can only wait.
   */
  async #toCopy(changes: Change[]): Promise<boolean> {
    const family = await listFamily(this.#opener, this.#file)
    const own = placeIn(family, this.#name)
    if (own < 0) return false
    const copies = copiesAfter(this.#modified, family, own)
    const copy = copies.find(({ size }) => size > 0)
    if (copy) return this.#moveTo(copy, family, { isWhole: family.certain, isRenamed: false }, changes)
    // The copy of an empty file shows that nothing was lost.
    if (copies.length === 0) changes.push({ kind: 'truncated', file: this.#file })
    this.#modified = family.members[own]!.modified
    return true
  }

  /**
   * The file to continue with when the old one is gone. While the log has no file under its own name, it is undefined for
   * some seconds: files are moved one after the other.
   */
  #successor(family: Family): Entry | undefined {
    if (!this.#isMissing(family)) return family.members[lastFor(family, this.#file)]
    const now = this.#clock.elapsed()
    this.#lostAt ??= now
    if (now - this.#lostAt < LOST_MS) return undefined
    const { members } = family
    const newest = members.findLast(({ size, modified }) => size > 0 && modified > this.#modified)
    // An empty one has nothing to continue with, but the old one is gone, with what was written to it meanwhile.
    return newest ?? (members.at(-1)?.size === 0 ? members.at(-1) : undefined)
  }

  /** Whether the log has no file under its own name at the moment: the writer opens it later. */
  #isMissing(family: Family): boolean {
    return !isRotatedName(this.#file) && placeIn(family, this.#file) < 0
  }

  /** Whether a list is worth its cost now: something may have appeared, or what was expected has grown. */
  async #mayMove(): Promise<boolean> {
    if (!this.#moves) return false
    const revision = this.#files.revision?.() ?? null
    const awaited = this.#renamed ? this.#file : this.#awaited
    if (awaited !== null) {
      const entry = await unlessMoving(() => this.#files.stat(awaited))
      if (entry && entry.size > 0) return true
    }
    const { mark, since, last } = this.#listed
    if (revision !== null && revision === mark && last - since >= COARSE_MS) return false
    if (awaited === null && newestFilesOf(this.#files).has(this.#name, this.#file)) return false
    if (revision === null && awaited === null && !isRotatedName(this.#name)) return false
    return this.#clock.elapsed() >= this.#lookAt
  }

  /** From the end of a file to the next one, once that has grown: until then, the writer may not have moved. */
  async #toNext(changes: Change[]): Promise<boolean> {
    const began = this.#clock.elapsed()
    const mark = this.#files.revision?.() ?? null
    const family = await listFamily(this.#opener, this.#file)
    const cost = Math.min(LOOK_MOST_MS, (this.#clock.elapsed() - began) * LOOK_PER_COST)
    const at = placeIn(family, this.#name)
    // Another rotation may have given the name to another file. A plain file is proven by the read below.
    if (this.#archive && family.members[at]?.etag !== this.#archive.entry.etag) return this.#relocate(changes)
    const state = { isRenamed: this.#renamed, seen: this.#modified }
    const next = at < 0 ? undefined : nextAfter(at, family, this.#file, state)
    this.#awaited = next && next.size === 0 ? next.key : null
    const { mark: known, since } = this.#listed
    // Only a list that shows nothing to move on to need not be made again.
    const empty = !next || next.size === 0
    this.#listed = { mark: empty ? mark : null, since: mark === known ? since : began, last: began }
    if (!next || empty) {
      this.#lookAt = this.#clock.elapsed() + Math.max(cost, mark === null && !this.#renamed ? LOOK_MS : 0)
      return false
    }
    // The writer moved after its last line here: what it wrote until then is there now.
    const last = await this.#readOn(changes)
    if (last instanceof Uint8Array) changes.push(this.#data(last))
    if (last !== 'end') return true
    const isWhole = family.certain && !family.members[at]!.gap
    return this.#moveTo(next, family, { isWhole, isRenamed: this.#renamed }, changes)
  }

  /** Moves on to another file and adds that. False if it can only wait. */
  async #moveTo(
    entry: Entry,
    family: Family,
    move: { isWhole: boolean; isRenamed: boolean },
    changes: Change[],
  ): Promise<boolean> {
    const from = this.#name
    const first = await unlessMoving(() => this.#start(entry, family))
    if (!first) return false
    const change = moveChange(this.#file, { ...move, from, to: this.#name })
    if (change) changes.push(change)
    changes.push(this.#data(first))
    return true
  }

  /**
   * Moves on to another file. Nothing changes before its first line is read, or enough of it: without that, nothing but its
   * identity would find it again after the next rotation. A compression takes that away, and a truncation keeps it.
   */
  async #start(entry: Entry, family: Family): Promise<Uint8Array> {
    const text = await openText(this.#opener, entry)
    const bytes = await beginningOf(text, READ_BYTES)
    if (isUnfinished(bytes, entry, family) || (await wasRotated(this.#opener, this.#file, family, entry)))
      throw new StoreError('changed', `"${entry.key}" has only the beginning of a line, or was rotated`)
    this.#enter(entry, text, family)
    return this.#move(bytes)
  }

  /** The start of another file becomes the place. */
  #enter(entry: Entry, text: Text, family: Family): void {
    this.#name = nameIn(family, entry, this.#file)
    // Of several rotations at once, this may be a file in between: the log's own comes later.
    this.#renamed = this.#name !== this.#file && (family.fixed || this.#isMissing(family))
    this.#awaited = null
    this.#lookAt = 0
    this.#id = entry.id ?? null
    this.#modified = entry.modified
    this.#offset = 0
    this.#seen = new Uint8Array(0)
    this.#etag = undefined
    this.#archive = text.compressed ? text : null
  }
}
