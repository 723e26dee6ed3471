import type { LineFormat } from '../../log/format/detect.ts'
import { decodeMerged, encodeMerged, type LanePlace, laneKey } from '../../log/merge/cursor.ts'
import type { Source } from '../../log/merge/source.ts'
import type { Note } from '../../log/view/answer.ts'

/** A page of one log that was read on its own node, in the order of reading. */
export interface LanePage {
  records: ThereRecord[]
  /** Where the next page begins, and where one in the other direction does. */
  onward: LanePlace
  backward: LanePlace
  /** No further record is placed before it. */
  frontier: number
  isDone: boolean
  isCut: boolean
  notes: Note[]
  /** The state of its files. */
  state: string
  /** What tells the format of its records from others; empty without records. */
  format: string
}

/** A record that was read on its node. */
export interface ThereRecord {
  bytes: Uint8Array
  time: number
  placed: number
  /** Where a page in the same direction begins that has this record first, as its node wrote it. */
  place: string
}

/** What comes before the bytes of the records, as a line of JSON. Null is minus or plus infinity. */
export interface LaneHead {
  log: string
  records: [length: number, time: number, placed: number, place: string][]
  onward: string
  backward: string
  frontier: number | null
  done: boolean
  cut: boolean
  notes: string[]
  state: string
  format: string
}

/** What tells a format from others. */
export function formatKey({ name, timed, leveled, ambiguousZone = '' }: LineFormat): string {
  return `${name} ${timed} ${leveled} ${ambiguousZone}`
}

/** Where a log is read on, as a cursor of its own node. */
export function placeText(place: LanePlace, source: Source): string {
  const own = source.node === null ? source : { ...source, node: null }
  const lanes = new Map([[laneKey(own), { place, behind: false }]])
  return encodeMerged({ time: 0, lanes }, [own], false)
}

/** Reads a page that another node sent. Throws if it makes no sense, or is of another log. */
export function parseLane(given: unknown, body: Uint8Array, source: Source, forward: boolean): LanePage {
  const head = given as LaneHead
  if (head.log !== source.log) throw new TypeError('another log')
  const infinity = forward ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  let at = 0
  const records = head.records.map(([length, time, placed, place]): ThereRecord => {
    if (!Number.isSafeInteger(length) || length <= 0 || length > body.length - at)
      throw new TypeError('no length')
    if (!Number.isFinite(time) || !Number.isFinite(placed)) throw new TypeError('no time')
    if (typeof place !== 'string') throw new TypeError('no place')
    const bytes = body.subarray(at, at + length)
    at += length
    return { bytes, time, placed, place }
  })
  if (at !== body.length || !head.notes.every(isNote)) throw new TypeError('another length')
  return {
    records: forward ? records : records.reverse(),
    onward: placeOf(head.onward, source),
    backward: placeOf(head.backward, source),
    frontier: Number.isFinite(head.frontier) ? head.frontier! : infinity,
    isDone: head.done === true,
    isCut: head.cut === true,
    notes: head.notes as Note[],
    state: String(head.state).slice(0, 100),
    format: String(head.format).slice(0, 200),
  }
}

const isNote = (note: unknown) => typeof note === 'string' && /^[a-z-]{1,40}$/.test(note)

/**
 * Where a log is read on, as its node wrote it. It is decoded only when needed: to decode the place of every record takes
 * half the time of a page.
 */
export function placeOf(text: string, source: Source): LanePlace {
  const own = { ...source, node: null }
  const state = decodeMerged(text, 'after', [own]).lanes.get(laneKey(own))
  if (!state) throw new TypeError('another place')
  return state.place
}
