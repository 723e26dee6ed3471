import { lineEnd } from '../../kit/bytes.ts'
import { UTC } from '../time.ts'
import { encodeLine, type LineFormat, recordText } from './format.ts'
import { visitJson } from './json/members.ts'

/**
 * Lines of a main format with records of others among them: Go's log package in a JSON log, mysqld_safe in MariaDB's.
 * Without it those lines would continue the record above, and share its time and level. They must have a time.
 */
export function mixedLines(name: string, main: LineFormat, others: readonly LineFormat[]): LineFormat {
  const otherOf = (bytes: Uint8Array, from: number, to: number) => {
    if (main.owns?.(bytes, from, to)) return undefined
    return others.find(
      (other) => other.starts(bytes, from, to) && !Number.isNaN(other.time(bytes, from, to, UTC)),
    )
  }
  const formatOf = (bytes: Uint8Array, from: number, to: number) =>
    main.starts(bytes, from, to) ? main : otherOf(bytes, from, to)
  /** The format of a whole record, by its first line. */
  const formatOfText = (text: string) => {
    const bytes = encodeLine(recordText(text).split('\n', 1)[0]!)
    return formatOf(bytes, 0, bytes.length) ?? main
  }
  return {
    ...main,
    name,
    starts: (bytes, from, to) => formatOf(bytes, from, to) !== undefined,
    time: (bytes, from, to, zone) => formatOf(bytes, from, to)?.time(bytes, from, to, zone) ?? Number.NaN,
    level: (bytes, from, to, end) => formatOf(bytes, from, to)?.level(bytes, from, to, end) ?? -1,
    marks: (level) => {
      const all = [main, ...others].map((format) => format.marks?.(level) ?? null)
      return all.includes(null) ? null : (all as RegExp[][]).flat()
    },
    zoneName: (bytes, from, to) => formatOf(bytes, from, to)?.zoneName?.(bytes, from, to) ?? null,
    ...(main.members && {
      members(bytes, from, to, visit) {
        const format = formatOf(bytes, from, lineEnd(bytes, from, to)) ?? main
        if (format.members) return format.members(bytes, from, to, visit)
        const { context } = format.fields(new TextDecoder().decode(bytes.subarray(from, to)), UTC)
        const object = new TextEncoder().encode(JSON.stringify(context ?? {}))
        return visitJson(object, 0, object.length, visit)
      },
    }),
    fields: (text, zone) => formatOfText(text).fields(text, zone),
  }
}
