import { soundsCompressed } from '../../codec/kind.ts'
import { type Entry, StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { type Family, placeIn } from '../rotated/family.ts'
import { isTelling } from '../text/cursor.ts'
import { type Opener, openText } from '../text/open.ts'
import { type TextEnd, textEnd } from '../text/text.ts'

/** An archive is read to its end, unless it is larger than this. */
const MOST_UNPACKED = 4 * 1024 * 1024

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
  if (!entry || (soundsCompressed(entry.key) && entry.size > MOST_UNPACKED)) return null
  try {
    return await textEnd(await openText(opener, entry))
  } catch (error) {
    if (error instanceof LogError || (error instanceof StoreError && error.code === 'denied')) return null
    throw error
  }
}

/** Whether a file has only the beginning of its first line, and may grow: one that another file follows has ended. */
export function isUnfinished(bytes: Uint8Array, entry: Entry, { members }: Family): boolean {
  return bytes.length > 0 && !isTelling(bytes) && entry === members.findLast(({ size }) => size > 0)
}
