import { StoreError } from '../store/store.ts'
import type { Cursor } from './cursor.ts'
import { LogError } from './error.ts'
import type { LogFiles } from './files.ts'
import { type ArchiveLimits, type LogRequest, type OpenLog, openLog } from './open.ts'
import type { Series } from './series.ts'
import { type Fit, firstThatFit, lastThatFit } from './span.ts'

/** What is asked of a log. */
export interface ViewRequest extends LogRequest {
  fit: Fit
}

/** What an answer holds, before it is rendered. */
export interface View {
  series: Series
  /** The text, from one address to another. */
  from: number
  to: number
  /** Where the page before begins; null when there is none. */
  prev: Cursor | null
  /** Where whatever comes after begins. */
  next: Cursor
}

/** Selects a part of a log. A file that is rotated or replaced meanwhile is looked for once more. */
export async function viewOf(
  files: LogFiles,
  request: ViewRequest,
  limits: ArchiveLimits,
  signal?: AbortSignal,
): Promise<View> {
  for (let tries = 0; ; tries++) {
    try {
      return await select(await openLog(files, request, limits, signal), request)
    } catch (error) {
      if (tries >= 2 || !(await mayPass(error, files, request.file, signal))) throw error
    }
  }
}

/** Whether it failed only because files were renamed or removed between the list and the read. */
async function mayPass(
  error: unknown,
  files: LogFiles,
  file: string,
  signal?: AbortSignal,
): Promise<boolean> {
  if (error instanceof StoreError) return error.code === 'changed'
  if (!(error instanceof LogError && error.code === 'unknown-file')) return false
  return files.stat(file, signal).then(
    () => true,
    () => false,
  )
}

async function select({ series, at }: OpenLog, request: ViewRequest): Promise<View> {
  const forward = request.cursor?.direction === 'after'
  const lo = forward ? at! : Number.NEGATIVE_INFINITY
  const hi = forward || at === null ? series.end : at
  const from = forward ? lo : await lastThatFit(series, lo, hi, request.fit)
  const to = forward ? await firstThatFit(series, lo, hi, request.fit) : hi
  return {
    series,
    from,
    to,
    prev: series.isStart(from) ? null : await series.cursor(from),
    next: await series.cursor(to),
  }
}
