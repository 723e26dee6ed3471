import { byCodePoint, type Entry } from '../../store/store.ts'

/** An object of a joined log, and the time in its key. */
export interface Member {
  entry: Entry
  time: number
}

/** A small object costs a request, too, so it counts as this many bytes. */
const LEAST_COST = 4096

/** By the date in the key, then by key. */
export function byTime(a: Member, b: Member): number {
  return a.time - b.time || byCodePoint(a.entry.key, b.entry.key)
}

export function costOf({ entry }: Member): number {
  return Math.max(entry.size, LEAST_COST)
}

/** The first member and those after it, at least one, up to this many stored bytes. Known ones cost nothing. */
export function firstWithin(members: Member[], bytes: number, known?: ReadonlySet<string>): Member[] {
  let sum = 0
  let count = 0
  const end = members.findIndex((member, i) => {
    if (i === 0 || known?.has(member.entry.key)) return false
    sum += costOf(member)
    return ++count > 1 && sum > bytes
  })
  return end < 0 ? members : members.slice(0, end)
}
