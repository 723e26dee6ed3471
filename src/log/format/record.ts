import type { Zone } from '../time.ts'
import {
  encodeLine,
  type LineFormat,
  partOf,
  type RecordFields,
  type RecordReader,
  type RecordTaker,
  recordParts,
  unparsed,
} from './format.ts'
import { LEVELS } from './read/level.ts'
import { pairsIn } from './read/pairs.ts'
import { addFields, type HeadGroups } from './read/vocabulary.ts'
import { bytesIn } from './read/words.ts'

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
