import { asOne } from '../../kit/bytes.ts'
import { type LineFormat, PLAIN } from '../format/detect.ts'
import { type RecordOptions, toJson } from '../render/record.ts'
import { type Cursor, encodeCursor } from '../text/cursor.ts'
import type { Zone } from '../time.ts'
import type { FileChange } from './change.ts'

/** How records are sent: unchanged, as JSON lines, or each as an event. */
export interface Frame {
  /** Whether the client is told what happened to the file. */
  events: boolean
  json: boolean
  /** Whether records are handed on as they are, to be merged with those of other logs. @default false */
  parts?: boolean
  /** What JSON records contain besides their fields. */
  record?: RecordOptions
}

/** A part of a log that is sent, such as a record, and the place after it. */
export interface SentPart {
  bytes: Uint8Array
  end: Cursor
}

/** Records of a log, or what happened to it, for a timeline. */
export interface FollowedPart {
  records: readonly SentPart[]
  format: LineFormat
  change: FileChange | null
  /** Everything before it was handed on. */
  end: Cursor
}

/** What a follower gets at once: bytes for its client, or parts for a timeline. */
export interface Packet {
  bytes: Uint8Array
  parts: readonly FollowedPart[]
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()
const NO_BYTES = new Uint8Array(0)
export const NO_PACKET: Packet = { bytes: NO_BYTES, parts: [] }

/** Records as a packet; `end` is the place after what was searched for them. */
export function recordsPacket(
  records: readonly SentPart[],
  frame: Frame,
  { format, zone }: { format: LineFormat; zone: Zone },
  end: Cursor,
): Packet {
  if (!frame.parts) return packetOf(renderRecords(records, frame, format, zone))
  return records.length === 0 ? NO_PACKET : partPacket({ records, format, change: null, end })
}

export function changePacket(change: FileChange, frame: Frame, place: Cursor): Packet {
  if (!frame.parts) return packetOf(renderChange(change, place))
  return partPacket({ records: [], format: PLAIN, change, end: place })
}

/** A heartbeat, and the place up to which the log was searched: records may be rare. */
export function beatPacket(frame: Frame, place: Cursor): Packet {
  if (!frame.parts) return packetOf(renderBeat(encodeCursor(place)))
  return partPacket({ records: [], format: PLAIN, change: null, end: place })
}

export function packetOf(bytes: Uint8Array): Packet {
  return { bytes, parts: [] }
}

function partPacket(part: FollowedPart): Packet {
  return { bytes: NO_BYTES, parts: [part] }
}

export function joinPackets(packets: readonly Packet[]): Packet {
  return { bytes: asOne(packets.map(({ bytes }) => bytes)), parts: packets.flatMap(({ parts }) => parts) }
}

export function isEmptyPacket({ bytes, parts }: Packet): boolean {
  return bytes.length === 0 && parts.length === 0
}

/** Bytes that a packet holds. */
export function packetSize({ bytes, parts }: Packet): number {
  let size = bytes.length
  for (const { records } of parts) for (const record of records) size += record.bytes.length
  return size
}

function renderRecords(
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
function renderChange(change: FileChange, place: Cursor): Uint8Array {
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
