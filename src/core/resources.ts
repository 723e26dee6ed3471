import { BoundedMap } from '../kit/limits/bounded-map.ts'
import { once } from '../kit/limits/once.ts'
import { narrowFiles } from '../log/files/narrow.ts'
import { isUnknownFile, noSuchFile } from '../log/files/nearest.ts'
import type { ViewContext } from '../log/view/context.ts'
import type { AnswerLogs, Logs, NodeSite } from './capability.ts'
import { notIncluded } from './not-included.ts'
import { viewLog } from './tail.ts'

/** How many sets of patterns are cached: about as many as an operator has tokens. */
const MOST_NARROWED = 100

/**
 * All logs, and the logs that match some patterns. They share their limits: a token that sees fewer files does not add
 * capacity to search or follow.
 */
export function logsOf(context: ViewContext, site: Pick<NodeSite, 'queries'>) {
  const make = (context: ViewContext): Logs => ({
    context,
    // Everything beyond the list and the plain tail is loaded on first use, so that a worker starts quickly.
    queries: once(async () => {
      if (site.queries === null) throw notIncluded('searching logs', 'search')
      return site.queries(context)
    }),
  })
  const all = make(context)
  const narrowed = new BoundedMap<string, Logs>(MOST_NARROWED)
  return (patterns: readonly string[] | null) => {
    if (patterns === null) return all
    const key = JSON.stringify(patterns)
    return narrowed.use(key, () => make({ ...context, files: narrowFiles(context.files, patterns) }))
  }
}

/**
 * An answer about one log, which may be named without the date that its files have, where a capability knows such names; a
 * misspelt name gets a hint.
 */
export function named(answer: AnswerLogs, site: Pick<NodeSite, 'newestDated'>): AnswerLogs {
  return async (request, query, logs, grant) => {
    try {
      return await answer(request, query, logs, grant)
    } catch (error) {
      if (!isUnknownFile(error) || query.files) throw error
      const { entries } = await logs.context.files.list(request.signal).catch(() => ({ entries: [] }))
      const file = (await site.newestDated?.(entries, query.file!)) ?? null
      if (file === null) throw noSuchFile(query.file!, entries)
      return answer(request, { ...query, file }, logs, grant)
    }
  }
}

/** `GET /api/v1/log/view`: the tail by bytes, or what a capability makes of the rest. */
export function viewOf(site: Pick<NodeSite, 'maxSize' | 'timeline'>): AnswerLogs {
  return (request, query, { context, queries }) => {
    if (query.files && site.timeline === null) throw notIncluded('several logs as one', 'timeline')
    return viewLog(request, query, {
      files: context.files,
      maxSize: site.maxSize,
      queryView: async (request, query) => (await queries()).view(request, query),
    })
  }
}
