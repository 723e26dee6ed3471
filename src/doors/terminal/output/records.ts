import type { LogRecord } from '../../client.ts'
import { marked, type Paint } from './paint.ts'
import { clean, cleanName, joined, printableJson, type Shown, show } from './shown.ts'

export { clean, cleanName } from './shown.ts'

export interface Style {
  paint: Paint
  /** Records as the JSON that the node sends. */
  json: boolean
  zone: 'log' | 'local' | 'utc'
  /** Whether to make control characters visible. */
  terminal: boolean
  needles: readonly string[]
}

/** A record as it is printed, without its last line feed. Each of its lines starts with `prefix`. */
export function printed(line: string, style: Style, prefix: Shown): Shown {
  if (style.json) return show`${prefix}${printableJson(line)}`
  let record: LogRecord
  let text: string
  try {
    record = JSON.parse(line) as LogRecord
    text = style.zone === 'log' && typeof record.raw === 'string' ? record.raw : composed(record, style.zone)
  } catch {
    // Not JSON, or not a record.
    return show`${prefix}${clean(line, style)}`
  }
  const paint = (part: Shown) => style.paint.level(record.level, part)
  const lines = text.replace(/\n$/, '').split('\n')
  return joined(
    lines.map((each) => show`${prefix}${marked(clean(each, style), style.needles, style.paint, paint)}`),
    '\n',
  )
}

/** A record from its fields, its time in the wanted zone. */
function composed(record: LogRecord, zone: Style['zone']): string {
  const source = record.source
    ? `${record.source.file}${record.source.line ? `:${record.source.line}` : ''}`
    : null
  const tags = record.tags?.map((tag) => `[${tag}]`).join(' ')
  const message = record.message ?? ''
  const context =
    record.context === undefined || record.context === null ? null : JSON.stringify(record.context)
  const parts = [
    record.time ? timeIn(record.time, zone) : null,
    record.level?.toUpperCase(),
    source,
    tags ? `${tags}: ${message}` : message,
    context,
  ]
  return parts.filter((part) => part !== null && part !== undefined && part !== '').join('\t')
}

/** An instant as it is printed; what is none is printed as a name is. */
export function shownTime(time: string | number, style: Pick<Style, 'zone' | 'terminal'>): Shown {
  const at = new Date(time)
  const iso = typeof time === 'number' && !Number.isNaN(at.getTime()) ? at.toISOString() : String(time)
  return cleanName(timeIn(iso, style.zone), style)
}

function timeIn(iso: string, zone: Style['zone']): string {
  const at = new Date(iso)
  if (zone === 'log' || Number.isNaN(at.getTime())) return iso
  const shift = zone === 'utc' ? 0 : at.getTimezoneOffset() * 60_000
  return new Date(at.getTime() - shift).toISOString().replace('T', ' ').replace('Z', '')
}
