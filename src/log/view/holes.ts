import type { Missing, MissingBytes } from '../../store/store.ts'
import { type Cursor, isStartPlace, NO_PRINT } from '../text/cursor.ts'
import { gone, type LogRequest, type OpenLog } from '../text/open.ts'
import { Series } from '../text/series.ts'
import type { Text } from '../text/text.ts'
import type { HoleNote, Note, View } from './answer.ts'

/**
 * A log of which bytes may be missing. A hole ends an answer like the start of a log: what is newer is returned with a
 * note, and the previous page continues before the hole.
 */
export class CutLog {
  open: OpenLog
  readonly #request: LogRequest
  /** What is below the log's beginning, and above its end. */
  #below: Missing | null = null
  #skipped = false
  /** The files between the holes that were cut, oldest first. */
  readonly #older: Text[][] = []
  /** Whether the log itself begins with a hole. */
  beginsLate = false

  constructor(log: OpenLog, request: LogRequest) {
    this.open = log
    this.#request = request
  }

  get hole(): HoleNote | null {
    return this.#below && (this.#below.head ? 'begins-late' : 'gap')
  }

  /** What is there before and between the holes that were cut, oldest first. */
  older(): Promise<OpenLog[]> {
    return Promise.all(
      this.#older.map(async (parts) => ({ ...this.open, series: await Series.open(parts), at: null })),
    )
  }

  /** Cuts the log at a hole. */
  async cut(error: MissingBytes): Promise<void> {
    const { key, missing } = error
    const { series } = this.open
    const index = series.parts.findLastIndex(({ name }) => name === key)
    const part = series.parts[index]
    if (!part) throw error
    const base = (await series.addresses.base(index)) - (part.begin ?? 0)
    const from = base + missing.from
    const to = base + missing.to
    const { cursor } = this.#request
    const at = this.open.at ?? (cursor ? null : series.end)
    if (at !== null && at < to && missing.head && cursor && !isStartPlace(cursor.place)) throw gone()
    if (cursor?.direction === 'after' && at !== null && at < from) {
      // What still needs bytes from there on cannot do without them.
      if (this.open.end !== undefined && from >= this.open.end) throw error
      // Forward, the answer ends where the hole begins.
      this.open = { ...this.open, end: Math.min(this.open.end ?? from, from) }
      return
    }
    if (cursor?.direction === 'after' && at !== null && at < to) {
      this.#skipped = true
      this.open = { ...this.open, at: to }
      return
    }
    if (cursor?.direction !== 'after' && at !== null && at > from && at <= to && !missing.head) {
      // Backward from inside the hole, or from its end.
      this.#skipped = true
      this.open = { ...this.open, at: from }
      return
    }
    if (cursor?.direction === 'before' && at !== null && at <= from) return this.#endAt(index, missing.from)
    await this.#beginAt(index, missing, to)
  }

  /** Leaves out a hole above the requested range. */
  async #endAt(index: number, end: number): Promise<void> {
    const { parts } = this.open.series
    const part = parts[index]!
    const window = textWindow(part, part.begin ?? 0, end)
    this.open = { ...this.open, series: await Series.open([...parts.slice(0, index), window]) }
  }

  /** Leaves out everything before the end of a hole. */
  async #beginAt(index: number, missing: Missing, to: number): Promise<void> {
    const { series, at, end, certain } = this.open
    const part = series.parts[index]!
    const rest = textWindow(part, missing.to, (part.begin ?? 0) + part.entry.size)
    const newer = series.parts.slice(index + 1)
    const cut = await Series.open([rest, ...newer])
    // Addresses count from the start of the last file: they move only when that one is cut.
    const shift = newer.length === 0 ? to : 0
    const before = [...series.parts.slice(0, index), textWindow(part, part.begin ?? 0, missing.from)]
    if (missing.head) this.beginsLate = true
    else this.#older.push(before)
    this.#below = missing
    this.open = {
      series: cut,
      at: at === null ? null : at - shift,
      ...(certain !== undefined && { certain }),
      ...(end !== undefined && { end: end - shift }),
    }
  }

  /** The answer with the notes on its holes, and where it continues. */
  finish(view: View): View {
    const forward = this.#request.cursor?.direction === 'after'
    const notes = new Set<Note>(view.notes)
    let { prev } = view
    if (this.#skipped || (forward && this.open.end !== undefined && view.to >= this.open.end))
      notes.add('gap')
    if (this.#below && !forward && prev === null && view.series.addresses.isStart(view.bottom)) {
      notes.add(this.#below.head ? 'begins-late' : 'gap')
      if (!this.#below.head) prev = this.#beforeHole(view, this.#below)
    }
    return { ...view, prev, notes: [...notes] }
  }

  /** A cursor before a hole: the oldest part of the cut log is the file with the hole. */
  #beforeHole({ series }: View, { from }: Missing): Cursor {
    const part = series.parts[0]!
    const print = part.known(0) ?? NO_PRINT
    return { name: part.name, id: part.entry.id ?? null, offset: from, print }
  }
}

/** What each window shows a part of. */
const sources = new WeakMap<Text, Text>()

/**
 * A part of a file, as if there were nothing before or after it. Its cursors still point into the file. `begin` and `end`
 * count from the start of the file, of which `text` may be a window already.
 */
function textWindow(text: Text, begin: number, end: number): Text {
  const source = sources.get(text) ?? text
  const size = end - begin
  const read: Text['read'] = (from, to) => source.read(from + begin, to + begin)
  const window: Text = {
    name: text.name,
    entry: { ...text.entry, size },
    compressed: false,
    begin,
    size: async () => size,
    reaches: async (least) => size >= least,
    read,
    ensure: async (from, to) => source.ensure?.(from + begin, to + begin),
    head: (length) => read(0, Math.min(length, size)),
    known: (offset) => source.known(offset + begin),
  }
  sources.set(window, source)
  return window
}
