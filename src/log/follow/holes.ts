import { type Missing, MissingBytes } from '../../store/store.ts'
import type { LogFiles } from '../files/files.ts'
import { collect } from '../text/bytes.ts'
import { type Cursor, fingerprint, PRINT_READ } from '../text/cursor.ts'
import type { Text } from '../text/text.ts'

/**
 * How a follower goes on where bytes are missing: with the bytes before them, or at the place after them, which only what
 * follows can prove. Null if the file is another one now.
 */
export async function pastHole(
  files: LogFiles,
  { name, id, offset }: Cursor,
  { from, to }: Missing,
): Promise<Uint8Array | Pick<Cursor, 'offset' | 'print'> | null> {
  const isBefore = offset < from
  const start = isBefore ? offset : to
  const length = isBefore ? from - offset : PRINT_READ
  const got = await readUntilHole(files, name, start, length)
  const bytes = await collect(got)
  if ((got.entry.id ?? null) !== id) return null
  return isBefore ? bytes : { offset: to, print: fingerprint(bytes, to) }
}

/** Reads what is there from an offset on. */
async function readUntilHole(files: LogFiles, name: string, offset: number, length: number) {
  try {
    return await files.read(name, { offset, length })
  } catch (error) {
    if (!(error instanceof MissingBytes) || error.missing.from <= offset) throw error
    return files.read(name, { offset, length: error.missing.from - offset })
  }
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
