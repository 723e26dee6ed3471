import { BudgetError } from '../../limits/budget.ts'
import { StoreError } from '../../store/store.ts'
import { LogError } from '../error.ts'
import type { LogFiles } from '../files/files.ts'
import type { Series } from '../text/series.ts'

/** How often a log is opened again. */
const RETRIES = 2

/**
 * Runs work on a log, again if a file was renamed or removed between the list and the read. If the budget runs out
 * before there is a partial result, the error says so.
 */
export async function withRetries<T>(
  { files, file, signal }: { files: LogFiles; file: string; signal: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof BudgetError) throw tooMuchArchive(file, error)
      if (tries >= RETRIES || !(await mayPass(error, files, file, signal))) throw error
    }
  }
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
