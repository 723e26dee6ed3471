import { colouredMessage } from './colour.ts'
import { type DirectWriter, directWriter } from './format/direct24.ts'
import { type LineFormat, type RecordFields, stripAnsi } from './format/format.ts'
import { lines24 } from './format/lines24.ts'
import type { Zone } from './time.ts'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()
const NOTHING = new Uint8Array(0)
/** Memory for what is being written, up to so many bytes, is used again: fresh memory costs more than the copy. */
const SPARE = 1024 * 1024
let spare = new Uint8Array(0)

/**
 * Whole records as NDJSON: one JSON object per record, each ended by LF. bytes[from, to) begins at a record's
 * start; a first line that is none becomes a record of its own, with its raw text.
 */
export function toNdjson(
  bytes: Uint8Array,
  from: number,
  to: number,
  format: LineFormat,
  zone: Zone,
  colours = false,
): Uint8Array<ArrayBuffer> {
  const direct = format === lines24 ? writerOf(zone) : null
  let out = spare
  let at = 0
  direct?.from(bytes, to)
  direct?.into(out)
  for (let start = from; start < to; ) {
    const roomy = withRoom(out, at, (to - start) * 2 + 256)
    if (roomy !== out) direct?.into(roomy)
    out = roomy
    let written = direct ? direct.write(start, at) : -1
    let end = written < 0 ? endOfLine(bytes, start, to) : direct!.end
    // Lines that begin no record belong to this one, which is then not written directly.
    while (end < to && end + 1 < to && !direct?.begins(end + 1)) {
      const next = endOfLine(bytes, end + 1, to)
      if (format.starts(bytes, end + 1, next)) break
      written = -1
      end = next
    }
    if (written >= 0) at = written
    else {
      const json = encoder.encode(toJson(decoder.decode(bytes.subarray(start, end)), format, zone, colours))
      const room = withRoom(out, at, json.length + 1)
      if (room !== out) direct?.into(room)
      out = room
      out.set(json, at)
      at += json.length
    }
    out[at++] = 0x0a
    start = end + 1
  }
  direct?.from(NOTHING, 0)
  direct?.into(NOTHING)
  if (out.length <= SPARE) spare = out
  return out.slice(0, at)
}

/**
 * One record's text, with its continuation lines, as JSON text without a line end. With `colours`, a message that has
 * any comes a second time as `ansi`, colour escapes left in.
 */
export function toJson(text: string, format: LineFormat, zone: Zone, colours = false): string {
  const { time, level, source, tags, message, context, raw } = format.fields(text, zone)
  // The order of keys is the same for every format; what is undefined is left out.
  const fields = { time, level, source, tags, message, context, raw } satisfies Nullable<RecordFields>
  const ansi =
    colours && message !== undefined && text.includes('\x1b')
      ? colouredMessage(text, message, stripAnsi)
      : null
  return JSON.stringify(ansi === null ? fields : { ...fields, ansi })
}

type Nullable<T> = { [K in keyof T]: T[K] | undefined }

const writers = new WeakMap<Zone, DirectWriter>()

function writerOf(zone: Zone): DirectWriter {
  const known = writers.get(zone) ?? directWriter(zone)
  writers.set(zone, known)
  return known
}

function endOfLine(bytes: Uint8Array, from: number, to: number): number {
  const lf = bytes.indexOf(0x0a, from)
  return lf < 0 || lf > to ? to : lf
}

function withRoom(out: Uint8Array<ArrayBuffer>, at: number, count: number): Uint8Array<ArrayBuffer> {
  if (at + count <= out.length) return out
  const larger = new Uint8Array(Math.max(out.length * 2, at + count))
  larger.set(out.subarray(0, at))
  return larger
}
