import type { LogRecord } from '../../client.ts'
import { marked, type Paint, printable, printableJson } from './paint.ts'

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
export function printed(line: string, style: Style, prefix: string): string {
  if (style.json) return prefix + printableJson(line)
  let record: LogRecord
  try {
    record = JSON.parse(line) as LogRecord
  } catch {
    return prefix + clean(line, style)
  }
  const text =
    style.zone === 'log' && typeof record.raw === 'string' ? record.raw : composed(record, style.zone)
  const paint = (part: string) => style.paint.level(record.level, part)
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((each) => prefix + marked(clean(each, style), style.needles, style.paint, paint))
    .join('\n')
}

/** Plain text of a log as it is printed. */
export function clean(text: string, style: Pick<Style, 'terminal'>): string {
  return style.terminal ? printable(text) : text
}

/** The name of a log or a node as it is printed, on one line. */
export function cleanName(name: string, style: Pick<Style, 'terminal'>): string {
  return style.terminal ? printable(name).replaceAll('\t', '^I').replaceAll('\n', '^J') : name
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
    record.time ? shownTime(record.time, zone) : null,
    record.level?.toUpperCase(),
    source,
    tags ? `${tags}: ${message}` : message,
    context,
  ]
  return parts.filter((part) => part !== null && part !== undefined && part !== '').join('\t')
}

/** An instant as the terminal shows it. */
export function shownTime(iso: string, zone: Style['zone']): string {
  const at = new Date(iso)
  if (zone === 'log' || Number.isNaN(at.getTime())) return iso
  const shift = zone === 'utc' ? 0 : at.getTimezoneOffset() * 60_000
  return new Date(at.getTime() - shift).toISOString().replace('T', ' ').replace('Z', '')
}
