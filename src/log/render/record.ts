import { type LineFormat, type RecordFields, stripAnsi } from '../format/format.ts'
import type { Zone } from '../time.ts'
import { colouredMessage } from './colour.ts'
import { LONG, LongRecord } from './long.ts'

const encoder = new TextEncoder()

/** What records contain besides their fields. */
export interface RecordOptions {
  /** A message that has colours is repeated with them, as `ansi`. @default false */
  colours?: boolean
  /** The text of the record, as `raw`. @default false */
  raw?: boolean
}

/** The members of a record, in the order in which JSON has them. */
export interface RecordMembers extends Omit<RecordFields, 'message'> {
  message?: string
  /** The message with its colours. */
  ansi?: string | undefined
}

/**
 * One record's text, with its continuation lines, as JSON text without a line end. A record that fails to render is returned as its text, so
 * that one bad line never costs a client the lines around it.
 */
export function toJson(text: string, format: LineFormat, zone: Zone, options: RecordOptions = {}): string {
  if (text.length > LONG) return longJson(text, format, zone, options)
  try {
    return recordJson(parsed(text, format, zone, options))
  } catch {
    return JSON.stringify(asText(text))
  }
}

/** The same, as an object. */
export function membersOf(
  text: string,
  format: LineFormat,
  zone: Zone,
  options: RecordOptions = {},
): RecordMembers {
  if (text.length > LONG) return JSON.parse(longJson(text, format, zone, options))
  try {
    return parsed(text, format, zone, options)
  } catch {
    return asText(text)
  }
}

const asText = (text: string) => ({ message: stripAnsi(withoutLineEnd(text)), unparsed: true }) as const

function parsed(text: string, format: LineFormat, zone: Zone, options: RecordOptions): RecordMembers {
  const record: RecordMembers = { ...format.fields(text, zone) }
  if (options.raw) record.raw = withoutLineEnd(text)
  if (options.colours && record.message !== undefined && text.includes('\x1b'))
    record.ansi = colouredMessage(text, record.message, stripAnsi) ?? undefined
  return record
}

function longJson(text: string, format: LineFormat, zone: Zone, { raw = false }: RecordOptions): string {
  const bytes = encoder.encode(text.endsWith('\n') ? text.slice(0, -1) : text)
  const record = new LongRecord({ bytes, from: 0, to: bytes.length }, { format, zone, raw })
  let json = record.head
  do json += record.next()
  while (!record.ended)
  return json
}

const withoutLineEnd = (text: string) => text.replace(/\r?\n?$/, '')

function recordJson(record: RecordMembers): string {
  const { time, level, source, tags, message, context, raw, unparsed, ansi } = record
  // The order of keys is the same for every format. One call for each member takes half as long as one for all.
  let json = time === undefined ? '' : `,"time":"${time}"`
  if (level !== undefined) json += `,"level":${JSON.stringify(level)}`
  if (source !== undefined) json += `,"source":${JSON.stringify(source)}`
  if (tags !== undefined) json += `,"tags":${JSON.stringify(tags)}`
  if (message !== undefined) json += `,"message":${JSON.stringify(message)}`
  if (context !== undefined) json += `,"context":${JSON.stringify(context)}`
  if (raw !== undefined) json += `,"raw":${JSON.stringify(raw)}`
  if (unparsed) json += ',"unparsed":true'
  if (ansi !== undefined) json += `,"ansi":${JSON.stringify(ansi)}`
  return `{${json.slice(1)}}`
}
