import type { LineFormat } from '../../log/format/detect.ts'
import type { Reader } from '../../log/pattern/pattern.ts'
import type { Origin } from '../../log/render/csv.ts'
import type { Zone } from '../../log/time.ts'
import { columnsOf } from '../parameters/columns.ts'
import type { Query } from '../parameters/read.ts'

export type Table = Awaited<ReturnType<typeof tableOf>>

/** The table that a request wants; its code is loaded with the first one. `origin` is what several logs have besides. */
export async function tableOf(query: Query, origin: readonly string[] = []) {
  const columns = columnsOf(query, origin)
  const csv = await import('../../log/render/csv.ts')
  return {
    head: csv.csvHead(columns),
    row: (bytes: Uint8Array, reader: Reader, origin: Origin) => csv.csvRow(bytes, reader, columns, origin),
    writer: (format: LineFormat, zone: Zone) => new csv.CsvWriter({ format, zone }, columns),
    /** Whether none of some records has one of the columns. */
    lacks: (records: Iterable<{ bytes: Uint8Array; reader: Reader }>) =>
      csv.lacksColumns(records, columns, [...origin, ...(origin.length > 0 ? ['late'] : [])]),
  }
}
