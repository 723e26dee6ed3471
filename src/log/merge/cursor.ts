import { badCursor, type Cursor, SHARED, seal, unseal } from '../text/cursor.ts'
import { hashOf, PackedReader, PackedWriter } from './packed.ts'
import type { Source } from './source.ts'

/** Where one of the logs continues. */
export type LanePlace =
  /** `lead` bytes after a place in a file, or before it if negative: the records between tell how the next are placed. */
  | { kind: 'place'; cursor: Cursor; lead: number; object?: DatedObject; unnamed?: UnnamedFile }
  /** At a moment, in ms: the log appeared later, or could not be read so far. */
  | { kind: 'time'; time: number }
  /** Where the log begins. */
  | { kind: 'start' }

/** What leads to an object of a joined log in a cursor that has no room for its key: the time in it, and its hash. */
export interface DatedObject {
  time: number
  /** Set instead of the key in a cursor that was parsed. */
  hash?: number
}

/** The file of a place in a cursor that was parsed while its log was not listed: the hash of its name, null for the log's own. */
export interface UnnamedFile {
  hash: number | null
}

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

/** The longest cursors in bytes that still name their logs, and that still have the keys of objects and identities of files. */
const MOST_WITH_NAMES = 700
const MOST_WITH_KEYS = 1000
/** How long cursors in a header may be: two with places in 200 logs. Clients and servers take heads of 16 KiB. */
export const LONGEST_CURSORS = 11_000
/** A longer identity of a file is left out. */
const MOST_ID = 32

const VERSION = 0x6d
const KINDS = ['place', 'time', 'start'] as const
const KIND = 3
const BEHIND = 4
const SPLITS = 8
/** The place is in another file than the one with the log's name: a hash of its name follows, or all of it. */
const HASHED = 16
const NAMED = 32
/** It is in an object of a joined log: the time in its key and a hash of the key follow. */
const DATED = 64
/** The identity of the file follows: others may begin with the same text. */
const IDENTIFIED = 128

/** Cached, because every record of a page needs the key of its log. */
const keys = new WeakMap<Pick<Source, 'node' | 'log'>, number>()

/** What a log is called in a cursor: 32 bits tell 1,000 logs apart, but for one fleet in 10,000. */
export function laneKey(source: Pick<Source, 'node' | 'log'>): number {
  const { node, log } = source
  const key = keys.get(source) ?? hashOf(`${node ?? ''}/${log}`) % 0x100000000
  keys.set(source, key)
  return key
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
 * A cursor as clients see it: about 20 bytes for each log, so that the links of 200 logs fit into a head. The identity of
 * a file is left out where its fingerprint decides. With `names`, logs are named if there is room.
 */
export function encodeMerged(cursor: MergedCursor, sources: readonly Source[], names = true): string {
  let bytes = bytesOf(cursor, sources, { names, keys: true })
  if (names && bytes.length > MOST_WITH_NAMES) bytes = bytesOf(cursor, sources, { names: false, keys: true })
  if (bytes.length > MOST_WITH_KEYS) bytes = bytesOf(cursor, sources, { names: false, keys: false })
  return seal(String.fromCharCode(...bytes))
}

/** What a cursor has room for: the names of logs, and the keys of their objects with the identities of their files. */
interface Room {
  names: boolean
  keys: boolean
}

function bytesOf({ time, lanes }: MergedCursor, sources: readonly Source[], room: Room): number[] {
  const writer = new PackedWriter()
  writer.bytes.push(VERSION, room.names ? 1 : 0)
  writer.fixed(timeNumber(time), 7)
  const byKey = new Map(sources.map((each) => [laneKey(each), each]))
  for (const [key, { place, behind, name = '' }] of lanes) {
    const source = byKey.get(key)
    writer.fixed(key, 4)
    if (room.names) writer.text(source?.name ?? name)
    writePlace(writer, { place, behind }, source, room)
  }
  return writer.bytes
}

function writePlace(
  writer: PackedWriter,
  { place, behind }: LaneState,
  source: Source | undefined,
  { keys }: Room,
): void {
  const base = KINDS.indexOf(place.kind) | (behind ? BEHIND : 0)
  if (place.kind !== 'place') {
    writer.bytes.push(base)
    if (place.kind === 'time') writer.fixed(timeNumber(place.time), 7)
    return
  }
  const { name, id, offset, print, splitsRecord } = place.cursor
  const { object, unnamed } = place
  const isDated = object !== undefined && (!keys || object.hash !== undefined)
  const isOwn = unnamed ? unnamed.hash === null : name === source?.log
  const isHashed = unnamed !== undefined || source?.files.includes(name) === true
  const named = isDated ? DATED : isOwn ? 0 : isHashed ? HASHED : NAMED
  const isIdentified = keys && id !== null && id.length <= MOST_ID && offset <= SHARED && !isDated
  writer.bytes.push(base | (splitsRecord ? SPLITS : 0) | named | (isIdentified ? IDENTIFIED : 0))
  if (isDated) {
    writer.fixed(timeNumber(object.time), 7)
    writer.fixed(object.hash ?? keyHash(name), 4)
  } else if (named === HASHED) writer.fixed(unnamed?.hash ?? fileHash(name), 2)
  else if (named === NAMED) writer.text(name)
  writer.number(offset)
  writer.signed(place.lead)
  // A fingerprint is before its place, or at the start of a file after it.
  writer.signed(offset - print.offset)
  writer.bytes.push(print.length)
  writer.fixed(print.hash, 7)
  if (isIdentified) writer.text(id)
}

/** Parses a cursor for these logs; anything that is not ours is a LogError `bad-cursor`. */
export function decodeMerged(text: string, parameter: string, sources: readonly Source[]): MergedCursor {
  const bytes = Uint8Array.from(unseal(text), (char) => char.charCodeAt(0))
  if (bytes[0] !== VERSION) throw badCursor(parameter)
  const reader = new PackedReader(bytes, 1)
  try {
    const named = reader.fixed(1) === 1
    const time = timeOf(reader.fixed(7))
    const lanes: MergedCursor['lanes'] = new Map()
    const byKey = new Map(sources.map((each) => [laneKey(each), each]))
    while (reader.left > 0) {
      const key = reader.fixed(4)
      const source = byKey.get(key)
      const name = named ? reader.text() : ''
      lanes.set(key, { ...readPlace(reader, source, time), ...(name && { name }) })
    }
    return { time, lanes }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw badCursor(parameter)
  }
}

function readPlace(reader: PackedReader, source: Source | undefined, time: number): LaneState {
  const flags = reader.fixed(1)
  const behind = (flags & BEHIND) !== 0
  const kind = KINDS[flags & KIND]
  if (kind === undefined) throw new RangeError('unknown kind')
  if (kind === 'start') return { place: { kind }, behind }
  if (kind === 'time') return { place: { kind, time: timeOf(reader.fixed(7)) }, behind }
  const object = flags & DATED ? { time: timeOf(reader.fixed(7)), hash: reader.fixed(4) } : undefined
  const file = object ? { name: '' } : readFile(reader, flags, source)
  const offset = reader.number()
  const lead = reader.signed()
  const at = offset - reader.signed()
  const length = reader.fixed(1)
  const print = { offset: at, length, hash: reader.fixed(7) }
  const id = flags & IDENTIFIED ? reader.text() : null
  if (at < 0 || length > 64) throw new RangeError('no fingerprint')
  // Nothing finds an empty file that is gone: the log goes on at the moment of the cursor.
  if (file.name === null && length === 0) return { place: { kind: 'time', time }, behind }
  const name = file.name ?? source!.file
  const cursor = { name, id, offset, print, splitsRecord: (flags & SPLITS) !== 0 }
  const { unnamed } = file
  return { place: { kind, cursor, lead, ...(object && { object }), ...(unnamed && { unnamed }) }, behind }
}

/** The file of a place: null if it is not listed, so that only the fingerprint finds it. */
function readFile(
  reader: PackedReader,
  flags: number,
  source: Source | undefined,
): { name: string | null; unnamed?: UnnamedFile } {
  if (flags & NAMED) return { name: reader.text() }
  const hash = flags & HASHED ? reader.fixed(2) : null
  // Its node may be listed again for the next page.
  if (!source) return { name: '', unnamed: { hash } }
  if (hash === null) return { name: source.log }
  return { name: source.files.find((name) => fileHash(name) === hash) ?? null }
}

/** 16 bits tell the files of one log apart. */
function fileHash(name: string): number {
  return hashOf(name) % 0x10000
}

/** 32 bits tell the objects of one moment apart. */
export function keyHash(key: string): number {
  return hashOf(key) % 0x100000000
}

/** Microseconds with an offset, so that it is neither negative nor a fraction. */
const timeNumber = (time: number) => Math.max(0, Math.min(2 ** 53 - 1, Math.round(time * 1000) + 2 ** 52))
const timeOf = (number: number) => (number - 2 ** 52) / 1000
