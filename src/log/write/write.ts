import type { Plan } from '../format/format.ts'
import { writeAccess } from './access.ts'
import { writeJson } from './json.ts'
import { writeLindb } from './lindb.ts'
import { writeLogfmt } from './logfmt.ts'
import { writePostgresql } from './postgresql.ts'
import type { LineWriter } from './record.ts'
import { headWriter } from './row.ts'
import { stampedWriter } from './stamped.ts'

export { copyNormal } from './normal.ts'

const WRITERS = {
  lindb: writeLindb,
  json: writeJson,
  logfmt: writeLogfmt,
  postgresql: writePostgresql,
  access: writeAccess,
}

/** What writes whole records of a format by its plan, as text that others do not wrap; null if only lines are written. */
export function recordWriter(plan: Plan): LineWriter | null {
  if (plan.by === 'wrapper') return recordWriter(plan.inner)
  return plan.by === 'lindb' ? null : lineWriter(plan)
}

/** What writes the lines of a format by its plan. */
export function lineWriter(plan: Plan): LineWriter {
  if (plan.by === 'stamp') return stampedWriter(plan.stampAt)
  if (plan.by === 'head') return headWriter(plan)
  if (plan.by === 'wrapper') return innerWriter(plan)
  return WRITERS[plan.by]
}

function innerWriter({ inner, lineAt }: Extract<Plan, { by: 'wrapper' }>): LineWriter {
  const write = lineWriter(inner)
  return (record, from, limit) => {
    const to = record.scan(from, limit)
    const { lf } = record.line
    const line = to < 0 ? null : lineAt(record.bytes, from, to, record.whole === from)
    if (!line || !record.inside(line.bytes, line.to, () => write(record, line.from, line.to))) return false
    // One that was unescaped may have several lines.
    if (record.line.lf !== line.to) return false
    record.line.lf = lf
    record.whole = lf + 1
    return true
  }
}
