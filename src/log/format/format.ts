import type { Zone } from '../time.ts'
import { fits } from './read/json-fit.ts'
import { withPairs } from './read/pairs.ts'
import type { Stamp } from './read/stamp.ts'
import type { Piece } from './shape.ts'

/**
 * Reads the record whose first line begins at `from` and ends before `to`, and puts what it says into the record. False if
 * the line begins none, or if this record cannot take it.
 */
export type RecordReader = (record: RecordTaker, from: number, to: number) => boolean

/**
 * Takes what a line says, as an object or as JSON. The members come in the order that all records have: `time` or
 * `untimed`, `level`, `source`, `tags`, `message`, then fields. Offsets are those of `bytes`.
 */
export interface RecordTaker {
  readonly bytes: Uint8Array
  readonly zone: Zone
  /** The line that `scan` found: its first byte beyond ASCII and its first equals sign, or its end. */
  readonly line: { readonly wide: number; readonly equals: number }
  /** Whether only lines that begin a record are taken. */
  readonly isStrict: boolean
  /** The record's other lines, with the line break before them; they end the message. */
  more: string
  /** Finds the line at `from`; returns where it ends, without its CR, or -1 if this record cannot take it. */
  scan(from: number, to: number): number
  /** The text of bytes[from, to). */
  text(from: number, to: number): string
  /** Where the first `count` units of `text` end, which is at bytes[from] of the line. */
  after(text: string, count: number, from: number): number
  /** Where what follows blanks at bytes[from] begins. */
  skipBlanks(from: number, to: number): number
  /** In ms since the epoch. False if it is none. */
  time(epoch: number): boolean
  untimed(): void
  /** An index into LEVELS; -1 if there is none, or if it is another word. */
  level(level: number, word?: string): void
  source(file: string, line: string): void
  tags(names: readonly string[]): void
  /** The message: a part of the line, or a text instead of it and of the other lines. */
  message(from: number, to: number): void
  messageText(text: string): void
  /** Adds a field by the group of a pattern (read/vocabulary.ts). A field that the record has stays. */
  group(name: string, text: string | undefined): void
  /** Adds a field with a text, or with JSON. */
  field(name: string, text: string): void
  jsonField(name: string, json: string): void
  has(name: string): boolean
  /** Ends the record. */
  end(): void
  /** Ends it with the `key=value` pairs of its message, or of a part of it. */
  endWithPairs(from: number, to: number): true
  endWithPairsOf(text: string): true
}

/**
 * How the lines of one file are read. Everything works on bytes, because a scan reads millions of lines and keeps few.
 * A line is bytes[from, to) without its LF; it may end in a CR.
 */
export interface LineFormat {
  readonly name: string
  /** Whether its lines have times; without them, `since` and `until` do not work. */
  readonly timed: boolean
  /** Whether its lines have levels. */
  readonly leveled: boolean
  /** Whether the line begins a record; if not, it continues the one above and inherits its time and level. */
  starts(bytes: Uint8Array, from: number, to: number): boolean
  /**
   * The beginning that proves that a line begins a record, where `0` stands for any digit: at most 32 ASCII characters,
   * within the line. For other lines, `starts` decides.
   */
  readonly head?: string
  /** Ms since the epoch (with a fraction if the log has one), NaN if the line has no time. */
  time(bytes: Uint8Array, from: number, to: number, zone: Zone): number
  /**
   * An index into LEVELS, -1 when the line has none. Some formats have the level on the record's second line: `end` is
   * where the record ends, if it is known.
   */
  level(bytes: Uint8Array, from: number, to: number, end?: number): number
  /**
   * Texts of which every record of this level or a higher one holds at least one, each within a line or after a line
   * break (see Marks for how they are written). Null if most records hold one.
   */
  marks?(level: number): readonly RegExp[] | null
  /**
   * How a line that begins a record is written: a line written in the same way begins a record, too, with the level that
   * its word says. Null if that is not sure.
   */
  shape?(bytes: Uint8Array, from: number, to: number): Piece[] | null
  /** Whether a line that does not begin a record still shows the format. */
  owns?(bytes: Uint8Array, from: number, to: number): boolean
  /** Whether a line looks like the continuation of a record, for a format whose lines have no times. */
  continues?(bytes: Uint8Array, from: number, to: number): boolean
  /** The same for a line whose end is not available, if that makes a difference. */
  readonly open?: Pick<LineFormat, 'starts' | 'time' | 'level'>
  /** A zone abbreviation in the line that means several zones, such as `CST`; null when there is none. */
  zoneName?(bytes: Uint8Array, from: number, to: number): string | null
  /** The ambiguous abbreviation found in the file's sample: its times are read in the log's zone. */
  readonly ambiguousZone?: string
  /** Set if lines have only a time of day: the date comes from the file's modification time. */
  readonly undated?: true
  /**
   * The text of a record as filters see it, where lines wrap those of another format; bytes[from, to) holds whole
   * lines.
   */
  unwrap?(bytes: Uint8Array, from: number, to: number): Uint8Array
  /** What is in the file where the text of a record holds one of some marks; null if that is not known. */
  wrap?(marks: readonly RegExp[]): RegExp[] | null
  /** Whether the text inside a line that wraps it is in the file as it is, and holds what `find` looks for. */
  holds?(bytes: Uint8Array, from: number, to: number, find: Find): boolean
  /**
   * Whether a text may begin in the line bytes[from, end) and go on in the next one. Only formats whose lines hold parts of
   * longer lines have this. `to` is the end of the given lines; `areNext` says whether two bytes are neighbours in the text.
   */
  crosses?(bytes: Uint8Array, line: { from: number; end: number; to: number }, areNext: AreNext): boolean
  /** The format of the wrapped lines, if lines wrap others. */
  readonly inner?: LineFormat
  /**
   * Visits the members of a record's context or of its JSON, each as the log writes it. Without it, they are those of
   * the context in `fields`.
   */
  members?(bytes: Uint8Array, from: number, to: number, visit: Visit): boolean
  /** The value of one field of a record, where that is cheaper than all of them; undefined if it must be parsed. */
  member?(name: string, bytes: Uint8Array, from: number, to: number): string | undefined
  /** Reads a record, for its fields and for JSON. */
  readonly read?: RecordReader
  /** Which writer of JSON knows its usual lines better than `read` does (log/write). */
  readonly written?: 'lindb' | 'json' | 'logfmt'
  /** Finds the line inside a wrapped one. */
  readonly lineAt?: InnerReader
  /** The fields of a whole record: its first line and its continuation lines. */
  fields(text: string, zone: Zone): RecordFields
}

/**
 * Finds the line inside a wrapped one; null unless it is whole. `isAfterWhole` if the line before is known to be whole,
 * too.
 */
export type InnerReader = (
  bytes: Uint8Array,
  from: number,
  to: number,
  isAfterWhole: boolean,
) => { bytes: Uint8Array; from: number; to: number } | null

/** Finds the timestamp of a line; null if it has none. The next one overwrites it. */
export type StampReader = (bytes: Uint8Array, from: number, to: number, zone: Zone) => Stamp | null

/** Whether one byte follows another in a text. */
export type AreNext = (byte: number, next?: number) => boolean

/** The next place in bytes[from, to) of what is looked for, or -1. */
export type Find = (bytes: Uint8Array, from: number, to: number) => number

/**
 * Called with each member and its path, with dots between the keys; `isLeaf` is false for objects, lists and null, true by
 * default. Returning true ends the visit.
 */
export type Visit = (path: string, value: () => string, isLeaf?: boolean) => boolean

/** A parsed record. Missing parts are left out. */
export interface RecordFields {
  /** ISO 8601 in the log's zone. */
  time?: string
  /** A name from LEVELS, or the line's own word if it is none of them. */
  level?: string
  source?: { file: string; line: number }
  tags?: string[]
  /** The message, with the continuation lines below it. */
  message: string
  /** The record's other members. */
  context?: unknown
  /** The original text, if it could not be parsed. */
  raw?: string
  /** Set if the record's JSON is too deep or too wide to be parsed, and is part of the message instead. */
  unparsed?: true
}

/** A file in no known format: each line is a record without time and level. */
export const PLAIN: LineFormat = {
  name: 'plain',
  timed: false,
  leveled: false,
  head: '',
  starts: () => true,
  time: () => Number.NaN,
  level: () => -1,
  fields: (text) => plainFields(text),
}

/** JSON without a time or level is plain text, too, and says so when it could not have been parsed. */
function plainFields(text: string): RecordFields {
  const record = unparsed(text)
  return text.startsWith('{') && !fits(text) ? { message: record.message, unparsed: true } : withPairs(record)
}

/** The fields of a record that could not be parsed. */
export function unparsed(text: string): RecordFields {
  const raw = text.replace(/\r?\n?$/, '')
  return { message: stripAnsi(raw), raw }
}

/** A record's text, ready for parsing: without its last line end, without escapes, with LF between its lines. */
export function recordText(text: string): string {
  const body = text.endsWith('\n') ? text.slice(0, -1) : text
  const plain = stripAnsi(body.charCodeAt(0) === 0xfeff ? body.slice(1) : body)
  if (!plain.includes('\r')) return plain
  return (plain.endsWith('\r') ? plain.slice(0, -1) : plain).replaceAll('\r\n', '\n')
}

/** The same, its first line, and what follows that, with its line break. */
export function recordParts(text: string): { record: string; line: string; more: string } {
  const record = recordText(text)
  const lf = record.indexOf('\n')
  return lf < 0
    ? { record, line: record, more: '' }
    : { record, line: record.slice(0, lf), more: record.slice(lf) }
}

/** More lines of a record are not taken apart: a million of them takes half a second. */
const MAX_LINES = 10_000

/** The first lines of a record's text, and what follows them, with its line break. */
export function linesOf(text: string): { lines: string[]; rest: string } {
  const lines = text.split('\n', MAX_LINES)
  if (lines.length < MAX_LINES) return { lines, rest: '' }
  return { lines, rest: text.slice(lines.reduce((sum, line) => sum + line.length + 1, -1)) }
}

/** `path/file.go:123` as a source, or null. */
export function sourceOf(text: string): { file: string; line: number } | null {
  const found = /^(.*[^:\s]):(\d{1,9})$/.exec(text)
  return found ? { file: found[1]!, line: Number(found[2]) } : null
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])/g

/** Text without terminal escape sequences: colours mean nothing in JSON, and some sequences are an attack. */
export function stripAnsi(text: string): string {
  return text.includes('\x1b') ? text.replace(ANSI, '') : text
}

/** The first offset at or after `from` that follows colour escapes (`ESC [ … m`) and a byte order mark. */
export function skipAnsi(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  if (bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf) at += 3
  while (at + 1 < to && bytes[at] === 0x1b && bytes[at + 1] === 0x5b) {
    let end = at + 2
    while (end < to && bytes[end]! >= 0x20 && bytes[end]! <= 0x3f) end++
    if (end >= to) return at
    at = end + 1
  }
  return at
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Bytes as text; broken UTF-8 becomes U+FFFD, as in a browser. */
export function decode(bytes: Uint8Array, from: number, to: number): string {
  return decoder.decode(bytes.subarray(from, to))
}

const encoder = new TextEncoder()
const scratch = new Uint8Array(4096)

/** A line as bytes, valid until the next call: short ASCII is copied here, which takes a third of an encoder's time. */
export function encodeLine(text: string): Uint8Array {
  if (text.length > scratch.length) return encoder.encode(text)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x80) return encoder.encode(text)
    scratch[i] = code
  }
  return scratch.subarray(0, text.length)
}

/** The text of bytes[from, to), where `bytes` are those of `text`. */
export function partOf(text: string, bytes: Uint8Array, from: number, to = bytes.length): string {
  return text.length === bytes.length ? text.slice(from, to) : decode(bytes, from, to)
}
