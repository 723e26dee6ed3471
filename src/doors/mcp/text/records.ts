import { cut, visible } from '../../../log/render/visible.ts'
import type { LogRecord } from '../../client.ts'

const LONGEST_LINE = 600
/** Lines of a record that are shown, such as of a stack trace. */
const MOST_LINES = 20

/** A line of an answer, and how many records it stands for. */
interface Line {
  text: string
  records: number
}

/**
 * Records as lines for a reader: the day, the node and the log stand only where they change, equal neighbours are one line
 * with a count. A line that begins with a clock is a record, one with `|` continues it, and `==` is from nodestate.
 */
export function recordLines(records: readonly LogRecord[], fallback: string): Line[] {
  const lines: Line[] = []
  let day = ''
  let place = ''
  for (let at = 0; at < records.length; ) {
    const record = records[at]!
    const [date, clock] = timeOf(record.time)
    const source = placeOf(record, fallback)
    if (source !== place) lines.push({ text: `== ${source}`, records: 0 })
    if (date !== '' && date !== day) lines.push({ text: `== ${date}`, records: 0 })
    place = source
    day = date || day
    const [first = '', ...rest] = bodyOf(record)
    let end = at + 1
    while (end < records.length && isSame(record, records[end]!)) end++
    const last = end - 1 > at ? ` [×${end - at}, last ${timeOf(records[end - 1]!.time)[1]}]` : ''
    lines.push({ text: [`${clock} ${first}${last}`, ...rest].join('\n'), records: end - at })
    at = end
  }
  return lines
}

/** The day with its zone, and the clock, of a record's time. */
function timeOf(time: string | null | undefined): [day: string, clock: string] {
  const [, date, clock, zone] = /^([\d-]+)T([\d:.]+)(Z|[+-][\d:]+)$/.exec(time ?? '') ?? []
  return date === undefined ? ['', '--:--:--'] : [`${date} ${zone}`, clock!]
}

function placeOf({ node, file }: LogRecord, fallback: string): string {
  return visible([node, file].filter(Boolean).join('/') || fallback)
}

function bodyOf(record: LogRecord): string[] {
  const { level, source, tags, context } = record
  const at = source ? `${source.file}${source.line ? `:${source.line}` : ''}` : ''
  const message = record.message ?? record.raw ?? ''
  const labels = tags?.length ? `${tags.map((tag) => `[${tag}]`).join(' ')}:` : ''
  const lines = message.split('\n')
  const head = [level?.toUpperCase(), at, labels, lines[0], contextOf(context)].filter(Boolean).join(' ')
  const rest = lines.slice(1, MOST_LINES).map((line) => `  | ${cut(line, LONGEST_LINE)}`)
  if (lines.length > MOST_LINES) rest.push(`  | [+${lines.length - MOST_LINES} lines]`)
  return [cut(head, LONGEST_LINE), ...rest]
}

function contextOf(context: unknown): string {
  return context === undefined || context === null ? '' : JSON.stringify(context)
}

/** Whether two records differ only in their times. */
function isSame(one: LogRecord, other: LogRecord): boolean {
  const key = ({ time: _, raw: __, ...rest }: LogRecord) => JSON.stringify(rest)
  return timeOf(one.time)[0] === timeOf(other.time)[0] && key(one) === key(other)
}
