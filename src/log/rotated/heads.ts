import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import type { Entry } from '../../store/store.ts'
import { perFiles } from '../files/files.ts'
import { detectFormat } from '../format/detect.ts'
import { wholePrint } from '../text/cursor.ts'
import { timesIn } from '../text/format.ts'
import type { Text } from '../text/text.ts'
import { UTC } from '../time.ts'
import type { Head } from './family.ts'
import { parseDashed } from './names.ts'

/** How much of a file is read: enough that two files which begin alike are copies. */
const HEAD_BYTES = 4096
/** How much is read for the time of the last record, where that is needed. */
const TAIL = 16 * 1024
const REMEMBERED = 4096
const STRAY_MS = 3_600_000

/** The heads of files, by version: a renamed file keeps its own. */
export class Heads {
  readonly #known = new BoundedMap<string, Head>(REMEMBERED)

  get(entry: Entry): Head | undefined {
    return entry.size === 0 ? NOTHING : this.#known.get(versionOf(entry))
  }

  async read(text: Text): Promise<void> {
    const head = headOf(await text.head(HEAD_BYTES), text.entry)
    const { key, size } = text.entry
    if (text.compressed) return this.#remember(text, head)
    this.#remember(text, { ...head, length: size })
    if (head.time !== null && parseDashed(key)) await this.end(text)
  }

  /** Reads the end of a plain file for the time of its last record. */
  async end(text: Text): Promise<void> {
    const head = this.get(text.entry)
    const last = head && !text.compressed ? await lastTime(text) : undefined
    if (last !== undefined) this.#remember(text, { ...head!, last })
  }

  /** Reads a compressed file to its end for the length of its text. */
  async measure(text: Text): Promise<void> {
    const head = this.get(text.entry)
    if (head) this.#remember(text, { ...head, length: await text.size() })
    await text.release?.()
  }

  #remember(text: Text, head: Head): void {
    this.#known.set(versionOf(text.entry), head)
  }
}

/** The heads that are remembered for a node's log files. */
export const headsOf = perFiles(() => new Heads())

const NOTHING: Head = { time: null, print: null }

/** A rename changes the etag of a file, but not its identity. Shipped files of several logs share both. */
function versionOf({ key, id, size, modified, etag, appendOnly }: Entry): string {
  if (appendOnly) return `${key} ${etag}`
  return id === undefined ? etag : `${id} ${size} ${modified}`
}

function headOf(bytes: Uint8Array, { modified }: Entry): Head {
  const times = recordTimes(bytes, modified)
  const [first, second, third] = [times.next(), times.next(), times.next()].map(({ value }) => value)
  const begin = wholePrint(bytes)
  if (first === undefined) return { ...NOTHING, begin }
  const time = isStray(first, second, third) ? second! : first
  return { time, print: `${begin.length}:${begin.hash}`, begin }
}

/** A wrong date in a file's first line must not put the file elsewhere: the two records after it know better. */
function isStray(first: number, second?: number, third?: number): boolean {
  if (second === undefined || third === undefined) return false
  return Math.abs(third - second) < STRAY_MS && Math.abs(first - second) > STRAY_MS
}

/** The time of the last record; undefined if the last bytes have none. */
async function lastTime(text: Text): Promise<number | undefined> {
  const { size, modified } = text.entry
  const from = Math.max(0, size - TAIL)
  const bytes = await text.read(from, size)
  const start = from === 0 ? 0 : bytes.indexOf(0x0a) + 1
  let last: number | undefined
  for (const time of recordTimes(bytes.subarray(start), modified)) last = time
  return last
}

/** The times of the records in a file's first bytes. `modified`: some formats have no year, or no date. */
export function* recordTimes(bytes: Uint8Array, modified: number): Generator<number> {
  const format = detectFormat(bytes, undefined, { reference: modified })
  // Any zone will do: only the times of one log are compared with each other.
  if (format.timed) yield* timesIn(format, UTC, bytes)
}
