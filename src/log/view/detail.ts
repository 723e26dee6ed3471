import type { LogFileDetail } from '../../kit/answers.ts'
import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import { Budget, BudgetError } from '../../kit/limits/budget.ts'
import { each } from '../../kit/limits/each.ts'
import { type Entry, StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import type { LogFiles } from '../files/files.ts'
import { detectFormat } from '../format/detect.ts'
import { logNames } from '../rotated/kin.ts'
import { firstTime, lastTime } from '../text/format.ts'
import { kindSoFar } from '../text/kind.ts'
import { openText } from '../text/open.ts'
import type { Text } from '../text/text.ts'
import type { ViewContext } from './context.ts'

/** Details of many files. */
export interface Details {
  files: LogFileDetail[]
  /** False if some files were not examined: they can't be read now, are too many, or it took too long. */
  complete: boolean
}

/** Examines files: newest first, a few at a time, and each version of a file once. */
export type Detailer = (entries: readonly Entry[], signal?: AbortSignal) => Promise<Details>

type FileTimes = Pick<LogFileDetail, 'first' | 'last' | 'binary'>

const HEAD_BYTES = 16 * 1024
/** How much of a head is examined for what is not text. */
const SAMPLE = 4096
const TAIL = 64 * 1024
/** The last record of an archive costs its decompression: 20 ms for one of this size. */
const SMALL_ARCHIVE = 256 * 1024
/** How many files are examined in parallel: on a disk, and over a network for each parallel read. */
const FILES_AT_ONCE = 8
const FILES_PER_READ = 8
/** How many files one list examines, and for how long. Two reads each: a worker may make a thousand. */
const MAX_FILES = 400
const MAX_MILLIS = 5000
const REMEMBERED = 5000
/** More text than this in a small archive is a bomb. */
const MAX_TEXT = 32 * 1024 * 1024
const UNKNOWN: FileTimes = { first: null, last: null }

/** Creates a detailer that caches its results. */
export function detailer(
  context: Pick<ViewContext, 'files' | 'zone' | 'limits' | 'clock' | 'parallel'>,
): Detailer {
  const { zone, clock, parallel = 1 } = context
  const atOnce = Math.max(FILES_AT_ONCE, Math.floor(FILES_PER_READ * parallel))
  // Old versions of a growing file are never requested again, so the oldest is dropped first.
  const known = new BoundedMap<string, FileTimes>(REMEMBERED)
  const keyOf = ({ key, etag }: Entry) => `${etag} ${key}`

  return async (entries, signal) => {
    const newest = entries.filter((entry) => !known.has(keyOf(entry))).sort((a, b) => b.modified - a.modified)
    const found = new Map<string, FileTimes>()
    const budget = new Budget({ millis: MAX_MILLIS, signal, clock })
    let failed = false
    const isDone = await each(newest.slice(0, MAX_FILES), atOnce, async (entry) => {
      if (!(await budget.step())) return false
      const times = await readTimes(context, entry, budget)
      if (times) found.set(keyOf(entry), times)
      else failed = true
    })
    const complete = isDone && newest.length <= MAX_FILES && !failed
    const timesOf = (entry: Entry) => found.get(keyOf(entry)) ?? known.get(keyOf(entry))
    const logs = await logNames(entries, (entry) => instantsOf(timesOf(entry)))
    const files = entries.map((entry) => {
      const { key: name, size, modified } = entry
      const times = timesOf(entry) ?? UNKNOWN
      return {
        name,
        size,
        modified: zone.format(Math.floor(modified)),
        kind: kindSoFar(context.files, entry),
        log: logs.get(name) ?? name,
        ...times,
      }
    })
    for (const [key, times] of found) known.set(key, times)
    return { files, complete }
  }
}

/** The times as milliseconds; undefined if the file was not examined. */
function instantsOf(times: FileTimes | undefined): { first: number | null; last: number | null } | undefined {
  const instant = (iso: string | null) => (iso === null ? null : Date.parse(iso))
  return times && { first: instant(times.first), last: instant(times.last) }
}

async function readTimes(
  { files, zone }: Pick<ViewContext, 'files' | 'zone'>,
  entry: Entry,
  budget: Budget,
): Promise<FileTimes | null> {
  try {
    const { head, tail } = await endsOf(files, entry, budget)
    const format = detectFormat(head, tail ?? undefined, { reference: entry.modified })
    if (!format.timed) return isBinary(head) ? { ...UNKNOWN, binary: true } : UNKNOWN
    const iso = (epoch: number) => (Number.isNaN(epoch) ? null : zone.format(epoch))
    return { first: iso(firstTime(format, zone, head)), last: tail && iso(lastTime(format, zone, tail)) }
  } catch (error) {
    // One file that was rotated away, is broken or may not be read does not spoil the list.
    if (error instanceof LogError) return UNKNOWN
    if (error instanceof StoreError) return null
    throw error
  }
}

/** Whether a tenth of the beginning is nothing that text has. Zeros say nothing: a truncated log may begin with them. */
function isBinary(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes.subarray(0, SAMPLE)).replaceAll('\0', '')
  let odd = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isControl = code < 0x07 || (code > 0x0d && code < 0x20 && code !== 0x1b)
    if (isControl || code === 0x7f || code === 0xfffd) odd++
  }
  return odd * 10 > text.length
}

/** The first and last bytes of a file's text; no tail for an archive that is too large to be read for it. */
interface Ends {
  head: Uint8Array
  tail: Uint8Array | null
}

async function endsOf(files: LogFiles, entry: Entry, budget: Budget): Promise<Ends> {
  if (entry.joined) return joinedEnds(files, entry, budget)
  const opener = { files, budget, limits: { archiveBytes: MAX_TEXT, archiveWindow: TAIL } }
  const text = await openText(opener, entry)
  if (text.compressed) return archiveEnds(text)
  try {
    return await plainEnds(text)
  } catch (error) {
    // It turned out to be compressed, and that is cached now.
    const now = await openText(opener, entry)
    if (!now.compressed) throw error
    return archiveEnds(now)
  }
}

/** The beginning of the first object of a joined log, and the end of the last one. */
async function joinedEnds(files: LogFiles, { key }: Entry, budget: Budget): Promise<Ends> {
  const log = await files.joined?.(key)
  const ends = await log?.ends(budget.signalFor())
  if (!log || !ends) return { head: new Uint8Array(0), tail: null }
  const [first, last] = await Promise.all(ends.map(({ entry }) => endsOf(log.files, entry, budget)))
  return { head: first!.head, tail: last!.tail }
}

async function plainEnds(text: Text): Promise<Ends> {
  const { size } = text.entry
  if (size <= TAIL) {
    const all = await text.head(TAIL)
    return { head: all, tail: all }
  }
  const [head, tail] = await Promise.all([text.head(HEAD_BYTES), text.read(size - TAIL, size)])
  return { head, tail }
}

async function archiveEnds(text: Text): Promise<Ends> {
  try {
    const head = await text.head(HEAD_BYTES)
    const tail = text.entry.size <= SMALL_ARCHIVE ? await archiveTail(text) : null
    return { head, tail }
  } finally {
    await text.release?.()
  }
}

/** The end of an archive; null if it is broken or too long, for what comes before is valid all the same. */
async function archiveTail(text: Text): Promise<Uint8Array | null> {
  try {
    const size = await text.size()
    return text.broken || text.cut ? null : await text.read(Math.max(0, size - TAIL), size)
  } catch (error) {
    if (error instanceof LogError || error instanceof BudgetError) return null
    throw error
  }
}
