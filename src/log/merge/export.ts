import { retryForMemory } from '../../kit/limits/memory-budget.ts'
import { LogError } from '../error.ts'
import { Merge, type MergeRequest } from './merge.ts'
import type { MergedRecords } from './places.ts'
import type { Missing, Source } from './source.ts'

/** How much of the timeline is read at a time. */
const PAGE_FIT = { size: 2 * 1024 * 1024, lines: null }

/** The whole timeline of several logs, oldest first. They stay open, so each is read once, to where it ended then. */
export class MergedExport extends Merge {
  constructor(
    sources: readonly Source[],
    request: Omit<MergeRequest, 'cursor' | 'first' | 'fit'>,
    signal?: AbortSignal,
  ) {
    super(sources, { ...request, cursor: null, first: true, fit: PAGE_FIT }, { signal, all: true })
  }

  get missing(): Missing[] {
    return [...this.failed].map(([{ source }, error]) => ({ name: source.name, error }))
  }

  open(): Promise<void> {
    return this.#read()
  }

  /** The pages of an open export; each is valid until the next. It throws rather than end early. */
  async *pages(): AsyncGenerator<MergedRecords> {
    const missing = this.failed.size
    yield this.records
    while (!this.isComplete) {
      await this.#read()
      if (this.failed.size > missing) throw endsEarly()
      if (this.records.length === 0) break
      yield this.records
    }
    if (this.notes.includes('archive-cut'))
      throw new LogError('bad-archive', 'The compressed file is damaged, or not complete.')
  }

  /** Without a budget, only a lack of memory ends a page without a record: others may release some. */
  async #read(): Promise<void> {
    const isRead = await retryForMemory(this.clock, async () => {
      this.signal?.throwIfAborted()
      this.begin()
      await this.fill()
      return this.records.length > 0 || this.isComplete
    })
    if (!isRead) throw endsEarly()
  }
}

function endsEarly(): LogError {
  return new LogError('too-busy', 'A log could not be read to its end; export again.')
}
