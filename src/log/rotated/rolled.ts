import type { Entry } from '../../store/store.ts'
import type { RotatedFile } from './by-name.ts'
import { parseDashed, parseName } from './names.ts'
import { DISORDER_MS } from './times.ts'

/** The times of a file's first and last records; null where there are none, or where they are not known. */
export interface Times {
  first: number | null
  last: number | null
}

/** A log that may be one: its active file, and the files with a number after a dash that may be older parts of it. */
export interface Rolled {
  active: Entry
  files: RotatedFile[]
}

/** The logs that have files with numbers after a dash, by the name of the active file. */
export function dashedLogs(entries: readonly Entry[]): Map<string, Rolled> {
  const files = new Map<string, RotatedFile[]>()
  for (const entry of entries) {
    const dashed = parseDashed(entry.key)
    if (!dashed) continue
    const same = files.get(dashed.stem) ?? []
    same.push({ entry, ...dashed })
    files.set(dashed.stem, same)
  }
  const logs = new Map<string, Rolled>()
  for (const active of files.size > 0 ? entries : []) {
    const found = files.get(active.key)
    if (found) logs.set(active.key, { active, files: found })
  }
  return logs
}

/** A log with more files than this is not put together: each of them would have to be read. */
const MAX_FILES = 200

/** Files with numbers after a dash, if their records show that they are parts of the log. */
export function rolledMembers(
  name: string,
  dashed: ReadonlyMap<string, Rolled>,
  headOf: (entry: Entry) => { time: number | null; last?: number } | undefined,
): { log: string; members: RotatedFile[]; wanted: Entry[] } {
  const log = dashed.get(parseDashed(name)?.stem ?? parseName(name).stem)
  const none = { log: name, members: [], wanted: [] }
  if (!log || log.files.length > MAX_FILES) return none
  const wanted = [...log.files.map(({ entry }) => entry), log.active]
  const isRolled = rollsOver(log, (entry) => {
    const head = headOf(entry)
    return head && { first: head.time, last: head.last ?? null }
  })
  return isRolled ? { log: log.active.key, members: log.files, wanted } : { ...none, wanted }
}

/**
 * Whether the files follow each other in the order of their numbers, up or down, and the active file comes last: then they
 * are parts of one log. Logs of several workers overlap. False as long as a file's times are not known.
 */
export function rollsOver({ active, files }: Rolled, timesOf: (entry: Entry) => Times | undefined): boolean {
  const known = [...files].sort((a, b) => a.index - b.index)
  const orders = [known, [...known].reverse()].map((order) => [...order.map(({ entry }) => entry), active])
  return orders.some((order) => {
    const full = order.filter(({ size }) => size > 0).map(timesOf)
    if (full.some((times) => times === undefined)) return false
    const timed = full.filter((times): times is TimesFromFirst => times!.first !== null)
    // Without times, only the modification times are left: a rotated file is not written to any more.
    if (timed.length === 0)
      return order.every(({ modified }, i) => i === 0 || modified > order[i - 1]!.modified)
    return timed.length === full.length && timed.every((times, i) => i === 0 || follows(timed[i - 1]!, times))
  })
}

type TimesFromFirst = Times & { first: number }

function follows(before: TimesFromFirst, { first }: TimesFromFirst): boolean {
  return before.first <= first && (before.last ?? before.first) <= first + DISORDER_MS
}
