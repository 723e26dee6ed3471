import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import { eventOf, HELLO, renderBeat } from '../follow/frame.ts'
import type { FollowLimits } from '../follow/hub.ts'
import { encodeMerged } from './cursor.ts'
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
const BATCH = { size: 1024 * 1024, lines: 1000 }
/** How long the names of logs are valid. */
const NAMES_MS = 2000
/** Each log is asked at every poll, so many of them are asked less often. */
const POLL_MS_EACH = 50
const LONGEST_PAUSE = 30_000
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
  const out = new Output()
  let known = await sources()
  let namedAt = Date.now()
  const fit = request.cursor ? BATCH : request.fit
  const opening = await mergePage(known, { ...request, fit, live: true, cost: writer.cost }, signal)
  tell?.(opening.missing)
  yield* written(opening, known, events ? HELLO : new Uint8Array())
  let cursor = opening.next
  let pause = limits.poll[0]
  let failures = 0
  let beatAt = Date.now()
  const woken = waker(signal)
  try {
    while (!signal.aborted) {
      woken.watch(known)
      await woken.wait(Math.max(pause, POLL_MS_EACH * known.length))
      if (signal.aborted) return
      try {
        if (Date.now() - namedAt > NAMES_MS) {
          known = await sources()
          namedAt = Date.now()
        }
        const after = { place: cursor, direction: 'after' as const }
        const asked = { ...request, cursor: after, fit: BATCH, live: true, cost: writer.cost }
        const page: MergedPage = await mergePage(known, asked, signal)
        yield* written(page, known)
        cursor = page.next
        failures = 0
        if (page.records.length > 0) pause = page.complete ? limits.poll[0] : 0
        else pause = Math.min(limits.poll[1], Math.ceil(Math.max(pause, limits.poll[0]) * 1.5))
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof StoreError || error instanceof LogError)) throw error
        // The storage may answer again later, and nothing is lost until then.
        pause = Math.min(LONGEST_PAUSE, 500 * 2 ** failures++)
      }
      if (events && Date.now() - beatAt >= limits.heartbeat) {
        beatAt = Date.now()
        yield renderBeat(encodeMerged(cursor, known))
      }
    }
  } finally {
    woken.end()
  }

  async function* written(
    page: MergedPage,
    of: readonly Source[],
    before?: Uint8Array,
  ): AsyncGenerator<Uint8Array> {
    try {
      if (before) yield before
      if (!events) {
        for (const record of page.records) writeAll(record, writer, out)
        if (out.length > 0) yield out.take()
        return
      }
      let at = 0
      for await (const place of page.places()) {
        writeAll(page.records[at++]!, writer, out)
        yield encoder.encode(eventOf('', encodeMerged(place, of), decoder.decode(out.take())))
      }
    } finally {
      page.release()
    }
  }
}

/** How long lines that arrive together are gathered: a writer often writes several. */
const GATHER_MS = 20

/** Waits for a change of one of the logs, or some time. */
function waker(signal: AbortSignal) {
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
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            setTimeout(resolve, GATHER_MS)
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
