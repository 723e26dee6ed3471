import type { LineFormat } from '../../../src/log/format/format.ts'
import { NdjsonWriter, ROOM } from '../../../src/log/render/ndjson.ts'
import type { Zone } from '../../../src/log/time.ts'

/** Whole records as NDJSON at once. bytes[from, to) is what `NdjsonWriter.read` takes. */
export function toNdjson(
  bytes: Uint8Array,
  from: number,
  to: number,
  format: LineFormat,
  zone: Zone,
  colours = false,
): Uint8Array<ArrayBuffer> {
  const writer = new NdjsonWriter(format, zone, { colours })
  writer.into(new Uint8Array(ROOM))
  writer.read(bytes, from, to)
  writer.write(to, Number.POSITIVE_INFINITY)
  return writer.take()
}

/** The records of a log, each without its last line end, found in the plain way: line by line. */
export function recordsIn(all: Uint8Array, format: LineFormat): Uint8Array[] {
  const records: Uint8Array[] = []
  for (let at = 0, start = 0; at < all.length; ) {
    const lf = all.indexOf(10, at)
    const end = lf < 0 ? all.length : lf
    const next = all.indexOf(10, end + 1)
    at = end + 1
    if (at < all.length && !format.starts(all, at, next < 0 ? all.length : next)) continue
    records.push(all.subarray(start, end))
    start = at
  }
  return records
}
