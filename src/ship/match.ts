import type { Examined, Examiner } from './examiner.ts'
import type { WatchedFile } from './files/watched-files.ts'
import type { Memory, Shipped } from './memory.ts'

/** Which file is which life. */
export interface Matched {
  /** Files that are completely shipped, and the life of each. */
  done: { file: WatchedFile; life: number }[]
  /** Lives and the files that they continue in; finished ones have got late lines. */
  going: { file: WatchedFile; state: Shipped }[]
  /** Files that begin a life, oldest first. */
  fresh: WatchedFile[]
  /** Files that are an unfinished life as far as it goes, while that continues in another file. */
  same: { file: WatchedFile; life: number }[]
  /** Unfinished lives that no file begins with. */
  lost: Shipped[]
}

/** A shorter beginning may be a banner that files share. */
const TELLING = 4096

/** What the caller knows about the files besides their content. */
export interface Situation {
  memory: Memory
  examiner: Examiner
  isActive(file: WatchedFile): boolean
  /** Whether a file of the directory is already proven to be this life. */
  hasProven(life: number): boolean
}

/**
 * Decides by content alone which file is which life. Order decides only which file takes a life that several begin
 * with; the others are shipped as well. `files` are oldest first.
 */
export async function match(files: readonly Examined[], situation: Situation): Promise<Matched> {
  const { memory } = situation
  const matched: Matched = { done: [], going: [], fresh: [], same: [], lost: [] }
  let rest = files.filter(({ size }) => size > 0)
  for (const { file, equals } of rest) if (equals) matched.done.push({ file, life: equals.life })
  rest = rest.filter(({ equals }) => equals === null)
  // Those without bytes come last: which file is next in line is known when the others have theirs.
  const byBytes = (a: Shipped, b: Shipped) => Number(a.size === 0) - Number(b.size === 0) || a.life - b.life
  for (const state of [...memory.open.values()].sort(byBytes)) {
    const chosen = await choose(state, rest, situation)
    if (!chosen) {
      matched.lost.push(state)
      continue
    }
    matched.going.push({ file: chosen.file, state })
    rest = rest.filter((other) => other !== chosen)
  }
  for (const one of rest) {
    const life = one.holds.find((life) => memory.open.get(life)?.size === one.size)
    if (life !== undefined) matched.same.push({ file: one.file, life })
    else if (await isLate(one, rest, situation, matched))
      matched.going.push({ file: one.file, state: one.behind! })
    else matched.fresh.push(one.file)
  }
  return matched
}

/**
 * The file that an unfinished life continues in. If several begin with it, the one that it began in, if that was
 * renamed. Otherwise the active file, if the others are copies of its beginning; if they are not, it was truncated after
 * the oldest was copied from it.
 */
async function choose(state: Shipped, files: readonly Examined[], situation: Situation) {
  const { examiner, isActive } = situation
  const { life, size } = state
  // Without bytes it is taken up only by the file that is next in line, so that lives stay in the order of files.
  if (size === 0) return files[0] && (await examiner.isBegun(files[0].file, life)) ? files[0] : null
  const holders = files.filter(({ holds }) => holds.includes(life))
  if (holders.length <= 1) return holders[0] ?? null
  for (const one of holders) if (!isActive(one.file) && (await examiner.isBegun(one.file, life))) return one
  const active = holders.find(({ file }) => isActive(file))
  for (const one of holders)
    if (one === active || !active || !(await examiner.isBeginning(one, active.file.text))) return one
  return holders[0]!
}

/**
 * Whether a file is a finished life with late lines: it is the file that the life began in, or it is rotated, the life
 * has no other file, and no other file begins like it.
 */
async function isLate(
  { file, size: fileSize, behind }: Examined,
  files: readonly Examined[],
  { examiner, isActive, hasProven }: Situation,
  { done, going }: Matched,
): Promise<boolean> {
  if (!behind) return false
  const { life, size } = behind
  if (hasProven(life) || done.some((other) => other.life === life)) return false
  if (going.some(({ state }) => state.life === life)) return false
  if (behind.size === fileSize || (await examiner.isBegun(file, life))) return true
  const isShared = files.some((other) => other.file !== file && other.behind?.life === life)
  return size >= TELLING && !isActive(file) && !isShared
}
