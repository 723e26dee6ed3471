import type { LineFormat } from '../format/detect.ts'
import { lastStart } from '../format/lines.ts'
import { Series } from '../text/series.ts'
import type { Text } from '../text/text.ts'
import { fetchMembers } from './member.ts'

/** Stored bytes and objects that are open at a time. */
const GROUP_BYTES = 8 * 1024 * 1024
const GROUP = 64
/** How far back the last record of a group is searched for. */
const LAST_RECORD = 1024 * 1024

/**
 * All of a joined log, oldest first, a group of objects at a time, of which [lo, hi) has whole records. As one series,
 * its first record would have an address only after all of its objects were read. A group is released when the next one
 * is requested.
 */
export async function* groupsOf(parts: readonly Text[], format: LineFormat, parallel?: number) {
  let first = 0
  let offset = 0
  while (first < parts.length) {
    const group = groupAt(parts, first)
    await fetchMembers(group, parallel)
    const series = await Series.open(group)
    const isLast = first + group.length === parts.length
    const lo = (await series.addresses.base(0)) + offset
    // The last record may continue in the next group, so it is left to it.
    const hi = isLast ? series.end : await lastRecord(series, lo, format)
    yield { series, lo, hi }
    if (isLast) return
    const next = hi >= series.end ? null : await series.addresses.at(hi)
    const used = next ? group.indexOf(next.part) : group.length
    for (const part of group.slice(0, used)) await part.release?.()
    first += used
    offset = next ? hi - next.base : 0
  }
}

/** The texts of a group: at least two, because the first may be the rest of the group before it. */
function groupAt(parts: readonly Text[], first: number): Text[] {
  let end = first
  let bytes = 0
  while (end < parts.length && end - first < GROUP && (bytes < GROUP_BYTES || end < first + 2))
    bytes += parts[end++]!.entry.size
  return parts.slice(first, end)
}

/** Where the last record of a series starts; its end if there is none in sight. */
async function lastRecord(series: Series, lo: number, format: LineFormat): Promise<number> {
  const from = Math.max(lo, series.end - LAST_RECORD)
  const bytes = await series.read(from, series.end)
  const at = lastStart(format, bytes, 0, bytes.length)
  return at > 0 ? from + at : series.end
}
