import type { MergedCursor } from '../log/merge/cursor.ts'
import { type MergedPage, type MergedRecord, mergePage } from '../log/merge/merge.ts'
import { bySource, type Source } from '../log/merge/source.ts'
import { deadlineOf, isSilent, type LogFile, refuseLate, reportBroken, type Search } from './files.ts'
import { LokiError } from './logql/query.ts'
import type { Pipeline } from './pipeline.ts'

/** Times in ms: from `since` on, before `until`. */
export interface Period {
  since: number
  until: number
}

/** Which part of a group of files is read. */
interface Part extends Period {
  lines: number
  /** Bytes of records that may be read. */
  size: number
  /** Whether the first records are wanted rather than the last. */
  first: boolean
  cursor: MergedCursor | null
}

/** How many files are merged at once; of more, one group is read after the other. */
const GROUP = 32
const MAX_RECORDS = 100_000
/** Lines that are kept may be this part of the memory for answers. */
const SHARE_OF_LINES = 8

/** The records of files that a query wants, by their times; `make` is what becomes of a record. */
export class Timeline<T extends { time: number }> {
  readonly #groups: Source[][] = []
  readonly #pipeline: Pipeline
  readonly #search: Search
  readonly #make: (record: MergedRecord) => T
  readonly #deadline: number
  /** Bytes of records that may be read at once. */
  readonly #size: number
  /** The same where the lines are kept: as text and as JSON they take several times as much. */
  readonly #sizeOfLines: number

  constructor(
    files: readonly LogFile[],
    pipeline: Pipeline,
    search: Search,
    make: (record: MergedRecord) => T,
  ) {
    const sources = files.map(({ node, file, context }): Source => {
      const { matcher } = pipeline.filter({ node, file })
      const names = { name: `${node}/${file}`, log: file, files: [file] }
      return { ...names, node, file, context, rotated: false, matcher }
    })
    const sorted = sources.sort(bySource)
    for (let i = 0; i < sorted.length; i += GROUP) this.#groups.push(sorted.slice(i, i + GROUP))
    this.#pipeline = pipeline
    this.#search = search
    this.#make = make
    this.#deadline = deadlineOf(search.sources)
    const context = search.sources[0]?.context
    this.#size = context?.limits.answerBytes ?? 0
    this.#sizeOfLines = Math.min(
      this.#size,
      (context?.memory?.total ?? Number.POSITIVE_INFINITY) / SHARE_OF_LINES,
    )
  }

  /**
   * As many records as the limit says from the end of a period, or from its start, and all others up to the millisecond
   * of the last of them. Logs are not always in order: a second pass looks for records that were written later.
   */
  async nearest(period: Period, limit: number, first: boolean): Promise<T[]> {
    let { since, until } = period
    let found: T[] = []
    const take = (records: readonly T[]) => {
      // Of one file, what is read later is further away, and the order of equal times is that of the file.
      found = first ? [...found, ...records] : [...records, ...found]
      found.sort((a, b) => (first ? a.time - b.time : b.time - a.time))
      const last = found[limit - 1]
      // What is further away does not matter in the other files.
      if (last && first) until = Math.floor(last.time) + 1
      else if (last) since = Math.floor(last.time)
      found = found.filter(({ time }) => time >= since && time < until)
    }
    const rest: [group: Source[], cursor: MergedCursor][] = []
    const size = this.#sizeOfLines
    for (const group of this.#groups) {
      const part = { since, until, lines: limit, size, first, cursor: null }
      const { records, onward } = await this.#read(group, part)
      take(records)
      if (onward) rest.push([group, onward])
    }
    for (const [group, cursor] of rest)
      take(await this.#whole(group, { since, until, lines: MAX_RECORDS, size, first, cursor }))
    return found
  }

  async all(period: Period): Promise<T[]> {
    const found: T[] = []
    for (const group of this.#groups) {
      const lines = MAX_RECORDS - found.length
      const part = { ...period, lines, size: this.#size, first: true, cursor: null }
      found.push(...(await this.#whole(group, part)))
    }
    return found
  }

  async #whole(group: readonly Source[], part: Part): Promise<T[]> {
    const { records, onward } = await this.#read(group, part)
    if (onward) throw tooMuch()
    return records
  }

  /** The records of a part of some files; `onward` is where there may be more. */
  async #read(group: readonly Source[], part: Part): Promise<{ records: T[]; onward: MergedCursor | null }> {
    const page = await this.#page(group, part)
    if (!page) return { records: [], onward: null }
    const records = page.records.map(this.#make)
    const size = page.records.reduce((sum, { bytes }) => sum + bytes.length, 0)
    page.release()
    // A record that did not fit may have ended the page.
    const isFull = records.length >= part.lines || size > part.size / 2
    return { records, onward: isFull ? (part.first ? page.next : page.prev) : null }
  }

  /** A page of some files; null if there is none. Loki cannot mark an answer as partial, so less is an error. */
  async #page(sources: readonly Source[], part: Part): Promise<MergedPage | null> {
    refuseLate(this.#deadline)
    const { since, until, lines, size, first, cursor } = part
    if (since >= until) return null
    const { node, file } = sources[0]!
    try {
      const page = await mergePage(
        sources,
        {
          ...this.#pipeline.filter({ node: node!, file }),
          since,
          until,
          first,
          cursor: cursor && { place: cursor, direction: first ? 'after' : 'before' },
          fit: { size, lines },
          cost: ({ length }) => ({ size: length, lines: 1 }),
        },
        this.#search.signal,
      )
      const failure = page.missing.find(({ error }) => !isSilent(error))
      const isCut = page.notes.includes('scan-budget')
      if (failure || isCut) page.release()
      if (failure) throw failure.error
      if (isCut) throw tooMuch()
      reportBroken(this.#search, page.notes)
      return page
    } catch (error) {
      if (isSilent(error)) return null
      throw error
    }
  }
}

function tooMuch(): LokiError {
  return new LokiError(
    'The search took more than one request may; narrow the time range or the selector.',
    504,
  )
}
