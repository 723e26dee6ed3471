import type { NodeSite } from '../core/capability.ts'
import { claim } from '../core/http/caller.ts'
import { listDetails } from '../core/list-parts.ts'
import { notIncluded } from '../core/not-included.ts'
import type { Query } from '../core/query.ts'
import { concurrencyLimit } from '../kit/limits/concurrency-limit.ts'
import { once } from '../kit/limits/once.ts'
import { LogError } from '../log/error.ts'
import type { ViewContext } from '../log/view/context.ts'
import { detailer } from '../log/view/detail.ts'
import type { ViewRequest } from '../log/view/request.ts'
import type { CompareRoute } from './compare/compare.ts'
import { showHistogram } from './histogram.ts'
import { queryView } from './view/search.ts'

export type QueryOptions = Pick<NodeSite, 'maxSize' | 'following' | 'count' | 'timeline' | 'follow'>

/** Detailed lists that are made at once: each takes about 8 MB for 10,000 files, and up to five seconds. */
const DETAILED = 2
const MOST_WAIT = 20_000

function tooManyDetails(): LogError {
  return new LogError('too-busy', 'Too many detailed lists are being made; try again in a few seconds.')
}

/** How a follow is asked for. */
type Asking = [request: Request, query: Query, asked: { asked: ViewRequest; common: Record<string, string> }]

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
  const follow = once(async () => {
    const { followLog, Followers } = (await options.follow!()) as typeof import('./view/follow.ts')
    const followers = new Followers(context, following!, count)
    return (...[request, query, asked]: Asking) => followLog(request, query, { ...route, followers }, asked)
  })
  const route = {
    ...context,
    ...options,
    follow: following && options.follow ? async (...asking: Asking) => (await follow())(...asking) : null,
  }
  const timeline = async () => {
    if (options.timeline === null) throw notIncluded('several logs as one', 'timeline')
    return options.timeline() as Promise<typeof import('./merged/routes.ts')>
  }
  type Show = (request: Request, query: Query, one: typeof route) => Promise<Response>
  /** Answers over one log, or over several, whose code is loaded with the first of them. */
  const over = (name: 'view' | 'histogram' | 'fields' | 'groups', showOne: Show) => {
    return async (request: Request, query: Query) => {
      claim(request)
      if (query.lane && name !== 'view') return showOne(request, query, route)
      if (query.lane) return (await timeline()).laneOf(request, query, route)
      // A histogram by file has columns for files even if there is only one.
      const isSplit = name === 'histogram' && query.by !== undefined && query.by !== 'level'
      if (!query.files && !isSplit) return showOne(request, query, route)
      const { MERGED, mergedRoute } = await timeline()
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
      const { compareLogs, compared } = await import('./compare/compare.ts')
      const several = query.files ? await (await timeline()).mergedRoute(query, route, false) : null
      const file = query.file!
      const one = { name: file, file, node: null, rotated: query.rotated ?? false, context }
      const pick = async (asked: Query, signal: AbortSignal) => {
        if (!several) return { sources: [one], missing: [] }
        const { sources, ...rest } = await several.pick(asked, signal)
        return { ...rest, sources: sources.map((source) => compared(source)) }
      }
      return compareLogs(request, query, { ...route, pick, config })
    },
    listDetails: (request: Request, query: Query) =>
      detailed.run(() => listDetails(request, query, context, details), request.signal),
  }
}
