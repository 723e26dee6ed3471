import { sleep } from '../../kit/limits/clock.ts'
import type { Lease } from '../../kit/limits/memory-budget.ts'
import { SliceMemory } from '../../kit/limits/slice-memory.ts'
import { isTurnOver, yieldToEventLoop } from '../../kit/limits/yield.ts'
import { LogError } from '../error.ts'
import { openLog } from '../open.ts'
import { lastFor, nameIn, placeIn } from '../rotated/family.ts'
import { isRotatedName } from '../rotated/names.ts'
import { listFamily } from '../rotated/relatives.ts'
import { noMemory } from '../search/sink.ts'
import { type Cursor, isStartPlace, NO_PRINT } from '../text/cursor.ts'
import { isGone } from '../text/open.ts'
import type { Series } from '../text/series.ts'
import type { View } from '../view/answer.ts'
import { budgetOf, type ViewContext } from '../view/context.ts'
import type { ViewRequest } from '../view/request.ts'
import { viewOf } from '../view/view.ts'
import {
  type FollowSource,
  liveFilter,
  openFilter,
  PAGE_BYTES,
  pageTowards,
  withCursors,
} from './catch-up.ts'
import type { Channel, ChannelEnd } from './channel.ts'
import {
  beatPacket,
  changePacket,
  type Frame,
  HELLO,
  isEmptyPacket,
  NO_PACKET,
  type Packet,
  packetOf,
  packetSize,
  recordsPacket,
} from './frame.ts'
import type { Hub, Subscription } from './hub.ts'
import { isMoving } from './moving.ts'
import { endBefore } from './neighbours.ts'

export interface FollowRequest {
  view: ViewRequest
  frame: Frame
  /** Identifies the filters, so that followers with the same filters share the work. */
  key: string
  /** Where the client was; takes precedence over the requested tail. */
  last: Cursor | null
}

/** A part of a log that is sent unchanged, and the place where it continues. */
interface UnsentTail {
  series: Series
  at: number
  to: number
  place: Cursor
}

/** How many records of a tail are rendered at a time. */
const RENDERED_RECORDS = 500
/** How long a client that fell behind may take to catch up, before it is told how much is left out. */
const MOST_BEHIND_MS = 10_000

/**
 * One client. It gets the tail (or what it missed since its last connection), then the batches of its channel. A client
 * that is too slow for those reads the log itself until it has caught up. If that takes too long and it takes events, it
 * goes on at the end of the log, with a `gap`.
 */
export class Follower {
  readonly #hub: Hub
  readonly #channel: Channel
  readonly #request: FollowRequest & FollowSource
  /** Sent before anything else. */
  readonly #first: Packet[] = []
  /** The memory that those hold. */
  #memory: Lease | null = null
  /** What a page holds that this client reads itself, until it is sent. */
  readonly #page = new SliceMemory()
  /** The tail, if it is too large to be held in memory. */
  #tail: UnsentTail | null = null
  /** Everything before it was sent; null while the channel's batches follow without a gap. */
  #place: Cursor | null = null
  /** Where it goes on after a loss that was reported. */
  #afterLoss: Cursor | null = null
  /** The place after the last batch taken, and the number of the next. */
  #given: Cursor
  #number: number
  /** How many records the channel had sent at the place that this client has reached. */
  #taken: number
  /** When its client became too slow for the channel; null while it is not. */
  #behindSince: number | null = null
  #beats: number
  /** Ends reads for this client when it disconnects. */
  readonly #disconnected = new AbortController()
  #ended = false
  #wake: (() => void) | null = null

  private constructor(
    context: ViewContext,
    hub: Hub,
    { channel, place, number }: Subscription,
    request: FollowRequest & Pick<FollowSource, 'filter' | 'raw'>,
  ) {
    this.#hub = hub
    this.#channel = channel
    this.#given = place
    this.#number = number
    this.#taken = channel.sent
    this.#request = { ...request, context, signal: this.#disconnected.signal }
    this.#beats = channel.beats
  }

  /** Joins the channel for a request. A request that cannot be answered throws here, before its stream starts. */
  static async open(
    context: ViewContext,
    openHub: () => Promise<Hub>,
    request: FollowRequest,
    signal: AbortSignal | undefined,
  ) {
    const { view, frame, key } = request
    const raw = isRaw(request)
    const filter = raw ? openFilter(context) : await liveFilter(context, view, signal)
    // Not earlier: a hub opened while a file cannot be read may choose a wrong place, and stays open for the next request.
    const hub = await openHub()
    const subscription = await hub.join(key, frame, filter, raw)
    const follower = new Follower(context, hub, subscription, { ...request, filter, raw })
    try {
      await follower.#begin(signal)
      return follower
    } catch (error) {
      follower.end()
      throw error
    }
  }

  /** Ends it: what it holds is released, and `next` is null. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#disconnected.abort()
    this.#memory?.release()
    this.#page.release()
    this.#tail?.series.sent()
    this.#hub.leave(this.#request.key, this.#channel)
    this.#wake?.()
  }

  async #begin(signal: AbortSignal | undefined): Promise<void> {
    const { view, frame, last } = this.#request
    if (frame.events && !frame.parts) this.#first.push(packetOf(HELLO))
    if (last) await this.#resume(last, signal)
    else if (view.fit.size > 0 && view.fit.lines !== 0) await this.#selectTail(signal)
  }

  /** Continues where the client was. The place is resolved now, so that a missing one is reported as a problem. */
  async #resume(last: Cursor, signal: AbortSignal | undefined): Promise<void> {
    const { context, view, frame } = this.#request
    this.#place = last
    try {
      const opener = { ...context, budget: budgetOf(context, signal) }
      const cursor = { place: last, direction: 'after' as const }
      const { series } = await openLog(opener, { ...view, rotated: false, cursor })
      // The first lines of a file that was empty may have been copied and truncated: nothing in its place would show it.
      const isUnproven = last.id !== null && last.print.length === 0
      if (!frame.events || !isUnproven) return
      const family = await listFamily(opener, view.file)
      // With such a file before it, the place would have been at the end of that.
      if (await endBefore(opener, family, series.parts[0]!.name)) await this.#reportGap(signal)
    } catch (error) {
      // Moved meanwhile: it is searched for again as soon as the stream runs.
      if (isMoving(error)) return
      if (!frame.events || !isGone(error)) throw error
      await this.#reportGap(signal)
    }
  }

  /** Selects the tail, which ends where the channel continues. */
  async #selectTail(signal: AbortSignal | undefined): Promise<void> {
    const { context, view: asked, frame } = this.#request
    if (await this.#hasNoTail(signal)) return
    const cursor = { place: this.#given, direction: 'before' as const }
    const records = frame.events || frame.json
    const view = await viewOf(context, { ...asked, cursor, records, each: true }, signal)
    const { series, from, to, pieces } = view
    if (pieces === null) {
      const tail = { series, at: from, to, place: this.#given }
      this.#tail = tail
      await series.onward(from)
      tail.place = await series.cursor(from)
      return
    }
    try {
      await this.#render(view, pieces)
    } finally {
      view.memory?.release()
    }
  }

  /** Whether the file that was asked for, without those before it, is empty or comes after the place: then it has no tail. */
  async #hasNoTail(signal: AbortSignal | undefined): Promise<boolean> {
    const { context, view } = this.#request
    const { name } = this.#given
    if (view.rotated || name === view.file || (await context.files.joined?.(view.file))) return false
    const family = await listFamily({ ...context, budget: budgetOf(context, signal) }, view.file)
    const own = placeIn(family, view.file)
    return placeIn(family, name) < own || family.members[own]?.size === 0
  }

  /** Renders the records of a tail: as events they take several times their size, and a long one several turns. */
  async #render({ series, ends, format }: View, pieces: readonly Uint8Array[]): Promise<void> {
    const { context, frame } = this.#request
    this.#memory = context.memory?.lease(0) ?? null
    for (let i = 0; i < pieces.length; i += RENDERED_RECORDS) {
      const some = {
        pieces: pieces.slice(i, i + RENDERED_RECORDS),
        ends: ends.slice(i, i + RENDERED_RECORDS),
      }
      const { zone } = context
      const packet = recordsPacket(await withCursors(series, some), frame, { format, zone }, this.#given)
      if (this.#memory?.grow(packetSize(packet)) === false) {
        this.#memory.release()
        throw noMemory()
      }
      this.#first.push(packet)
      if (isTurnOver()) await yieldToEventLoop()
    }
  }

  /** What is sent next; null at the end. */
  async next(): Promise<Packet | null> {
    while (!this.#ended) {
      const packet = await this.#step()
      if (!isEmptyPacket(packet)) return packet
    }
    return null
  }

  /** Whether it still reads what was written before, rather than wait for what is appended. */
  get isBehind(): boolean {
    return this.#first.length > 0 || this.#tail !== null || this.#place !== null
  }

  /** The place after what it gave last. */
  get place(): Cursor {
    return this.#place ?? this.#given
  }

  /** One step towards the end of the log. It may yield nothing. */
  #step(): Packet | Promise<Packet> {
    this.#page.release()
    const first = this.#first.shift()
    if (first) return first
    this.#memory?.release()
    if (this.#tail) return this.#readTail(this.#tail)
    if (this.#place) return this.#catchUp(this.#place)
    return this.#fromChannel()
  }

  async #readTail(tail: UnsentTail): Promise<Packet> {
    try {
      const bytes = await tail.series.read(tail.at, Math.min(tail.at + this.#page.take(PAGE_BYTES), tail.to))
      tail.at += bytes.length
      if (tail.at >= tail.to) this.#endTail(tail)
      else tail.place = await tail.series.cursor(tail.at)
      return packetOf(bytes)
    } catch (error) {
      if (!isMoving(error)) throw error
      // The file was rotated: the rest of the tail is searched for like anything else that was missed.
      this.#endTail(tail)
      this.#place = tail.place
      return NO_PACKET
    }
  }

  #endTail({ series }: UnsentTail): void {
    series.sent()
    this.#tail = null
  }

  /**
   * One page of what is between the place and the channel's. If there is nothing, the channel's next batch follows.
   * Files may be renamed, compressed or removed meanwhile: then they are read again.
   */
  async #catchUp(from: Cursor): Promise<Packet> {
    if (this.#isTooFarBehind) return this.#skip()
    let place = from
    for (let tries = 0; tries < 50 && !this.#ended; tries++) {
      try {
        const packet = await this.#towardsChannel(place)
        if (packet) return packet
      } catch (error) {
        const gone = isGone(error)
        if (gone && !this.#request.frame.events) throw error
        if (gone && !isStartPlace(place) && place !== this.#afterLoss) {
          await this.#reportGap()
          return NO_PACKET
        }
        // Reported once: until there is a file again, there is nothing more to report.
        if (gone && place === this.#afterLoss) place = await this.#goOnAfterLoss()
        if (!gone && !isMoving(error)) throw error
      }
      // The channel is not there yet, or the files just moved.
      this.#channel.flush()
      await this.#hub.sync()
      await sleep(this.#request.context.clock, 20 + tries * 10)
    }
    throw new LogError('cursor-gone', 'The place to follow from was not found again; start without it.')
  }

  /** The next page on the way to where the channel is; null while that cannot be found. */
  async #towardsChannel(place: Cursor): Promise<Packet | null> {
    const goal = this.#channel.end
    const page = await pageTowards(goal.place, place, {
      ...this.#request,
      size: this.#page.take(PAGE_BYTES),
      hold: (bytes) => !this.#ended && this.#page.hold(bytes),
    })
    if (page === null) return null
    if (page !== 'arrived') {
      this.#place = page.end
      this.#taken += page.records
      if (!this.#ended) this.#page.hold(packetSize(page.packet))
      return page.packet
    }
    const isLateMissed = this.#channel.lastLate >= this.#number
    this.#join(goal)
    if (isLateMissed) this.#reportLate(goal.place)
    // A timeline waits to be told that nothing is missing any more.
    return this.#request.frame.parts ? beatPacket(this.#request.frame, goal.place) : NO_PACKET
  }

  /** Goes on with the batches of the channel. */
  #join({ place, next, sent }: ChannelEnd): void {
    this.#place = null
    this.#behindSince = null
    this.#given = place
    this.#number = next
    this.#taken = sent
  }

  get #isTooFarBehind(): boolean {
    if (this.#behindSince === null || !this.#request.frame.events) return false
    return this.#request.context.clock.elapsed() - this.#behindSince > MOST_BEHIND_MS
  }

  /** Leaves out what its client is too slow for, and says how many records that are. */
  #skip(): Packet {
    const { frame, view } = this.#request
    const { end } = this.#channel
    const records = Math.max(0, end.sent - this.#taken)
    this.#join(end)
    return changePacket({ kind: 'gap', file: view.file, records }, frame, end.place)
  }

  /** Lines that arrived late belong before the place, where this client does not read again. */
  #reportLate(place: Cursor): void {
    const { frame, view } = this.#request
    if (!frame.events)
      throw new LogError('cursor-gone', 'Lines that arrived late were missed; follow the log again.')
    this.#first.push(changePacket({ kind: 'gap', file: view.file }, frame, place))
  }

  /** The next batch or heartbeat of the channel; if there is none, waits for one. */
  #fromChannel(): Packet | Promise<Packet> {
    const batch = this.#channel.batch(this.#number)
    if (batch) {
      this.#number++
      this.#given = batch.end
      this.#taken = batch.sent
      return batch.packet
    }
    // Too late: the batch is no longer kept.
    if (batch === null) {
      this.#place = this.#given
      this.#behindSince = this.#request.context.clock.elapsed()
      return NO_PACKET
    }
    if (this.#channel.failure) throw this.#channel.failure
    if (this.#beats === this.#channel.beats) return this.#change()
    this.#beats = this.#channel.beats
    return this.#channel.beat
  }

  /** Waits until the channel has something new, or the client leaves. */
  async #change(): Promise<Packet> {
    await new Promise<void>((resolve) => {
      const forget = this.#channel.wait(resolve)
      this.#wake = () => {
        forget()
        resolve()
      }
    })
    this.#wake = null
    return NO_PACKET
  }

  /** What the client saw is gone. This reports it and continues at the beginning of what is there. */
  async #reportGap(signal?: AbortSignal): Promise<void> {
    const { frame, view } = this.#request
    const { file } = view
    const place = await this.#goOnAfterLoss(signal)
    this.#first.push(changePacket({ kind: 'gap', file }, frame, place))
  }

  /** Goes on where the newest file begins. */
  async #goOnAfterLoss(signal?: AbortSignal): Promise<Cursor> {
    const { place } = this.#channel
    const name = await this.#newest(signal)
    // While that is empty, the channel waits in the file before it, which may have been sent.
    this.#afterLoss = place.name === name ? { name, id: null, offset: 0, print: NO_PRINT } : place
    this.#place = this.#afterLoss
    return this.#place
  }

  /** The newest file of the log. One with a date in its name may be gone for good: then the log continues in a newer one. */
  async #newest(signal: AbortSignal | undefined): Promise<string> {
    const { context, view } = this.#request
    const { file } = view
    if (!isRotatedName(file)) return file
    const family = await listFamily({ ...context, budget: budgetOf(context, signal) }, file)
    const newest = family.members[lastFor(family, file)]
    return newest ? nameIn(family, newest, file) : file
  }
}

/** Whether everything is sent as it is in the file. */
function isRaw({ frame, view }: FollowRequest): boolean {
  return !frame.events && !frame.json && !frame.parts && view.selection.isAll
}
