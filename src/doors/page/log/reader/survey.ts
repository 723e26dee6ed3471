import { timeIn, zoneOf } from '../record/record.ts'
import type { LogWindow } from './window.ts'

/** The time of the first record that has one, on the way from one seq to another. */
function timeBetween(window: LogWindow, from: number, to: number): string | null {
  const by = from < to ? 1 : -1
  for (let seq = from; seq !== to + by; seq += by) {
    const time = timeIn(window.item(seq))
    if (time !== null) return time
  }
  return null
}

/** The moments of the first and the last record with a time between two seqs. */
export function momentsOf(window: LogWindow, first: number, last: number): [number, number] | null {
  const [from, to] = [timeBetween(window, first, last), timeBetween(window, last, first)]
  return from === null || to === null ? null : [Date.parse(from), Date.parse(to)]
}

/** Minutes east of UTC, as the newest of the loaded records has it; null where none has a time. */
export function zoneIn(window: LogWindow): number | null {
  const time = timeBetween(window, window.endSeq - 1, window.endSeq - 50)
  return time === null ? null : zoneOf(time)
}

/** The time of a record; one without a time has that of the nearest record before it, or else after it. */
export function timeNear(window: LogWindow, seq: number): string | null {
  return timeBetween(window, seq, seq - 1000) ?? timeBetween(window, seq, seq + 1000)
}

/** Whether a record is the first one after the moment up to which every source has shipped all it had. */
export function isUnsettled(window: LogWindow, seq: number): boolean {
  if (window.settled === null || seq === window.firstSeq) return false
  const [before, own] = [timeNear(window, seq - 1), timeIn(window.item(seq))]
  return Date.parse(before ?? '') <= window.settled && Date.parse(own ?? '') > window.settled
}
