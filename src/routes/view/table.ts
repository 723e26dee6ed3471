import { bad } from '../../core/http/params.ts'
import type { Query } from '../../core/query.ts'
import type { LineFormat } from '../../log/format/detect.ts'
import type { Reader } from '../../log/pattern/pattern.ts'
import type { Origin } from '../../log/render/csv.ts'
import type { Zone } from '../../log/time.ts'

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

const DEFAULT_COLUMNS = ['time', 'level', 'message']
const MOST_COLUMNS = 100

/** The columns of a table; `origin` is what the records of several logs have besides, and comes first by default. */
function columnsOf({ columns }: Query, origin: readonly string[] = []): readonly string[] {
  if (columns === undefined) return [...origin, ...DEFAULT_COLUMNS]
  const names = columns.split(',').map((name) => name.trim())
  if (names.includes(''))
    throw bad('columns', 'has an empty name; give names separated by commas, such as time,level,message')
  if (names.length > MOST_COLUMNS)
    throw bad('columns', `has ${names.length} names; at most ${MOST_COLUMNS} are allowed`)
  return names
}
