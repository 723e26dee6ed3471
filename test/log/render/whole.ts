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
