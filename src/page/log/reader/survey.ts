import { timeIn, zoneOf } from '../record/record.ts'
import type { LogWindow } from './window.ts'

/** The moments of the first and the last record with a time between two seqs. */
export function momentsOf(window: LogWindow, first: number, last: number): [number, number] | null {
  const moment = (from: number, by: number): number | null => {
    for (let seq = from; seq >= first && seq <= last; seq += by) {
      const time = timeIn(window.item(seq))
      if (time !== null) return Date.parse(time)
    }
    return null
  }
  const from = moment(first, 1)
  const to = moment(last, -1)
  return from === null || to === null ? null : [from, to]
}

/** Minutes east of UTC, as the newest of the loaded records has it; null where none has a time. */
export function zoneIn(window: LogWindow): number | null {
  for (const item of window.items.slice(-50)) {
    const time = timeIn(item)
    if (time !== null) return zoneOf(time)
  }
  return null
}

/** The time of a record; one without a time has that of the nearest record before it, or else after it. */
export function timeNear(window: LogWindow, seq: number): string | null {
  for (const by of [-1, 1])
    for (let at = seq; at >= window.firstSeq && at < window.endSeq && Math.abs(at - seq) < 1000; at += by) {
      const time = timeIn(window.item(at))
      if (time !== null) return time
    }
  return null
}

/** Whether a record is the first one after the moment up to which every source has shipped all it had. */
export function isUnsettled(window: LogWindow, seq: number): boolean {
  if (window.settled === null || seq === window.firstSeq) return false
  const [before, own] = [timeNear(window, seq - 1), timeIn(window.item(seq))]
  return Date.parse(before ?? '') <= window.settled && Date.parse(own ?? '') > window.settled
}

/** Milliseconds between a record and the one above it. */
export function gapBefore(window: LogWindow, seq: number): number | null {
  const [before, own] = [seq - 1, seq].map((each) => Date.parse(timeIn(window.item(each)) ?? ''))
  const gap = own! - before!
  return Number.isNaN(gap) ? null : gap
}

/** Characters in a line of the list when lines wrap, otherwise 0. */
export function charactersPerLine(box: HTMLElement, wrap: boolean): number {
  const width = box.clientWidth
  if (width < NARROW) return Math.max(20, width / 7)
  return wrap ? Math.max(20, (width - 60) / 7.5) : 0
}

/** Below this width every record wraps; the style sheet says the same. */
const NARROW = 640
