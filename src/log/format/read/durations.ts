import { addDuration } from './vocabulary.ts'

/** How long something took, in the languages of `lc_messages`; checkpoints and autovacuum write seconds. */
const DURATION = /^[\p{L} ]{2,40}: (\d{1,15}\.\d{3}) (?:ms|мс|ミリ秒|毫秒|მწმ)(?= |$|\n)/u
const CHECKPOINT = /^checkpoint complete: .{0,400}\btotal=([\d.]{1,20}) s/
const ELAPSED = /\belapsed: ([\d.]{1,20}) s/
/** Where the colon of a duration can be, and what is behind it. */
const NEAR = 80
const isDigit = (code: number) => code >= 0x30 && code <= 0x39

/** The fields that a message of PostgreSQL has. Each pattern is tried only where it may fit: most messages have none. */
export function messageFields(message: string): Record<string, unknown> {
  const context: Record<string, unknown> = {}
  const colon = message.indexOf(':')
  if (colon < 0) return context
  const isNear = colon <= NEAR && isDigit(message.charCodeAt(colon + 2))
  const ms = isNear ? DURATION.exec(message) : null
  const seconds =
    ms ??
    (message.startsWith('checkpoint') ? CHECKPOINT.exec(message) : null) ??
    (message.includes('elapsed: ') ? ELAPSED.exec(message) : null)
  if (seconds) addDuration(context, seconds[1]!, ms ? 'ms' : 's')
  return context
}

/** A message up to its SQL, whose `a=b` is no field. */
export function beforeSql(message: string): string {
  const sql = /\b(?:statement|execute|parse|bind|fetch|plan)\b[^:\n]{0,200}:/.exec(message)
  return sql ? message.slice(0, sql.index) : message
}
