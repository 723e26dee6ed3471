import type { Clock } from '../../limits/clock.ts'
import { isTurnOver, yieldToEventLoop } from '../../limits/yield.ts'
import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { eventOf, HELLO, renderBeat } from '../follow/frame.ts'
import type { FollowLimits } from '../follow/hub.ts'
import { encodeMerged, type MergedCursor } from './cursor.ts'
import { type MergedPage, type MergeRequest, mergePage } from './merge.ts'
import { type MergedWriter, Output, writeAll } from './render.ts'
import type { Missing, Source } from './source.ts'

/** What is followed, and how it is sent. */
export interface MergedFollow {
  /** The logs, as they are now: those that a pattern matches may become more. */
  sources(): Promise<readonly Source[]>
  request: Omit<MergeRequest, 'cost' | 'live'>
  writer: MergedWriter
  /** Whether each record is an event, whose id is a cursor. */
  events: boolean
  /** Says before anything is sent which logs cannot be merged. */
  tell?(missing: readonly Missing[]): void
}

/** How much is sent at once. */
const BATCH = { size: 1024 * 1024, lines: 4000 }
/** How long the names of logs are valid. */
const NAMES_MS = 2000
/** Each log is asked at every poll, so many of them are asked less often. */
const POLL_MS_EACH = 50
const LONGEST_PAUSE = 30_000
/** How long a place that is not found is looked for again: files are moved, copied and compressed one after the other. */
const LOST_MS = 5000
/** Bytes of text, and of events, that are sent at once. */
const SLICE = 256 * 1024
const EVENTS = 64 * 1024
const decoder = new TextDecoder()
const encoder = new TextEncoder()

/**
 * The newest records of several logs, and then what is appended to them, merged as it arrives. What it yields first is
 * there as soon as the logs have been read once, and may be empty: an answer can begin before anything is appended.
 */
export async function* followMerged(
  { sources, request, writer, events, tell }: MergedFollow,
  limits: FollowLimits,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { clock } = limits
  const out = new Output()
  let known = await sources()
  let namedAt = clock.elapsed()
  const fit = request.cursor ? BATCH : request.fit
  const live = { ...request, live: true, waits: true, cost: writer.cost }
  const opening = await mergePage(known, { ...live, fit }, signal)
  tell?.(opening.missing)
  try {
    yield events ? HELLO : new Uint8Array()
    for await (const { bytes } of written(opening, known)) yield bytes
  } finally {
    // A client may leave before anything of it is written.
    opening.release()
  }
  let cursor = opening.next
  let lostAt = opening.lost.length > 0 ? clock.elapsed() : null
  let pause = limits.poll[0]
  let failures = 0
  let beatAt = clock.elapsed()
  const woken = waker(clock, signal)
  try {
    while (!signal.aborted) {
      woken.watch(known)
      await woken.wait(Math.max(pause, POLL_MS_EACH * known.length))
      if (signal.aborted) return
      try {
        if (clock.elapsed() - namedAt > NAMES_MS) {
          known = await sources()
          namedAt = clock.elapsed()
        }
        const after = { place: cursor, direction: 'after' as const }
        const waits: boolean = lostAt === null || clock.elapsed() - lostAt < LOST_MS
        const asked = { ...live, cursor: after, fit: BATCH, waits }
        const page: MergedPage = await mergePage(known, asked, signal)
        // Where a failure ends the page, the next one continues after what was sent of this one.
        for await (const { bytes, place } of written(page, known)) {
          yield bytes
          if (place) cursor = place
        }
        cursor = page.next
        if (!waits && events) for (const { name } of page.lost) yield gapOf(name, cursor)
        lostAt = page.lost.length > 0 && waits ? (lostAt ?? clock.elapsed()) : null
        failures = 0
        if (page.lost.length > 0) pause = limits.poll[0]
        else if (page.records.length > 0) pause = page.complete ? limits.poll[0] : 0
        else pause = Math.min(limits.poll[1], Math.ceil(Math.max(pause, limits.poll[0]) * 1.5))
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof StoreError || error instanceof LogError)) throw error
        // The storage may answer again later, and nothing is lost until then.
        pause = Math.min(LONGEST_PAUSE, 500 * 2 ** failures++)
      }
      if (events && clock.elapsed() - beatAt >= limits.heartbeat) {
        beatAt = clock.elapsed()
        yield renderBeat(encodeMerged(cursor, known))
      }
    }
  } finally {
    woken.end()
  }

  function gapOf(file: string, place: MergedCursor): Uint8Array {
    return encoder.encode(eventOf('gap', encodeMerged(place, known), JSON.stringify({ file })))
  }

  /** A page as it is sent, in parts; of events, with the place after them, which is valid until the next part. */
  async function* written(
    page: MergedPage,
    of: readonly Source[],
  ): AsyncGenerator<{ bytes: Uint8Array; place?: MergedCursor }> {
    try {
      if (events) return yield* eventsOf(page, of)
      for (const record of page.records) {
        writeAll(record, writer, out)
        if (out.length >= SLICE) yield { bytes: out.take() }
      }
      if (out.length > 0) yield { bytes: out.take() }
    } finally {
      page.release()
    }
  }

  /** Many events are sent together: each write takes a turn of the event loop, and so would each event. */
  async function* eventsOf(page: MergedPage, of: readonly Source[]) {
    let text = ''
    let sent = 0
    let last: MergedCursor | null = null
    const part = () => ({ bytes: encoder.encode(text), place: last! })
    try {
      for await (const place of page.places()) {
        writeAll(page.records[sent++]!, writer, out)
        text += eventOf('', encodeMerged(place, of), decoder.decode(out.take()))
        last = place
        if (text.length < EVENTS && !isTurnOver()) continue
        yield part()
        text = ''
        if (isTurnOver()) await yieldToEventLoop()
      }
    } catch (error) {
      // What was written before a failure is sent.
      if (text !== '') yield part()
      throw error
    }
    if (text !== '') yield part()
  }
}

/** How long lines that arrive together are gathered: a writer often writes several. */
const GATHER_MS = 20

/** Waits for a change of one of the logs, or some time. */
function waker(clock: Clock, signal: AbortSignal) {
  const watched = new Map<string, () => void>()
  let wake = () => {}
  let isChanged = false
  const changed = () => {
    isChanged = true
    wake()
  }
  signal.addEventListener('abort', changed)
  return {
    watch(sources: readonly Source[]): void {
      for (const { name, file, context } of sources)
        if (!watched.has(name)) watched.set(name, context.files.watch(file, changed) ?? (() => {}))
    },
    async wait(ms: number): Promise<void> {
      if (!isChanged && !signal.aborted)
        await new Promise<void>((resolve) => {
          const cancel = clock.after(ms, resolve)
          wake = () => {
            cancel()
            wake = () => {}
            clock.after(GATHER_MS, resolve)
          }
        })
      wake = () => {}
      isChanged = false
    },
    end(): void {
      signal.removeEventListener('abort', changed)
      for (const stop of watched.values()) stop()
    },
  }
}
