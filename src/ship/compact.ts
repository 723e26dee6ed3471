import { concat } from '../kit/bytes.ts'
import { systemClock } from '../kit/limits/clock.ts'
import { timesToShip } from '../log/seek/shipped.ts'
import { inflate } from '../store/codec/member.ts'
import {
  beginKey,
  ENDS,
  HEARTBEAT,
  lifeFolder,
  parseEnd,
  parseKey,
  SEGMENTS,
  type Segment,
  segmentName,
} from '../store/segment/names.ts'
import { type Entry, readText, type Store } from '../store/store.ts'
import type { Bucket } from './bucket.ts'
import type { Native } from './files/disk.ts'

/** What compacting may do, besides reading. */
export interface Compactor extends Pick<Bucket, 'put'> {
  /** Deletes an object; none is none. */
  remove(key: string): Promise<void>
}

export interface CompactContext {
  store: Store
  bucket: Compactor
  native: Native
  /** How much text a segment has, at most. */
  segmentBytes: number
  /** Objects that are older are deleted; null keeps all. */
  expireMs: number | null
}

export interface Compacted {
  homes: number
  /** How many segments became how many, and how many objects were deleted because of their age. */
  merged: number
  into: number
  expired: number
}

interface Stored extends Segment {
  key: string
  modified: number
}

const SMALL = 6

/**
 * Makes long segments of short ones, and deletes what has expired, in a home or in a folder of homes. A segment is
 * written before those in it are deleted, so that readers always find each byte, and a run that was killed is finished
 * by the next one.
 */
export async function compact(context: CompactContext): Promise<Compacted> {
  const done: Compacted = { homes: 0, merged: 0, into: 0, expired: 0 }
  const { store } = context
  const folders: string[] = []
  for await (const { key, folder } of store.list('', { shallow: true, folders: true }))
    if (folder) folders.push(key)
  if (folders.includes(SEGMENTS)) await compactHome(context, '', done)
  else for (const home of folders) await compactHome(context, home, done)
  return done
}

async function compactHome(context: CompactContext, home: string, done: Compacted): Promise<void> {
  const { store, expireMs } = context
  const beat = await readText(store, home + HEARTBEAT, 1)
  if (!beat) return
  done.homes++
  // By the storage's clock: that of this machine may be wrong, and what is deleted is gone.
  const expiry = expireMs === null ? Number.NEGATIVE_INFINITY : (beat.date ?? systemClock.now()) - expireMs
  for await (const { key, folder } of store.list(home + SEGMENTS, { shallow: true, folders: true })) {
    if (!folder) continue
    const log = key.slice((home + SEGMENTS).length, -1)
    let life = { number: 0, segments: [] as Stored[] }
    let isNewest = true
    const end = async () => {
      const { number, segments } = life
      if (number === 0) return
      await compactLife({ ...context, home, log, life: number, expiry, isNewest }, segments, done)
      if (number > 0) isNewest = false
    }
    // The newest life comes first.
    for await (const entry of store.list(key)) {
      const found = parseKey(entry.key.slice(home.length))
      if (!found) continue
      if (life.number !== found.life) {
        await end()
        life = { number: found.life, segments: [] }
      }
      if (found.segment) life.segments.push({ ...found.segment, key: entry.key, modified: entry.modified })
    }
    await end()
  }
}

interface LifeContext extends CompactContext {
  home: string
  log: string
  life: number
  /** What was written before is deleted. */
  expiry: number
  isNewest: boolean
}

async function compactLife(context: LifeContext, all: readonly Stored[], done: Compacted): Promise<void> {
  const { bucket } = context
  const segments = [...all].sort((a, b) => a.start - b.start || b.end - a.end)
  // Only from the beginning: a hole would be worse than old text.
  while (segments[0] && segments[0].modified < context.expiry) {
    await bucket.remove(segments.shift()!.key)
    done.expired++
  }
  if (segments.length === 0) return removeLife(context, done)
  let group: Stored[] = []
  for (const segment of segments) {
    const last = group.at(-1)
    const isInside = last && segment.end <= last.end
    // It was merged by a run that was killed: what the longer one holds is proven before this one goes.
    if (isInside && (await textOf(context, last))) await bucket.remove(segment.key)
    if (isInside) continue
    const isNext = last?.end === segment.start && segment.end - group[0]!.start <= context.segmentBytes
    if (!isNext) {
      await merge(context, group, done)
      group = []
    }
    group.push(segment)
  }
  await merge(context, group, done)
}

async function merge(context: LifeContext, group: readonly Stored[], done: Compacted): Promise<void> {
  const { bucket, native, home, log, life } = context
  if (group.length < 2) return
  const texts: Uint8Array[] = []
  for (const segment of group) {
    const text = await textOf(context, segment)
    // Another run was faster.
    if (!text) return
    texts.push(text)
  }
  const text = concat(texts)
  const [start, end] = [group[0]!.start, group.at(-1)!.end]
  const times = timesToShip(text) ?? undefined
  const name = segmentName({ start, end, crc: native.crc32(text), times })
  await bucket.put(home + lifeFolder(log, life) + name, await native.gzip(text, SMALL), { once: true })
  for (const { key } of group) await bucket.remove(key)
  done.merged += group.length
  done.into++
}

/** A finished life of which nothing is left; the newest one keeps its number. */
async function removeLife(context: LifeContext, done: Compacted): Promise<void> {
  const { store, bucket, home, log, life, expiry, isNewest } = context
  if (isNewest) return
  const ends: Entry[] = []
  for await (const entry of store.list(`${home}${ENDS}${log}/`))
    if (parseEnd(entry.key.slice(home.length))?.life === life) ends.push(entry)
  if (ends.length === 0 || ends.some(({ modified }) => modified >= expiry)) return
  for (const key of [home + beginKey(log, life), ...ends.map(({ key }) => key)]) {
    await bucket.remove(key)
    done.expired++
  }
}

/** The text of a segment, checked against its name; null if it is gone. */
async function textOf(
  { store }: CompactContext,
  { key, start, end, crc }: Stored,
): Promise<Uint8Array | null> {
  const read = await store.read(key)
  if (!read) return null
  const packed = new Uint8Array(await new Response(read.body).arrayBuffer())
  return inflate(packed, { length: end - start, crc })
}
