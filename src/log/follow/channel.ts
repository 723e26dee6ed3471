import { asOne } from '../../kit/bytes.ts'
import type { Clock } from '../../kit/limits/clock.ts'
import { detectFormat, PLAIN } from '../format/detect.ts'
import { endOf } from '../format/lines.ts'
import { type Filter, isWantedAlone, timeAt } from '../search/filter.ts'
import { type Cursor, fingerprint, isDistinctive, PRINT_READ } from '../text/cursor.ts'
import { gone } from '../text/open.ts'
import type { Change } from './change.ts'
import {
  beatPacket,
  changePacket,
  type Frame,
  isEmptyPacket,
  type Packet,
  packetOf,
  packetSize,
  recordsPacket,
  type SentPart,
} from './frame.ts'

export type Data = Extract<Change, { kind: 'data' }>

/** What is sent at once, and the place after it. */
export interface Batch {
  packet: Packet
  end: Cursor
}

/** The place of a channel, the number of its next batch, and how many records it has sent. */
export interface ChannelEnd {
  place: Cursor
  next: number
  sent: number
}

/** A batch of a channel, and how many records the channel has sent after it. */
interface CountedBatch extends Batch {
  sent: number
}

/** How many batches are kept for followers that lag a little. Later ones read the log themselves. */
const KEPT_BATCHES = 64
const KEPT_BYTES = 1024 * 1024
/** A line that does not end is sent in pieces of this size. */
const MAX_PENDING = 16 * 1024 * 1024
const LF = 10

export interface ChannelOptions {
  frame: Frame
  filter: Filter
  raw: boolean
  /** The record before the place, which lines that follow may continue. @default they are judged alone */
  last?: Uint8Array | null | undefined
  clock: Clock
}

/**
 * What all followers with the same request receive: each batch is filtered and rendered once. A record is known to be
 * complete when the next one starts; the last one is sent by `flush`, a moment after it arrived.
 */
export class Channel {
  /** Everything before it was sent. */
  place: Cursor
  followers = 0
  /** The error that ended it, after the last batch. */
  failure: unknown = null
  /** The number of the last batch of late lines, which a follower that missed it cannot read from its place on. */
  lastLate = -1
  /** How many heartbeats there were. */
  beats = 0
  /** How many records were sent. */
  sent = 0
  readonly #frame: Frame
  readonly #filter: Filter
  /** Whether bytes are sent as they arrive, unfinished lines included. */
  readonly #raw: boolean
  readonly #waiters = new Set<() => void>()
  #batches: CountedBatch[] = []
  #first = 0
  #size = 0
  /** What arrived but was not sent, and its position: lines of the last record, and an unfinished line. */
  #pending: Data[] = []
  #pendingBytes = 0
  /** Whether complete lines are among it. */
  #held = false
  readonly #clock: Clock
  /** The last record examined, as far as it was seen, and whether it was sent. */
  #last: { bytes: Uint8Array; given: boolean } | null = null
  #time = Number.NaN
  /** Rendered once for all followers. */
  #beat: { place: Cursor; packet: Packet } | null = null
  /** The number of the first batch of the last poll. */
  #polled = 0

  constructor(place: Cursor, pending: Data | null, { frame, filter, raw, last, clock }: ChannelOptions) {
    this.place = place
    if (pending) {
      this.#pending.push(pending)
      this.#pendingBytes = pending.bytes.length
    }
    this.#frame = frame
    this.#filter = filter
    this.#raw = raw
    this.#clock = clock
    if (last) this.#judge(last, 0, last.length)
    this.sent = 0
  }

  /** Whether a record is held back that `flush` may send. */
  get isHolding(): boolean {
    return this.#held
  }

  /** Where it is now. */
  get end(): ChannelEnd {
    return { place: this.place, next: this.next, sent: this.sent }
  }

  get next(): number {
    return this.#first + this.#batches.length
  }

  /** A batch by number: undefined if it has not arrived yet, null if it is no longer kept. */
  batch(number: number): CountedBatch | null | undefined {
    return number < this.#first ? null : this.#batches[number - this.#first]
  }

  /** Calls back once, at the next batch or heartbeat. Returns a function that cancels it. */
  wait(wake: () => void): () => void {
    this.#waiters.add(wake)
    return () => this.#waiters.delete(wake)
  }

  /** Tells that what comes next is from another poll. */
  startPoll(): void {
    this.#polled = this.next
    this.#trim()
  }

  /** Handles what happened. Returns whether a record is held back that `flush` may send. */
  feed(change: Change): boolean {
    if (change.kind === 'late') {
      this.#addLate(change.bytes)
      return this.#held
    }
    if (change.kind === 'place') {
      this.place = change.place
      return this.#held
    }
    if (change.kind === 'missing') {
      const { file, place } = change
      if (this.#pending.length > 0) this.#take(true, true)
      // Lines that come next may continue a record that is missing.
      this.#last = null
      this.#time = Number.NaN
      // A client without events cannot be told, so its stream fails.
      if (!this.#frame.events) throw gone()
      this.#add(changePacket({ kind: 'gap', file }, this.#frame, place), place)
      return false
    }
    if (change.kind !== 'data') {
      // After a rotation, an unfinished line is kept: the new file completes it. After a truncation, nothing will.
      if (this.#pending.length > 0) this.#take(true, change.kind !== 'rotated')
      if (this.#frame.events) this.#add(changePacket(change, this.#frame, this.place), this.place)
      return false
    }
    // The start of a file that is still empty: whoever joins now begins there.
    if (change.bytes.length === 0) {
      this.place = endPlace(change, 0)
      return false
    }
    if (this.#raw) {
      this.#add(packetOf(change.bytes), endPlace(change, change.bytes.length))
      return false
    }
    if (this.#pending.length === 0 && this.place.print.length === 0)
      this.place = startPlace(change) ?? this.place
    this.#pending.push(change)
    this.#pendingBytes += change.bytes.length
    // A long line that arrives in many pieces is examined when it ends, not with every piece.
    if (this.#pendingBytes <= MAX_PENDING && change.bytes.indexOf(LF) < 0) return this.#held
    return this.#take(false)
  }

  /** Ends it for its followers, after they have read what was sent. */
  fail(error: unknown): void {
    this.failure = error ?? new Error('Cannot follow: the channel failed')
    this.#wake()
  }

  /** Sends the last record, as far as its lines are complete. */
  flush(): void {
    if (this.#held) this.#take(true)
  }

  /** A heartbeat for all followers that have nothing else to read. */
  heartbeat(): void {
    if (!this.#frame.events && !this.#frame.parts) return
    this.beats++
    this.#wake()
  }

  /** A heartbeat for a follower that has read every batch. It names the place after them, however late it is read. */
  get beat(): Packet {
    if (this.#beat?.place !== this.place)
      this.#beat = { place: this.place, packet: beatPacket(this.#frame, this.place) }
    return this.#beat.packet
  }

  /** Sends the pending records except the last one, or all of them. Returns whether lines are still held back. */
  #take(all: boolean, cut = false): boolean {
    const bytes = asOne(this.#pending.map((data) => data.bytes))
    const lines = bytes.lastIndexOf(LF) + 1
    decideFormat(this.#filter, bytes.subarray(0, lines), this.#clock)
    const { format } = this.#filter
    const forced = cut || bytes.length > MAX_PENDING
    const complete = forced ? bytes.length : lines
    const records: SentPart[] = []
    let at = 0
    while (at < complete) {
      const end = endOf(format, bytes, at, complete)
      if (end >= complete && !all && !forced) break
      const wanted = this.#judge(bytes, at, end)
      if (wanted) records.push({ bytes: wanted, end: placeIn(this.#pending, end) })
      at = end
    }
    if (at === 0) {
      this.#held = lines > 0
      return this.#held
    }
    const end = placeIn(this.#pending, at)
    const out = recordsPacket(records, this.#frame, this.#filter, end)
    if (!isEmptyPacket(out)) this.#add(out, end)
    else this.place = end
    this.#pending = dropFrom(this.#pending, at)
    this.#pendingBytes = bytes.length - at
    this.#held = lines > at
    return this.#held
  }

  /** Sends lines that belong before the place, which stays. */
  #addLate(late: Uint8Array): void {
    const bytes = late.at(-1) === LF ? late : asOne([late, new Uint8Array([LF])])
    if (this.#raw) {
      this.lastLate = this.next
      this.#add(packetOf(bytes), this.place)
      return
    }
    const { format } = this.#filter
    const records: SentPart[] = []
    let time = Number.NaN
    for (let at = 0; at < bytes.length; ) {
      const end = endOf(format, bytes, at, bytes.length)
      const own = timeAt(bytes, at, end, this.#filter)
      if (!Number.isNaN(own)) time = own
      const record = bytes.slice(at, end)
      if (isWantedAlone(record, 0, this.#filter, time)) records.push({ bytes: record, end: this.place })
      at = end
    }
    if (records.length === 0) return
    this.lastLate = this.next
    this.sent += records.length
    this.#add(recordsPacket(records, this.#frame, this.#filter, this.place), this.place)
  }

  /** Which part of a record to send now: all, its rest if the beginning was sent, or nothing. */
  #judge(bytes: Uint8Array, from: number, to: number): Uint8Array | null {
    const { format } = this.#filter
    const lf = bytes.indexOf(LF, from)
    const last = this.#last
    if (last && !format.starts(bytes, from, lf < 0 || lf > to ? to : lf)) {
      const rest = bytes.slice(from, to)
      if (last.given) return rest
      const whole = last.bytes.length + rest.length <= MAX_PENDING ? asOne([last.bytes, rest]) : rest
      const given = isWantedAlone(whole, 0, this.#filter, this.#time)
      if (given) this.sent++
      this.#last = { bytes: whole, given }
      return given ? whole : null
    }
    const time = timeAt(bytes, from, to, this.#filter)
    if (!Number.isNaN(time)) this.#time = time
    const record = bytes.slice(from, to)
    const given = isWantedAlone(record, 0, this.#filter, this.#time)
    if (given) this.sent++
    this.#last = { bytes: record, given }
    return given ? record : null
  }

  #add(packet: Packet, end: Cursor): void {
    this.place = end
    this.#batches.push({ packet, end, sent: this.sent })
    this.#size += packetSize(packet)
    // Late lines stay until followers that wait have had the chance to take them.
    if (this.lastLate < this.#polled) this.#trim()
    this.#wake()
  }

  /** Forgets batches beyond what is kept. */
  #trim(): void {
    while (this.#batches.length > KEPT_BATCHES || (this.#size > KEPT_BYTES && this.#batches.length > 1)) {
      this.#size -= packetSize(this.#batches.shift()!.packet)
      this.#first++
    }
  }

  #wake(): void {
    const waiting = [...this.#waiters]
    this.#waiters.clear()
    for (const wake of waiting) wake()
  }
}

/** Detects the format from the first lines of a log that was empty when its filter was made. */
export function decideFormat(filter: Filter, lines: Uint8Array, clock: Clock): void {
  if (!filter.undecided || lines.length === 0) return
  filter.format = detectFormat(lines, undefined, { reference: () => clock.now() })
  filter.undecided = filter.format === PLAIN
}

function endPlace({ name, id, offset, bytes }: Data, length: number): Cursor {
  const print = fingerprint(bytes, offset, 0, length)
  return { name, id, offset: offset + length, print }
}

/**
 * The start of a file, by what comes after it: if it was copied and truncated, the one under its name is as empty as
 * before. Null if there is not enough of it.
 */
function startPlace({ name, id, offset, bytes }: Data): Cursor | null {
  if (offset > 0 || !isDistinctive(bytes)) return null
  return { name, id, offset, print: fingerprint(bytes, 0, 0, Math.min(PRINT_READ, bytes.length)) }
}

/** The place after the first `length` bytes. */
function placeIn(pending: readonly Data[], length: number): Cursor {
  let left = length
  for (const [i, data] of pending.entries()) {
    if (left <= data.bytes.length) return endPlace(...withLineStart(pending[i - 1], data, left))
    left -= data.bytes.length
  }
  throw new RangeError('Cannot place what is not pending')
}

/**
 * The end of a line that came in two halves, with the first half: the rest alone may be a few dots, which a truncated
 * file that has grown again also has at that place.
 */
function withLineStart(before: Data | undefined, data: Data, length: number): [data: Data, length: number] {
  if (!before || length >= PRINT_READ || before.offset + before.bytes.length !== data.offset)
    return [data, length]
  const start = before.bytes.subarray(-PRINT_READ)
  const bytes = asOne([start, data.bytes.subarray(0, length)])
  return [{ ...data, offset: data.offset - start.length, bytes }, bytes.length]
}

/** What remains without the first `length` bytes. */
function dropFrom(pending: readonly Data[], length: number): Data[] {
  let left = length
  const rest: Data[] = []
  for (const data of pending) {
    if (left < data.bytes.length)
      rest.push({ ...data, offset: data.offset + left, bytes: data.bytes.subarray(left) })
    left = Math.max(0, left - data.bytes.length)
  }
  return rest
}
