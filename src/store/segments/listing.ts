import type { Clock } from '../../kit/limits/clock.ts'
import { each } from '../../kit/limits/each.ts'
import { HEARTBEAT, olderName } from '../segment/names.ts'
import { HEARTBEAT_FRESH_MS, LARGEST_HEARTBEAT, parseHeartbeat } from '../segment/ship-json.ts'
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
  const found = /^"life-(-?\d{1,8})-(\d{1,16})"$/.exec(etag ?? '')
  return found ? { life: Number(found[1]), size: Number(found[2]) } : null
}

/** For how many logs the newest life is requested at once. */
const LOGS_AT_ONCE = 6
/** How many lives without an end are requested individually: a crash leaves one or two. */
const MOST_UNFINISHED = 50

/** The files of all shipped logs whose names begin with `prefix`, in no order, and those logs' names. */
export async function listShipped(
  home: Store,
  lives: Lives,
  prefix: string,
  { signal, clock }: { signal?: AbortSignal | undefined; clock: Clock },
) {
  // `broker.log@0` is a prefix of files, but no log begins with it.
  const stem = prefix.replace(/@[a-z]*-?\d*$/, '')
  const [logs, finished, beat] = await Promise.all([
    lives.logs(stem, signal),
    lives.finished(stem, signal),
    // In a list of all logs, sizes may come from a fresh heartbeat: 30 seconds old, and one request for all.
    prefix === '' ? readHeartbeat(home, clock, signal) : null,
  ])
  const entries: Entry[] = []
  await each([...logs], LOGS_AT_ONCE, async (log) => {
    entries.push(...(await filesOf(lives, log, finished.get(log) ?? new Map(), { beat, signal })))
  })
  return { logs: new Set(logs), entries: entries.filter((entry) => entry.key.startsWith(prefix)) }
}

/** The last heartbeat, when it was written, and whether it is fresh by the storage's clock. */
async function readHeartbeat(home: Store, clock: Clock, signal: AbortSignal | undefined) {
  const read = await readText(home, HEARTBEAT, LARGEST_HEARTBEAT, { signal })
  if (!read?.text) return null
  const beat = parseHeartbeat(read.text)
  const age = (read.date ?? clock.now()) - read.entry.modified
  return beat && { beat, modified: read.entry.modified, isFresh: age < HEARTBEAT_FRESH_MS }
}

type LastBeat = Awaited<ReturnType<typeof readHeartbeat>>

async function filesOf(
  lives: Lives,
  log: string,
  finished: Map<number, Life>,
  { beat, signal }: { beat: LastBeat; signal?: AbortSignal | undefined },
): Promise<Entry[]> {
  const lastEnded = Math.max(0, ...finished.keys())
  const hint = beat?.isFresh && Object.hasOwn(beat.beat.logs, log) ? beat.beat.logs[log]! : null
  const newest =
    beat && hint && hint.life > lastEnded && hint.size > 0
      ? { life: hint.life, size: hint.size, modified: beat.modified, how: null }
      : await lives.newest(log, signal)
  const all = new Map<number, Life>(finished)
  if (newest) all.set(newest.life, larger(newest, finished.get(newest.life)))
  // A life that was open at the last heartbeat, however old, is open still if the shipper was killed.
  const open = new Set([...(beat?.beat.open[log] ?? []), ...gapsIn(all)])
  for (const life of [...open].filter((life) => !all.has(life)).slice(0, MOST_UNFINISHED)) {
    const found = await lives.one(log, life, signal)
    if (found) all.set(life, found)
  }
  return named(log, [...all.values()])
}

/** The lives between the others that have no end: a shipper that was killed may leave them. */
function gapsIn(lives: ReadonlyMap<number, Life>): number[] {
  const gaps: number[] = []
  const numbers = [...lives.keys()].filter((life) => life > 0)
  const first = Math.min(...numbers)
  for (let life = Math.max(...numbers) - 1; life > first && gaps.length < MOST_UNFINISHED; life--)
    if (!lives.has(life)) gaps.push(life)
  return gaps
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
