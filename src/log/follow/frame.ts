import { asOne } from '../../bytes.ts'
import type { LineFormat } from '../format/detect.ts'
import { type RecordOptions, toJson } from '../render/record.ts'
import { type Cursor, encodeCursor } from '../text/cursor.ts'
import type { Zone } from '../time.ts'
import type { Change } from './change.ts'

/** How records are sent: unchanged, as JSON lines, or each as an event. */
export interface Frame {
  events: boolean
  json: boolean
  /** What JSON records contain besides their fields. */
  record?: RecordOptions
}

export interface SentRecord {
  bytes: Uint8Array
  end: Cursor
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

export function renderRecords(
  records: readonly SentRecord[],
  { events, json, record }: Frame,
  format: LineFormat,
  zone: Zone,
): Uint8Array {
  if (!events && !json) return asOne(records.map(({ bytes }) => bytes))
  let out = ''
  for (const { bytes, end } of records) {
    const text = decoder.decode(bytes)
    const data = json ? toJson(text, format, zone, record) : text
    out += events ? event('', end, data) : `${data}\n`
  }
  return encoder.encode(out)
}

/** What happened to the file, as an event. */
export function renderChange(change: Exclude<Change, { kind: 'data' | 'late' }>, place: Cursor): Uint8Array {
  const { kind, ...data } = change
  return encoder.encode(event(kind, place, JSON.stringify(data)))
}

/** A heartbeat, and how far the log was searched: events may be rare. */
export function renderBeat(place: Cursor | null): Uint8Array {
  return encoder.encode(
    place === null ? ': hello\nretry: 1000\n\n' : `: alive\nid: ${encodeCursor(place)}\n\n`,
  )
}

/**
 * One event. Each line of the data is a separate `data:` line; a carriage return would end one, too, so those before a
 * line end are dropped and others count as line ends.
 */
function event(name: string, id: Cursor, data: string): string {
  const lines = (data.endsWith('\n') ? data.slice(0, -1) : data).split(/\r?\n|\r(?!$)|\r$/)
  if (lines.length > 1 && data.endsWith('\r\n')) lines.length -= lines.at(-1) === '' ? 1 : 0
  let out = name === '' ? '' : `event: ${name}\n`
  out += `id: ${encodeCursor(id)}\n`
  for (const line of lines) out += `data: ${line}\n`
  return `${out}\n`
}
