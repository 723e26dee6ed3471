import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import type { RecordTaker } from '../format/format.ts'
import { LEVELS } from '../format/read/level.ts'
import { pairsIn } from '../format/read/pairs.ts'
import { exactTime, isExact } from '../format/read/stamp.ts'
import { addFields, kindOf, numberOf } from '../format/read/vocabulary.ts'
import type { Zone } from '../time.ts'
import { LineOut } from './bytes/line-out.ts'
import { putTemplate, type Template, template } from './bytes/words.ts'

/**
 * Writes the record of one line that begins at `from` and ends before `to`, and sets where it ends. False for an unusual
 * line, which is left to the fields of its format. Where it is true, the line begins a record.
 */
export type LineWriter = (record: RecordOut, from: number, to: number) => boolean

/** What a record needs besides six times the bytes of its line: names, quotes, and what is written over the end. */
export const RECORD_ROOM = 2048

/**
 * Writes the members of a record from bytes to bytes, in the order that all records have: `time`, `level`, `source`, `tag`,
 * `message`, then fields. Most methods take offsets of the line and copy from there; what they copy must be plain (see
 * `line`).
 */
export class RecordOut extends LineOut implements RecordTaker {
  readonly isStrict = true
  readonly zone: Zone
  /** The minute of the last time, and what the times in it begin and end with. */
  #minute = Number.NaN
  #before: Template = template('')
  #after: Template = template('')
  /** The time of the record, in ms since the epoch; NaN if it has none. */
  epoch = Number.NaN
  #begin = 0
  /** The lines of the record below its first one, with the line break before them; none if they end where they begin. */
  #moreFrom = 0
  #moreTo = 0
  #more: string | null = null
  /** How many fields this record has, and the names of those that `name` wrote. */
  #fields = 0
  readonly #names: string[] = []

  constructor(zone: Zone) {
    super()
    this.zone = zone
  }

  /** Begins a record at `at`. */
  begin(at: number): void {
    this.at = at
    this.#begin = at
    this.#fields = 0
    this.#moreTo = this.#moreFrom
    this.#more = null
  }

  /** Sets where the record's other lines are, with the line break before them. False if they are not plain. */
  below(from: number, to: number): boolean {
    this.#moreFrom = from
    this.#moreTo = to
    this.#more = null
    for (let at = from + 1; at <= to; at = this.line.lf + 1) if (this.scan(at, to) < 0) return false
    return true
  }

  /** The record's other lines, with the line break before them. */
  get more(): string {
    if (this.#more !== null) return this.#more
    return this.#moreTo > this.#moreFrom ? this.text(this.#moreFrom, this.#moreTo) : ''
  }

  /** Replaces the text of the other lines. */
  set more(text: string) {
    this.#more = text
  }

  /** Ends a message, with the record's other lines. */
  endMessage(): void {
    if (this.#moreTo > this.#moreFrom) {
      if (this.#more === null) this.escaped(this.#moreFrom, this.#moreTo)
      else this.json(JSON.stringify(this.#more).slice(1, -1))
    }
    this.out[this.at++] = 0x22
  }

  /** Begins a record with its time. False if that has an unusual form. */
  time(epoch: number): boolean {
    // As `iso` rounds it.
    const whole = Math.floor(epoch + 0.0005)
    const minute = Math.floor(whole / MINUTE)
    if (minute !== this.#minute && !this.#enter(minute)) return false
    this.epoch = epoch
    const { out } = this
    const millis = whole - minute * MINUTE
    const seconds = (millis / 1000) | 0
    let at = putTemplate(this.#before, this.copy.out, this.at)
    at = putDigits(out, at, seconds, 2)
    out[at++] = 0x2e
    at = putDigits(out, at, millis - seconds * 1000, 3)
    const micros = Math.round((epoch - whole) * 1000)
    if (micros > 0) at = putDigits(out, at, micros, 3)
    this.at = putTemplate(this.#after, this.copy.out, at)
    return true
  }

  /** Begins a record with the time `YYYY-MM-DD hh:mm:ss.mmm` before a tab, in the log's zone. */
  exactTime(from: number, to: number): boolean {
    const { bytes, zone } = this
    if (from + 24 > to || !isExact(bytes, from, to) || bytes[from + 17]! > 0x35) return false
    return this.time(exactTime(bytes, from, zone))
  }

  #enter(minute: number): boolean {
    const start = minute * MINUTE
    if (Number.isNaN(start) || this.zone.offsetAt(start) % MINUTE !== 0) return false
    const iso = this.zone.format(start)
    if (iso[10] !== 'T') return false
    this.#minute = minute
    this.#before = template(`{"time":"${iso.slice(0, 17)}`)
    this.#after = template(`${iso.slice(23)}"`)
    return true
  }

  untimed(): void {
    this.epoch = Number.NaN
  }

  level(level: number, word?: string): void {
    if (level >= 0) this.put(LEVEL[level]!)
    else if (word !== undefined) this.json(`,"level":${JSON.stringify(word)}`)
  }

  source(file: string, line: string): void {
    this.put(SOURCE)
    this.string(file)
    this.put(LINE)
    this.string(String(Number(line)))
    this.out[this.at++] = 0x7d
  }

  /** `path/file.go:123` in the line. */
  sourceAt(from: number, to: number): void {
    const colon = this.bytes.lastIndexOf(0x3a, to - 1)
    this.put(SOURCE)
    this.escaped(from, colon)
    this.put(LINE)
    this.raw(colon + 1, to)
    this.out[this.at++] = 0x7d
  }

  tags(names: readonly string[]): void {
    for (let i = 0; i < names.length; i++) {
      this.put(i === 0 ? TAGS : NEXT_TAG)
      this.string(names[i]!)
    }
    if (names.length > 0) this.put(TAGS_END)
  }

  message(from: number, to: number): void {
    this.put(MESSAGE)
    this.escaped(from, to)
    this.endMessage()
  }

  messageText(text: string): void {
    this.json(`,"message":${JSON.stringify(text)}`)
  }

  /** A field of the context, from the text of a group by its name (read/vocabulary.ts); a field that it has stays. */
  group(name: string, text: string | undefined): void {
    const value = text?.trim()
    if (value === undefined || value === '' || value === '-' || value === '[unknown]') return
    const kind = kindOf(name)
    if (kind !== 'other') {
      if (this.has(name)) return
      if (kind === 'number' && isWhole(value)) this.jsonField(name, value)
      else if (kind === 'number') this.jsonField(name, JSON.stringify(numberOf(value)))
      else this.field(name, value)
      return
    }
    const context: Record<string, unknown> = {}
    addFields(context, { [name]: value })
    for (const key of Object.keys(context))
      if (!this.has(key)) this.jsonField(key, JSON.stringify(context[key]))
  }

  /** A field with a text. */
  field(name: string, value: string): void {
    this.name(name)
    this.out[this.at++] = 0x22
    this.string(value)
    this.out[this.at++] = 0x22
  }

  /** A field whose value is JSON already. */
  jsonField(name: string, json: string): void {
    this.name(name)
    this.json(json)
  }

  /** The name of the next field. */
  name(name: string): void {
    this.#names[this.#fields] = name
    const { first, next } = templatesOf(name)
    this.put(this.#fields++ === 0 ? first : next)
  }

  /** The same for a name in the line, which occurs once. */
  key(from: number, to: number): void {
    this.put(this.#fields++ === 0 ? FIRST_KEY : NEXT_KEY)
    this.escaped(from, to)
    this.put(NAME_END)
  }

  /** Whether the context has a field with this name. */
  has(name: string): boolean {
    for (let i = 0; i < this.#fields; i++) if (this.#names[i] === name) return true
    return false
  }

  /** Ends the record. */
  end(): void {
    if (this.#fields > 0) this.out[this.at++] = 0x7d
    this.out[this.at++] = 0x7d
    // Each member begins with a comma, unless the time came before.
    if (Number.isNaN(this.epoch)) this.out[this.#begin] = 0x7b
  }

  /** Ends the record with the `key=value` pairs of its message, which is plain and at bytes[from, to). */
  endWithPairs(from: number, to: number): true {
    return this.endWithPairsOf(this.line.equals < to ? this.text(from, to) : '')
  }

  endWithPairsOf(text: string): true {
    if (text !== '') for (const [key, value] of pairsIn(text)) if (!this.has(key)) this.field(key, value)
    this.end()
    return true
  }
}

const MINUTE = 60_000
const LEVEL = LEVELS.map((name) => template(`,"level":"${name}"`))
export const SOURCE = template(',"source":{"file":"')
export const LINE = template('","line":')
export const TAGS = template(',"tags":["')
export const NEXT_TAG = template('","')
export const TAGS_END = template('"]')
export const MESSAGE = template(',"message":"')
const FIRST_KEY = template(',"context":{"')
const NEXT_KEY = template(',"')
const NAME_END = template('":')

/** The names of fields that occurred, as they are written: as the first one, and as another one. */
const templates = new BoundedMap<string, { first: Template; next: Template }>(1000)

function templatesOf(name: string): { first: Template; next: Template } {
  let known = templates.get(name)
  if (!known) {
    const quoted = JSON.stringify(name)
    known = { first: template(`,"context":{${quoted}:`), next: template(`,${quoted}:`) }
    // A part of a line keeps all of it in memory: this name is made anew.
    templates.set(JSON.parse(quoted), known)
  }
  return known
}

/** A number with leading zeros; returns the offset after it. */
function putDigits(out: Uint8Array, at: number, number: number, count: number): number {
  let left = number
  for (let i = at + count - 1; i >= at; i--) {
    const tens = (left / 10) | 0
    out[i] = 0x30 + left - tens * 10
    left = tens
  }
  return at + count
}

/** Whether a text is a number as JSON writes it; a few other texts are numbers, too. */
function isWhole(text: string): boolean {
  if (text.length > 15 || (text.length > 1 && text.charCodeAt(0) === 0x30)) return false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x30 || code > 0x39) return false
  }
  return true
}
