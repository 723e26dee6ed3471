import { BoundedMap } from '../../limits/bounded-map.ts'
import type { Entry } from '../../store/store.ts'
import type { LogFiles } from '../files/files.ts'
import { detectFormat } from '../format/detect.ts'
import { lineEnd } from '../format/lines.ts'
import { hashBytes } from '../text/cursor.ts'
import type { Text } from '../text/text.ts'
import { UTC } from '../time.ts'
import type { Head } from './family.ts'

/** How much of a file is read: enough that two files which begin alike are copies. */
const HEAD = 4096
const REMEMBERED = 4096

/** The heads of files, by version: a renamed file keeps its own. */
export class Heads {
  readonly #known = new BoundedMap<string, Head>(REMEMBERED)

  get(entry: Entry): Head | undefined {
    return entry.size === 0 ? NOTHING : this.#known.get(versionOf(entry))
  }

  /** Reads the head of a file and remembers it. */
  async read(text: Text): Promise<void> {
    const { time, print } = headOf(await text.head(HEAD), text.entry)
    this.#remember(text, { time, print, ...(!text.compressed && { length: text.entry.size }) })
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

const heads = new WeakMap<LogFiles, Heads>()

/** The heads that are remembered for a node's log files. */
export function headsOf(files: LogFiles): Heads {
  const known = heads.get(files) ?? new Heads()
  heads.set(files, known)
  return known
}

const NOTHING: Head = { time: null, print: null }

/** A rename changes the etag of a file, but not its identity. */
function versionOf({ id, size, modified, etag }: Entry): string {
  return id === undefined ? etag : `${id} ${size} ${modified}`
}

function headOf(bytes: Uint8Array, { modified }: Entry): Head {
  for (const time of recordTimes(bytes, modified))
    return { time, print: `${bytes.length}:${hashBytes(bytes, 0, bytes.length)}` }
  return NOTHING
}

/** The times of the records in a file's first bytes. `modified`: some formats have no year, or no date. */
export function* recordTimes(bytes: Uint8Array, modified: number): Generator<number> {
  const format = detectFormat(bytes, undefined, { reference: modified })
  if (!format.timed) return
  for (let at = 0; at < bytes.length; ) {
    const end = lineEnd(bytes, at, bytes.length)
    // Any zone will do: only the times of one log are compared with each other.
    const time = format.starts(bytes, at, end) ? format.time(bytes, at, end, UTC) : Number.NaN
    if (!Number.isNaN(time)) yield time
    at = end + 1
  }
}
