import type { Query } from '../parameters/read.ts'
import type { QueryRoute } from '../parameters/view-request.ts'
import { type MergedRoute, mergedRoute } from './route.ts'

/** Answers a request over several logs. */
type Handler = (request: Request, query: Query) => Promise<Response>

/** The routes over several logs. */
export interface MergedRoutes {
  view: Handler
  histogram: Handler
  fields: Handler
}

/** The routes over the logs that a request names; null if it names only one. */
export async function mergedRoutes(
  query: Query,
  route: QueryRoute & Pick<MergedRoute, 'following' | 'count'>,
): Promise<MergedRoutes | null> {
  const merged = await mergedRoute(query, route)
  return merged && mergedHandlers(merged)
}

/** The routes; each is loaded when it is used. */
export function mergedHandlers(route: MergedRoute): MergedRoutes {
  return {
    view: async (...args) => (await import('./view.ts')).mergedView(...args, route),
    histogram: async (...args) => (await import('./histogram.ts')).mergedHistogram(...args, route),
    fields: async (...args) => (await import('./fields.ts')).mergedFields(...args, route),
  }
}
