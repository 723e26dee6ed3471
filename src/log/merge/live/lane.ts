import { StoreError } from '../../../store/store.ts'
import { LogError } from '../../error.ts'
import type { FileChange } from '../../follow/change.ts'
import type { Followers } from '../../follow/followers.ts'
import type { FollowedPart, Packet } from '../../follow/frame.ts'
import type { JoinedLog } from '../../joined/log.ts'
import type { Selection } from '../../selection.ts'
import { type Cursor, isStartPlace } from '../../text/cursor.ts'
import { isGone } from '../../text/open.ts'
import type { LanePlace } from '../cursor.ts'
import { plainPlace } from '../place.ts'
import type { MergedRecord } from '../places.ts'
import { noTimes, type Source } from '../source.ts'

/** What the lanes of a followed timeline share. */
export interface FollowedLogs {
  /** The followers of the logs that a source belongs to. */
  followersOf(source: Source): Followers
  selection: Selection
  /** Whether the client is told what happened to files. */
  events: boolean
  /** Identifies the filters, so that followers with the same filters share the work. */
  key: string
  signal: AbortSignal
  /** Called when a lane has something to send, or has failed. */
  changed(): void
}

/** A record, or what happened to the log, and the place after it. */
export interface FollowedStep {
  record: Pick<MergedRecord, 'bytes' | 'format' | 'time'> | null
  change: FileChange | null
  /** When it is sent relative to other logs: at its time, or that of the record before it. */
  time: number
  end: Cursor
}

/** Where a lane begins. */
export interface LaneBegin {
  /** Null for the end of the log. */
  place: LanePlace | null
  /** The moment of the timeline, in ms: of records before the first time, and where a long log begins that is new. */
  time: number
  /** Whether the client asked for what begins there, so that nothing is missing before. */
  isAsked: boolean
}

type LogFollower = Awaited<ReturnType<Followers['open']>>

/** How long the other logs wait for one that reads what it missed, after its last packet. */
export const HOLD_MS = 1000
/** A log that appeared meanwhile is read from its beginning, unless it is longer than this. */
const MOST_NEW = 16 * 1024 * 1024
/** The pauses after failures, in ms. */
const PAUSE_MS = 500
const LONGEST_PAUSE = 30_000

/**
 * One log of a followed timeline. It is followed as if alone, so every line comes once and in order, or an event says
 * what was lost. It reads one packet ahead of what is sent.
 */
export class FollowedLane {
  source: Source
  /** Where the log continues after what was sent; null before it was opened without a place. */
  place: LanePlace | null
  /** Why it cannot be read at the moment. */
  error: unknown = null
  /** Set by an error that the whole follow ends with. */
  failure: unknown = null
  readonly #logs: FollowedLogs
  readonly #begin: LaneBegin
  #follower: LogFollower | null = null
  #joined: JoinedLog | null = null
  /** The file that is followed: when the log's own appears, that one is. */
  #file = ''
  /** The start of the file that follows a gap which was told: nothing else is known of it yet. */
  #afterGap: Cursor | null = null
  #steps: FollowedStep[] = []
  #next = 0
  #time: number
  #heldSince = 0
  #isEnded = false
  /** Ends what it waits for. */
  #wake = () => {}

  constructor(source: Source, begin: LaneBegin, logs: FollowedLogs) {
    this.source = source
    this.place = begin.place
    this.#begin = begin
    this.#time = begin.time
    this.#logs = logs
  }

  /** What is sent next. */
  get head(): FollowedStep | undefined {
    return this.#steps[this.#next]
  }

  /** Whether it still reads what was written before. */
  get isBehind(): boolean {
    return this.#follower?.isBehind === true
  }

  /** Whether other logs wait for it: what it reads may belong before what they have. */
  get holds(): boolean {
    return this.isBehind && this.#clock.elapsed() - this.#heldSince < HOLD_MS
  }

  /** Takes the first step. */
  take(): void {
    const { end } = this.#steps[this.#next++]!
    this.#moveTo(end)
    if (this.head) return
    this.#steps = []
    this.#next = 0
    this.#wake()
  }

  /** Tries to open the log; if that fails, `error` says why. */
  async open(): Promise<void> {
    const { selection, events, key, signal } = this.#logs
    const { file, matcher = selection.matcher } = this.source
    try {
      this.#file = file
      this.#joined = (await this.source.context.files.joined?.(file)) ?? null
      const last = this.#afterGap ?? (this.place && (await this.#find(this.place)))
      const view = { selection: selection.with({ matcher }), file, rotated: true, cursor: null, ...NO_TAIL }
      const frame = { events, json: false, parts: true }
      const follower = await this.#logs.followersOf(this.source).open({ view, frame, key, last }, signal)
      this.#follower = follower
      this.#heldSince = this.#clock.elapsed()
      if (last === null) await this.#beginAt(follower.place)
      // If `renew` named another file meanwhile, that is opened next.
      if (this.#isEnded || this.source.file !== file) this.close()
      this.error = null
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error)) throw error
      this.error = error
    }
  }

  /** Begins at the end of the log. That of an empty one is its start: nothing else finds its file after a rotation. */
  async #beginAt(end: Cursor): Promise<void> {
    this.#moveTo(end)
    if (end.print.length > 0) return
    const { context } = this.source
    const start = await plainPlace(this.source, { kind: 'start' }, context, this.#logs.signal).catch(
      () => null,
    )
    if (start?.left === 0) this.place = { kind: 'start' }
  }

  /** Where to follow from. Where that depends on a time, something before it may not have been sent, which is told. */
  async #find(place: LanePlace): Promise<Cursor> {
    const { context } = this.source
    const { signal } = this.#logs
    try {
      const { time, isAsked } = this.#begin
      let found = await plainPlace(this.source, place, context, signal)
      const isLong = !isAsked && place.kind === 'start' && found.left > MOST_NEW
      if (isLong) found = await plainPlace(this.source, { kind: 'time', time }, context, signal)
      const { cursor, isStart } = found
      const change = { kind: 'gap' as const, file: this.source.file }
      if (!isAsked && (isLong || place.kind === 'time') && !isStart)
        this.#steps = [{ record: null, change, time: this.#time, end: cursor }]
      return cursor
    } catch (error) {
      // The follower tells that the place is gone, unless its files were just moved and it finds it.
      if (place.kind === 'place' && isGone(error)) return withoutLead(place)
      throw error
    }
  }

  /** Reads on until the client leaves. */
  async run(): Promise<void> {
    try {
      for (let failures = 0; !this.#isEnded; ) {
        if (!this.#follower && this.error === null) await this.open()
        if (this.#follower && (await this.#read(this.#follower))) failures = 0
        if (this.error === null) continue
        // The other logs no longer wait for this one.
        this.#logs.changed()
        await this.#pause(Math.min(LONGEST_PAUSE, PAUSE_MS * 2 ** failures++))
        this.error = null
      }
    } catch (error) {
      if (!this.#isEnded) this.failure = error
    } finally {
      this.end()
      this.#logs.changed()
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
      if (this.#isEnded) this.#wake()
    })
  }

  /** Hands on packets until the follower ends or fails. Whether there were any. */
  async #read(follower: LogFollower): Promise<boolean> {
    let isRead = false
    try {
      await this.#sent()
      for (let packet = await follower.next(); packet; packet = await follower.next()) {
        this.#add(packet)
        isRead = true
        await this.#sent()
      }
    } catch (error) {
      // Without events, a client could not be told that something is missing.
      if (!isPassing(error) || (!this.#logs.events && isGone(error))) throw error
      this.error = error
    }
    if (this.#follower === follower) this.close()
    return isRead
  }

  /** Waits until everything that was read is sent. */
  async #sent(): Promise<void> {
    if (!this.head) return
    this.#logs.changed()
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      if (this.#isEnded) resolve()
    })
    this.#heldSince = this.#clock.elapsed()
  }

  /** Follows the file that now stands for the log. */
  renew(source: Source): void {
    const { file, log } = source
    const { file: known } = this.source
    // What cannot be read may be read elsewhere, such as in the copy of a node.
    if (this.error !== null) this.source = source
    // While its files are moved, the newest may be a rotated one for a moment.
    if (file === known || (known === log && file !== log)) return
    this.source = source
    // Until now it was a rotated file, while there was none under the log's own name.
    if (file === log && this.#file !== file) this.#follower?.end()
  }

  /** Ends it for good. */
  end(): void {
    this.#isEnded = true
    this.close()
    this.#wake()
  }

  close(): void {
    this.#follower?.end()
    this.#follower = null
  }

  #add({ parts }: Packet): void {
    this.#steps = parts.flatMap((part) => this.#stepsOf(part))
    this.#next = 0
  }

  #stepsOf({ records, format, change, end }: FollowedPart): FollowedStep[] {
    if (records.length > 0 && !format.timed) throw noTimes()
    const { zone } = this.source.context
    const steps: FollowedStep[] = records.map(({ bytes, end }) => {
      const lf = bytes.indexOf(10)
      const time = format.time(bytes, 0, lf < 0 ? bytes.length : lf, zone)
      if (!Number.isNaN(time)) this.#time = time
      return { record: { bytes, format, time: this.#time }, change: null, time: this.#time, end }
    })
    return [...steps, { record: null, change, time: this.#time, end }]
  }

  #moveTo(cursor: Cursor): void {
    // The start of an empty file has no proof: the last place stays. If that is gone, who comes back is told of a gap.
    this.#afterGap = isStartPlace(cursor) ? cursor : null
    if (this.place && cursor.offset === 0 && cursor.print.length === 0) return
    const time = this.#joined?.memberOf(cursor.name)?.time
    this.place = { kind: 'place', cursor, lead: 0, ...(time !== undefined && { object: { time } }) }
  }

  get #clock() {
    return this.source.context.clock
  }
}

const NO_TAIL = { fit: { size: 0, lines: 0 }, records: true }

/** The place after what leads to it, if both are in one file; otherwise one that is not found. */
function withoutLead({ cursor, lead }: Extract<LanePlace, { kind: 'place' }>): Cursor {
  if (lead === 0) return cursor
  const offset = cursor.offset + lead
  return { ...cursor, offset: offset < 0 ? Number.MAX_SAFE_INTEGER : offset, splitsRecord: false }
}

/** Whether a log may be read again later. */
function isPassing(error: unknown): boolean {
  return error instanceof StoreError || error instanceof LogError
}
