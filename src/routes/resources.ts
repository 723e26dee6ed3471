import { BoundedMap } from '../kit/limits/bounded-map.ts'
import { once } from '../kit/limits/once.ts'
import { narrowFiles } from '../log/files/narrow.ts'
import { isUnknownFile, noSuchFile } from '../log/files/nearest.ts'
import type { ViewContext } from '../log/view/context.ts'
import type { CompareRoute } from './compare/compare.ts'
import { listLogs } from './list.ts'
import type { Query } from './parameters/read.ts'
import type { QueryOptions } from './query-routes.ts'
import { viewLog } from './view/tail.ts'

type LogResourceOptions = QueryOptions & { context: ViewContext }
type Handler = (request: Request, query: Query) => Response | Promise<Response>

/** How many sets of patterns are cached: about as many as an operator has tokens. */
const MOST_NARROWED = 100

/**
 * The resources for all files, and for the files that match some patterns. They share their limits: a token that sees
 * fewer files does not add capacity to search or follow.
 */
export function logResources(options: LogResourceOptions) {
  const make = (context: ViewContext) => resourcesOf({ ...options, context })
  const all = make(options.context)
  const narrowed = new BoundedMap<string, typeof all>(MOST_NARROWED)
  return (patterns: readonly string[] | null) => {
    if (patterns === null) return all
    const key = JSON.stringify(patterns)
    return narrowed.use(key, () =>
      make({ ...options.context, files: narrowFiles(options.context.files, patterns) }),
    )
  }
}

/** The resources, by the last word of their path. */
function resourcesOf({ context, ...options }: LogResourceOptions) {
  const { files } = context
  // Everything beyond the list and the plain tail is loaded on first use, so that a worker starts quickly.
  const queryRoutes = once(async () => {
    const { loadQueryRoutes } = await import('./query-routes.ts')
    return loadQueryRoutes(context, options)
  })
  const viewRoute = {
    files,
    maxSize: options.maxSize,
    queryView: async (request: Request, query: Query) => (await queryRoutes()).view(request, query),
  }
  /** Answers about one log, which may be named without the date that its files have; a misspelt name gets a hint. */
  const named = (handler: Handler): Handler => {
    return (request, query) => {
      const answer = handler(request, query)
      if (!(answer instanceof Promise)) return answer
      return answer.catch(async (error) => {
        if (!isUnknownFile(error) || query.files) throw error
        const { entries } = await files.list(request.signal).catch(() => ({ entries: [] }))
        const { newestDated } = await import('../log/rotated/kin.ts')
        const file = await newestDated(entries, query.file!)
        if (file === null) throw noSuchFile(query.file!, entries)
        return handler(request, { ...query, file })
      })
    }
  }
  const handlers = {
    list: (request, query) => listLogs(request, query, files, queryRoutes),
    view: named((request, query) => viewLog(request, query, viewRoute)),
    histogram: named(async (request, query) => (await queryRoutes()).histogram(request, query)),
    fields: named(async (request, query) => (await queryRoutes()).fields(request, query)),
    groups: named(async (request, query) => (await queryRoutes()).groups(request, query)),
    download: named(async (request, query) =>
      (await import('./download.ts')).downloadLog(request, query, { ...viewRoute, context }),
    ),
  } satisfies Record<string, Handler>
  return {
    ...handlers,
    compare: (request: Request, query: Query, config: CompareRoute['config']) =>
      named(async (request, query) => (await queryRoutes()).compare(request, query, config))(request, query),
  }
}
