import { addFields } from './vocabulary.ts'

/** How long something took, in the languages of `lc_messages`; checkpoints and autovacuum write seconds. */
const DURATIONS: readonly RegExp[] = [
  /^[\p{L} ]{2,40}: (?<duration_ms>\d{1,15}\.\d{3}) (?:ms|мс|ミリ秒|毫秒|მწმ)(?= |$|\n)/u,
  /^checkpoint complete: .{0,400}\btotal=(?<duration_s>[\d.]{1,20}) s/,
  /\belapsed: (?<duration_s>[\d.]{1,20}) s/,
]

/** The fields that a message of PostgreSQL has. */
export function messageFields(message: string): Record<string, unknown> {
  const context: Record<string, unknown> = {}
  const found = DURATIONS.map((pattern) => pattern.exec(message)).find((match) => match !== null)
  if (found) addFields(context, found.groups!)
  return context
}

/** A message up to its SQL, whose `a=b` is no field. */
export function beforeSql(message: string): string {
  const sql = /\b(?:statement|execute|parse|bind|fetch|plan)\b[^:\n]{0,200}:/.exec(message)
  return sql ? message.slice(0, sql.index) : message
}
