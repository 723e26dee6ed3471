import { SegmentMap } from '../store/segment/cover.ts'
import {
  beginKey,
  type End,
  endsFolder,
  largestEnds,
  lifeFolder,
  logFolder,
  parseEnd,
  parseLife,
  parseSegment,
  TAIL_BYTES,
} from '../store/segment/names.ts'
import { parseYoung, YOUNG_HEAD_BYTES, type Young } from '../store/segment/young.ts'
import type { Bucket } from './bucket.ts'
import type { Beginnings, Claim } from './files/checksums.ts'

/** A life, as the names of its segments and its `~` show it. What proves that a file is this life is in them. */
export interface Shipped {
  life: number
  /** Where its next segment starts: after its last one. */
  from: number
  /** One past the last byte in the bucket. */
  size: number
  /** Its segments, by their start: one for each, the longest. Young text that continues them is one, too. */
  segments: readonly Claim[]
  /** Where its bytes begin: later than 0 if the first segments have expired. */
  begins: number
  /** Whether there are bytes missing between its segments. */
  hasHole: boolean
  /** Its `~`; null if that is missing. */
  begin: Begin | null
}

export interface Begin {
  young: Young
  etag: string
}

/** The state of a log, as stored in the bucket. There is no other memory. */
export interface Memory {
  /** The largest end of each finished life. */
  ends: Map<number, End>
  /** Lives without an end, and finished ones that get late lines. */
  open: Map<number, Shipped>
  /** The numbers of the next lives: of a file that is newer than those that were shipped, and of one that is older. */
  next: number
  nextOlder: number
}

/** Reads the state of a log from the bucket: two LISTs, and one with a GET for each life without an end. */
export async function recall(bucket: Bucket, log: string): Promise<Memory> {
  const folder = endsFolder(log)
  const [endNames, folders] = await Promise.all([bucket.names(folder), bucket.names(logFolder(log))])
  const ends = largestEnds(endNames.map((name) => parseEnd(folder + name)).filter((end) => end !== null))
  const lives = folders.map((name) => parseLife(name.replace(/\/$/, ''))).filter((life) => life !== null)
  const open = new Map<number, Shipped>()
  for (const life of lives.filter((life) => !ends.has(life)).sort((a, b) => a - b))
    open.set(life, await recallLife(bucket, log, life))
  const known = [...ends.keys(), ...lives]
  return { ends, open, next: Math.max(0, ...known) + 1, nextOlder: Math.min(0, ...known) - 1 }
}

export async function recallLife(bucket: Bucket, log: string, life: number): Promise<Shipped> {
  const map = new SegmentMap()
  const [names, begin] = await Promise.all([
    bucket.names(lifeFolder(log, life)),
    recallBegin(bucket, log, life),
  ])
  for (const name of names) {
    const segment = parseSegment(name)
    if (segment) map.add(segment)
  }
  const from = map.all.reduce((end, segment) => Math.max(end, segment.end), 0)
  if (begin && begin.young.to > from) {
    const { from: start, to: end, crc } = begin.young
    map.add({ start, end, crc, young: true })
  }
  const all = map.all
  const size = Math.max(from, begin?.young.to ?? 0)
  const begins = all[0]?.start ?? 0
  const segments = all.map(({ start, end, crc }) => ({ from: start, to: end, crc }))
  const hasHole = map.cover(begins, size).hole !== null
  return { life, from, size, segments, begins, hasHole, begin }
}

/** The `~` of a life; null if it is missing or cannot be read. */
export async function recallBegin(bucket: Bucket, log: string, life: number): Promise<Begin | null> {
  const found = await bucket.get(beginKey(log, life), YOUNG_HEAD_BYTES)
  const young = found && parseYoung(found.bytes)
  return young && { young, etag: found.etag }
}

/** Whether a text begins with a life: its bytes match the length and checksum in the name of every segment. */
export function beginsWith(text: Beginnings, { segments, hasHole, size }: Shipped): boolean {
  return size > 0 && !hasHole && segments.every((segment) => text.holds(segment))
}

/** Where checksums must be taken to compare a text with a life. */
export function placesOf({ segments }: Shipped): number[] {
  return segments.flatMap(({ from, to }) => [from, to])
}

/** The last bytes of a finished life: they prove nothing, but they rule out most lives without a LIST. */
export function tailOf({ size, crc }: End): Claim {
  return { from: Math.max(0, size - TAIL_BYTES), to: size, crc }
}
