import { type Missing, MissingBytes } from '../../store/store.ts'
import { gone, type LogRequest, type OpenLog } from '../rotated/open.ts'
import type { Cursor } from '../text/cursor.ts'
import { Series } from '../text/series.ts'
import { TextWindow } from '../text/window.ts'

/** The parts of an answer that matter for holes. */
export interface Selected {
  series: Series
  from: number
  to: number
  bottom: number
  pieces: Uint8Array[] | null
  prev: Cursor | null
  notes: string[]
}

/** Bytes are missing: between others, or from the beginning on. */
export type HoleNote = 'gap' | 'begins-late'

/** How many holes one answer looks past. */
const MOST = 16

/**
 * Selects from a log of which bytes may be missing. A hole ends an answer like the start of a log: what is newer is
 * returned with a note, and the previous page continues before the hole.
 */
export async function selectAround<V extends Selected>(
  log: OpenLog,
  request: LogRequest,
  select: (log: OpenLog) => Promise<V>,
): Promise<V> {
  const around = new Around(log, request)
  for (let holes = 0; ; holes++) {
    try {
      const view = await select(around.log)
      // Bytes that are read while they are sent must be known to exist before sending begins.
      if (view.pieces === null) await view.series.ensure(view.from, view.to)
      return { ...view, ...around.finish(view) }
    } catch (error) {
      if (!(error instanceof MissingBytes) || holes >= MOST) throw error
      await around.cut(error)
    }
  }
}

/** The same for answers without pages: the result, and whether a hole ended it. */
export async function untilHole<T>(
  log: OpenLog,
  request: LogRequest,
  run: (log: OpenLog) => Promise<T>,
): Promise<{ result: T; hole: HoleNote | null }> {
  const around = new Around(log, request)
  for (let holes = 0; ; holes++) {
    try {
      return { result: await run(around.log), hole: around.hole }
    } catch (error) {
      if (!(error instanceof MissingBytes) || holes >= MOST) throw error
      await around.cut(error)
    }
  }
}

/** A log, and what was cut off it. */
class Around {
  log: OpenLog
  readonly #request: LogRequest
  /** What is below the log's beginning, and above its end. */
  #below: Missing | null = null
  #skipped = false

  constructor(log: OpenLog, request: LogRequest) {
    this.log = log
    this.#request = request
  }

  get hole(): HoleNote | null {
    return this.#below && (this.#below.head ? 'begins-late' : 'gap')
  }

  async cut({ key, missing }: MissingBytes): Promise<void> {
    const { series } = this.log
    const index = series.parts.findLastIndex(({ name }) => name === key)
    const part = series.parts[index]
    if (!part) throw new MissingBytes(key, missing)
    const base = (await series.base(index)) - (part.begin ?? 0)
    const from = base + missing.from
    const to = base + missing.to
    const { cursor } = this.#request
    const at = this.log.at ?? (cursor ? null : series.end)
    if (at !== null && at < to && missing.head && cursor) throw gone()
    if (cursor?.direction === 'after' && at !== null && at < from) {
      // Forward, the answer ends where the hole begins.
      this.log = { ...this.log, end: Math.min(this.log.end ?? from, from) }
      return
    }
    if (cursor?.direction === 'after' && at !== null && at < to) {
      this.#skipped = true
      this.log = { ...this.log, at: to }
      return
    }
    if (at !== null && at > from && at <= to && !missing.head) {
      // Backward from inside the hole, or from its end.
      this.#skipped = true
      this.log = { ...this.log, at: from }
      return
    }
    if (cursor?.direction === 'before' && at !== null && at <= from) return this.#endAt(index, missing.from)
    await this.#beginAt(index, missing, to)
  }

  /** Leaves out a hole above the requested range. */
  async #endAt(index: number, end: number): Promise<void> {
    const { parts } = this.log.series
    const part = parts[index]!
    const window = new TextWindow(part, part.begin ?? 0, end)
    this.log = { ...this.log, series: await Series.open([...parts.slice(0, index), window]) }
  }

  /** Leaves out everything before the end of a hole. */
  async #beginAt(index: number, missing: Missing, to: number): Promise<void> {
    const { series, at, end } = this.log
    const part = series.parts[index]!
    const rest = new TextWindow(part, missing.to, (part.begin ?? 0) + part.entry.size)
    const newer = series.parts.slice(index + 1)
    const cut = await Series.open([rest, ...newer])
    // Addresses count from the start of the last file: they move only when that one is cut.
    const shift = newer.length === 0 ? to : 0
    this.#below = missing
    this.log = {
      series: cut,
      at: at === null ? null : at - shift,
      ...(end !== undefined && { end: end - shift }),
    }
  }

  /** The notes of the answer, and where it continues. */
  finish(view: Selected): Pick<Selected, 'prev' | 'notes'> {
    const { cursor } = this.#request
    const forward = cursor?.direction === 'after'
    const notes = new Set(view.notes)
    let { prev } = view
    if (this.#skipped || (forward && this.log.end !== undefined && view.to >= this.log.end)) notes.add('gap')
    if (this.#below && !forward && prev === null && view.series.isStart(view.bottom)) {
      notes.add(this.#below.head ? 'begins-late' : 'gap')
      if (!this.#below.head) prev = this.#beforeHole(view, this.#below)
    }
    if (crossesGap(view)) notes.add('gap')
    return { prev, notes: [...notes] }
  }

  /** A cursor before a hole: the oldest part of the cut log is the file with the hole. */
  #beforeHole({ series }: Selected, { from }: Missing): Cursor {
    const part = series.parts[0]!
    const print = part.known(0) ?? { offset: 0, length: 0, hash: 0 }
    return { name: part.name, id: part.entry.id ?? null, offset: from, print, inside: false }
  }
}

/** Whether an answer crosses the end of a file after which bytes were lost. */
function crossesGap({ series, from, to }: Selected): boolean {
  const { parts } = series
  let end = series.end
  for (let i = parts.length - 1; i >= 0; i--) {
    if (parts[i]!.entry.gap && from < end && to >= end) return true
    if (i === 0) return false
    // Files of a shipped log are not compressed, so where they start is known.
    end -= i === parts.length - 1 ? series.end : parts[i]!.entry.size
    if (end <= from) return false
  }
  return false
}
