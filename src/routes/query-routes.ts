import { Followers } from '../log/follow/followers.ts'
import type { FollowLimits } from '../log/follow/hub.ts'
import type { ViewContext } from '../log/view/context.ts'
import { detailer } from '../log/view/detail.ts'
import { showHistogram } from './histogram.ts'
import { listDetails, streamList } from './list-details.ts'
import type { Query } from './parameters/read.ts'
import { queryView } from './view/search.ts'

export interface QueryOptions {
  maxSize: number | undefined
  /** Null if following is off. */
  following: FollowLimits | null
  /** The current number of followers, counted together for all that share the limit. */
  count: { following: number }
}

export type QueryRoutes = ReturnType<typeof loadQueryRoutes>

/** Every route that needs more than a list and a plain tail. It is most of the code, so it is loaded on first use. */
export function loadQueryRoutes(context: ViewContext, options: QueryOptions) {
  const { following, count } = options
  const details = detailer(context)
  const route = { ...context, ...options, followers: following && new Followers(context, following, count) }
  type Show = (request: Request, query: Query, one: typeof route) => Promise<Response>
  /** Answers over one log, or over several, whose code is loaded with the first of them. */
  const over = (name: 'view' | 'histogram' | 'fields', showOne: Show) => {
    return async (request: Request, query: Query) => {
      if (!query.files && query.by === undefined) return showOne(request, query, route)
      const { MERGED, mergedRoute } = await import('./merged/routes.ts')
      const several = await mergedRoute(query, route)
      return several ? MERGED[name](request, query, several) : showOne(request, query, route)
    }
  }
  return {
    view: over('view', queryView),
    histogram: over('histogram', showHistogram),
    // Loaded when the first panel of fields opens.
    fields: over('fields', async (...args) => (await import('./fields.ts')).showFields(...args)),
    streamList: (request: Request, after: string) => streamList(request, after, context.files),
    listDetails: (request: Request, query: Query) => listDetails(request, query, context.files, details),
  }
}
