import type { InnerReader, LineFormat } from '../format/format.ts'
import { writeJson } from './json.ts'
import { writeLindb } from './lindb.ts'
import { writeLogfmt } from './logfmt.ts'
import type { LineWriter } from './record.ts'

export { copyNormal } from './normal.ts'

const WRITERS = { lindb: writeLindb, json: writeJson, logfmt: writeLogfmt }

/** What writes whole records of a format, as text that others do not wrap; null if only lines are written. */
export function recordWriter(format: LineFormat): LineWriter | null {
  if (format.inner) return format.lineAt ? recordWriter(format.inner) : null
  return format.written === 'lindb' ? null : lineWriter(format)
}

/** What writes the lines of a format; null if they are left to their fields. */
export function lineWriter({ inner, lineAt, written, read }: LineFormat): LineWriter | null {
  if (!inner) return written ? WRITERS[written] : (read ?? null)
  const write = lineWriter(inner)
  return write && lineAt ? innerWriter(write, lineAt) : null
}

function innerWriter(write: LineWriter, lineAt: InnerReader): LineWriter {
  return (record, from, limit) => {
    const to = record.scan(from, limit)
    const { lf } = record.line
    const line = to < 0 ? null : lineAt(record.bytes, from, to, record.whole === from)
    if (!line || !record.inside(line.bytes, line.to, () => write(record, line.from, line.to))) return false
    // One that was unescaped may have several lines; the time of one that has none is the wrapper's.
    if (record.line.lf !== line.to || Number.isNaN(record.epoch)) return false
    record.line.lf = lf
    record.whole = lf + 1
    return true
  }
}
