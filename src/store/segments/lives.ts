import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import { type Piece, SegmentMap } from '../segment/cover.ts'
import {
  endsFolder,
  type How,
  LARGEST_SEGMENT,
  largestEnds,
  lifeFolder,
  lifeName,
  logFolder,
  parseEnd,
  parseKey,
  type Segment,
  startName,
} from '../segment/names.ts'
import type { Missing, Store } from '../store.ts'
import type { Youngs } from './youngs.ts'

export interface Life {
  life: number
  size: number
  modified: number
  /** How it ended; null while it continues, or if that was not checked. */
  how: How | null
}

/** How many keys to list for the size of a log: two shippers may have cut differently, and the greatest end counts. */
const NEWEST_KEYS = 20
const KEYS_PER_PAGE = 1000
/** How many keys of a log are listed at most, to know the segments of all its lives: 80 GB of text. */
const MOST_KEYS = 10_000
/** How many lives have their segments cached, and how many segments of each. */
const REMEMBERED_LIVES = 1000
const REMEMBERED_SEGMENTS = 4000

/** The contents of `segments/` and `ends/`, and where each byte is. */
export class Lives {
  readonly #home: Store
  readonly #youngs: Youngs
  /** Segments that were listed. They never change, so this stays valid as long as they exist. */
  readonly #known = new BoundedMap<string, SegmentMap>(REMEMBERED_LIVES)
  /** The newest life of each log when it was last asked. */
  readonly #newest = new BoundedMap<string, number>(REMEMBERED_LIVES)
  /** The logs of which all segments were listed. */
  readonly #listed = new BoundedMap<string, true>(REMEMBERED_LIVES)
  /** Where the first segments of expired lives start. */
  readonly #begins = new Map<string, number>()

  constructor(home: Store, youngs: Youngs) {
    this.#home = home
    this.#youngs = youngs
  }

  /** The newest life that holds bytes, found with one LIST and one GET; null if the log was never shipped. */
  async newest(log: string, signal?: AbortSignal): Promise<Life | null> {
    const folder = logFolder(log)
    // Most often it is the life that was the newest before.
    const guess = this.#newest.get(log)
    const ahead = guess === undefined ? null : this.#young({ log, life: guess }, signal)
    ahead?.catch(() => {})
    let begun: Life | null = null
    let after: string | undefined
    for (let listed = NEWEST_KEYS; listed === NEWEST_KEYS; ) {
      listed = 0
      const lives = new Map<number, Life>()
      for await (const entry of this.#home.list(folder, { after, limit: NEWEST_KEYS, signal })) {
        listed++
        after = entry.key
        const found = parseKey(entry.key)
        if (!found) continue
        const life = lives.get(found.life) ?? {
          life: found.life,
          size: 0,
          modified: entry.modified,
          how: null,
        }
        lives.set(found.life, life)
        if (found.segment) add(this.#knownOf(log, found.life), found.segment)
        life.size = Math.max(life.size, found.segment?.end ?? 0)
        life.modified = Math.max(life.modified, entry.modified)
      }
      for (const life of lives.values()) {
        begun ??= life
        const young = await (life.life === guess ? ahead! : this.#young({ log, life: life.life }, signal))
        life.size = Math.max(life.size, young?.end ?? 0)
        life.modified = Math.max(life.modified, young?.modified ?? 0)
        if (life.size === 0) continue
        this.#newest.set(log, life.life)
        return life
      }
    }
    return begun
  }

  /** One life, from its listing; null if that is empty. */
  async one(log: string, life: number, signal?: AbortSignal): Promise<Life | null> {
    const [segments, ends, young] = await Promise.all([
      this.#segments({ log, life }, undefined, NEWEST_KEYS, signal),
      this.#ends(`${endsFolder(log)}${lifeName(life)}-`, signal),
      this.#young({ log, life }, signal),
    ])
    const end = ends.get(log)?.get(life) ?? null
    if (segments.length === 0 && !end && !young) return null
    const all = young ? [...segments, young] : segments
    const size = Math.max(end?.size ?? 0, ...all.map((segment) => segment.end))
    const modified = Math.max(end?.modified ?? 0, ...all.map((segment) => segment.modified))
    return { life, size, modified, how: end?.how ?? null }
  }

  /** A life's segments in a row, without its young text. A log's folder is listed once for all its lives. */
  async finishedSegments(of: LifeId & { size: number }, signal?: AbortSignal): Promise<Segment[]> {
    const known = this.#knownOf(of.log, of.life)
    if (known.cover(0, of.size).hole && !this.#listed.has(of.log)) await this.#listAll(of.log, signal)
    const { pieces } = known.cover(known.all[0]?.start ?? 0, of.size)
    return pieces.map(({ segment }) => segment).filter(({ young }) => !young)
  }

  async #listAll(log: string, signal?: AbortSignal): Promise<void> {
    for await (const { key } of this.#home.list(logFolder(log), { limit: MOST_KEYS, signal })) {
      const found = parseKey(key)
      if (found?.segment) add(this.#knownOf(log, found.life), found.segment)
    }
    this.#listed.set(log, true)
  }

  /** Notes the young text of a life, as it is now. */
  async #young({ log, life }: LifeId, signal?: AbortSignal) {
    const young = await this.#youngs.of(log, life, signal)
    if (young && young.end > young.start) add(this.#knownOf(log, life), young)
    return young
  }

  /** The names of the logs below `segments/` that begin with `prefix`. */
  async logs(prefix: string, signal?: AbortSignal): Promise<string[]> {
    const names: string[] = []
    const folder = logFolder('').slice(0, -1)
    for await (const entry of this.#home.list(folder + prefix, { shallow: true, folders: true, signal }))
      if (entry.folder) names.push(entry.key.slice(folder.length, -1))
    return names
  }

  /** The finished lives of all logs that begin with `prefix`, by log and number. */
  async finished(prefix: string, signal?: AbortSignal): Promise<Map<string, Map<number, Life>>> {
    return this.#ends(endsFolder('').slice(0, -1) + prefix, signal)
  }

  async #ends(prefix: string, signal?: AbortSignal): Promise<Map<string, Map<number, Life>>> {
    const byLog = new Map<string, (Life & { crc: number; how: How })[]>()
    for await (const entry of this.#home.list(prefix, { signal })) {
      const end = parseEnd(entry.key)
      if (!end) continue
      const ends = byLog.get(end.log) ?? []
      byLog.set(end.log, ends)
      ends.push({ life: end.life, size: end.size, crc: end.crc, how: end.how, modified: entry.modified })
    }
    return new Map([...byLog].map(([log, ends]) => [log, largestEnds(ends)]))
  }

  /**
   * The segments that hold [from, to) of a life. If bytes are missing, also which: the first hole, or
   * with `last` the last one and the segments after it.
   */
  async locate(
    of: { log: string; life: number; size: number },
    [from, to]: readonly [number, number],
    { last = false, signal }: { last?: boolean; signal?: AbortSignal | undefined } = {},
  ): Promise<{ pieces: Piece[]; missing: Missing | null }> {
    const known = this.#knownOf(of.log, of.life)
    let at = from
    let missing: Missing | null = null
    let listed: number | null = null
    for (;;) {
      const { pieces, hole } = known.cover(at, to)
      if (!hole) return { pieces, missing }
      const below = Math.min(hole.to, to)
      const isExpired = hole.at < (this.#begins.get(nameOf(of)) ?? 0)
      if (listed !== below && !isExpired) {
        listed = below
        // First the young text: what is before it was in segments when it was written.
        if (hole.to === Number.POSITIVE_INFINITY) await this.#young(of, signal)
        await this.#listBack(of, hole.at, below, signal)
        continue
      }
      const found = await this.#measure(of, hole, below, signal)
      if (!last) return { pieces, missing: found }
      if (found.to >= to) return { pieces: [], missing: found }
      missing = found
      at = found.to
      listed = null
    }
  }

  /** Forgets a segment that was listed and is now gone: lifecycle rules removed it. */
  forget(log: string, life: number, segment: Segment): void {
    this.#knownOf(log, life).delete(segment)
  }

  /** Lists backwards from `below` until nothing earlier can reach `place`. */
  async #listBack(of: LifeId, place: number, below: number, signal?: AbortSignal): Promise<void> {
    const known = this.#knownOf(of.log, of.life)
    for (let after = below - 1; after >= 0; ) {
      const page = await this.#segments(of, after, KEYS_PER_PAGE, signal)
      const first = page.at(-1)
      if (page.length < KEYS_PER_PAGE || !first || first.start <= place - LARGEST_SEGMENT) return
      if (known.cover(place, below).hole === null) return
      // Among equal starts the longest comes first, so the others can be skipped.
      after = first.start - 1
    }
  }

  /** How far a hole reaches, after everything from `below` backwards has been listed. */
  async #measure(
    of: LifeId & { size: number },
    hole: { at: number; from: number; to: number },
    below: number,
    signal?: AbortSignal,
  ): Promise<Missing> {
    const expired = this.#begins.get(nameOf(of))
    if (expired !== undefined && hole.at < expired) return { from: 0, to: expired, head: true }
    const next =
      hole.to <= below ? hole.to : await this.#firstBehind(of, below, Math.min(hole.to, of.size), signal)
    const head = hole.from === 0
    if (head) this.#begins.set(nameOf(of), next)
    return { from: hole.from, to: next, head }
  }

  /** Where the first segment at or after `low` starts; `high` if none starts before it. */
  async #firstBehind(of: LifeId, low: number, high: number, signal?: AbortSignal): Promise<number> {
    for (let first = high; ; ) {
      const page = await this.#segments(of, first - 1, KEYS_PER_PAGE, signal)
      const next = page.findLast(({ start }) => start >= low)
      first = next?.start ?? first
      if (page.length < KEYS_PER_PAGE || page.at(-1)!.start < low) return first
    }
  }

  /** Segments from the one that starts at or before `from` on backwards, or from the newest on. */
  async #segments({ log, life }: LifeId, from: number | undefined, limit: number, signal?: AbortSignal) {
    const folder = lifeFolder(log, life)
    const known = this.#knownOf(log, life)
    const after = from === undefined ? undefined : folder + startName(from)
    const segments: (Segment & { modified: number })[] = []
    for await (const entry of this.#home.list(folder, { after, limit, signal })) {
      const segment = parseKey(entry.key)?.segment
      if (!segment) continue
      add(known, segment)
      segments.push({ ...segment, modified: entry.modified })
    }
    return segments
  }

  #knownOf(log: string, life: number): SegmentMap {
    return this.#known.use(nameOf({ log, life }), () => new SegmentMap())
  }
}

interface LifeId {
  log: string
  life: number
}

function add(known: SegmentMap, segment: Segment): void {
  known.add(segment)
  if (known.all.length > REMEMBERED_SEGMENTS) known.all.shift()
}

function nameOf({ log, life }: LifeId): string {
  return `${lifeName(life)}/${log}`
}
