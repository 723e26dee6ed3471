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

/** A part of a log that is sent, such as a record, and the place after it. */
export interface SentPart {
  bytes: Uint8Array
  end: Cursor
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

export function renderRecords(
  records: readonly SentPart[],
  { events, json, record }: Frame,
  format: LineFormat,
  zone: Zone,
): Uint8Array {
  if (!events && !json) return asOne(records.map(({ bytes }) => bytes))
  let out = ''
  for (const { bytes, end } of records) {
    const text = decoder.decode(bytes)
    const data = json ? toJson(text, format, zone, record) : text
    out += events ? eventOf('', encodeCursor(end), data) : `${data}\n`
  }
  return encoder.encode(out)
}

/** What happened to the file, as an event. */
export function renderChange(change: Exclude<Change, { kind: 'data' | 'late' }>, place: Cursor): Uint8Array {
  const { kind, ...data } = change
  return encoder.encode(eventOf(kind, encodeCursor(place), JSON.stringify(data)))
}

/** What a stream of events begins with. */
export const HELLO = encoder.encode(': hello\nretry: 1000\n\n')

/** A heartbeat, and the cursor up to which the log was searched: events may be rare. */
export function renderBeat(id: string): Uint8Array {
  return encoder.encode(`: alive\nid: ${id}\n\n`)
}

/**
 * One event. Each line of the data is a separate `data:` line; a carriage return would end one, too, so those before a
 * line end are dropped and others count as line ends.
 */
export function eventOf(name: string, id: string, data: string): string {
  let out = `${name && `event: ${name}\n`}id: ${id}\n`
  for (const line of data.replace(/\r?\n$/, '').split(/\r?\n|\r/)) out += `data: ${line}\n`
  return `${out}\n`
}
