import {
  type Begin,
  beginKey,
  type End,
  endsFolder,
  largestEnds,
  lifeFolder,
  logFolder,
  parseBegin,
  parseEnd,
  parseLife,
  parseSegment,
  type Segment,
} from '../segment/names.ts'
import type { Bucket } from './bucket.ts'
import type { Claim } from './text.ts'

/** A life without an end, as far as the bucket tells. */
export interface Unfinished {
  life: number
  /** Where its next segment starts: at the start of its last part, or behind its last segment. */
  from: number
  /** Behind the last byte that is in the bucket. */
  shipped: number
  /** What a file must hold to be this life. */
  claim: Claim
}

/** What the bucket remembers of a log. It is the only memory there is. */
export interface Memory {
  /** The largest end of each finished life. */
  ends: Map<number, End>
  unfinished: Unfinished[]
  /** The number of the next life. */
  next: number
}

/** How many keys tell where a life stands: two shippers may have cut differently. */
const NEWEST_KEYS = 20

/** Reads what the bucket remembers of a log. */
export async function recall(bucket: Bucket, log: string): Promise<Memory> {
  const folder = endsFolder(log)
  const [endNames, folders] = await Promise.all([bucket.names(folder), bucket.names(logFolder(log))])
  const ends = largestEnds(endNames.map((name) => parseEnd(folder + name)).filter((end) => end !== null))
  const lives = folders.map((name) => parseLife(name.replace(/\/$/, ''))).filter((life) => life !== null)
  const unfinished: Unfinished[] = []
  for (const life of lives.filter((life) => !ends.has(life)).sort((a, b) => a - b))
    unfinished.push(await recallLife(bucket, log, life))
  return { ends, unfinished, next: Math.max(0, ...ends.keys(), ...lives) + 1 }
}

/** Where a life stands. */
export async function recallLife(bucket: Bucket, log: string, life: number): Promise<Unfinished> {
  const names = await bucket.names(lifeFolder(log, life), NEWEST_KEYS)
  const segments = names.map(parseSegment).filter((segment) => segment !== null)
  const newest = furthest(segments)
  if (newest) {
    const { start, end, crc } = newest
    return { life, from: newest.part ? start : end, shipped: end, claim: { from: start, to: end, crc } }
  }
  const text = (await bucket.get(beginKey(log, life)))?.text
  const begin: Begin = (text === undefined ? null : parseBegin(text)) ?? { length: 0, crc: 0 }
  return { life, from: 0, shipped: 0, claim: { from: 0, to: begin.length, crc: begin.crc } }
}

/** The segment that reaches furthest; one that is no part before a part of the same end. */
function furthest(segments: readonly Segment[]): Segment | null {
  let best: Segment | null = null
  for (const segment of segments)
    if (!best || segment.end > best.end || (segment.end === best.end && best.part && !segment.part))
      best = segment
  return best
}
