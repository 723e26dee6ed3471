import { badCursor, type Cursor, hashBytes } from '../text/cursor.ts'
import type { Source } from './source.ts'

/** Where one of the logs continues. */
export type LanePlace =
  /**
   * So many bytes after a place in a file, or before it if negative: the records between the two were given already and
   * tell how the next ones are placed.
   */
  | { kind: 'place'; cursor: Cursor; lead: number }
  /** At a moment, in ms: the log appeared later, or could not be read so far. */
  | { kind: 'time'; time: number }
  /** Where the log begins. */
  | { kind: 'start' }

/** A place in each of several logs. */
export interface MergedCursor {
  /** The moment that it stands for. */
  time: number
  /** By `laneKey`. */
  lanes: Map<number, LaneState>
}

/** The state of one log. */
export interface LaneState {
  place: LanePlace
  /** Whether it could not be read, so that some of its records belong to pages that were given without them. */
  behind: boolean
  /** What it is called, in a cursor with room for names: only this can name a log that is gone. */
  name?: string
}

/** With names, a cursor may have so many bytes. */
const MOST_WITH_NAMES = 700

const VERSION = 0x6d
const KINDS = ['place', 'time', 'start'] as const
const KIND = 3
const BEHIND = 4
const SPLITS = 8
/** The place is in another file than the one with the log's name: a hash of its name follows, or all of it. */
const HASHED = 16
const NAMED = 32
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** What a log is called in a cursor: 24 bits that tell 32 logs apart. */
export function laneKey({ node, log }: Pick<Source, 'node' | 'log'>): number {
  return hashOf(`${node ?? ''}/${log}`) % 0x1000000
}

/** What stands for the logs of a node that could not be listed. */
export function nodeKey(node: string | null): number {
  return laneKey({ node, log: '' })
}

/** In one order for all pages, so that the same places are the same cursor. */
export function ordered(lanes: Map<number, LaneState>): Map<number, LaneState> {
  return new Map([...lanes].sort(([a], [b]) => a - b))
}

/**
 * A cursor as clients see it: about 20 bytes for each log, so that the links of 32 logs fit into 4 KiB. The identity of
 * a file is left out, because its fingerprint decides.
 */
export function encodeMerged(cursor: MergedCursor, sources: readonly Source[]): string {
  const named = bytesOf(cursor, sources, true)
  const bytes = named.length <= MOST_WITH_NAMES ? named : bytesOf(cursor, sources, false)
  const check = hashBytes(Uint8Array.from(bytes), 0, bytes.length) % 0x10000
  return toBase64Url([check >> 8, check & 0xff, ...bytes])
}

function bytesOf({ time, lanes }: MergedCursor, sources: readonly Source[], named: boolean): number[] {
  const writer = new Writer()
  writer.bytes.push(VERSION, named ? 1 : 0)
  writer.fixed(timeNumber(time), 7)
  for (const [key, { place, behind, name = '' }] of lanes) {
    const source = sources.find((each) => laneKey(each) === key)
    writer.fixed(key, 3)
    if (named) writer.text(source?.name ?? name)
    writePlace(writer, place, behind, source)
  }
  return writer.bytes
}

function writePlace(writer: Writer, place: LanePlace, behind: boolean, source: Source | undefined): void {
  const base = KINDS.indexOf(place.kind) | (behind ? BEHIND : 0)
  if (place.kind !== 'place') {
    writer.bytes.push(base)
    if (place.kind === 'time') writer.fixed(timeNumber(place.time), 7)
    return
  }
  const { name, offset, print, splitsRecord } = place.cursor
  const isOwn = name === source?.file
  const isListed = source?.files.includes(name) ?? false
  writer.bytes.push(base | (splitsRecord ? SPLITS : 0) | (isOwn ? 0 : isListed ? HASHED : NAMED))
  if (!isOwn && isListed) writer.fixed(hashOf(name) % 0x10000, 2)
  if (!isOwn && !isListed) writer.text(name)
  writer.number(offset)
  writer.signed(place.lead)
  // A fingerprint is before its place, or at the start of a file after it.
  writer.signed(offset - print.offset)
  writer.bytes.push(print.length)
  writer.fixed(print.hash, 7)
}

/** Parses a cursor for these logs; anything that is not ours is a LogError `bad-cursor`. */
export function decodeMerged(text: string, parameter: string, sources: readonly Source[]): MergedCursor {
  const bytes = /^[A-Za-z0-9_-]{12,4500}$/.test(text) ? fromBase64Url(text) : null
  if (!bytes || bytes[2] !== VERSION) throw badCursor(parameter)
  if (hashBytes(bytes, 2, bytes.length) % 0x10000 !== bytes[0]! * 256 + bytes[1]!) throw badCursor(parameter)
  const reader = new Reader(bytes, 3)
  try {
    const named = reader.fixed(1) === 1
    const time = timeOf(reader.fixed(7))
    const lanes: MergedCursor['lanes'] = new Map()
    while (reader.left > 0) {
      const key = reader.fixed(3)
      const source = sources.find((each) => laneKey(each) === key)
      const name = named ? reader.text() : ''
      lanes.set(key, { ...readPlace(reader, source), ...(name && { name }) })
    }
    return { time, lanes }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw badCursor(parameter)
  }
}

function readPlace(reader: Reader, source: Source | undefined): LaneState {
  const flags = reader.fixed(1)
  const behind = (flags & BEHIND) !== 0
  const kind = KINDS[flags & KIND]
  if (kind === undefined) throw new RangeError('unknown kind')
  if (kind === 'start') return { place: { kind }, behind }
  if (kind === 'time') return { place: { kind, time: timeOf(reader.fixed(7)) }, behind }
  const name = readName(reader, flags, source)
  const offset = reader.number()
  const lead = reader.signed()
  const at = offset - reader.signed()
  const length = reader.fixed(1)
  const print = { offset: at, length, hash: reader.fixed(7) }
  if (at < 0 || length > 64) throw new RangeError('no fingerprint')
  const cursor = { name, id: null, offset, print, splitsRecord: (flags & SPLITS) !== 0 }
  return { place: { kind, cursor, lead }, behind }
}

/** A file that is not found by its name is found by the fingerprint. */
function readName(reader: Reader, flags: number, source: Source | undefined): string {
  const own = source?.file ?? ''
  if (flags & NAMED) return reader.text()
  if (!(flags & HASHED)) return own
  const hash = reader.fixed(2)
  return source?.files.find((name) => hashOf(name) % 0x10000 === hash) ?? own
}

/** Microseconds with an offset, so that it is neither negative nor a fraction. */
const timeNumber = (time: number) => Math.max(0, Math.min(2 ** 53 - 1, Math.round(time * 1000) + 2 ** 52))
const timeOf = (number: number) => (number - 2 ** 52) / 1000

function hashOf(text: string): number {
  const bytes = encoder.encode(text)
  return hashBytes(bytes, 0, bytes.length)
}

class Writer {
  readonly bytes: number[] = []

  /** A number in so many bytes. */
  fixed(value: number, count: number): void {
    for (let i = count - 1; i >= 0; i--) this.bytes.push(Math.floor(value / 2 ** (8 * i)) % 256)
  }

  /** A number in as few bytes as it needs, seven bits in each. */
  number(value: number): void {
    for (let rest = value; ; rest = Math.floor(rest / 128)) {
      this.bytes.push((rest % 128) + (rest >= 128 ? 128 : 0))
      if (rest < 128) return
    }
  }

  signed(value: number): void {
    this.number(value >= 0 ? 2 * value : -2 * value - 1)
  }

  text(value: string): void {
    const bytes = encoder.encode(value)
    this.number(bytes.length)
    this.bytes.push(...bytes)
  }
}

class Reader {
  readonly #bytes: Uint8Array
  #at: number

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  fixed(count: number): number {
    let value = 0
    for (let i = 0; i < count; i++) value = value * 256 + this.#byte()
    return value
  }

  number(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte()
      value += (byte % 128) * scale
      if (value > Number.MAX_SAFE_INTEGER) throw new RangeError('too large')
      if (byte < 128) return value
    }
  }

  signed(): number {
    const value = this.number()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  text(): string {
    const length = this.number()
    if (length > this.left) throw new RangeError('too short')
    const bytes = this.#bytes.subarray(this.#at, this.#at + length)
    this.#at += length
    return decoder.decode(bytes)
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw new RangeError('too short')
    return byte
  }
}

function toBase64Url(bytes: readonly number[]): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}

function fromBase64Url(text: string): Uint8Array | null {
  try {
    const ascii = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(ascii, (char) => char.charCodeAt(0))
  } catch {
    return null
  }
}
