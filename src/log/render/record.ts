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

/**
 * One record's text, with its continuation lines, as JSON text without a line end. A record that fails to render is returned as its text, so
 * that one bad line never costs a client the lines around it.
 */
export function toJson(text: string, format: LineFormat, zone: Zone, options: RecordOptions = {}): string {
  if (text.length > LONG) return longJson(text, format, zone, options)
  try {
    return recordJson(format.fields(text, zone), text, options)
  } catch {
    return JSON.stringify({ message: stripAnsi(text.replace(/\r?\n?$/, '')), unparsed: true })
  }
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

function recordJson(record: RecordFields, text: string, { colours, raw: whole }: RecordOptions): string {
  const { time, level, source, tags, message, context, unparsed } = record
  const raw = whole ? withoutLineEnd(text) : record.raw
  const ansi =
    colours && message !== undefined && text.includes('\x1b')
      ? colouredMessage(text, message, stripAnsi)
      : null
  // The order of keys is the same for every format. One call for each member takes half as long as one for all.
  let json = time === undefined ? '' : `,"time":"${time}"`
  if (level !== undefined) json += `,"level":${JSON.stringify(level)}`
  if (source !== undefined) json += `,"source":${JSON.stringify(source)}`
  if (tags !== undefined) json += `,"tags":${JSON.stringify(tags)}`
  if (message !== undefined) json += `,"message":${JSON.stringify(message)}`
  if (context !== undefined) json += `,"context":${JSON.stringify(context)}`
  if (raw !== undefined) json += `,"raw":${JSON.stringify(raw)}`
  if (unparsed) json += ',"unparsed":true'
  if (ansi !== null) json += `,"ansi":${JSON.stringify(ansi)}`
  return `{${json.slice(1)}}`
}
