import { COMPRESSED_NAME } from '../codec/kind.ts'
import type { Disk, DiskFile, Listed } from './disk.ts'
import { type FileText, openText } from './text.ts'

/** A file of a log at one check. */
export interface LookedAt {
  text: FileText
  file: DiskFile
  name: string
  id: string
  size: number
  modified: number
  /** When it was first missing from the directory; null while it is there. */
  gone: number | null
  /** The sizes that were seen, and when each was seen first. */
  growth: readonly Growth[]
}

/** A file's size, and when it was first seen. */
interface Growth {
  size: number
  at: number
}

/** Sorts one log's files, oldest first; names that are not separate files are left out. */
export type Order = (files: readonly Listed[]) => Promise<Listed[]>

/** How often a check restarts because files moved meanwhile, before it waits for the next turn. */
const TRIES = 8
/** How many sizes of a file to remember; after that, every second one is forgotten. */
const GROWTH = 500

/**
 * The files of one log, kept open between checks, so that a file removed before it was shipped can still be read.
 * A check counts only if names and inodes are the same before and after all files were opened: a rotation in between
 * would hide a file.
 */
export class LogFiles {
  readonly #disk: Disk
  readonly #order: Order
  #held: LookedAt[] = []
  #looks = 0
  #released = 0
  /** Files that need not be opened again: they are completely shipped. */
  readonly #settled = new Map<string, string>()
  #isBound: (id: string) => boolean = () => false
  /** The names and inodes of the last check that counted, and how to list them again. */
  #shown = ''
  #list: () => Promise<Listed[]> = async () => []

  constructor(disk: Disk, order: Order) {
    this.#disk = disk
    this.#order = order
  }

  /** All open files, oldest first. */
  get files(): readonly LookedAt[] {
    return this.#held
  }

  /** How many checks counted. */
  get looks(): number {
    return this.#looks
  }

  /** The names and inodes of the last check that counted. */
  get shown(): string {
    return this.#shown
  }

  /** Whether the directory still has these names and inodes. */
  async shows(shown: string): Promise<boolean> {
    return namesOf(await this.#list()) === shown
  }

  /** How many files were given up. */
  get released(): number {
    return this.#released
  }

  /** Checks the files; false if they keep moving. `listed` are this log's files, as just listed. */
  async look(listed: readonly Listed[], again: () => Promise<Listed[]>, now: number): Promise<boolean> {
    let current = listed
    for (let tries = 0; tries < TRIES; tries++) {
      const ordered = await this.#order(current)
      const wanted = this.#wanted(ordered)
      const opened = await this.#open(wanted)
      const after = await again()
      // A turn may have settled a file meanwhile: then the check restarts without it.
      const isOpen = ({ id }: Listed) => opened?.has(id) || this.#held.some((file) => file.id === id)
      if (opened && wanted.every(isOpen) && namesOf(current) === namesOf(after)) {
        await this.#merge(wanted, opened, { listed: current, now })
        this.#shown = namesOf(current)
        this.#list = again
        this.#looks++
        return true
      }
      await closeAll(opened ?? new Map())
      current = after
    }
    return false
  }

  /** These files are completely shipped: they, and older ones, are checked again only when they change. */
  async settle(files: readonly LookedAt[]): Promise<void> {
    const ids = new Set(files.map(({ id }) => id))
    for (const file of files) if (file.gone === null) this.#settled.set(file.id, versionOf(file))
    this.#held = this.#held.filter(({ id }) => !ids.has(id))
    for (const { file } of files) await file.close()
  }

  /** Says which files belong to unfinished lives: these stay open, wherever they are in the order. */
  bind(isBound: (id: string) => boolean): void {
    this.#isBound = isBound
  }

  /** Closes a file that is gone from the directory. */
  async release(file: LookedAt): Promise<void> {
    this.#held = this.#held.filter(({ id }) => id !== file.id)
    this.#released++
    await file.file.close()
  }

  async close(): Promise<void> {
    for (const { file } of this.#held) await file.close()
    this.#held = []
  }

  /**
   * Files newer than the newest settled one. The order may be wrong, so the file of an unfinished life is wanted in any
   * case: it is held open, which makes its inode proof.
   */
  #wanted(ordered: readonly Listed[]): Listed[] {
    const isSettled = (file: Listed) => this.#settled.get(file.id) === versionOf(file)
    const there = new Set(ordered.map(({ id }) => id))
    for (const id of this.#settled.keys()) if (!there.has(id)) this.#settled.delete(id)
    const newest = ordered.findLastIndex(isSettled)
    const isHeld = (id: string) => this.#held.some((file) => file.id === id)
    return ordered.filter(({ id }, i) => i > newest || (isHeld(id) && this.#isBound(id)))
  }

  /** Opens what is not open yet; null if a name now belongs to another file. */
  async #open(wanted: readonly Listed[]): Promise<Map<string, DiskFile> | null> {
    const opened = new Map<string, DiskFile>()
    const isOpened = await this.#openAll(wanted, opened).catch(async (error: unknown) => {
      await closeAll(opened)
      throw error
    })
    if (isOpened) return opened
    await closeAll(opened)
    return null
  }

  async #openAll(wanted: readonly Listed[], opened: Map<string, DiskFile>): Promise<boolean> {
    for (const { name, id } of wanted) {
      if (this.#held.some((file) => file.id === id)) continue
      const file = await this.#disk.open(name)
      if (file) opened.set(id, file)
      if (file?.id !== id) return false
    }
    return true
  }

  async #merge(
    wanted: readonly Listed[],
    opened: Map<string, DiskFile>,
    { listed, now }: { listed: readonly Listed[]; now: number },
  ): Promise<void> {
    const present = wanted.map((listed): LookedAt => {
      const known = this.#held.find(({ id }) => id === listed.id)
      const file = known?.file ?? opened.get(listed.id)!
      const text = known?.name === listed.name ? known.text : openText(file, listed.name)
      return { ...listed, text, file, gone: null, growth: grown(known?.growth ?? [], listed.size, now) }
    })
    const there = new Set(wanted.map(({ id }) => id))
    const inDirectory = new Set(listed.map(({ id }) => id))
    // A file that is gone keeps its place: before the files that came after it, otherwise after those before it.
    const merged = [...present]
    const unwanted: DiskFile[] = []
    for (const file of this.#held.filter(({ id }) => !there.has(id)).reverse()) {
      // Still there, but older than the finished files: not needed.
      if (inDirectory.has(file.id)) {
        unwanted.push(file.file)
        continue
      }
      const place = this.#held.indexOf(file)
      const isIn = (part: readonly LookedAt[]) => (other: LookedAt) => part.some(({ id }) => id === other.id)
      const next = merged.findIndex(isIn(this.#held.slice(place + 1)))
      const at = next >= 0 ? next : merged.findLastIndex(isIn(this.#held.slice(0, place))) + 1
      merged.splice(at, 0, { ...file, gone: file.gone ?? now })
    }
    this.#held = merged
    for (const file of unwanted) await file.close()
  }
}

async function closeAll(files: ReadonlyMap<string, DiskFile>): Promise<void> {
  for (const file of files.values()) await file.close()
}

/** When the byte at an offset was first seen; null if the file has never been that long. */
export function seenAt({ growth }: LookedAt, offset: number): number | null {
  return growth.find(({ size }) => size > offset)?.at ?? null
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

function versionOf({ name, size, modified }: { name: string; size: number; modified: number }): string {
  return `${size} ${modified} ${COMPRESSED_NAME.test(name)}`
}
