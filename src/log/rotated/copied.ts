import type { Entry } from '../../store/store.ts'
import { equal } from '../text/bytes.ts'
import type { Text } from '../text/text.ts'
import { isActive, type RotatedFile } from './by-name.ts'
import type { NamedFiles } from './kin.ts'
import { parseName } from './names.ts'

/** How much is compared at the beginning of a copy, and at its end. */
const COMPARED = 4096
/**
 * A copy is made while the log is being written, so it is hardly older than the log. With a larger limit, a short file
 * that merely begins as the log does would count as a copy, such as the log of a job that always writes the same lines.
 * The price: lines appear twice if the clock is set forward in the millisecond between copy and truncation.
 */
const COPY_MS = 2000

/**
 * `copytruncate` copies a log and then truncates it. In between, the copy is the beginning of the log under another name,
 * and not another part of it. This finds the only file that may be such a copy, by sizes and times; null if there is none.
 */
export function copyIn(name: string, { files }: NamedFiles): { copy: Entry; active: Entry } | null {
  const { stem } = parseName(name)
  const active = files.find(({ entry, compressed }) => entry.key === stem && !compressed)?.entry
  // Objects in a bucket are not truncated.
  if (!active || active.id === undefined || active.appendOnly) return null
  const mayBeCopy = (file: RotatedFile) =>
    file.stem === stem && !file.compressed && !isActive(file) && isRecent(file.entry, active)
  let copy: Entry | null = null
  for (const file of files)
    if (mayBeCopy(file) && (copy === null || file.entry.modified > copy.modified)) copy = file.entry
  return copy && { copy, active }
}

function isRecent({ id, size, modified }: Entry, active: Entry): boolean {
  return size > 0 && size <= active.size && id !== active.id && active.modified - modified < COPY_MS
}

/** Whether a text is the beginning of another one, by its first and its last bytes. */
export async function isBeginningOf(copy: Text, whole: Text): Promise<boolean> {
  const isEqual = async (from: number, to: number) =>
    equal(await copy.read(from, to), await whole.read(from, to))
  const size = await copy.size()
  if (!(await isEqual(0, Math.min(size, COMPARED)))) return false
  return size <= COMPARED || isEqual(Math.max(COMPARED, size - COMPARED), size)
}
