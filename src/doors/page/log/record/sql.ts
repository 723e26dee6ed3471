import type { Shown } from './record.ts'

/** A record as its row shows it: a slow query begins with its SQL, not with the server's remarks on it. */
export function sqlFirst(shown: Shown): Shown {
  if (shown.message.startsWith('# ')) {
    const lines = [shown.message, ...shown.rest]
    const sql = lines.findIndex((line) => !REMARK.test(line))
    return sql < 1
      ? shown
      : { ...shown, message: lines[sql]!, rest: [...lines.slice(sql + 1), ...lines.slice(0, sql)] }
  }
  const { context, message } = shown
  if (typeof context !== 'object' || context === null) return shown
  const found = Object.entries(context).find(([key, value]) => SQL.test(key) && typeof value === 'string')
  if (found === undefined || !(message === '' || /slow/i.test(message + shown.tags.join(' ')))) return shown
  const { [found[0]]: _, ...rest } = context as Record<string, unknown>
  const [first, ...more] = (found[1] as string).split('\n')
  return {
    ...shown,
    message: message === '' ? first! : `${first} · ${message}`,
    rest: [...more, ...shown.rest],
    context: Object.keys(rest).length === 0 ? null : rest,
  }
}

/** What MySQL writes above the statement. */
const REMARK = /^(?:# |SET timestamp=|use )/i
const SQL = /^(?:sql|query|statement)$/i
