import type { Query } from '../../core/query.ts'
import { checkPicked, MOST_SOURCES, pickSources } from '../../log/merge/source.ts'
import type { QueryRoute } from '../parameters/view-request.ts'
import type { MergedRoute } from './route.ts'

/**
 * The routes over the logs of one node. Null if the request names one log, whose name only looks like a pattern, unless
 * it `isSplit` by logs.
 */
export async function mergedRoute(
  query: Query,
  route: QueryRoute & Pick<MergedRoute, 'following' | 'count'>,
  isSplit: boolean,
): Promise<MergedRoute | null> {
  const files = query.files ?? [query.file!]
  if (files.length === 1 && !isSplit) {
    const { entries } = await route.files.list()
    if (entries.some(({ key }) => key === files[0])) return null
  }
  const most = route.mostSources ?? MOST_SOURCES
  return {
    ...route,
    // A token that may see only some files has files of its own.
    sharing: { owner: route.files, viewer: '' },
    async pick(_query, signal) {
      const picked = await pickSources({ node: null, context: route }, files, signal)
      checkPicked(picked, files, most)
      return picked
    },
  }
}

type Handler = (request: Request, query: Query, route: MergedRoute) => Promise<Response>

/** The resources over several logs; each is loaded when it is used. */
export const MERGED = {
  view: async (...args) => (await import('./view.ts')).mergedView(...args),
  histogram: async (...args) => (await import('./histogram.ts')).mergedHistogram(...args),
  fields: async (...args) => (await import('./fields.ts')).mergedFields(...args),
  groups: async (...args) => (await import('./groups.ts')).mergedGroups(...args),
} satisfies Record<string, Handler>

/** A page of one log, as a coordinator asks for it. */
export const laneOf = async (request: Request, query: Query, route: QueryRoute) =>
  (await import('./lane.ts')).showLane(request, query, route)
