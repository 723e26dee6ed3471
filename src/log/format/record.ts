import type { Zone } from '../time.ts'
import { encodeLine, type LineFormat, partOf, type RecordFields, recordParts, unparsed } from './format.ts'
import { LEVELS } from './read/level.ts'
import { pairsIn } from './read/pairs.ts'
import { addFields, type HeadGroups } from './read/vocabulary.ts'
import { bytesIn } from './read/words.ts'

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

/** What a format needs besides times and levels: its reader, and the fields that this reads. */
export function readBy(read: RecordReader): Pick<LineFormat, 'read' | 'fields'> {
  return {
    read,
    fields(text, zone) {
      const record = new RecordObject(text, zone)
      return read(record, 0, record.bytes.length) ? record.fields : unparsed(text)
    },
  }
}

/** Adds fields that were gathered before. */
export function putContext(record: RecordTaker, context: Record<string, unknown>): void {
  for (const name in context) {
    const value = context[name]
    if (typeof value === 'string') record.field(name, value)
    else record.jsonField(name, JSON.stringify(value))
  }
}

/** A record as an object. */
class RecordObject implements RecordTaker {
  readonly bytes: Uint8Array
  readonly zone: Zone
  readonly line: { wide: number; equals: number }
  readonly isStrict = false
  readonly fields: RecordFields = { message: '' }
  more: string
  readonly #text: string
  // Without a prototype: a key may be `__proto__`.
  readonly #context: Record<string, unknown> = Object.create(null)

  constructor(text: string, zone: Zone) {
    const { line, more } = recordParts(text)
    this.#text = line
    this.more = more
    this.bytes = encodeLine(line)
    this.zone = zone
    const { length } = this.bytes
    const equals = this.bytes.indexOf(0x3d)
    this.line = {
      wide: line.length === length ? length : this.bytes.findIndex((byte) => byte >= 0x80),
      equals: equals < 0 ? length : equals,
    }
  }

  scan(_from: number, to: number): number {
    return to
  }

  text(from: number, to: number): string {
    return partOf(this.#text, this.bytes, from, to)
  }

  after(text: string, count: number, from: number): number {
    return from + (from + count <= this.line.wide ? count : bytesIn(text, count))
  }

  skipBlanks(from: number, to: number): number {
    const first = this.bytes[from]!
    if (from >= to || (first > 0x20 && first < 0x80)) return from
    const text = this.text(from, to)
    return this.after(text, text.length - text.trimStart().length, from)
  }

  time(epoch: number): boolean {
    if (Number.isNaN(epoch)) return false
    this.fields.time = this.zone.format(epoch)
    return true
  }

  untimed(): void {}

  level(level: number, word?: string): void {
    const name = LEVELS[level] ?? word
    if (name !== undefined) this.fields.level = name
  }

  source(file: string, line: string): void {
    this.fields.source = { file, line: Number(line) }
  }

  tags(names: readonly string[]): void {
    if (names.length > 0) this.fields.tags = [...names]
  }

  message(from: number, to: number): void {
    this.messageText(this.text(from, to) + this.more)
  }

  messageText(text: string): void {
    this.fields.message = text
  }

  group(name: string, text: string | undefined): void {
    addFields(this.#context, { [name]: text } as HeadGroups)
  }

  field(name: string, text: string): void {
    this.#context[name] = text
  }

  jsonField(name: string, json: string): void {
    this.#context[name] = JSON.parse(json)
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#context, name)
  }

  end(): void {
    for (const _ in this.#context) {
      this.fields.context = this.#context
      return
    }
  }

  endWithPairs(from: number, to: number): true {
    return this.endWithPairsOf(this.line.equals < to ? this.text(from, to) : '')
  }

  endWithPairsOf(text: string): true {
    for (const [key, value] of text.includes('=') ? pairsIn(text) : [])
      if (!this.has(key)) this.field(key, value)
    this.end()
    return true
  }
}
