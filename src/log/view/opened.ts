import type { Budget } from '../../limits/budget.ts'
import { MissingBytes } from '../../store/store.ts'
import { openPeriod } from '../open.ts'
import type { LogRequest, Prefetch } from '../text/open.ts'
import type { ViewContext } from './context.ts'
import { CutLog } from './holes.ts'
import type { ViewRequest } from './request.ts'
import { throwUnlessMoved } from './retry.ts'

export interface Opening {
  request: LogRequest & Pick<ViewRequest, 'selection'>
  /** A fresh budget for each attempt. */
  budgetOf(): Budget
  prefetch?: Prefetch | undefined
  /** Fails where bytes are missing. @default false */
  whole?: boolean | undefined
}

/** Works on an open log, and again after a rotation or when bytes of it turn out to be missing. */
export async function opened<T>(
  context: ViewContext,
  { request, budgetOf, prefetch, whole = false }: Opening,
  work: (log: CutLog, budget: Budget) => Promise<T>,
): Promise<T> {
  for (let retries = 0; ; ) {
    const budget = budgetOf()
    try {
      const log = await openPeriod({ ...context, budget }, request, prefetch)
      const cut = new CutLog(log, request)
      return await (whole ? work(cut, budget) : cutting(cut, () => work(cut, budget)))
    } catch (error) {
      const { signal } = budget
      await throwUnlessMoved(error, retries++, { files: context.files, file: request.file, signal })
    }
  }
}

/** Works on a log, and again without what turns out to be missing. */
export async function cutting<T>(log: CutLog, work: (log: CutLog) => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work(log)
    } catch (error) {
      if (!(error instanceof MissingBytes)) throw error
      await log.cut(error)
    }
  }
}
