import { colouredMessage } from './colour.ts'
import { type DirectWriter, directWriter } from './format/direct24.ts'
import { type LineFormat, type RecordFields, stripAnsi } from './format/format.ts'
import { lines24 } from './format/lines24.ts'
import type { Zone } from './time.ts'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

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
  let out = new Uint8Array((to - from) * 2 + 1024)
  let at = 0
  for (let start = from; start < to; ) {
    const lf = endOfLine(bytes, start, to)
    let end = lf
    while (end < to) {
      const next = endOfLine(bytes, end + 1, to)
      if (end + 1 >= to || format.starts(bytes, end + 1, next)) break
      end = next
    }
    out = withRoom(out, at, (end - start) * 6 + 256)
    const written = direct && end === lf ? direct(bytes, start, end, out, at) : -1
    if (written >= 0) at = written
    else {
      const json = encoder.encode(toJson(decoder.decode(bytes.subarray(start, end)), format, zone, colours))
      out = withRoom(out, at, json.length + 1)
      out.set(json, at)
      at += json.length
    }
    out[at++] = 0x0a
    start = end + 1
  }
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
