import type { LineFormat, RecordFields } from './format/format.ts'
import { lines24, tagNames } from './format/lines24.ts'
import { LEVELS, parseLevel } from './level.ts'
import type { Zone } from './time.ts'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/**
 * Whole records as NDJSON: one JSON object per record, each ended by LF. bytes[from, to) begins at a record's
 * start; a line that is no start at its very beginning becomes a record of its own, with its raw text.
 */
export function toNdjson(
  bytes: Uint8Array,
  from: number,
  to: number,
  format: LineFormat,
  zone: Zone,
): Uint8Array<ArrayBuffer> {
  const json = jsonOf(format, zone)
  // Decoded once: a decoder costs more per call than a line takes. Both sides have the same line ends, since
  // broken UTF-8 never swallows an LF.
  const text = decoder.decode(bytes.subarray(from, to))
  let out = ''
  let byte = from
  let start = 0
  let at = 0
  while (byte < to) {
    const lf = bytes.indexOf(0x0a, byte)
    const end = lf < 0 || lf >= to ? to : lf
    if (byte > from && format.starts(bytes, byte, end)) {
      out += `${json(text.slice(start, at))}\n`
      start = at
    }
    const next = text.indexOf('\n', at)
    at = next < 0 ? text.length : next + 1
    byte = end + 1
  }
  if (start < text.length) out += `${json(text.slice(start))}\n`
  return encoder.encode(out) as Uint8Array<ArrayBuffer>
}

/** One record's text (with its continuation lines) as JSON text without a line end. */
export function toJson(text: string, format: LineFormat, zone: Zone): string {
  return jsonOf(format, zone)(text)
}

const writers = new WeakMap<Zone, (text: string) => string | null>()

function jsonOf(format: LineFormat, zone: Zone): (text: string) => string {
  const generic = (text: string) => JSON.stringify(ordered(format.fields(text, zone)))
  if (format !== lines24) return generic
  let fast = writers.get(zone)
  if (!fast) {
    fast = writer24(zone)
    writers.set(zone, fast)
  }
  const direct = fast
  return (text) => direct(text) ?? generic(text)
}

function ordered({ time, level, source, tags, message, context, raw }: RecordFields): RecordFields {
  return { time, level, source, tags, message, context, raw } as RecordFields
}

/**
 * A 2.4 line straight to JSON text, its context passed through as it is: twice as fast as by way of objects.
 * Null for what is not exactly such a line; the general way then decides.
 */
function writer24(zone: Zone): (text: string) => string | null {
  let minute = ''
  let prefix = ''
  let suffix = ''
  const bytes = new Uint8Array(24)

  /** Works out what the times of a minute begin and end with. False for what no calendar has. */
  const enter = (head: string): boolean => {
    if (!MINUTE.test(head)) return false
    encoder.encodeInto(`${head}:00.000\t`, bytes)
    const epoch = lines24.time(bytes, 0, 24, zone)
    if (Number.isNaN(epoch) || zone.offsetAt(epoch) % 60_000 !== 0) return false
    const iso = zone.format(epoch)
    minute = head
    prefix = `{"time":"${iso.slice(0, 16)}`
    suffix = `${iso.slice(23)}","level":`
    return true
  }

  return (text) => {
    const end = text.endsWith('\n') ? text.length - 1 : text.length
    const lf = text.indexOf('\n')
    if ((lf >= 0 && lf < end) || text.includes('\r') || text.includes('\x1b')) return null
    if (!SECONDS.test(text.slice(16, 24))) return null
    const head = text.slice(0, 16)
    if (head !== minute && !enter(head)) return null
    const levelEnd = text.indexOf('\t', 24)
    const level = LEVEL_JSON.get(text.slice(24, levelEnd))
    const sourceEnd = text.indexOf('\t', levelEnd + 1)
    if (level === undefined || levelEnd < 0 || sourceEnd < 0) return null
    const source = sourceJson(text, levelEnd + 1, sourceEnd)
    if (source === null) return null
    let at = sourceEnd + 1
    let tags = ''
    TAGS.lastIndex = at
    const found = TAGS.exec(text)
    if (found) {
      at += found[0].length
      tags = tagsJson(found[1]!)
    }
    const tab = text.charCodeAt(end - 1) === CLOSE ? text.lastIndexOf('\t{', end) : -1
    const context = tab >= at ? text.slice(tab + 1, end) : ''
    const message = context !== '' && isJson(context) ? tab : end
    const last = message === end ? '}' : `,"context":${context}}`
    return `${prefix}${text.slice(16, 23)}${suffix}${level}${source}${tags},"message":${quote(text.slice(at, message))}${last}`
  }
}

const MINUTE = /^\d{4}-\d\d-\d\d \d\d:\d\d$/
const SECONDS = /^:[0-5]\d\.\d{3}\t$/
const TAGS = /((?:[ ]*\[[^\]\n]*\])+)[ ]*:[ ]?/y
const CLOSE = 0x7d
const LEVEL_JSON = new Map(
  ['DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL', 'PANIC', 'DPANIC'].flatMap((word) => {
    const json = `"${LEVELS[parseLevel(word)!]}"`
    return [
      [word, json],
      [word.toLowerCase(), json],
    ]
  }),
)

function sourceJson(text: string, from: number, to: number): string | null {
  const colon = text.lastIndexOf(':', to - 1)
  if (colon <= from || to - colon > 10 || to - colon < 2 || text.charCodeAt(colon - 1) === 0x3a) return null
  const first = text.charCodeAt(from)
  if (first === 0x20 || first === 0x09) return null
  let line = 0
  for (let i = colon + 1; i < to; i++) {
    const digit = text.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) return null
    line = line * 10 + digit
  }
  return `,"source":{"file":${quote(text.slice(from, colon))},"line":${line}}`
}

// A node has a few dozen combinations of tags: each is written once.
const knownTags = new Map<string, string>()

function tagsJson(tags: string): string {
  const known = knownTags.get(tags)
  if (known !== undefined) return known
  const json = `,"tags":${JSON.stringify(tagNames(tags))}`
  if (tags.length < 200 && knownTags.size < 1000) knownTags.set(tags, json)
  return json
}

// Most texts need no escape, and a look is cheaper than JSON.stringify.
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what JSON escapes
const ESCAPED = /["\\\x00-\x1f\ud800-\udfff]/

function quote(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
