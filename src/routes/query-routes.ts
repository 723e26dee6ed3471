import { claim } from '../http/caller.ts'
import { concurrencyLimit } from '../kit/limits/concurrency-limit.ts'
import { LogError } from '../log/error.ts'
import type { Part } from '../log/files/files.ts'
import { Followers } from '../log/follow/followers.ts'
import type { FollowLimits } from '../log/follow/hub.ts'
import type { ViewContext } from '../log/view/context.ts'
import { detailer } from '../log/view/detail.ts'
import type { CompareRoute } from './compare/compare.ts'
import { showHistogram } from './histogram.ts'
import { listDetails, listPart, listTagged, streamList } from './list-details.ts'
import type { Query } from './parameters/read.ts'
import { queryView } from './view/search.ts'

export interface QueryOptions {
  maxSize: number | undefined
  /** Null if following is off. */
  following: FollowLimits | null
  /** The current number of followers, counted together for all that share the limit. */
  count: { following: number }
}

/** Detailed lists that are made at once: each takes about 8 MB for 10,000 files, and up to five seconds. */
const DETAILED = 2
const MOST_WAIT = 20_000

function tooManyDetails(): LogError {
  return new LogError('too-busy', 'Too many detailed lists are being made; try again in a few seconds.')
}

export type QueryRoutes = ReturnType<typeof loadQueryRoutes>

/** Every route that needs more than a list and a plain tail. It is most of the code, so it is loaded on first use. */
export function loadQueryRoutes(context: ViewContext, options: QueryOptions) {
  const { following, count } = options
  const details = detailer(context)
  const detailed = concurrencyLimit({
    most: DETAILED,
    maxWait: MOST_WAIT,
    busy: tooManyDetails,
    clock: context.clock,
  })
  const route = { ...context, ...options, followers: following && new Followers(context, following, count) }
  type Show = (request: Request, query: Query, one: typeof route) => Promise<Response>
  /** Answers over one log, or over several, whose code is loaded with the first of them. */
  const over = (name: 'view' | 'histogram' | 'fields' | 'groups', showOne: Show) => {
    return async (request: Request, query: Query) => {
      claim(request)
      if (query.lane && name === 'groups') return showOne(request, query, route)
      if (query.lane) return (await import('./merged/lane.ts')).showLane(request, query, route)
      // A histogram by file has columns for files even if there is only one.
      const isSplit = name === 'histogram' && query.by !== undefined && query.by !== 'level'
      if (!query.files && !isSplit) return showOne(request, query, route)
      const { MERGED, mergedRoute } = await import('./merged/routes.ts')
      const several = await mergedRoute(query, route, isSplit)
      return several ? MERGED[name](request, query, several) : showOne(request, query, route)
    }
  }
  return {
    view: over('view', queryView),
    histogram: over('histogram', showHistogram),
    // Loaded when the first panel of fields opens.
    fields: over('fields', async (...args) => (await import('./fields.ts')).showFields(...args)),
    groups: over('groups', async (...args) => (await import('./groups.ts')).showGroups(...args)),
    compare: async (request: Request, query: Query, config: CompareRoute['config']) => {
      claim(request)
      const [{ compareLogs, compared }, { mergedRoute }] = await Promise.all([
        import('./compare/compare.ts'),
        import('./merged/routes.ts'),
      ])
      const several = query.files ? await mergedRoute(query, route, false) : null
      const file = query.file!
      const one = { name: file, file, node: null, rotated: query.rotated ?? false, context }
      const pick = async (asked: Query, signal: AbortSignal) => {
        if (!several) return { sources: [one], missing: [] }
        const { sources, ...rest } = await several.pick(asked, signal)
        return { ...rest, sources: sources.map((source) => compared(source)) }
      }
      return compareLogs(request, query, { ...route, pick, config })
    },
    listPart: (request: Request, from: Part | string) => listPart(request, from, context),
    streamList: (request: Request, after: string) => streamList(request, after, context.files),
    listTagged: (request: Request, query: Query) => listTagged(request, query, context),
    listDetails: (request: Request, query: Query) =>
      detailed.run(() => listDetails(request, query, context, details), request.signal),
  }
}
