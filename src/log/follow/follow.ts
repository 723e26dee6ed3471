import { Budget } from '../../limits/budget.ts'
import type { Lease } from '../../limits/memory-budget.ts'
import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { lastFor, placeIn } from '../files/family.ts'
import { relaxedFiles } from '../files/files.ts'
import { isRotatedName } from '../files/names.ts'
import { PLAIN } from '../format/detect.ts'
import type { Filter } from '../search/filter.ts'
import { scanForth } from '../search/scan-forth.ts'
import { type Cursor, fingerprint } from '../text/cursor.ts'
import { openAnyLog } from '../text/joined.ts'
import { listFamily, type Opener, type OpenLog } from '../text/open.ts'
import type { Series } from '../text/series.ts'
import { holds } from '../text/text.ts'
import {
  budgetOf,
  checkFormat,
  formatOf,
  type View,
  type ViewContext,
  type ViewRequest,
  viewOf,
} from '../view/view.ts'
import type { Channel } from './channel.ts'
import { concat, type Frame, renderBeat, renderChange, renderRecords } from './frame.ts'
import { type Followed, type FollowLimits, Hub, type Joined } from './hub.ts'

/** What is followed, and how it is sent. */
export interface FollowRequest {
  view: ViewRequest
  frame: Frame
  /** Identifies the filters, so that followers with the same filters share the work. */
  key: string
  /** Where the client was; takes precedence over the requested tail. */
  last: Cursor | null
}

const LOOK_AGE = 2000

/** All followers of all logs of a service. */
export class Followers {
  readonly #context: ViewContext
  readonly #limits: FollowLimits
  readonly #hubs = new Map<string, Promise<Hub>>()
  readonly #count: { following: number }

  /** `count` is shared by several of these that have a common limit. */
  constructor(context: ViewContext, limits: FollowLimits, count = { following: 0 }) {
    // One check of a shipped log every two seconds serves all its followers.
    this.#context = { ...context, files: relaxedFiles(context.files, LOOK_AGE) }
    this.#limits = limits
    this.#count = count
  }

  /** The stream of a log: its tail, and then whatever is appended. Errors come before it starts. */
  async follow(request: FollowRequest, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    if (this.#count.following >= this.#limits.followers)
      throw new LogError('too-busy', 'Too many clients follow logs already; try again later.')
    this.#count.following++
    let left = false
    const leave = () => {
      if (!left) this.#count.following--
      left = true
    }
    try {
      const stream = await this.#start(request, signal)
      return stream(leave)
    } catch (error) {
      leave()
      throw error
    }
  }

  /** Between a rotation and the first line after it there may be no file: a client that reconnects then waits. */
  async #start(request: FollowRequest, signal?: AbortSignal): Promise<Started> {
    const { file } = request.view
    const opener = { ...this.#context, budget: new Budget({ signal }) }
    for (let tries = 0; ; tries++) {
      try {
        const alone = request.last === null && (await isOutdated(opener, file))
        const hub = await this.#hubOf({ file, alone })
        return await startFollower(this.#context, this.#limits, hub, { ...request, signal })
      } catch (error) {
        if (!isMoving(error) || tries >= 20 || signal?.aborted) throw error
        if ((await listFamily(opener, file)).members.length === 0) throw error
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }

  async #hubOf(log: Followed): Promise<Hub> {
    if (!this.#limits.shared) return Hub.open(this.#context, this.#limits, log, () => {})
    const key = `${log.alone ? 'alone' : 'log'} ${log.file}`
    const known = this.#hubs.get(key)
    const hub = known && (await known.catch(() => null))
    if (hub?.keep()) return hub
    const made = this.#hubs.get(key)
    if (made && made !== known) return this.#hubOf(log)
    const forget = () => {
      if (this.#hubs.get(key) === opening) this.#hubs.delete(key)
    }
    const opening = Hub.open(this.#context, this.#limits, log, forget)
    this.#hubs.set(key, opening)
    opening.catch(forget)
    return opening
  }
}

/** A file written this recently may have been the newest when the client chose it. */
const JUST_NOW = 60_000

/** Whether the log moved on to a newer file some time ago. Such a file is followed by itself. */
async function isOutdated(opener: Opener, file: string): Promise<boolean> {
  if (!isRotatedName(file) || (await opener.files.joined?.(file))) return false
  const family = await listFamily(opener, file)
  const own = placeIn(family, file)
  if (own < 0) return true
  return own < lastFor(family, file) && opener.budget.now() - family.members[own]!.modified > JUST_NOW
}

/** A part of a log that is sent unchanged, and the place where it continues. */
interface Tail {
  series: Series
  at: number
  to: number
  place: Cursor
}

/** How much a follower that reads the log itself takes at once. */
const PAGE = 256 * 1024

type Started = (leave: () => void) => ReadableStream<Uint8Array>

async function startFollower(
  context: ViewContext,
  limits: FollowLimits,
  hub: Hub,
  request: FollowRequest & { signal: AbortSignal | undefined },
): Promise<Started> {
  const { view: asked, frame, key, signal } = request
  const raw =
    !frame.events &&
    !frame.json &&
    asked.level === null &&
    !asked.matcher &&
    asked.since === null &&
    asked.until === null
  const filter = raw ? plainFilter(context) : await liveFilter(context, asked, signal)
  const joined = await hub.join(key, frame, filter, raw)
  const { channel } = joined
  const follower = new Follower(context, hub, joined, { ...request, filter, raw })
  try {
    await follower.begin(signal)
  } catch (error) {
    hub.leave(key, channel)
    throw error
  }
  return (leave) =>
    follower.stream(limits, signal, () => {
      hub.leave(key, channel)
      leave()
    })
}

/** One client: the tail, then batches of its channel, and its own reads whenever it is too late for those. */
class Follower {
  readonly #context: ViewContext
  readonly #hub: Hub
  readonly #channel: Channel
  readonly #request: FollowRequest
  readonly #filter: Filter
  readonly #raw: boolean
  /** What is sent before anything else. */
  readonly #first: Uint8Array[] = []
  /** The memory that it holds. */
  #memory: Lease | null = null
  /** The tail, if it is too large to be held in memory. */
  #tail: Tail | null = null
  /** Everything before it was sent; null while the channel's batches follow without a gap. */
  #place: Cursor | null = null
  /** The place after the last batch taken, and the number of the next. */
  #given: Cursor
  #number: number
  #beats: number
  /** Ends reads for this client when it disconnects. */
  readonly #left = new AbortController()
  #ended = false
  #wake: (() => void) | null = null

  constructor(
    context: ViewContext,
    hub: Hub,
    { channel, place, number }: Joined,
    request: FollowRequest & { filter: Filter; raw: boolean },
  ) {
    this.#context = context
    this.#hub = hub
    this.#channel = channel
    this.#given = place
    this.#number = number
    this.#request = request
    this.#filter = request.filter
    this.#raw = request.raw
    this.#beats = channel.beats
  }

  /** Selects the tail that ends where the channel continues. Requests that can't be answered throw here. */
  async begin(signal?: AbortSignal): Promise<void> {
    const { view: asked, frame, last } = this.#request
    if (frame.events) this.#first.push(renderBeat(null))
    if (last) {
      this.#place = last
      // Resolved now, so that a missing place is reported before the stream starts.
      try {
        const cursor = { place: last, direction: 'after' as const }
        const budget = budgetOf(this.#context, signal)
        await openAnyLog({ ...this.#context, budget }, { ...asked, cursor })
      } catch (error) {
        // Moved meanwhile: it is searched for again as soon as the stream runs.
        if (isMoving(error)) return
        if (!frame.events || !(error instanceof LogError && error.code === 'cursor-gone')) throw error
        this.#tellGap()
      }
      return
    }
    if (asked.fit.size === 0 || asked.fit.lines === 0) return
    const cursor = { place: this.#given, direction: 'before' as const }
    const records = frame.events || frame.json
    const view = await viewOf(this.#context, { ...asked, cursor, records, each: true }, signal)
    if (view.pieces === null) {
      const { series, from, to } = view
      this.#tail = { series, at: from, to, place: await series.cursor(from) }
    } else {
      this.#first.push(await this.#render(view))
      this.#memory = view.memory
    }
  }

  stream(
    limits: FollowLimits,
    signal: AbortSignal | undefined,
    leave: () => void,
  ): ReadableStream<Uint8Array> {
    let timer: ReturnType<typeof setTimeout> | null = null
    const end = () => {
      if (this.#ended) return
      this.#ended = true
      this.#left.abort()
      this.#memory?.release()
      if (timer !== null) clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      leave()
      this.#wake?.()
    }
    if (signal?.aborted) end()
    signal?.addEventListener('abort', end)
    if (limits.duration !== null) timer = setTimeout(end, limits.duration)
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const bytes = await this.#next()
            if (bytes) controller.enqueue(bytes)
            else controller.close()
          } catch (error) {
            end()
            controller.error(error)
          }
        },
        cancel: end,
      },
      { highWaterMark: 0 },
    )
  }

  /** What is sent next; null at the end. */
  async #next(): Promise<Uint8Array | null> {
    for (;;) {
      if (this.#ended) return null
      const first = this.#first.shift()
      if (!first) this.#memory?.release()
      if (first) {
        if (first.length > 0) return first
        continue
      }
      if (this.#tail) {
        const bytes = await this.#readTail(this.#tail)
        if (bytes.length > 0) return bytes
        continue
      }
      if (this.#place) {
        const bytes = await this.#catchUp(this.#place)
        if (bytes.length > 0) return bytes
        continue
      }
      const batch = this.#channel.batch(this.#number)
      if (batch === null) {
        this.#place = this.#given
        continue
      }
      if (batch) {
        this.#number++
        this.#given = batch.end
        if (batch.bytes.length > 0) return batch.bytes
        continue
      }
      if (this.#channel.failure) throw this.#channel.failure
      if (this.#beats !== this.#channel.beats) {
        this.#beats = this.#channel.beats
        return this.#channel.beat
      }
      await this.#change()
    }
  }

  async #change(): Promise<void> {
    await new Promise<void>((resolve) => {
      const forget = this.#channel.wait(resolve)
      this.#wake = () => {
        forget()
        resolve()
      }
    })
    this.#wake = null
  }

  async #readTail(tail: Tail): Promise<Uint8Array> {
    try {
      const bytes = await tail.series.read(tail.at, Math.min(tail.at + PAGE, tail.to))
      tail.at += bytes.length
      if (tail.at >= tail.to) this.#tail = null
      else tail.place = await tail.series.cursor(tail.at)
      return bytes
    } catch (error) {
      if (!isMoving(error)) throw error
      // The file was rotated: the rest of the tail is searched for like anything else that was missed.
      this.#tail = null
      this.#place = tail.place
      return new Uint8Array(0)
    }
  }

  /**
   * One page of what is between the place and the channel's. If there is nothing, the channel's next batch follows.
   * Files may be renamed, compressed or removed meanwhile: then they are read again.
   */
  async #catchUp(place: Cursor): Promise<Uint8Array> {
    for (let tries = 0; tries < 50 && !this.#ended; tries++) {
      try {
        const page = await this.#towards(this.#channel.place, this.#channel.next, place)
        if (page) return page
      } catch (error) {
        const gone = error instanceof LogError && error.code === 'cursor-gone'
        if (gone && !this.#request.frame.events) throw error
        // Reported once: until there is a file again, there is nothing more to report.
        if (gone && !isStart(place)) {
          this.#tellGap()
          return new Uint8Array(0)
        }
        if (!gone && !isMoving(error)) throw error
      }
      // The channel is not there yet, or the files just moved.
      this.#channel.flush()
      await this.#hub.sync()
      await new Promise((resolve) => setTimeout(resolve, 20 + tries * 10))
    }
    throw new LogError('cursor-gone', 'The place to follow from was not found again; start without it.')
  }

  /** The next page on the way to the channel's place, before batch `number`; null when it is not to be seen yet. */
  async #towards(goal: Cursor, number: number, place: Cursor): Promise<Uint8Array | null> {
    const { view: asked, frame } = this.#request
    const cursor = { place, direction: 'after' as const }
    const budget = new Budget({ bytes: 64 * PAGE, signal: this.#left.signal })
    const log = await openAnyLog({ ...this.#context, budget }, { ...asked, cursor })
    const { series } = log
    const at = log.at!
    const to = await addressOf(series, goal)
    if (to === null || to < at) return null
    if (to === at) {
      this.#place = null
      this.#given = goal
      this.#number = number
      return new Uint8Array(0)
    }
    const page = await this.#page(log, to, budget, place.inside)
    if (!frame.events) return page
    const found = series.parts[0]!.name
    if (found !== place.name)
      return concat([renderChange({ kind: 'rotated', file: place.name, to: found }, place), page])
    const now = this.#place ?? goal
    if (now.name === found || log.certain === undefined) return page
    // Where the order of the files is a guess, something may be missing between them.
    const change = { kind: 'rotated' as const, file: found, to: now.name }
    return concat([page, renderChange(log.certain ? change : { kind: 'gap', file: asked.file }, now)])
  }

  async #page(log: OpenLog, to: number, budget: Budget, inside: boolean): Promise<Uint8Array> {
    const { series } = log
    const at = log.at!
    if (this.#raw) {
      const end = Math.min(to, at + PAGE)
      const bytes = await series.read(at, end)
      this.#place = await series.cursor(end)
      return bytes
    }
    if (this.#filter.undecided) {
      this.#filter.format = await formatOf(series, true)
      this.#filter.undecided = this.#filter.format === PLAIN
    }
    const found = await scanForth({
      series,
      lo: at,
      hi: to,
      filter: this.#filter,
      fit: { size: PAGE, lines: null },
      countBy: 'lines',
      budget,
      reading: { chunk: PAGE },
      inside,
    })
    this.#place = await series.cursor(found.to, found.inside)
    return renderRecords(
      await placed(series, found.pieces, found.ends),
      this.#request.frame,
      this.#filter.format,
      this.#filter.zone,
    )
  }

  async #render(view: View): Promise<Uint8Array> {
    const records = await placed(view.series, view.pieces!, view.ends)
    return renderRecords(records, this.#request.frame, view.format, this.#context.zone)
  }

  /** What the client saw is gone. This reports it and continues at the beginning of what is there. */
  #tellGap(): void {
    const { file } = this.#request.view
    // A file with a date in its name may be gone for good: then the log continues in a newer one.
    const name = isRotatedName(file) ? this.#channel.place.name : file
    const start = { name, id: null, offset: 0, print: { offset: 0, length: 0, hash: 0 }, inside: false }
    this.#first.push(renderChange({ kind: 'gap', file }, start))
    this.#place = start
  }
}

/** Whether a read failed because files were moved, and may succeed when retried. */
function isMoving(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === 'changed'
  return error instanceof LogError && (error.code === 'unknown-file' || error.code === 'bad-archive')
}

/** Whether a place is the start of whatever is there. */
function isStart({ offset, print }: Cursor): boolean {
  return offset === 0 && print.length === 0
}

/** Records with the place after each. */
async function placed(series: Series, pieces: readonly Uint8Array[], ends: readonly number[]) {
  const records = []
  for (let i = 0; i < pieces.length; i++) {
    const bytes = pieces[i]!
    const { part, offset } = await series.before(ends[i]!)
    const inPart = Math.min(bytes.length, offset)
    const print = fingerprint(bytes, offset - bytes.length, bytes.length - inPart)
    records.push({ bytes, end: { name: part.name, id: part.entry.id ?? null, offset, print, inside: false } })
  }
  return records
}

/** The address of a place in a series, or null when it is in none of its files. */
async function addressOf(series: Series, place: Cursor): Promise<number | null> {
  for (let i = series.parts.length - 1; i >= 0; i--) {
    const part = series.parts[i]!
    const same =
      place.id !== null && part.entry.id !== undefined ? part.entry.id === place.id : part.name === place.name
    if (!same) continue
    if ((await part.reaches(place.offset)) && (await holds(part, place.print)))
      return (await series.base(i)) + place.offset
  }
  return null
}

/** The filter of a follow: times are checked for every record, because future records cannot be bisected. */
async function liveFilter(
  context: ViewContext,
  asked: ViewRequest,
  signal: AbortSignal | undefined,
): Promise<Filter> {
  // A new file is empty, or begins with the rest of a record: its predecessors show the format.
  const budget = budgetOf(context, signal)
  const log = await openAnyLog({ ...context, budget }, { ...asked, rotated: true, cursor: null })
  const format = await formatOf(log.series, true)
  const undecided = format === PLAIN && log.series.end === 0
  if (!undecided) checkFormat(format, asked)
  return {
    format,
    undecided,
    zone: context.zone,
    level: asked.level,
    levels: asked.levels,
    matcher: asked.matcher,
    since: asked.since === null ? null : { at: asked.since, below: Number.POSITIVE_INFINITY },
    until: asked.until === null ? null : { at: asked.until, from: Number.NEGATIVE_INFINITY },
  }
}

function plainFilter(context: ViewContext): Filter {
  return { format: PLAIN, zone: context.zone, level: null, matcher: null, since: null, until: null }
}
