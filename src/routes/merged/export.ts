import { attachment } from '../../http/range.ts'
import { bytesResponse } from '../../http/sliced.ts'
import { LogError } from '../../log/error.ts'
import { type MergedPage, type MergeRequest, mergePage } from '../../log/merge/merge.ts'
import { type MergedWriter, mergedSlices, ndjsonWriter, textWriter } from '../../log/merge/render.ts'
import { IN_SLOT, type Source } from '../../log/merge/source.ts'
import type { ViewRequest } from '../../log/view/request.ts'
import { SlicedStream, type Slices } from '../../store/fast.ts'
import type { Query } from '../parameters/read.ts'
import { recordOptions } from '../parameters/view-request.ts'
import { refuseExcluded } from '../view/export.ts'
import { type MergedRoute, sourceHeaders } from './route.ts'

/** How much of the timeline is read at a time. */
const PAGE = { size: 4 * 1024 * 1024, lines: null }

/** `download=true` of several logs: the filtered timeline as a file, oldest record first, to the end of the logs. */
export async function exportLogs(
  request: Request,
  query: Query,
  route: MergedRoute,
  { asked, headers }: { asked: ViewRequest; headers: Record<string, string> },
): Promise<Response> {
  refuseExcluded(query)
  const { sources, ...rest } = await route.pick(query, request.signal)
  const writer = asked.records ? ndjsonWriter(recordOptions(query)) : textWriter()
  const all = {
    ...headers,
    'Content-Disposition': attachment(`timeline.${asked.records ? 'ndjson' : 'txt'}`),
    'X-Accel-Buffering': 'no',
  }
  const wanted = { ...asked, cursor: null, first: true, fit: PAGE, cost: writer.cost }
  const leave = await sources[0]!.context.scans.enter(request.signal, 'long')
  request.signal.addEventListener('abort', leave, { once: true })
  const unlimited = sources.map(inSlot)
  const first = await mergePage(unlimited, wanted, request.signal).catch((error) => {
    leave()
    throw error
  })
  const missing = [...rest.missing, ...first.missing]
  const told: Record<string, string> = { ...all, ...sourceHeaders({ ...rest, missing }) }
  if (first.notes.length > 0) told['X-Nodestate-Note'] = first.notes.join(', ')
  if (request.method === 'HEAD') {
    first.release()
    leave()
    return new Response(null, { headers: told })
  }
  const slices = new ExportSlices(first, unlimited, { wanted, writer, signal: request.signal, leave })
  return bytesResponse(new SlicedStream(slices), told)
}

/** An export has no budget of bytes and time, and a slot of its own for all of its pages. */
function inSlot(source: Source): Source {
  const { archives: _, ...context } = source.context
  const limits = {
    ...context.limits,
    scanBytes: Number.MAX_SAFE_INTEGER,
    scanMillis: Number.MAX_SAFE_INTEGER,
  }
  return { ...source, context: { ...context, limits, scans: IN_SLOT } }
}

interface Job {
  wanted: Omit<MergeRequest, 'cursor'>
  writer: MergedWriter
  signal: AbortSignal
  /** Releases the slot. */
  leave: () => void
}

/** One page after the other. */
class ExportSlices implements Slices {
  readonly #sources: readonly Source[]
  readonly #job: Job
  /** How many logs cannot be read; if they become more, the export would have a hole. */
  readonly #missing: number
  #page: MergedPage
  #slices: Slices

  constructor(page: MergedPage, sources: readonly Source[], job: Job) {
    this.#page = page
    this.#sources = sources
    this.#job = job
    this.#missing = page.missing.length
    this.#slices = mergedSlices(page.records, job.writer, page.release)
  }

  async next(): Promise<Uint8Array | null> {
    try {
      const slice = await this.#next()
      if (slice === null) this.#job.leave()
      return slice
    } catch (error) {
      this.#job.leave()
      throw error
    }
  }

  async #next(): Promise<Uint8Array | null> {
    for (;;) {
      const slice = await this.#slices.next()
      if (slice !== null || this.#page.complete) return slice
      const { wanted, writer, signal } = this.#job
      const cursor = { place: this.#page.next, direction: 'after' as const }
      this.#page = await mergePage(this.#sources, { ...wanted, cursor }, signal)
      this.#slices = mergedSlices(this.#page.records, writer, this.#page.release)
      // Without a budget, only a lack of memory ends a page without a record.
      const isStuck = this.#page.records.length === 0 && !this.#page.complete
      if (isStuck || this.#page.missing.length > this.#missing)
        throw new LogError('too-busy', 'A log could not be read to its end; export again.')
    }
  }

  release(): void {}

  cancel(): void {
    this.#job.leave()
    this.#slices.cancel()
  }
}
