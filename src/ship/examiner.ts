import type { End } from '../store/segment/names.ts'
import type { Bucket } from './bucket.ts'
import { type Beginnings, readBeginnings } from './files/checksums.ts'
import { type Disk, type Listed, type Native, UnreadableArchive, UnreadableLog } from './files/disk.ts'
import { type FileText, openText } from './files/text.ts'
import { identityOf, type WatchedFile } from './files/watched-files.ts'
import {
  beginsWith,
  type Memory,
  placesOf,
  recall,
  recallBegin,
  recallLife,
  type Shipped,
  tailOf,
} from './memory.ts'

/** What a file's content says about it. */
export interface Examined {
  file: WatchedFile
  /** Bytes of text. */
  size: number
  /** The finished life that is this file, to the last byte. */
  equals: Shipped | null
  /** The largest finished life that the file begins with and continues past. */
  behind: Shipped | null
  /** The unfinished lives that the file begins with. */
  holds: readonly number[]
}

/** Of the finished lives that a file may continue, at most this many are listed. */
const MOST_BEHIND = 5

interface ExaminerContext {
  log: string
  bucket: Bucket
  native: Native
}

/** Compares the content of files with lives. Remembers what it found: a few numbers for each file that waits. */
export class Examiner {
  readonly #context: ExaminerContext
  readonly #known = new Map<string, { version: string; state: string; examined: Examined | null }>()
  /** Archives that cannot be read: they are broken, or still being written. */
  broken: WatchedFile[] = []
  #putOff: WatchedFile[] = []

  constructor(context: ExaminerContext) {
    this.#context = context
  }

  get hasPutOff(): boolean {
    return this.#putOff.length > 0
  }

  /**
   * What the contents of a log's files say, oldest first. The newest are read first. Those that are older than one that
   * was shipped, most likely shipped themselves, are put off, so that the active file does not wait for them; unless
   * one of them must be the file of an unfinished life. Files that belong to lives are read in any case.
   */
  async examineAll(files: readonly WatchedFile[], memory: Memory, hasLife: (id: string) => boolean) {
    const there = new Set(files.map(({ id }) => id))
    for (const id of this.#known.keys()) if (!there.has(id)) this.#known.delete(id)
    this.broken = []
    this.#putOff = []
    const isEmpty = memory.ends.size === 0 && memory.open.size === 0
    const missing = new Set([...memory.open.values()].filter(({ size }) => size > 0).map(({ life }) => life))
    const found: Examined[] = []
    let isBehind = false
    for (const file of files.toReversed()) {
      let known = hasLife(file.id) ? undefined : this.known(file)
      const isVague =
        missing.size > 0 || (known && (known.holds.length > 0 || memory.open.has(known.behind?.life ?? 0)))
      if (isVague && !this.isCurrent(file, memory)) known = undefined
      if (known === undefined && isBehind && missing.size === 0) {
        this.#putOff.unshift(file)
        continue
      }
      if (known === undefined && isEmpty)
        known = { file, size: file.size, equals: null, behind: null, holds: [] }
      known ??= known === null ? null : await this.examine(file, memory)
      if (known === null) {
        this.broken.push(file)
        continue
      }
      found.unshift(known)
      for (const life of known.holds) missing.delete(life)
      isBehind ||= known.equals !== null
    }
    return found
  }

  /** Compares the newest of the files that were put off; null if there is none, or if it cannot be read. */
  async examineOne(memory: Memory): Promise<Examined | null> {
    const file = this.#putOff.pop()
    return file ? this.examine(file, memory) : null
  }

  /**
   * What was found out about a file, perhaps when the bucket had less than now; undefined if this version of it was not
   * examined, null if it is an archive that cannot be read.
   */
  known(file: WatchedFile): Examined | null | undefined {
    const known = this.#known.get(file.id)
    if (known?.version !== versionOf(file)) return undefined
    return known.examined && { ...known.examined, file }
  }

  /** Whether a file was examined with all that is in the bucket now. */
  isCurrent(file: WatchedFile, memory: Memory): boolean {
    return this.known(file) !== undefined && this.#known.get(file.id)?.state === stateOf(memory)
  }

  /** Reads a file and compares it with every life that it may be; null if it is an archive that cannot be read. */
  async examine(file: WatchedFile, memory: Memory): Promise<Examined | null> {
    const [version, state] = [versionOf(file), stateOf(memory)]
    const examined = await this.#examine(file, memory).catch((error: unknown) => {
      if (error instanceof UnreadableArchive) return null
      throw error
    })
    this.#known.set(file.id, { version, state, examined })
    return examined
  }

  async #examine(file: WatchedFile, memory: Memory): Promise<Examined> {
    const { log, bucket, native } = this.#context
    const { text } = file
    // A finished life that gets late lines is open again.
    const ends = [...memory.ends.values()].filter(({ life, size }) => size > 0 && !memory.open.has(life))
    const open = [...memory.open.values()].filter(({ size }) => size > 0)
    const listed = new Map<number, Shipped>()
    const list = async (wanted: readonly End[]) => {
      for (const { life } of wanted) listed.set(life, await recallLife(bucket, log, life))
    }
    const plainSize = text.compressed ? null : await text.size()
    await list(ends.filter(({ size }) => size === plainSize))
    for (;;) {
      const places = [
        ...ends.flatMap((end) => [tailOf(end).from, end.size]),
        ...[...open, ...listed.values()].flatMap(placesOf),
      ]
      const read = await readBeginnings(text, places, native, text.compressed)
      const size = plainSize ?? read.size
      const wanted = candidates(ends, size, read).filter(({ life }) => !listed.has(life))
      if (wanted.length > 0) {
        await list(wanted)
        continue
      }
      const finished = [...listed.values()].filter((life) => life.size <= size && beginsWith(read, life))
      // Late lines may be in the bucket without a new end: they were shipped by a run that was killed.
      const isEnded = ({ life, size }: Shipped) => memory.ends.get(life)!.size === size
      const before = finished.filter((life) => life.size < size || !isEnded(life))
      return {
        file,
        size,
        equals: finished.find((life) => life.size === size && isEnded(life)) ?? null,
        behind: before.sort((a, b) => b.size - a.size)[0] ?? null,
        holds: open
          .filter((shipped) => shipped.size <= size && beginsWith(read, shipped))
          .map(({ life }) => life),
      }
    }
  }

  /** Whether the first bytes of two texts are the same. */
  async isBeginning(copy: FileText, size: number, text: FileText): Promise<boolean> {
    const { native } = this.#context
    const [one, other] = await Promise.all(
      [copy, text].map((text) => readBeginnings(text, [size], native, false)),
    )
    return one!.sum(size) !== null && one!.sum(size) === other!.sum(size)
  }

  /** Whether a file was the one that a life began in. */
  async isBegun(file: Listed, life: number): Promise<boolean> {
    const { log, bucket } = this.#context
    return (await recallBegin(bucket, log, life))?.young.file === identityOf(file)
  }
}

/** Opens a file of the directory and compares it; `gone` if it is not there any more. */
export async function examineListed(
  examiner: Examiner,
  listed: Listed,
  memory: Memory,
  disk: Disk,
): Promise<Examined | 'gone' | null> {
  const file = await disk.open(listed.name)
  if (!file) return 'gone'
  try {
    const text = openText(file, listed.name)
    return await examiner.examine({ ...listed, text, file, gone: null, growth: [] }, memory)
  } finally {
    await file.close()
  }
}

/** Returns a function that says whether a file was shipped as part of a log. */
export async function shippedAs(context: ExaminerContext, disk: Disk) {
  const examiner = new Examiner(context)
  const memory = await recall(context.bucket, context.log)
  return async (listed: Listed): Promise<boolean> => {
    const found = await examineListed(examiner, listed, memory, disk).catch((error: unknown) => {
      if (error instanceof UnreadableLog) return null
      throw error
    })
    if (!found || found === 'gone') return false
    if (found.equals) return true
    for (const life of [...found.holds, ...(found.behind ? [found.behind.life] : [])])
      if (await examiner.isBegun(listed, life)) return true
    return false
  }
}

/** The ends that a text may be, or continue: the last bytes are there. The largest of those that are smaller come first. */
function candidates(ends: readonly End[], size: number, read: Beginnings): End[] {
  // A life that was lost or cut may have an end without a checksum.
  const isUnknown = ({ how, crc }: End) => how !== 'end' && crc === 0
  const isThere = (end: End) => isUnknown(end) || read.holds(tailOf(end))
  const smaller = ends.filter((end) => end.size < size && isThere(end))
  smaller.sort((a, b) => Number(isUnknown(a)) - Number(isUnknown(b)) || b.size - a.size)
  return [...ends.filter((end) => end.size === size && isThere(end)), ...smaller.slice(0, MOST_BEHIND)]
}

function versionOf({ size, modified, text }: WatchedFile): string {
  return `${size} ${modified} ${text.compressed}`
}

/** What the bucket has, as far as it matters for a file that is not shipped yet. */
function stateOf({ ends, open }: Memory): string {
  const bytes = [...ends.values()].reduce((sum, { size }) => sum + size, 0)
  return `${ends.size} ${bytes} ${[...open.values()].map(({ life, size }) => `${life}:${size}`).join()}`
}
