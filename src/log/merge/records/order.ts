/** How many records on either side decide whether the time of a record can be trusted. */
const NEIGHBOURS = 8

/** How many records on either side a placed time depends on. */
export const NEIGHBOUR_RECORDS = 2 * NEIGHBOURS

/**
 * The times by which records [from, to) of a log are placed among those of other logs; `times` are those of consecutive
 * records, oldest first. Each depends on the `NEIGHBOUR_RECORDS` records on either side alone, so that it is the same in both
 * directions and on every page.
 *
 * The time of a record is trusted if it fits those around it. A record is placed at the latest trusted time of itself
 * and the eight before it: at its own where times do not fall, and at the one before it if it was written late or has a
 * wrong date.
 */
export function placedTimes(times: ArrayLike<number>, from: number, to: number): Float64Array {
  const placed = new Float64Array(to - from)
  const low = Math.max(0, from - NEIGHBOURS)
  const trusted = new Uint8Array(Math.min(times.length, to + NEIGHBOURS) - low)
  // Where the last fall before a record is: most logs have none, and their records keep their times.
  let fall = Number.NEGATIVE_INFINITY
  let seen = Math.max(0, low - NEIGHBOUR_RECORDS)
  for (let i = 0; i < trusted.length; i++) {
    const at = low + i
    const ahead = Math.min(times.length - 1, at + NEIGHBOURS)
    for (; seen < ahead; seen++) if (times[seen + 1]! < times[seen]!) fall = seen
    // 2: no time falls around the record or around the eight before it.
    trusted[i] = fall < at - NEIGHBOUR_RECORDS ? 2 : fall < at - NEIGHBOURS || isTrusted(times, at) ? 1 : 0
  }
  for (let at = from; at < to; at++)
    placed[at - from] = trusted[at - low] === 2 ? times[at]! : placedTime(times, at, trusted, low)
  return placed
}

/** `trusted` says of each record from `low` on whether its time is. */
function placedTime(times: ArrayLike<number>, at: number, trusted: Uint8Array, low: number): number {
  let placed = Number.NEGATIVE_INFINITY
  for (let i = Math.max(low, at - NEIGHBOURS); i <= at; i++)
    if (trusted[i - low] && times[i]! > placed) placed = times[i]!
  if (placed !== Number.NEGATIVE_INFINITY) return placed
  for (let i = at + 1; i <= at + NEIGHBOURS && i - low < trusted.length; i++)
    if (trusted[i - low]) return times[i]!
  return times[at]!
}

/** For each record of a neighbourhood: the length of the longest non-decreasing subsequence to it, or from it, and the time at its other end. */
const lengths = new Uint8Array(NEIGHBOUR_RECORDS + 1)
const edges = new Float64Array(NEIGHBOUR_RECORDS + 1)

/**
 * Whether a time fits those around it: it is in a longest non-decreasing subsequence of its neighbours' times, and of
 * these in one that takes the least time.
 */
function isTrusted(times: ArrayLike<number>, at: number): boolean {
  const from = Math.max(0, at - NEIGHBOURS)
  const to = Math.min(times.length, at + NEIGHBOURS + 1)
  measureRuns(times, from, to, 1)
  let longest = 0
  let shortest = 0
  for (let i = from; i < to; i++) {
    const length = lengths[i - from]!
    const taken = times[i]! - edges[i - from]!
    if (length > longest || (length === longest && taken < shortest)) shortest = taken
    longest = Math.max(longest, length)
  }
  const before = lengths[at - from]!
  const start = edges[at - from]!
  measureRuns(times, at, to, -1)
  return before + lengths[0]! - 1 === longest && edges[0]! - start <= shortest
}

/** Measures the longest subsequences to each record from `from` on, or with `direction` -1 those from each to the last one. */
function measureRuns(times: ArrayLike<number>, from: number, to: number, direction: 1 | -1): void {
  const [first, end] = direction === 1 ? [from, to] : [to - 1, from - 1]
  for (let i = first; i !== end; i += direction) {
    const time = times[i]!
    let length = 1
    let edge = time
    for (let j = first; j !== i; j += direction) {
      const longer = lengths[j - from]! + 1
      if ((times[j]! - time) * direction > 0 || longer < length) continue
      const other = edges[j - from]!
      if (longer > length || (other - edge) * direction > 0) edge = other
      length = longer
    }
    lengths[i - from] = length
    edges[i - from] = edge
  }
}

/** Puts something into its place among others in order: of 32, five are compared with it. */
export function insertInto<T>(order: T[], item: T, comesFirst: (a: T, b: T) => boolean): void {
  let low = 0
  for (let high = order.length; low < high; ) {
    const middle = (low + high) >> 1
    if (comesFirst(order[middle]!, item)) low = middle + 1
    else high = middle
  }
  order.splice(low, 0, item)
}

/** Records on the way of reading, as columns. */
export interface PlacedColumns {
  readonly length: number
  /** Their own times in ms; NaN for one that has none, until it is placed: then it has that of the record before it. */
  readonly time: number[]
  /** By which they are placed. */
  readonly placed: number[]
  /** How far their ends are from where reading began. */
  readonly near: readonly number[]
  readonly far: readonly number[]
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
export function placeOn(steps: PlacedColumns, decided: number, placing: Placing): number {
  let known = decided
  for (let from = Math.max(0, decided - NEIGHBOUR_RECORDS); from < steps.length; ) {
    const to = runEnd(steps, from)
    const isLast = to === steps.length
    const moment = steps.placed[from - 1] ?? placing.moment
    const placed = placeRun(steps, [from, to], known - from, {
      ...placing,
      isAll: !isLast || placing.isAll,
      moment,
    })
    known = Math.max(known, from + placed)
    from = to
  }
  return known
}

/** Places the neighbours [start, end) from the `first` of them on; returns where that ends. */
function placeRun(
  steps: PlacedColumns,
  [start, end]: [number, number],
  first: number,
  { forward, isAll, moment }: Placing,
): number {
  const run = steps.time.slice(start, end)
  // Backward, the time of a record that has none comes later.
  const count = isAll || forward ? run.length : run.findLastIndex((time) => !Number.isNaN(time)) + 1
  const from = Math.max(0, first)
  const to = isAll ? count : count - NEIGHBOUR_RECORDS
  const times = to > from ? timesOf(run, forward, isAll ? moment : Number.NaN) : null
  if (times === null) return 0
  const inOrder = forward ? times.slice(0, count) : times.slice(0, count).reverse()
  const placed = forward
    ? placedTimes(inOrder, from, to)
    : placedTimes(inOrder, count - to, count - from).reverse()
  for (let i = from; i < to; i++) {
    steps.placed[start + i] = placed[i - from]!
    steps.time[start + i] = times[i]!
  }
  return to
}

/** The times of a run: a record without a time has that of the record before it, or else of the one after it. */
function timesOf(times: number[], forward: boolean, moment: number): number[] | null {
  const inOrder = forward ? times : times.reverse()
  let last = inOrder.find((time) => !Number.isNaN(time)) ?? moment
  if (Number.isNaN(last)) return null
  const filled = inOrder.map((time) => {
    if (!Number.isNaN(time)) last = time
    return last
  })
  return forward ? filled : filled.reverse()
}

/** Where the run of neighbours ends that begins with a record. */
function runEnd({ length, near, far }: PlacedColumns, from: number): number {
  let to = from + 1
  while (to < length && far[to - 1] === near[to]) to++
  return to
}
