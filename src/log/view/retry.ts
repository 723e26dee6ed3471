import { BudgetError } from '../../limits/budget.ts'
import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import type { LogFiles } from '../files/files.ts'
import type { Series } from '../text/series.ts'

/** How often a log is opened again. */
const RETRIES = 2

/**
 * Throws an error unless another attempt may succeed, because files were renamed or removed between the list and the
 * read. If the budget ran out before there was a partial result, the error says so.
 */
export async function throwUnlessMoved(
  error: unknown,
  retries: number,
  { files, file, signal }: { files: LogFiles; file: string; signal: AbortSignal | undefined },
): Promise<void> {
  if (error instanceof BudgetError) throw tooMuchArchive(file, error)
  if (retries >= RETRIES) throw error
  if (error instanceof StoreError && error.code === 'changed') return
  if (!(error instanceof LogError && error.code === 'unknown-file')) throw error
  await files.stat(file, signal).catch(() => {
    throw error
  })
}

/** The state of the files of a log: it changes with each of them. */
export function stateOf({ parts }: Series): string {
  return parts.map(({ entry }) => entry.etag).join()
}

/** The error when an archive cannot be read within the budget and there is no partial result. */
function tooMuchArchive(file: string, cause: BudgetError): LogError {
  return new LogError(
    'archive-budget',
    `The archives of this log take longer to read than one request may; download them from /api/v1/log/download?file=${encodeURIComponent(file)} instead.`,
    { cause },
  )
}
