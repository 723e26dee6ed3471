import { type Cursor, fingerprint } from '../text/cursor.ts'
import type { Series } from '../text/series.ts'
import { holds } from '../text/text.ts'
import type { SentRecord } from './frame.ts'

export async function withCursors(
  series: Series,
  { pieces, ends }: { pieces: readonly Uint8Array[]; ends: readonly number[] },
): Promise<SentRecord[]> {
  const records = []
  for (let i = 0; i < pieces.length; i++) {
    const bytes = pieces[i]!
    const { part, base } = await series.addresses.at(ends[i]! - 1)
    const offset = ends[i]! - base
    const inPart = Math.min(bytes.length, offset)
    const print = fingerprint(bytes, offset - bytes.length, bytes.length - inPart)
    records.push({ bytes, end: { name: part.name, id: part.entry.id ?? null, offset, print } })
  }
  return records
}

/** The address of a place in a series, or null when it is in none of its files. */
export async function addressOf(series: Series, place: Cursor): Promise<number | null> {
  for (let i = series.parts.length - 1; i >= 0; i--) {
    const part = series.parts[i]!
    const same =
      place.id !== null && part.entry.id !== undefined ? part.entry.id === place.id : part.name === place.name
    if (same && (await holds(part, place))) return (await series.addresses.base(i)) + place.offset
  }
  return null
}
