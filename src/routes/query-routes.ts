import { Followers } from '../log/follow/followers.ts'
import type { FollowLimits } from '../log/follow/hub.ts'
import type { ViewContext } from '../log/view/context.ts'
import { detailer } from '../log/view/detail.ts'
import { showHistogram } from './histogram.ts'
import { listDetails, streamList } from './list-details.ts'
import type { Query } from './parameters/read.ts'
import type { QueryViewRoute } from './view/route.ts'
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
export function loadQueryRoutes(context: ViewContext, { maxSize, following, count }: QueryOptions) {
  const followers = following && new Followers(context, following, count)
  const details = detailer(context)
  const route: QueryViewRoute = { ...context, maxSize, followers }
  /** Answers over several logs; their code is loaded with the first of them. */
  const several = async (query: Query) => {
    if (!query.files && query.by === undefined) return null
    const { mergedRoutes } = await import('./merged/routes.ts')
    return mergedRoutes(query, { ...route, following, count })
  }
  return {
    view: async (request: Request, query: Query) => {
      const merged = await several(query)
      return merged ? merged.view(request, query) : queryView(request, query, route)
    },
    histogram: async (request: Request, query: Query) => {
      const merged = await several(query)
      return merged ? merged.histogram(request, query) : showHistogram(request, query, route)
    },
    // Loaded when the first panel of fields opens.
    fields: async (request: Request, query: Query) => {
      const merged = await several(query)
      return merged
        ? merged.fields(request, query)
        : (await import('./fields.ts')).showFields(request, query, route)
    },
    streamList: (request: Request, after: string) => streamList(request, after, context.files),
    listDetails: (request: Request, query: Query) => listDetails(request, query, context.files, details),
  }
}
