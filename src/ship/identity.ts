import { type End, TAIL_BYTES } from '../segment/names.ts'
import type { Native } from './disk.ts'
import { UnreadableArchive } from './disk.ts'
import type { Unfinished } from './memory.ts'
import { type Claim, checksum, type FileText, holds } from './text.ts'

/** Which file is which life. */
export interface Identified {
  /** Files that continue past the end of their life. */
  late: { text: FileText; end: End }[]
  /** Unfinished lives and the files they continue in. */
  going: { text: FileText; life: Unfinished }[]
  /** Unfinished lives without a file. */
  lost: Unfinished[]
  /** Files that begin a life, oldest first. */
  fresh: FileText[]
  /** Files without any text, such as a copy that is just being made. */
  empty: FileText[]
  /** Files that are completely shipped. */
  done: FileText[]
  /** Archives that cannot be read. */
  broken: FileText[]
}

/** An end below this size says too little about a file. */
const TELLING = 1024

/**
 * Decides by content alone. `texts` are a log's files, oldest first. `before` says in which file a life was at the last
 * check: among files that match equally well, that one is chosen.
 */
export async function identify(
  texts: readonly FileText[],
  ends: ReadonlyMap<number, End>,
  unfinished: readonly Unfinished[],
  { native, before }: { native: Native; before: (life: number) => string | undefined },
): Promise<Identified> {
  const found: Identified = { late: [], going: [], lost: [], fresh: [], empty: [], done: [], broken: [] }
  const sized = await measure(texts, found.broken)
  // Everything older than the newest finished file was shipped before it, except for the file that a life was in.
  let newest = sized.length - 1
  while (newest >= 0 && !(await isDone(sized[newest]!, ends, native))) newest--
  const ours = new Set(unfinished.map(({ life }) => before(life)))
  let left = sized.slice(newest + 1)
  for (const file of sized.slice(0, newest + 1).reverse())
    if (ours.has(file.text.id) && !(await isDone(file, ends, native))) left.unshift(file)
    else found.done.unshift(file.text)

  for (const file of left) {
    const end = await endBehind(file, ends, native)
    if (end && !(await someEquals(sized, end, native))) found.late.push({ text: file.text, end })
  }
  left = left.filter(({ text }) => !found.late.some((late) => late.text === text))

  for (const life of unfinished) {
    const holders: Sized[] = []
    for (const file of left) if (await holds(file.text, life.claim, native)) holders.push(file)
    const chosen = await choose(holders, sized.at(-1), { native, id: before(life.life) })
    if (!chosen) {
      found.lost.push(life)
      continue
    }
    found.going.push({ text: chosen.text, life })
    // An older file is an unfinished copy, or was shipped before.
    left = left.slice(left.indexOf(chosen) + 1)
  }
  for (const { text, size } of left) (size > 0 ? found.fresh : found.empty).push(text)
  return found
}

interface Sized {
  text: FileText
  size: number
}

async function measure(texts: readonly FileText[], broken: FileText[]): Promise<Sized[]> {
  const sized: Sized[] = []
  for (const text of texts) {
    try {
      sized.push({ text, size: await text.size() })
    } catch (error) {
      if (!(error instanceof UnreadableArchive)) throw error
      broken.push(text)
    }
  }
  return sized
}

/** Whether a file's size and its last bytes equal an end. */
async function isDone(
  { text, size }: Sized,
  ends: ReadonlyMap<number, End>,
  native: Native,
): Promise<boolean> {
  if (size === 0) return false
  for (const end of ends.values())
    if (end.size === size && (await holds(text, tailOf(end), native))) return true
  return false
}

/** The largest end that a file continues past. */
async function endBehind(
  { text, size }: Sized,
  ends: ReadonlyMap<number, End>,
  native: Native,
): Promise<End | null> {
  const smaller = [...ends.values()].filter((end) => end.size >= TELLING && end.size < size)
  for (const end of smaller.sort((a, b) => b.size - a.size || b.life - a.life))
    if (await holds(text, tailOf(end), native)) return end
  return null
}

async function someEquals(files: readonly Sized[], end: End, native: Native): Promise<boolean> {
  for (const { text, size } of files)
    if (size === end.size && (await holds(text, tailOf(end), native))) return true
  return false
}

function tailOf({ size, crc }: End): Claim {
  return { from: Math.max(0, size - TAIL_BYTES), to: size, crc }
}

/** Of several files that hold a life: the active one if the others are prefixes of it, otherwise the oldest. */
async function choose(
  holders: readonly Sized[],
  active: Sized | undefined,
  { native, id }: { native: Native; id: string | undefined },
): Promise<Sized | null> {
  if (holders.length <= 1) return holders[0] ?? null
  const same = holders.find(({ text }) => text.id === id)
  if (same) return same
  if (!active || !holders.includes(active)) return holders[0]!
  for (const other of holders) {
    if (other === active) continue
    const from = Math.max(0, other.size - TAIL_BYTES)
    const crc = await checksum(other.text, from, other.size, native)
    if (crc === null || !(await holds(active.text, { from, to: other.size, crc }, native))) return holders[0]!
  }
  return active
}
