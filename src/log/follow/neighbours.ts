import { soundsCompressed } from '../../store/codec/kind.ts'
import { type Entry, StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { type Family, lastFor, placeIn } from '../rotated/family.ts'
import { listFamily } from '../rotated/relatives.ts'
import { equal } from '../text/bytes.ts'
import { isDistinctive } from '../text/cursor.ts'
import { type Opener, openText } from '../text/open.ts'
import { type Text, type TextEnd, textEnd } from '../text/text.ts'

/** An archive is read to its end, unless it is larger than this. */
const MOST_UNPACKED = 4 * 1024 * 1024

function isLargeArchive({ key, size }: Entry): boolean {
  return soundsCompressed(key) && size > MOST_UNPACKED
}

/**
 * The end of the file before an empty one, or without `name` of the newest file that has text: its last bytes prove a
 * place, and an empty file has none. Null if there is no such file that can be read, or only a large archive.
 */
export async function endBefore(
  opener: Opener,
  family: Family,
  name: string | null,
): Promise<TextEnd | null> {
  const at = name === null ? family.members.length : placeIn(family, name)
  const entry = family.members.slice(0, Math.max(0, at)).findLast(({ size }) => size > 0)
  if (!entry || isLargeArchive(entry)) return null
  return ifReadable(async () => textEnd(await openText(opener, entry)))
}

/**
 * The next file of a log that holds anything, or an empty one at the end. A file that `isRenamed` is before the log's own;
 * `seen` is when it was changed last, as far as a follower saw it.
 */
export function nextAfter(
  at: number,
  family: Family,
  file: string,
  { isRenamed, seen }: { isRenamed: boolean; seen: number },
): Entry | undefined {
  const { members } = family
  const own = members[at]!
  const last = lastFor(family, file)
  const end = isRenamed ? Math.max(last, placeIn(family, file)) : last
  // An archive may be made long after its text was written, and seem newer than the plain file that comes next.
  const since = ({ key }: Entry) =>
    soundsCompressed(own.key) && !soundsCompressed(key) ? seen : own.modified
  // Where the order is a guess, what has not changed since may have been read before.
  const isNewer = (entry: Entry) => family.certain || entry.modified >= since(entry)
  const newer = members.slice(at + 1, end + 1).filter(isNewer)
  return newer.find(({ size }) => size > 0) ?? newer.at(-1)
}

/** Whether a file has only the beginning of its first line and may still grow. One with a newer file after it is finished. */
export function isUnfinished(bytes: Uint8Array, entry: Entry, { members }: Family): boolean {
  return bytes.length > 0 && !isDistinctive(bytes) && entry === members.findLast(({ size }) => size > 0)
}

/**
 * Whether the file before this one has changed since the list. If so, this one may have been copied and truncated, and what
 * was read of it may have been written afterwards. Objects in a bucket are not truncated.
 */
export async function wasRotated(
  opener: Opener,
  file: string,
  { members }: Family,
  entry: Entry,
): Promise<boolean> {
  if (entry.id === undefined || entry.appendOnly) return false
  const now = await listFamily(opener, file)
  const before = now.members[placeIn(now, entry.key) - 1]
  // A file that has just been compressed is still the same one.
  if (!before || soundsCompressed(before.key)) return false
  return before.id !== members[members.indexOf(entry) - 1]?.id
}

/**
 * Files that may be copies of what was written to an empty one after a time, oldest first. An archive that was made late
 * has a new time, too, but files after it have not changed since.
 */
export function copiesAfter(time: number, { members }: Family, own: number): Entry[] {
  const others = members.filter((_, at) => at !== own)
  return others.slice(others.findLastIndex(({ modified }) => modified <= time) + 1)
}

/**
 * The file that may have what was written to another one after a time, before that was truncated and got the bytes that
 * it has now. The first `back` of these were seen before. A file that was restored since then looks the same. Objects in
 * a bucket are not truncated.
 */
export async function copySince(
  opener: Opener,
  file: string,
  { entry, bytes, back, since }: { entry: Entry; bytes: Uint8Array; back: number; since: number },
): Promise<Text | null> {
  if (entry.id === undefined || entry.appendOnly) return null
  const family = await listFamily(opener, file)
  const at = placeIn(family, entry.key)
  if (at < 0) return null
  const copy = copiesAfter(since, family, at).find(({ size }) => size > 0)
  if (!copy || family.members.indexOf(copy) > at || isLargeArchive(copy)) return null
  return ifReadable(async () => {
    const text = await openText(opener, copy)
    const head = await text.head(bytes.length)
    // A copy of these bytes shows that nothing came before them, unless it goes on.
    const isOther = !equal(head, bytes.subarray(0, head.length))
    const isLonger = bytes.length === entry.size && (await text.reaches(entry.size + 1))
    return (isOther || isLonger) && equal(head.subarray(0, back), bytes.subarray(0, back)) ? text : null
  })
}

/** What is read of another file; null if it cannot be read. Throws if it was moved meanwhile. */
async function ifReadable<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    const isUnreadable = error instanceof LogError && error.code !== 'unknown-file'
    if (isUnreadable || (error instanceof StoreError && error.code === 'denied')) return null
    throw error
  }
}
