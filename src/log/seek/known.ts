import { BoundedMap } from '../../kit/limits/bounded-map.ts'
import type { Budget } from '../../kit/limits/budget.ts'
import { perOwner, SharedWork } from '../../kit/limits/once.ts'
import { perFiles } from '../files/files.ts'
import type { Text } from '../text/text.ts'
import { type FileTimes, piecesOf, type TimedPiece } from './pieces.ts'
import { isStill, keyOf, type Print, printOf } from './print.ts'
import { type ProbeOptions, stretchOf } from './probes.ts'
import { shippedTimes } from './shipped.ts'

/** How much of a log is read through for one request at most, if its times are not known: on a disk, and elsewhere. */
const WHOLE = 256 * 1024 * 1024
const REMOTE_WHOLE = 32 * 1024 * 1024
/** How many files are remembered for a node, and how many pieces of one: 1 GiB of text. At most 4 MB in all. */
const MAX_FILES = 32
const MAX_PIECES = 2048

/** The times of a file that was read through, and what shows that they are still right. */
interface KnownTimes {
  print: Print
  pieces: readonly TimedPiece[]
}

const knownOf = perFiles(() => new BoundedMap<string, KnownTimes>(MAX_FILES))
/** What a shipper said of the times of a file, for the searches for `since` and `until` of a request. */
const toldOf = perOwner<Budget, SharedWork<FileTimes | 'spent' | null, Text>>(() => new SharedWork(true))
/** The searches for `since` and `until` of a request read a file once. */
const readsOf = perOwner<Budget, SharedWork<KnownTimes | 'spent', Text>>(() => new SharedWork(true))

/**
 * The times of all pieces of some files in a row. A file is read through once, and then only what was appended to it.
 * Null if there is too much to read for one request, `spent` if the budget ran out.
 */
export async function timesOf(
  parts: readonly Text[],
  options: ProbeOptions,
  { mayRead = true } = {},
): Promise<readonly TimedPiece[] | 'spent' | null> {
  const full = parts.filter(({ entry }) => entry.size > 0)
  const told: (FileTimes | null)[] = []
  for (const part of full) {
    const times = await toldOf(options.budget).run(part, () => shippedTimes(part, options))
    if (times === 'spent') return times
    if (times === null && !mayRead) return null
    told.push(times)
  }
  const known: (KnownTimes | null)[] = []
  for (const [i, part] of full.entries()) known.push(told[i] ? null : await stillKnown(part, options))
  const unread = full.reduce(
    (sum, { entry }, i) => sum + (told[i] ? 0 : entry.size - (known[i]?.print.size ?? 0)),
    0,
  )
  const most = options.wholeBytes ?? (options.files.isNear ? WHOLE : REMOTE_WHOLE)
  if (unread > Math.min(most, options.budget.bytesLeft / 2)) return null
  const all: TimedPiece[] = []
  let base = 0
  let isWhole = true
  for (const [i, part] of full.entries()) {
    const times = told[i] ?? (await readOnce(part, known[i]!, options))
    if (times === 'spent') return times
    const file = 'print' in times ? timesIn(times) : times
    append(all, file, { base, isWhole })
    base += part.entry.size
    isWhole = file.isWhole
  }
  return all
}

function timesIn({ pieces, print: { first, isWhole } }: KnownTimes): FileTimes {
  return { pieces, first: first?.at ?? null, isWhole }
}

/** Adds the pieces of the next file. The lines before its first record belong to the last one of the file before. */
function append(
  all: TimedPiece[],
  { pieces, first }: FileTimes,
  { base, isWhole }: { base: number; isWhole: boolean },
): void {
  const last = all.at(-1)
  for (const [i, { start, earliest, latest }] of pieces.entries()) {
    if (i > 0 || !last) all.push({ start: base + start, earliest, latest })
    else if (isWhole && first !== null) all.push({ start: base + first, earliest, latest })
    else {
      last.earliest = Math.min(last.earliest, earliest)
      last.latest = Math.max(last.latest, latest)
    }
  }
}

function readOnce(part: Text, known: KnownTimes | null, options: ProbeOptions) {
  if (known?.print.etag === part.entry.etag) return known
  return readsOf(options.budget).run(part, () => readOn(part, known, options))
}

/** Reads the times of a file, or of what was appended to it. */
async function readOn(
  part: Text,
  known: KnownTimes | null,
  options: ProbeOptions,
): Promise<KnownTimes | 'spent'> {
  const { files, format } = options
  // The last line may have gone on.
  const from = known?.pieces.at(-1)?.start ?? 0
  const read = await piecesOf(stretchOf([part]), options, from)
  if (read === 'spent') return read
  const print = await printOf(part, options, known?.print ?? null)
  const times: KnownTimes = { print, pieces: [...(known?.pieces.slice(0, -1) ?? []), ...read] }
  if (times.pieces.length <= MAX_PIECES) knownOf(files).set(keyOf(part, format.name), times)
  return times
}

/** What is known of this version of a file, or of one before to which something was appended; otherwise null. */
async function stillKnown(part: Text, options: ProbeOptions): Promise<KnownTimes | null> {
  const known = knownOf(options.files).get(keyOf(part, options.format.name))
  return known && (await isStill(known.print, part, options)) ? known : null
}
