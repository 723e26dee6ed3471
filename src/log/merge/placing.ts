import { placedTimes, REACH } from './order.ts'

/** A record on the way of reading. */
export interface Step {
  /** Its own time in ms; NaN if it has none, until it is placed: then it has that of the record before it. */
  time: number
  /** By which it is placed. */
  placed: number
  /** How far its ends are from where reading began. */
  near: number
  far: number
}

/** How far records can be placed. */
export interface Placing {
  forward: boolean
  /** Whether nothing comes after the last of them. */
  isAll: boolean
  /** The time of records if none of them has one. */
  moment: number
}

/**
 * Places the records from `decided` on whose neighbours are known, and returns how many records are placed then. Some
 * are not next to each other, because those between them were not collected.
 */
export function placeOn(steps: readonly Step[], decided: number, placing: Placing): number {
  let known = decided
  for (let from = Math.max(0, decided - REACH); from < steps.length; ) {
    const to = runEnd(steps, from)
    const isLast = to === steps.length
    const moment = steps[from - 1]?.placed ?? placing.moment
    const placed = placeRun(steps.slice(from, to), known - from, {
      ...placing,
      isAll: !isLast || placing.isAll,
      moment,
    })
    known = Math.max(known, from + placed)
    from = to
  }
  return known
}

/** Places one run of neighbours from `first` on; returns where that ends. */
function placeRun(run: readonly Step[], first: number, { forward, isAll, moment }: Placing): number {
  // Backward, the time of a record that has none comes later.
  const count = isAll || forward ? run.length : run.findLastIndex(({ time }) => !Number.isNaN(time)) + 1
  const from = Math.max(0, first)
  const to = isAll ? count : count - REACH
  const times = to > from ? timesOf(run, forward, isAll ? moment : Number.NaN) : null
  if (times === null) return 0
  const inOrder = forward ? times.slice(0, count) : times.slice(0, count).reverse()
  const placed = forward
    ? placedTimes(inOrder, from, to)
    : placedTimes(inOrder, count - to, count - from).reverse()
  for (let i = from; i < to; i++) {
    run[i]!.placed = placed[i - from]!
    run[i]!.time = times[i]!
  }
  return to
}

/** The times of a run: a record without a time has that of the record before it, or else of the one after it. */
function timesOf(run: readonly Step[], forward: boolean, moment: number): number[] | null {
  const times = run.map(({ time }) => time)
  if (times.every(Number.isNaN)) return Number.isNaN(moment) ? null : times.fill(moment)
  const inherit = (i: number, from: number) => {
    if (Number.isNaN(times[i]!)) times[i] = times[from]!
  }
  const onward = () => {
    for (let i = 1; i < times.length; i++) inherit(i, i - 1)
  }
  const back = () => {
    for (let i = times.length - 2; i >= 0; i--) inherit(i, i + 1)
  }
  for (const fill of forward ? [onward, back] : [back, onward]) fill()
  return times
}

/** Where the run of neighbours ends that begins with a record. */
function runEnd(steps: readonly Step[], from: number): number {
  let to = from + 1
  while (to < steps.length && steps[to - 1]!.far === steps[to]!.near) to++
  return to
}
