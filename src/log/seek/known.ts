import { BoundedMap } from '../../limits/bounded-map.ts'
import type { Budget } from '../../limits/budget.ts'
import { perFiles } from '../files/files.ts'
import { lineEnd, nextStart } from '../format/lines.ts'
import { hashBytes } from '../text/cursor.ts'
import type { Text } from '../text/text.ts'
import type { Zone } from '../time.ts'
import { piecesOf, type TimedPiece } from './pieces.ts'
import { type ProbeOptions, stretchOf } from './probes.ts'

/** How much of a log is read through for one request at most, if its times are not known: on a disk, and elsewhere. */
const WHOLE = 64 * 1024 * 1024
const REMOTE_WHOLE = 32 * 1024 * 1024
/** How many files are remembered for a node, and how many pieces of one: 1 GiB of text. At most 4 MB in all. */
const MAX_FILES = 32
const MAX_PIECES = 2048
/** How much of the end of a file must be the same after it has grown. */
const PRINT = 4096
const HEAD = 16 * 1024

/** The times of a file, and what shows that they are still right. */
interface KnownTimes {
  etag: string
  size: number
  pieces: readonly TimedPiece[]
  first: FirstRecord | null
  /** Of its last bytes. */
  hash: number
  /** Whether its last line is whole. */
  isWhole: boolean
  zone: Zone
}

/** The first record with a time. In some formats the year or the date of a line depends on when the log was changed. */
interface FirstRecord {
  at: number
  line: Uint8Array
  time: number
}

const knownOf = perFiles(() => new BoundedMap<string, KnownTimes>(MAX_FILES))
/** The searches for `since` and `until` of a request read a file once. */
const runningOf = new WeakMap<Budget, Map<Text, Promise<KnownTimes | 'spent'>>>()

/**
 * The times of all pieces of some files in a row. A file is read through once, and then only what was appended to it.
 * Null if there is too much to read for one request, `spent` if the budget ran out.
 */
export async function timesOf(
  parts: readonly Text[],
  options: ProbeOptions,
): Promise<readonly TimedPiece[] | 'spent' | null> {
  const full = parts.filter(({ entry }) => entry.size > 0)
  const known: (KnownTimes | null)[] = []
  for (const part of full) known.push(await stillKnown(part, options))
  const unread = full.reduce((sum, { entry }, i) => sum + entry.size - (known[i]?.size ?? 0), 0)
  const most = options.files.isNear ? WHOLE : REMOTE_WHOLE
  if (unread > Math.min(most, options.budget.bytesLeft / 2)) return null
  const all: TimedPiece[] = []
  let base = 0
  let isWhole = true
  for (const [i, part] of full.entries()) {
    const times = await readOnce(part, known[i]!, options)
    if (times === 'spent') return times
    append(all, times, { base, isWhole })
    base += part.entry.size
    isWhole = times.isWhole
  }
  return all
}

/** Adds the pieces of the next file. The lines before its first record belong to the last one of the file before. */
function append(
  all: TimedPiece[],
  { pieces, first }: KnownTimes,
  { base, isWhole }: { base: number; isWhole: boolean },
): void {
  const last = all.at(-1)
  for (const [i, { start, earliest, latest }] of pieces.entries()) {
    if (i > 0 || !last) all.push({ start: base + start, earliest, latest })
    else if (isWhole && first) all.push({ start: base + first.at, earliest, latest })
    else {
      last.earliest = Math.min(last.earliest, earliest)
      last.latest = Math.max(last.latest, latest)
    }
  }
}

function readOnce(part: Text, known: KnownTimes | null, options: ProbeOptions) {
  if (known?.etag === part.entry.etag) return known
  const running = runningOf.get(options.budget) ?? new Map<Text, Promise<KnownTimes | 'spent'>>()
  runningOf.set(options.budget, running)
  const times = running.get(part) ?? readOn(part, known, options)
  running.set(part, times)
  return times
}

/** Reads the times of a file, or of what was appended to it. */
async function readOn(
  part: Text,
  known: KnownTimes | null,
  options: ProbeOptions,
): Promise<KnownTimes | 'spent'> {
  const { files, format, zone } = options
  const { etag, size } = part.entry
  // The last line may have gone on.
  const from = known?.pieces.at(-1)?.start ?? 0
  const read = await piecesOf(stretchOf([part]), options, from)
  if (read === 'spent') return read
  const first = known?.first ?? firstRecord(await part.head(HEAD), options)
  const end = await part.read(Math.max(0, size - PRINT), size)
  const times: KnownTimes = {
    etag,
    size,
    pieces: [...(known?.pieces.slice(0, -1) ?? []), ...read],
    first,
    hash: hashBytes(end, 0, end.length),
    isWhole: end.at(-1) === 10,
    zone,
  }
  if (times.pieces.length <= MAX_PIECES) knownOf(files).set(keyOf(part, format.name), times)
  return times
}

/** What is known of this version of a file, or of one before to which something was appended; otherwise null. */
async function stillKnown(part: Text, options: ProbeOptions): Promise<KnownTimes | null> {
  const { files, format, zone, budget } = options
  const { etag, size } = part.entry
  const known = knownOf(files).get(keyOf(part, format.name))
  if (!known || known.zone !== zone || !known.first) return null
  const { line, time } = known.first
  if (format.time(line, 0, line.length, zone) !== time) return null
  if (known.etag === etag) return known
  if (part.entry.id === undefined || size <= known.size || !namesYear(known.first)) return null
  const from = Math.max(0, known.size - PRINT)
  budget.spend(known.size - from)
  const end = await part.read(from, known.size)
  return hashBytes(end, 0, end.length) === known.hash ? known : null
}

function keyOf({ entry, begin = 0 }: Text, format: string): string {
  return `${entry.id ?? `${entry.etag} ${entry.key}`} ${begin} ${format}`
}

/** Whether a line shows its year, so that its time does not change with the log. */
function namesYear({ line, time }: FirstRecord): boolean {
  const text = new TextDecoder().decode(line)
  return [-DAY, 0, DAY].some((by) => text.includes(String(new Date(time + by).getUTCFullYear())))
}

const DAY = 86_400_000

function firstRecord(bytes: Uint8Array, { format, zone }: ProbeOptions): FirstRecord | null {
  const isFirst = format.starts(bytes, 0, lineEnd(bytes, 0, bytes.length))
  for (let at = isFirst ? 0 : nextStart(format, bytes, 0, bytes.length); at >= 0; ) {
    const end = lineEnd(bytes, at, bytes.length)
    const time = format.time(bytes, at, end, zone)
    if (!Number.isNaN(time)) return { at, line: bytes.slice(at, end), time }
    at = nextStart(format, bytes, end, bytes.length)
  }
  return null
}
