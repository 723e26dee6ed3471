import type { Span } from '../store.ts'

/**
 * The layout of a home that a shipper fills. Only this folder knows it:
 *
 *     segments/<log>/<life>/<segment>         the log's bytes, written once; its name says which, and when they were logged
 *     segments/<log>/<life>/~                 what begins the life, and its young text: written again and again
 *     ends/<log>/<life>-<size>-<crc>-<how>    empty: this life is finished
 *     ship.json                               heartbeat and hints
 *
 * Numbers are written as their complement, so that a LIST returns the newest first. A file that is found after a newer
 * one was shipped gets a life in `older-<number>`. In the code its number is negative.
 */
export const LAYOUT = 3
export const SEGMENTS = 'segments/'
export const ENDS = 'ends/'
export const HEARTBEAT = 'ship.json'

/** The most text in one segment. */
export const LARGEST_SEGMENT = 16 * 1024 * 1024
/** How many of a life's last bytes the checksum in its end covers, at most. */
export const TAIL_BYTES = 64 * 1024

const LAST_LIFE = 99_999_999
const LAST_START = 10 ** 15 - 1
const LAST_LENGTH = 10 ** 8 - 1

/** States that the bytes from `start` to `end` of a life have this checksum. */
export interface Segment {
  start: number
  /** One past the last byte. */
  end: number
  crc: number
  /** Whether it is young text, which is in `~` until it is old enough, or long enough, for a segment. */
  young: boolean
  /** Absent where a segment has no times, not in every line, or ends inside a line. */
  times?: SegmentTimes | undefined
}

export type SegmentTimes = Omit<Span, 'offset' | 'end'>

/** How a life ended: read to its end, truncated, or gone before it was read. */
export type How = 'end' | 'cut' | 'lost'

export interface End {
  life: number
  size: number
  /** CRC-32 of the last 64 KiB. */
  crc: number
  how: How
}

const OLDER = 'older-'

export function lifeName(life: number): string {
  return (life < 0 ? OLDER : '') + String(LAST_LIFE - Math.abs(life)).padStart(8, '0')
}

/** The number of a life from its folder's name; null when it is not one. */
export function parseLife(name: string): number | null {
  const found = /^(older-)?(\d{8})$/.exec(name)
  const life = found ? LAST_LIFE - Number(found[2]) : 0
  return life < 1 ? null : found?.[1] ? -life : life
}

export function logFolder(log: string): string {
  return `${SEGMENTS}${log}/`
}

export function lifeFolder(log: string, life: number): string {
  return `${SEGMENTS}${log}/${lifeName(life)}/`
}

/** The object that begins a life, and holds its young text. It sorts after all segments. */
export function beginKey(log: string, life: number): string {
  return `${lifeFolder(log, life)}~`
}

export function segmentName({ start, end, crc, times }: Omit<Segment, 'young'>): string {
  const length = String(LAST_LENGTH - (end - start)).padStart(8, '0')
  return `${startName(start)}-${length}-${hex(crc)}${times ? timesName(times) : ''}.log.gz`
}

/** `_lindb_z_0_<earliest>_<latest>`: numbers to the base 36, `z` for lines that name their zone, otherwise `u` for UTC. */
function timesName({ format, isZoned, first, earliest, latest }: SegmentTimes): string {
  const numbers = [first, earliest, latest].map((number) => number.toString(36))
  return `_${[format.replaceAll(', ', '+').replaceAll(' ', '+'), isZoned ? 'z' : 'u', ...numbers].join('_')}`
}

const TIMES = /^_([a-z][\w.+-]{0,79})_([zu])_([\da-z]{1,6})_([\da-z]{1,10})_([\da-z]{1,10})$/

function parseTimes(name: string | undefined): SegmentTimes | undefined {
  const [, format, zone, ...numbers] = (name && TIMES.exec(name)) || []
  if (!format) return undefined
  const [first, earliest, latest] = numbers.map((digits) => Number.parseInt(digits, 36))
  return { format, isZoned: zone === 'z', first: first!, earliest: earliest!, latest: latest! }
}

/** The first half of a segment's name. `start-after` with it finds the segments that start at or before `start`. */
export function startName(start: number): string {
  return String(LAST_START - start).padStart(15, '0')
}

export function parseSegment(name: string): Segment | null {
  const found = /^(\d{15})-(\d{8})-([\da-f]{8})(_[\w.+-]+)?\.log\.gz$/.exec(name)
  if (!found) return null
  const start = LAST_START - Number(found[1])
  const length = LAST_LENGTH - Number(found[2])
  if (length < 1 || length > LARGEST_SEGMENT) return null
  const times = parseTimes(found[4])
  const crc = Number.parseInt(found[3]!, 16)
  return { start, end: start + length, crc, young: false, ...(times && { times }) }
}

/** Parses a key below `segments/`; null if it does not fit the layout. `segment` is null for `~`. */
export function parseKey(key: string): { log: string; life: number; segment: Segment | null } | null {
  const found = /^segments\/([^/]+)\/((?:older-)?\d{8})\/([^/]+)$/s.exec(key)
  if (!found) return null
  const life = parseLife(found[2]!)
  const segment = parseSegment(found[3]!)
  if (life === null || (segment === null && found[3] !== '~')) return null
  return { log: found[1]!, life, segment }
}

export function endsFolder(log: string): string {
  return `${ENDS}${log}/`
}

export function endKey(log: string, { life, size, crc, how }: End): string {
  return `${endsFolder(log)}${lifeName(life)}-${size}-${hex(crc)}-${how}`
}

export function parseEnd(key: string): (End & { log: string }) | null {
  const found = /^ends\/([^/]+)\/((?:older-)?\d{8})-(\d{1,15})-([\da-f]{8})-(end|cut|lost)$/s.exec(key)
  const life = found ? parseLife(found[2]!) : null
  if (!found || life === null) return null
  const how = found[5] as How
  return { log: found[1]!, life, size: Number(found[3]), crc: Number.parseInt(found[4]!, 16), how }
}

/** Of several ends of one life, the one that counts: the largest. */
export function largestEnds<E extends End>(ends: Iterable<E>): Map<number, E> {
  const largest = new Map<number, E>()
  for (const end of ends) {
    const known = largest.get(end.life)
    if (!known || end.size > known.size) largest.set(end.life, end)
  }
  return largest
}

/** The file name of a life that is not the newest: `broker.log@000011`, `broker.log@older-000001`. */
export function olderName(log: string, life: number): string {
  return `${log}@${life < 0 ? OLDER : ''}${String(Math.abs(life)).padStart(6, '0')}`
}

/** The log and the life of a file name; the life is null for the newest one. */
export function parseFile(name: string): { log: string; life: number | null } {
  const found = /^(.+)@(older-)?(\d{6,8})$/s.exec(name)
  const life = found ? Number(found[3]) : 0
  if (!found || life < 1 || life >= LAST_LIFE) return { log: name, life: null }
  return { log: found[1]!, life: found[2] ? -life : life }
}

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0')
}
