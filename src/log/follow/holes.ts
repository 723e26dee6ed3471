import { type Missing, MissingBytes } from '../../store/store.ts'
import type { LogFiles } from '../files/files.ts'
import { collect } from '../text/bytes.ts'
import type { Cursor } from '../text/cursor.ts'
import type { Text } from '../text/text.ts'

/**
 * How a follower goes on where bytes are missing: with the bytes before them, or at the offset after them. Null if the
 * file is another one now.
 */
export async function pastHole(
  files: LogFiles,
  { name, id, offset }: Cursor,
  { from, to }: Missing,
): Promise<Uint8Array | number | null> {
  if (from <= offset) return ((await files.stat(name)).id ?? null) === id ? to : null
  const got = await files.read(name, { offset, length: from - offset })
  const bytes = await collect(got)
  return (got.entry.id ?? null) === id ? bytes : null
}

/** The first bytes of a text; none if some of them are missing, which shows when it is read on. */
export async function beginningOf(text: Text, most: number): Promise<Uint8Array> {
  try {
    return await text.read(0, Math.min(await text.size(), most))
  } catch (error) {
    if (error instanceof MissingBytes) return new Uint8Array(0)
    throw error
  }
}
