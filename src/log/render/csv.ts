import { isTurnOver, yieldToEventLoop } from '../../kit/limits/yield.ts'
import { decode, type Visit } from '../format/format.ts'
import { endOf } from '../format/lines.ts'
import { FORMER_NAMES } from '../format/read/vocabulary.ts'
import type { Reader } from '../pattern/pattern.ts'
import { visitMembers } from '../where/where.ts'
import { membersOf, type RecordMembers } from './record.ts'

const encoder = new TextEncoder()

/** What the records of several logs have besides: their log and node, and whether a page was given without them. */
export type Origin = Partial<Record<'file' | 'node' | 'late', string>>

/** The members of a record, as columns. The others are fields. */
const MEMBERS = new Set(['time', 'level', 'source', 'tags', 'message', 'context', 'raw', 'unparsed', 'ansi'])

/** The header of a table, with its line end. */
export function csvHead(columns: readonly string[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(rowOf(columns))
}

/** One record as a row, with its line end. */
export function csvRow(
  bytes: Uint8Array,
  reader: Reader,
  columns: readonly string[],
  origin: Origin = {},
): Uint8Array {
  return encoder.encode(rowOf(cellsOf(bytes, reader, columns, origin)))
}

/** Renders records as rows, RFC 4180, below a header. */
export class CsvWriter {
  readonly #reader: Reader
  readonly #columns: readonly string[]
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0
  #to = 0
  #out = new Uint8Array(0)
  #isBegun = false
  written = 0

  constructor(reader: Reader, columns: readonly string[]) {
    this.#reader = reader
    this.#columns = columns
  }

  /** Sets the memory to write to. If it is too small, it is replaced by a larger one. The header is written first. */
  into(out: Uint8Array<ArrayBuffer>): void {
    this.#out = out
    this.written = 0
    if (!this.#isBegun) this.#put(csvHead(this.#columns))
    this.#isBegun = true
  }

  /** What was written since `into`. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#out.subarray(0, this.written)
    this.into(new Uint8Array(0))
    return taken
  }

  /** Takes whole records to write: bytes[from, to). */
  read(bytes: Uint8Array, from: number, to: number): void {
    this.#bytes = bytes
    this.#at = from
    this.#to = to
  }

  /** How much of what was read is not written yet. */
  get left(): number {
    return this.#to - this.#at
  }

  /** Writes records until `count` bytes of them are through or `full` bytes are written, and the last one whole. */
  write(count: number, full: number): void {
    const until = Math.min(this.#to, this.#at + count)
    while (this.#at < until && this.written < full) {
      const end = endOf(this.#reader.format, this.#bytes, this.#at, this.#to)
      this.#put(csvRow(this.#bytes.subarray(this.#at, end), this.#reader, this.#columns))
      this.#at = end
    }
  }

  #put(row: Uint8Array): void {
    const to = this.written + row.length
    if (to > this.#out.length) {
      const larger = new Uint8Array(Math.max(to, 2 * this.#out.length))
      larger.set(this.#out.subarray(0, this.written))
      this.#out = larger
    }
    this.#out.set(row, this.written)
    this.written = to
  }
}

/**
 * Whether some column is neither a member nor a field of any of the records, of which there are some. Usually the first
 * record has them all; the rest is read only where one does not.
 */
export async function lacksColumns(
  records: Iterable<{ bytes: Uint8Array; reader: Reader }>,
  columns: readonly string[],
  origin: readonly string[] = [],
): Promise<boolean> {
  const missing = new Set(columns.filter((name) => !MEMBERS.has(name) && !origin.includes(name)))
  let isAny = false
  for (const { bytes, reader } of records)
    for (let at = 0; at < bytes.length && missing.size > 0; ) {
      if (isTurnOver()) await yieldToEventLoop()
      isAny = true
      const end = endOf(reader.format, bytes, at, bytes.length)
      const names = [...missing]
      const cells = cellsOf(bytes.subarray(at, end), reader, names, {})
      for (const [i, cell] of cells.entries()) if (cell !== undefined) missing.delete(names[i]!)
      at = end
    }
  return isAny && missing.size > 0
}

/** The cells of a record: a member if it has one, otherwise a field; undefined if it has neither. */
function cellsOf(
  bytes: Uint8Array,
  reader: Reader,
  columns: readonly string[],
  origin: Origin,
): (string | undefined)[] {
  const text = decode(bytes, 0, bytes.length)
  const options = { raw: columns.includes('raw'), colours: columns.includes('ansi') }
  const record = membersOf(text, reader.format, reader.zone, options)
  const cells = columns.map((name) => originCell(origin, name) ?? memberCell(record, name))
  if (!cells.includes(undefined)) return cells
  const fields = fieldsOf(bytes, reader, record, columns)
  return cells.map((cell, i) => cell ?? fields.get(columns[i]!) ?? tagCell(record, columns[i]!))
}

function originCell(origin: Origin, name: string): string | undefined {
  return Object.hasOwn(origin, name) ? origin[name as keyof Origin] : undefined
}

function memberCell(record: RecordMembers, name: string): string | undefined {
  if (!MEMBERS.has(name)) return undefined
  if (name === 'source') return record.source && `${record.source.file}:${record.source.line}`
  const value = record[name as keyof RecordMembers]
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** As the field `tag` of a filter: any of the tags. */
function tagCell({ tags = [] }: RecordMembers, name: string): string | undefined {
  return (name === 'tag' || name === 'logger') && tags.length > 0 ? tags.join(', ') : undefined
}

/** The wanted fields of a record, as the log writes them. */
function fieldsOf(
  bytes: Uint8Array,
  { format, zone }: Reader,
  record: RecordMembers,
  columns: readonly string[],
): Map<string, string> {
  const found = new Map<string, string>()
  if (record.unparsed) return found
  const visit: Visit = (path, value) => {
    for (const name of columns)
      if (name === path || (formerOf(name) === path && !found.has(name))) found.set(name, value())
    return false
  }
  const unwrapped = format.unwrap?.(bytes, 0, bytes.length) ?? bytes
  const reader = { format: format.inner ?? format, zone }
  const range = { bytes: unwrapped, from: 0, to: unwrapped.length }
  visitMembers(range, reader, visit, { message: '', ...record })
  return found
}

const formerOf = (name: string) => (Object.hasOwn(FORMER_NAMES, name) ? FORMER_NAMES[name] : undefined)

function rowOf(cells: readonly (string | undefined)[]): string {
  // One empty cell would be an empty line, which readers skip.
  if (cells.length === 1 && !cells[0]) return '""\r\n'
  return `${cells.map(cellOf).join(',')}\r\n`
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/

/**
 * A spreadsheet would run a cell that begins like a formula; with an apostrophe in front, it is text. Where `;` divides
 * cells, as it does in half of Europe, one begins behind each `;`, and quotes that stand behind a comma hold no line together.
 */
function cellOf(value = ''): string {
  const cell = escaped(/[;\n\r]/.test(value) ? value.replace(INNER, (start) => `${start}'`) : value)
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

const INNER = /(?:;|\r?\n)(?=[\t\r]*[=+\-@])(?![+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[;\r\n]|$))/g

function escaped(value: string): string {
  return /^[=+\-@\t\r]/.test(value) && !NUMBER.test(value) ? `'${value}` : value
}
