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

/** A life without an end, as far as the bucket shows. */
export interface Unfinished {
  life: number
  /** Where its next segment starts: at the start of its last part, or after its last segment. */
  from: number
  /** One past the last byte in the bucket. */
  shipped: number
  /** What a file must contain to be this life. */
  claim: Claim
}

/** The state of a log, as stored in the bucket. There is no other memory. */
export interface Memory {
  /** The largest end of each finished life. */
  ends: Map<number, End>
  unfinished: Unfinished[]
  /** The number of the next life. */
  next: number
}

/** How many keys to list for the state of a life: two shippers may have cut differently. */
const NEWEST_KEYS = 20

/** Reads the state of a log from the bucket. */
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

/** The state of a life. */
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

/** The segment that reaches furthest; at the same end, a full segment before a part. */
function furthest(segments: readonly Segment[]): Segment | null {
  let best: Segment | null = null
  for (const segment of segments)
    if (!best || segment.end > best.end || (segment.end === best.end && best.part && !segment.part))
      best = segment
  return best
}
