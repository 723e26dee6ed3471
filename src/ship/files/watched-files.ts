import { COMPRESSED_NAME } from '../../store/codec/kind.ts'
import type { LeftFile } from '../../store/segment/ship-json.ts'
import { type Disk, type DiskFile, type Listed, UnreadableLog } from './disk.ts'
import { type FileText, openText } from './text.ts'

/** A file of a log at one check. */
export interface WatchedFile extends Listed {
  text: FileText
  file: DiskFile
  /** When it was first missing from the directory; null while it is there. */
  gone: number | null
  /** The sizes that were seen, and when each was seen first. */
  growth: readonly Growth[]
}

type Stat = Awaited<ReturnType<DiskFile['stat']>>

interface Growth {
  size: number
  at: number
}

/** A file that is completely in the bucket, in the version that was compared with it. */
interface Proof {
  life: number
  version: string
  name: string
  changed: number
}

/** Sorts one log's files, oldest first; names that are not separate files are left out. */
export type Order = (files: readonly Listed[]) => Promise<Listed[]>

/** How often a check restarts because files moved meanwhile, before it waits for the next turn. */
const TRIES = 8
/** How many sizes of a file to remember; after that, every second one is forgotten. */
const GROWTH = 500

/**
 * The files of one log that are not proven to be in the bucket, kept open between checks, so that a file removed before
 * it was shipped can still be read. A check counts only if names and inodes are the same before and after all files
 * were opened: a rotation in between would hide a file. Bound: one open file for each that waits.
 */
export class WatchedFiles {
  readonly #disk: Disk
  readonly #order: Order
  /** The open files, oldest first. */
  files: readonly WatchedFile[] = []
  #ordered: readonly Listed[] = []
  /** How many checks counted. */
  looks = 0
  released = 0
  readonly #proven = new Map<string, Proof>()
  /** Files that cannot be opened. */
  refused: readonly LeftFile[] = []
  /** Lists the log's files again. */
  listNow: () => Promise<Listed[]> = async () => []

  constructor(disk: Disk, order: Order) {
    this.#disk = disk
    this.#order = order
  }

  /** The sizes of all files in the directory at the last check that counted, by inode. */
  get sizes(): ReadonlyMap<string, number> {
    return new Map(this.#ordered.map(({ id, size }) => [id, size]))
  }

  /** Whether a file is the newest of the log, and plain text. */
  isActive(id: string): boolean {
    const newest = this.#ordered.at(-1)
    return newest?.id === id && !COMPRESSED_NAME.test(newest.name)
  }

  /** Whether a file is newer than another one in the directory. */
  isNewer(id: string, than: string): boolean {
    return this.#placeOf(id) > this.#placeOf(than)
  }

  /** The proven lives of the files that are newer than one. */
  provenAfter(id: string): number[] {
    const place = this.#placeOf(id)
    return this.#ordered.flatMap((file, i) => (i > place ? (this.#proven.get(file.id)?.life ?? []) : []))
  }

  hasProven(life: number): boolean {
    return [...this.#proven.values()].some((proof) => proof.life === life)
  }

  /** Checks the files; false if they keep moving. `listed` are this log's files, as just listed. */
  async look(listed: readonly Listed[], again: () => Promise<Listed[]>, now: number): Promise<boolean> {
    let current = listed
    for (let tries = 0; tries < TRIES; tries++) {
      const ordered = await this.#order(current)
      const wanted = ordered.filter((file) => !this.#isProven(file))
      const { opened, refused, isMoving } = await this.#open(wanted)
      const gone = await this.#statGone(wanted)
      const after = await again()
      // A turn may have proven a file meanwhile: then the check restarts without it.
      const isThere = ({ id, name }: Listed) =>
        opened.has(id) ||
        this.files.some((file) => file.id === id) ||
        refused.some((file) => file.name === name)
      if (!isMoving && wanted.every(isThere) && namesOf(current) === namesOf(after)) {
        this.#merge(wanted, opened, gone, now)
        this.#ordered = ordered
        this.refused = refused
        this.listNow = again
        this.looks++
        const there = new Set(ordered.map(({ id }) => id))
        for (const id of this.#proven.keys()) if (!there.has(id)) this.#proven.delete(id)
        return true
      }
      for (const file of opened.values()) await file.close()
      current = after
    }
    return false
  }

  /** A file is completely in the bucket as this life: it is opened again only when it changes. */
  async prove(file: WatchedFile, life: number): Promise<void> {
    const { id, name, changed } = file
    if (file.gone === null) this.#proven.set(id, { life, version: versionOf(file), name, changed })
    this.files = this.files.filter((other) => other.id !== id)
    await file.file.close()
  }

  /** Closes a file that is gone from the directory. */
  async release(file: WatchedFile): Promise<void> {
    this.files = this.files.filter(({ id }) => id !== file.id)
    this.released++
    await file.file.close()
  }

  async close(): Promise<void> {
    for (const { file } of this.files) await file.close()
    this.files = []
  }

  /** The place in the order; a file that is gone comes directly before the next one that is not. */
  #placeOf(id: string): number {
    const place = this.#ordered.findIndex((file) => file.id === id)
    if (place >= 0) return place
    const at = this.files.findIndex((file) => file.id === id)
    const next = this.files.slice(at + 1).find(({ gone }) => gone === null)
    return next ? this.#ordered.findIndex((file) => file.id === next.id) - 0.5 : this.#ordered.length
  }

  /** A rename changes the time of change, but not the content. */
  #isProven(file: Listed): boolean {
    const proof = this.#proven.get(file.id)
    if (!proof) return false
    const isTouched = proof.changed !== file.changed && proof.name === file.name
    if (isTouched || proof.version !== versionOf(file)) {
      this.#proven.delete(file.id)
      return false
    }
    proof.name = file.name
    proof.changed = file.changed
    return true
  }

  /** Opens what is not open yet. One that is refused does not stop the others. */
  async #open(wanted: readonly Listed[]) {
    const opened = new Map<string, DiskFile>()
    const refused: LeftFile[] = []
    for (const { name, id } of wanted) {
      if (this.files.some((file) => file.id === id)) continue
      try {
        const file = await this.#disk.open(name)
        if (file) opened.set(file.id, file)
        if (file?.id !== id) return { opened, refused, isMoving: true }
      } catch (error) {
        if (!(error instanceof UnreadableLog)) throw error
        refused.push({ name, reason: `it cannot be opened (${error.message.replace(/^.*: /, '')})` })
      }
    }
    return { opened, refused, isMoving: false }
  }

  /** What open files that are not in the directory are now: one may be truncated, and then replaced by another. */
  async #statGone(wanted: readonly Listed[]): Promise<Map<string, Stat>> {
    const there = new Set(wanted.map(({ id }) => id))
    const stats = new Map<string, Stat>()
    for (const { id, file } of this.files) {
      // A turn may close it meanwhile.
      const stat = there.has(id) ? null : await file.stat().catch(() => null)
      if (stat) stats.set(id, stat)
    }
    return stats
  }

  #merge(
    wanted: readonly Listed[],
    opened: ReadonlyMap<string, DiskFile>,
    stats: ReadonlyMap<string, Stat>,
    now: number,
  ): void {
    const present = wanted.flatMap((listed): WatchedFile[] => {
      const known = this.files.find(({ id }) => id === listed.id)
      const file = known?.file ?? opened.get(listed.id)
      if (!file) return []
      const text = known?.name === listed.name ? known.text : openText(file, listed.name)
      return [{ ...listed, text, file, gone: null, growth: grown(known?.growth ?? [], listed.size, now) }]
    })
    // A file that is gone keeps its place: before the files that came after it, otherwise after those before it.
    const merged = [...present]
    const there = new Set(wanted.map(({ id }) => id))
    for (const file of this.files.filter(({ id }) => !there.has(id)).reverse()) {
      const place = this.files.indexOf(file)
      const isIn = (part: readonly WatchedFile[]) => (other: WatchedFile) =>
        part.some(({ id }) => id === other.id)
      const next = merged.findIndex(isIn(this.files.slice(place + 1)))
      const at = next >= 0 ? next : merged.findLastIndex(isIn(this.files.slice(0, place))) + 1
      const { size, modified } = stats.get(file.id) ?? file
      const growth = grown(file.growth, size, now)
      merged.splice(at, 0, { ...file, size, modified, growth, gone: file.gone ?? now })
    }
    this.files = merged
  }
}

/** When the byte at an offset was first seen; null if the file has never been that long. */
export function seenAt({ growth }: WatchedFile, offset: number): number | null {
  return growth.find(({ size }) => size > offset)?.at ?? null
}

/** Which file a life began in. */
export function identityOf({ id, born }: Listed): string {
  return `${id}:${born}`
}

function grown(growth: readonly Growth[], size: number, at: number): readonly Growth[] {
  const last = growth.at(-1)?.size ?? 0
  if (size === last) return growth
  const kept = size < last ? [] : growth.length < GROWTH ? growth : growth.filter((_, i) => i % 2 === 0)
  return [...kept, { size, at }]
}

function namesOf(files: readonly Listed[]): string {
  return files
    .map(({ name, id }) => `${name}\0${id}`)
    .sort()
    .join('\n')
}

function versionOf({ name, size, modified }: Listed): string {
  return `${size} ${modified} ${COMPRESSED_NAME.test(name)}`
}
