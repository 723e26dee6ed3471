import { type Clock, every } from '../../kit/limits/clock.ts'
import { StoreError } from '../../store/store.ts'
import { lastStart } from '../format/lines.ts'
import type { Filter } from '../search/filter.ts'
import type { Cursor } from '../text/cursor.ts'
import type { ViewContext } from '../view/context.ts'
import type { Change, Followed } from './change.ts'
import { Channel, type Data, decideFormat } from './channel.ts'
import type { Frame } from './frame.ts'
import { Tracker } from './tracker.ts'

export interface FollowLimits {
  clock: Clock
  followers: number
  /** Milliseconds between two heartbeats. */
  heartbeat: number
  /** Milliseconds after which a follow ends, for runtimes that limit what a request may do; null for no end. */
  duration: number | null
  /** If the store does not report changes: the pause between two polls, in ms, from the shortest to the longest. */
  poll: readonly [number, number]
  /** Whether all followers of a log share its polling. */
  shared: boolean
}

/** A channel, and where it was when it was joined. */
export interface Subscription {
  channel: Channel
  place: Cursor
  /** The number of the batch after that place. */
  number: number
}

/** A hub without followers is kept for a moment, because clients reconnect. */
const LINGER_MS = 2000
/** After a rotation the new file is looked for at short intervals, for ten seconds: it may stay empty for a day. */
const SHORT_LOOK_MS = 200
const SHORT_LOOKS = 50
/** A record is sent this long after its last line arrived. */
const FLUSH_MS = 60

const MIB = 1024 * 1024
/** A longer record is not looked for: lines that continue it are judged alone. */
const MOST_LOOKED_BACK = 256 * 1024

/** What a channel begins with. */
interface Before {
  pending: Data | null
  last: Uint8Array | null
}

const NOTHING_BEFORE: Before = { pending: null, last: null }

type LogTracker = Pick<Tracker, 'place' | 'between' | 'before' | 'advance'>

async function openTracker(
  { files, limits, clock }: ViewContext,
  { file, alone, archived }: Followed,
): Promise<LogTracker> {
  const joined = await files.joined?.(file)
  const open = () => Tracker.open(files, file, { limits, alone, archived, clock })
  if (!joined) return open()
  const { JoinTracker } = await import('../joined/tracker.ts')
  return (await JoinTracker.open(joined, limits, clock)) ?? open()
}

/** One log, watched once for all its followers. */
export class Hub {
  readonly #tracker: LogTracker
  readonly #limits: FollowLimits
  readonly #channels = new Map<string, Channel>()
  readonly #closed: () => void
  #unwatch: (() => void) | null = null
  #timer: (() => void) | null = null
  #due = Number.POSITIVE_INFINITY
  #endBeat: (() => void) | null = null
  #linger: (() => void) | null = null
  #flushing: (() => void) | null = null
  #queue: Promise<unknown> = Promise.resolve()
  #pause: number
  /** How many more times a file that is awaited is looked for at short intervals. */
  #shortLooks = SHORT_LOOKS
  #failures = 0
  #joining = 0
  #open = true

  private constructor(limits: FollowLimits, tracker: LogTracker, closed: () => void) {
    this.#limits = limits
    this.#tracker = tracker
    this.#closed = closed
    this.#pause = limits.poll[0]
  }

  static async open(context: ViewContext, limits: FollowLimits, log: Followed, closed: () => void) {
    const tracker = await openTracker(context, log)
    const hub = new Hub(limits, tracker, closed)
    hub.#unwatch = context.files.watch(log.file, () => hub.#lookIn(hub.#batchPause()))
    hub.#endBeat = every(limits.clock, limits.heartbeat, () => {
      for (const channel of hub.#channels.values()) channel.heartbeat()
    })
    hub.#lookIn(hub.#pause)
    hub.#closeLater()
    return hub
  }

  /** Whether it can be joined. If so, it stays open long enough for that. */
  keep(): boolean {
    if (!this.#open) return false
    this.#closeLater()
    return true
  }

  /** Joins the channel that followers with the same request share, after a check for changes. */
  async join(key: string, frame: Frame, filter: Filter, raw: boolean): Promise<Subscription> {
    this.#joining++
    return this.#exclusively(async () => {
      // On a busy machine it may have closed while the client was on its way: the caller then opens another one.
      if (!this.#open) throw new StoreError('changed', 'Cannot join a hub that is closed')
      await this.#look()
      let channel = this.#channels.get(key)
      if (!channel) {
        const { pending, last } = raw ? NOTHING_BEFORE : await this.#before(filter)
        const { place } = this.#tracker
        const start = { ...place, offset: pending?.offset ?? place.offset }
        channel = new Channel(start, pending, { frame, filter, raw, last, clock: this.#clock })
        this.#channels.set(key, channel)
      }
      channel.followers++
      // Taken before anything else can happen: what comes next follows this place without a gap.
      return { channel, place: channel.place, number: channel.next }
    }).finally(() => {
      this.#joining--
      this.#closeLater()
    })
  }

  leave(key: string, channel: Channel): void {
    channel.followers--
    if (channel.followers > 0) return
    if (this.#channels.get(key) === channel) this.#channels.delete(key)
    this.#closeLater()
  }

  /** Checks for changes now. */
  async sync(): Promise<void> {
    await this.#exclusively(() => this.#look())
  }

  /**
   * What is before the place: the last line, if it is not complete, and where records are judged the last one, as far as
   * its lines are complete. Lines that follow belong to them.
   */
  async #before(filter: Filter): Promise<Before> {
    const { name, id, offset: end } = this.#tracker.place
    for (let length = 4096; length <= 4 * MIB; length *= 8) {
      const before = await this.#tracker.before(length)
      // To begin in the middle of a line would be to send half of it.
      if (before === null) throw new StoreError('changed', `"${name}" moved while it was read`)
      const cut = before.lastIndexOf(10) + 1
      const isAll = before.length >= end
      if (cut === 0 && !isAll) continue
      const from = isAll ? 0 : before.indexOf(10) + 1
      decideFormat(filter, before.subarray(from, cut), this.#clock)
      const isJudged = !filter.undecided && !filter.selection.isAll
      const start = isJudged ? lastStart(filter.format, before, from, cut) : -1
      if (isJudged && start < 0 && !isAll && length < MOST_LOOKED_BACK) continue
      const bytes = before.slice(cut)
      const pending =
        bytes.length === 0 ? null : ({ kind: 'data', name, id, offset: end - bytes.length, bytes } as const)
      return { pending, last: start < 0 ? null : before.slice(start, cut) }
    }
    return NOTHING_BEFORE
  }

  async #look(): Promise<void> {
    const { changes, more } = await this.#poll()
    this.#failures = 0
    for (const channel of this.#channels.values()) channel.startPoll()
    for (const change of changes) this.#forEach((channel) => void channel.feed(change))
    const active = changes.length > 0
    if (active) this.#shortLooks = SHORT_LOOKS
    this.#pause = active ? this.#limits.poll[0] : Math.min(this.#limits.poll[1], Math.ceil(this.#pause * 1.5))
    if (more) this.#lookIn(0)
    // Also what an earlier poll left, which failed before its end.
    else if ([...this.#channels.values()].some(({ isHolding }) => isHolding)) this.#flushHeld()
    const soon = this.#tracker.between && this.#shortLooks-- > 0
    this.#lookIn(soon ? Math.min(this.#pause, SHORT_LOOK_MS) : this.#pause)
  }

  /** What happened since the last poll. `more` says that there is more than one poll returns. */
  async #poll(): Promise<{ changes: Change[]; more: boolean }> {
    const changes: Change[] = []
    try {
      return { changes, more: await this.#tracker.advance(changes) }
    } catch (error) {
      // What was read is sent; if the failure persists, it shows again at the next poll.
      if (changes.length > 0) return { changes, more: true }
      throw error
    }
  }

  /** Sends the records that are held back, unless the next one starts soon. */
  #flushHeld(): void {
    this.#flushing ??= this.#clock.after(FLUSH_MS, () => {
      this.#flushing = null
      void this.#exclusively(async () => this.#forEach((channel) => channel.flush()))
    })
  }

  /** A channel that fails is closed and its followers are disconnected, so that they reconnect; the others continue. */
  #forEach(work: (channel: Channel) => void): void {
    for (const [key, channel] of this.#channels) {
      try {
        work(channel)
      } catch (error) {
        this.#channels.delete(key)
        channel.fail(error)
      }
    }
  }

  /** Many followers are served in larger batches: 1,000 of them take a tenth of a second for each. */
  #batchPause(): number {
    let followers = 0
    for (const channel of this.#channels.values()) followers += channel.followers
    return Math.min(100, 5 + followers / 8)
  }

  /** Polls again in this many milliseconds, or earlier if that was due. */
  #lookIn(ms: number): void {
    if (!this.#open) return
    const due = this.#clock.elapsed() + ms
    if (this.#timer !== null && this.#due <= due) return
    this.#timer?.()
    this.#due = due
    this.#timer = this.#clock.after(ms, () => {
      this.#timer = null
      void this.#exclusively(() => this.#look()).catch((error) => this.#failed(error))
    })
  }

  /** The storage failed: it may answer again later, and nothing is lost until then. */
  #failed(error: unknown): void {
    // A file that was moved meanwhile is found at the next poll.
    if (error instanceof StoreError && error.code === 'changed') {
      this.#lookIn(50)
      return
    }
    this.#failures++
    this.#lookIn(Math.min(30_000, 500 * 2 ** Math.min(6, this.#failures)))
  }

  get #clock(): Clock {
    return this.#limits.clock
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work)
    this.#queue = result.catch(() => {})
    return result
  }

  #closeLater(): void {
    this.#linger?.()
    this.#linger = this.#clock.after(LINGER_MS, () => {
      this.#linger = null
      if (this.#channels.size === 0 && this.#joining === 0) this.#close()
    })
  }

  #close(): void {
    this.#open = false
    this.#unwatch?.()
    this.#timer?.()
    this.#endBeat?.()
    this.#flushing?.()
    this.#closed()
  }
}
