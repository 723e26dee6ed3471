import { LogError } from '../error.ts'
import { Merge, type MergedRecord, type MergeRequest } from './merge.ts'
import type { Missing, Source } from './source.ts'

/** How much of the timeline is read at a time. */
const PAGE = { size: 2 * 1024 * 1024, lines: null }
/** How often, and after how many milliseconds each time, an export asks for memory that other answers hold. */
const TRIES = 50
const WAIT = 100

/**
 * The whole timeline of several logs, oldest record first. The logs stay open from page to page, so each of them is read
 * once, to where it ended when it was opened.
 */
export class MergedExport {
  readonly #merge: Merge
  readonly #signal: AbortSignal | undefined
  /** How many logs could not be read at the beginning; if they become more, the export would have a hole. */
  #missing = 0

  constructor(
    sources: readonly Source[],
    request: Omit<MergeRequest, 'cursor' | 'first' | 'fit'>,
    signal?: AbortSignal,
  ) {
    const all = { ...request, cursor: null, first: true, fit: PAGE }
    this.#merge = new Merge(sources, all, { signal, all: true })
    this.#signal = signal
  }

  /** Reads the first page. */
  async open(): Promise<readonly MergedRecord[]> {
    const records = await this.#fill()
    this.#missing = this.#merge.failed.size
    return records
  }

  /** The next page, when the one before it is written; null after the last. It throws rather than end early. */
  async next(): Promise<readonly MergedRecord[] | null> {
    if (!this.#merge.isComplete) {
      this.#merge.begin()
      const records = await this.#fill()
      if (this.#merge.failed.size > this.#missing) throw endsEarly()
      if (records.length > 0) return records
    }
    if (this.notes.includes('archive-cut'))
      throw new LogError('bad-archive', 'The compressed file is damaged, or not complete.')
    return null
  }

  get notes() {
    return this.#merge.notes
  }

  /** The logs that are not in it. */
  get missing(): Missing[] {
    return [...this.#merge.failed].map(([{ source }, error]) => ({ name: source.name, error }))
  }

  release(): void {
    this.#merge.release()
  }

  /** Without a budget, only a lack of memory ends a page without a record: others may release some. */
  async #fill(): Promise<readonly MergedRecord[]> {
    for (let tries = 0; ; tries++) {
      await this.#merge.fill()
      if (this.#merge.records.length > 0 || this.#merge.isComplete) return this.#merge.records
      if (tries >= TRIES) throw endsEarly()
      await new Promise((resolve) => setTimeout(resolve, WAIT))
      this.#signal?.throwIfAborted()
      this.#merge.begin()
    }
  }
}

function endsEarly(): LogError {
  return new LogError('too-busy', 'A log could not be read to its end; export again.')
}
