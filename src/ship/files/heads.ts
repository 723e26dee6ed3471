import { recordTimes } from '../../log/rotated/heads.ts'
import { compressionByName } from '../../store/codec/kind.ts'
import type { Disk, DiskFile, Listed } from './disk.ts'

/** The time of the first record in a file, and of the last one in its first bytes. */
export interface HeadTimes {
  first: number
  last: number
}

/** How much of a file is read from its start, and from its end. */
const HEAD = 4096
const TAIL = 16 * 1024

/** The times in a file's head. `none`: it has none, or cannot be read. `moved`: the name has another file now. */
export async function readHead(disk: Disk, listed: Listed): Promise<HeadTimes | 'none' | 'moved'> {
  const found = await read(disk, listed, (file) => firstBytes(file, listed.name))
  if (!found) return 'moved'
  // The last line may be cut in the middle of its time.
  const whole = found.length < HEAD ? found.length : found.lastIndexOf(10) + 1
  return timesOf(found.subarray(0, whole || HEAD), listed) ?? 'none'
}

/** The time of the last record of a plain file; null if its last bytes have none. */
export async function readLast(disk: Disk, listed: Listed): Promise<number | null> {
  if (compressionByName(listed.name)) return null
  const from = Math.max(0, listed.size - TAIL)
  const bytes = await read(disk, listed, (file) => file.read(from, listed.size - from))
  const start = from === 0 ? 0 : (bytes?.indexOf(10) ?? 0) + 1
  return (bytes && timesOf(bytes.subarray(start), listed)?.last) ?? null
}

/** Null if the name has another file now. */
async function read<T>(disk: Disk, { name, id }: Listed, work: (file: DiskFile) => Promise<T>) {
  // If the file is needed for more than its times, opening it again says why it cannot be read.
  const file = await disk.open(name).catch(() => null)
  try {
    return file?.id === id ? await work(file) : null
  } finally {
    await file?.close()
  }
}

function timesOf(bytes: Uint8Array, { modified }: Listed): HeadTimes | null {
  const times = [...recordTimes(bytes, modified)]
  return times.length > 0 ? { first: times[0]!, last: times.at(-1)! } : null
}

async function firstBytes(file: DiskFile, name: string): Promise<Uint8Array> {
  const kind = compressionByName(name)
  if (!kind) return file.read(0, HEAD)
  if (kind !== 'gzip' && kind !== 'zstd') return new Uint8Array(0)
  const head = new Uint8Array(HEAD)
  let filled = 0
  try {
    for await (const piece of file.inflate(kind)) {
      const part = piece.subarray(0, HEAD - filled)
      head.set(part, filled)
      filled += part.length
      if (filled === HEAD) break
    }
  } catch {
    // A broken archive, or one that is still being written: what it gave is its head.
  }
  return head.subarray(0, filled)
}
