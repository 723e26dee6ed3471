import { each } from '../../limits/each.ts'
import { HEARTBEAT, olderName } from '../../segment/names.ts'
import {
  HEARTBEAT_FRESH_MS,
  type Heartbeat,
  LARGEST_HEARTBEAT,
  parseHeartbeat,
} from '../../segment/ship-json.ts'
import { type Entry, readText, type Store } from '../store.ts'
import type { Life, Lives } from './lives.ts'

/** An entry for a life, as the log's file of that name. */
export function entryOf(key: string, { life, size, modified, how }: Life): Entry {
  return {
    key,
    size,
    modified,
    etag: `"life-${life}-${size}"`,
    id: String(life),
    appendOnly: true,
    ...(how === 'cut' || how === 'lost' ? { gap: true as const } : {}),
  }
}

/** The life and the size that an etag names; null if it is not a life's tag. */
export function parseTag(etag: string | undefined): { life: number; size: number } | null {
  const found = /^"life-(\d{1,8})-(\d{1,16})"$/.exec(etag ?? '')
  return found ? { life: Number(found[1]), size: Number(found[2]) } : null
}

/** What a list of shipped logs may cost. */
export interface ListingOptions {
  signal?: AbortSignal | undefined
  /** Whether sizes may come from a fresh heartbeat: 30 seconds old, and one request for all logs. */
  hints: boolean
}

/** For how many logs the newest life is requested at once. */
const AT_ONCE = 6
/** How many lives without an end are requested individually: a crash leaves one or two. */
const MOST_UNFINISHED = 50

/** The files of all shipped logs whose names begin with `prefix`, in no order, and those logs' names. */
export async function listShipped(
  home: Store,
  lives: Lives,
  prefix: string,
  { signal, hints }: ListingOptions,
): Promise<{ logs: Set<string>; entries: Entry[] }> {
  // `broker.log@0` is a prefix of files, but no log begins with it.
  const stem = prefix.replace(/@\d*$/, '')
  const [logs, finished, beat] = await Promise.all([
    lives.logs(stem, signal),
    lives.finished(stem, signal),
    hints ? readHeartbeat(home, signal) : null,
  ])
  const entries: Entry[] = []
  await each([...logs], AT_ONCE, async (log) => {
    entries.push(...(await filesOf(lives, log, finished.get(log) ?? new Map(), { beat, signal })))
  })
  return { logs: new Set(logs), entries: entries.filter((entry) => entry.key.startsWith(prefix)) }
}

/** A heartbeat that is fresh by the storage's clock, and when it was written; otherwise null. */
async function readHeartbeat(home: Store, signal?: AbortSignal): Promise<Fresh | null> {
  const read = await readText(home, HEARTBEAT, LARGEST_HEARTBEAT, { signal })
  if (!read?.text) return null
  const beat = parseHeartbeat(read.text)
  const age = (read.date ?? Date.now()) - read.entry.modified
  return beat && age < HEARTBEAT_FRESH_MS ? { beat, modified: read.entry.modified } : null
}

interface Fresh {
  beat: Heartbeat
  modified: number
}

async function filesOf(
  lives: Lives,
  log: string,
  finished: Map<number, Life>,
  { beat, signal }: { beat: Fresh | null; signal?: AbortSignal | undefined },
): Promise<Entry[]> {
  const lastEnded = Math.max(0, ...finished.keys())
  const hint = beat && Object.hasOwn(beat.beat.logs, log) ? beat.beat.logs[log]! : null
  const newest =
    beat && hint && hint.life > lastEnded && hint.size > 0
      ? { life: hint.life, size: hint.size, modified: beat.modified, how: null }
      : await lives.newest(log, signal)
  const all = new Map<number, Life>(finished)
  if (newest) all.set(newest.life, larger(newest, finished.get(newest.life)))
  // A shipper that was killed may leave a life without an end below newer ones.
  const first = Math.min(...all.keys())
  const open: number[] = []
  for (let life = (newest?.life ?? 0) - 1; life > first && open.length < MOST_UNFINISHED; life--)
    if (!all.has(life)) open.push(life)
  for (const life of open) {
    const found = await lives.one(log, life, signal)
    if (found) all.set(life, found)
  }
  return named(log, [...all.values()])
}

function larger(one: Life, other: Life | undefined): Life {
  return other && other.size >= one.size ? other : { ...one, how: other?.how ?? one.how }
}

/** Lives as files: the newest under the log's name, older ones under their number. Empty ones are left out. */
function named(log: string, lives: Life[]): Entry[] {
  const entries: Entry[] = []
  lives.sort((a, b) => a.life - b.life)
  const last = lives.findLast((life) => life.size > 0) ?? lives.at(-1)
  for (const life of lives) {
    if (life.size === 0 && life !== last) {
      // Its neighbours have bytes between them that were never read.
      const before = entries.at(-1)
      if (before && life.how === 'lost') before.gap = true
      continue
    }
    entries.push(entryOf(life === last ? log : olderName(log, life.life), life))
  }
  return entries
}
