import { type Cursor, fingerprint } from '../text/cursor.ts'
import type { Series } from '../text/series.ts'
import { holds, type Text } from '../text/text.ts'
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

/**
 * The address of a place in a series, or null when it is in none of its files. A copy or an archive has another identity
 * than the file that the place was in.
 */
export async function addressOf(series: Series, place: Cursor): Promise<number | null> {
  const isNamed = ({ name, entry: { id } }: Text) =>
    place.id !== null && id !== undefined ? id === place.id : name === place.name
  const newest = [...series.parts.keys()].reverse()
  const others = place.print.length === 0 ? [] : newest.filter((i) => !isNamed(series.parts[i]!))
  for (const i of [...newest.filter((i) => isNamed(series.parts[i]!)), ...others])
    if (await holds(series.parts[i]!, place)) return (await series.addresses.base(i)) + place.offset
  return null
}
