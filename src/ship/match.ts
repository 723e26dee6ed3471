import type { Examined, Examiner } from './examiner.ts'
import type { WatchedFile } from './files/watched-files.ts'
import type { Memory, Shipped } from './memory.ts'

export interface Matched {
  /** Files that are completely shipped, and the life of each. */
  done: { file: WatchedFile; life: number }[]
  /** Lives and the files that they continue in, with their bytes of text; finished lives have got late lines. */
  going: { file: WatchedFile; size: number; state: Shipped }[]
  /** Files that begin a life, oldest first. */
  fresh: WatchedFile[]
  /** Files that begin with a life which continues in another file, and may turn out to be all of it. */
  copies: Copy[]
  /** Unfinished lives that no file begins with. */
  lost: Shipped[]
}

/** A file that need not be shipped if a life, when it has this size, is the same. */
export interface Copy {
  file: WatchedFile
  size: number
  life: number
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
  const { memory, examiner } = situation
  const matched: Matched = { done: [], going: [], fresh: [], copies: [], lost: [] }
  const { done, going, fresh, copies, lost } = matched
  let rest = files.filter(({ size }) => size > 0)
  for (const { file, equals } of rest) if (equals) done.push({ file, life: equals.life })
  rest = rest.filter(({ equals }) => equals === null)
  const open = [...memory.open.values()].sort((a, b) => a.life - b.life)
  for (const state of open.filter(({ size }) => size > 0)) {
    const holders = rest.filter(({ holds }) => holds.includes(state.life))
    const chosen = await choose(holders, state.life, situation)
    if (!chosen) {
      lost.push(state)
      continue
    }
    going.push({ ...chosen, state })
    rest = rest.filter((other) => other !== chosen)
  }
  for (const one of rest)
    if (await isLate(one, rest, situation, matched)) going.push({ ...one, state: one.behind! })
  for (const { file, size, holds, behind } of rest) {
    if (going.some((other) => other.file === file)) continue
    // An archive may be whole while the file that it was made from is still being shipped.
    const original = going.find(
      ({ state, size: most }) =>
        (holds.includes(state.life) || behind?.life === state.life) && state.size <= size && size <= most,
    )
    if (original) copies.push({ file, size, life: original.state.life })
    else fresh.push(file)
  }
  // A life without bytes is taken up only by the file that is next in line, so that lives stay in the order of files.
  for (const state of open.filter(({ size }) => size === 0)) {
    const [next] = fresh
    if (next && (await examiner.isBegun(next, state.life)))
      going.push({ file: fresh.shift()!, size: next.size, state })
    else lost.push(state)
  }
  return matched
}

/**
 * The file that an unfinished life continues in. If several begin with it, the one that it began in, if that was
 * renamed. Otherwise the active file, if the others are copies of its beginning; if they are not, it was truncated after
 * the oldest was copied from it.
 */
async function choose(holders: readonly Examined[], life: number, { examiner, isActive }: Situation) {
  if (holders.length <= 1) return holders[0] ?? null
  for (const one of holders) if (!isActive(one.file) && (await examiner.isBegun(one.file, life))) return one
  const active = holders.find(({ file }) => isActive(file))
  for (const one of holders)
    if (one === active || !active || !(await examiner.isBeginning(one.file.text, one.size, active.file.text)))
      return one
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
