import type { Context, Hono } from 'hono'
import type { Grant } from '../access/grant.ts'
import { type AppOptions, createApp, lokiHandler, SHARED_NAMES, sharedOf } from '../app.ts'
import { outOfScope } from '../http/auth.ts'
import { jsonResponse } from '../http/conditional.ts'
import { BoundedMap } from '../limits/bounded-map.ts'
import { once } from '../limits/once.ts'
import { HomeError } from '../node/home.ts'
import { checkOptions, type Names } from '../options.ts'
import type { Query } from '../routes/parameters/read.ts'
import { newHono, Routing, type RoutingOptions } from '../routing.ts'
import type { Store } from '../store/store.ts'
import { FleetHomes, KEPT_HOMES } from './homes.ts'
import { FleetNodes, isNodeId, unknownNode } from './nodes.ts'

/** A fleet: a location with a home for each node, and the options that all node apps share. */
export interface FleetOptions extends Omit<AppOptions, 'logs' | 'config' | 'versions' | 'node'> {
  /** Where the homes are, a folder for each node: `db-4/ship.json`, `db-4/segments/…` */
  store: Store
  /** Nodes on a page of the list. @default 200, and 1,000 if a request wants that */
  pageNodes?: number | undefined
  /** Requests to the store that one list or comparison of nodes may make, where a platform limits them. @default no limit */
  listCalls?: number | undefined
}

const NAMES: Names<FleetOptions> = {
  ...SHARED_NAMES,
  store: true,
  pageNodes: true,
  listCalls: true,
}
const PAGE = 200

/**
 * Makes the app of a fleet: the nodes at `/api/v1/nodes` and `/`, each node's whole API and page below `/nodes/:id/`
 * with the same answers as a separate app, and with `loki` Loki's API over all nodes, where the label `node` is the id.
 */
export function createFleet(options: FleetOptions): Hono {
  checkOptions(options, NAMES, 'store')
  const { store, pageNodes, listCalls, ...common } = options
  const { follow = {} } = common
  const shared = sharedOf(common)
  const routing = new Routing({ ...common, page: rootPage(options.page) }, shared.access)
  const observed = options.metrics?.store(store) ?? store
  const nodes = new FleetNodes(observed, {
    include: options.include,
    atOnce: options.limits?.parallelReads,
    calls: listCalls,
    shared: follow && follow.shared !== false,
    clock: shared.limits.clock,
  })
  const homes = new FleetHomes(options, shared.limits)

  routing.addQuery('/api/v1/nodes', 'token', async (request, query, grant) => {
    if (!grant.scopes.has('logs') && !grant.scopes.has('config')) throw outOfScope('logs')
    const { limit = PAGE, after = '' } = query
    const page = await nodes.page({ after, limit: Math.min(limit, pageNodes ?? limit) }, grant)
    return listNodes(request, page, query.limit)
  })
  const atOnce = options.limits?.parallelReads
  const compare = { store: observed, nodes, homes, atOnce, calls: listCalls }
  routing.addQuery('/api/v1/config/compare', 'config', async (request, query, grant) => {
    const { compareConfigs } = await import('./compare.ts')
    return compareConfigs(request, query, compare, grant)
  })
  // The code for several logs is loaded with the first request for them.
  const logs = once(async () => {
    const { FleetLogs } = await import('./logs.ts')
    return new FleetLogs({ nodes, homes, options, limits: shared.limits, mostListed: pageNodes ?? PAGE })
  })
  const { maxSize } = options.limits ?? {}
  for (const name of ['list', 'view', 'histogram', 'fields'] as const) {
    const answer = async (request: Request, query: Query, grant: Grant) =>
      (await logs()).answer(name, request, query, grant)
    routing.addQuery(`/api/v1/log/${name}`, 'logs', answer, { max: { size: maxSize }, fleet: true })
  }
  if (options.loki) {
    // A node is opened only when a query wants it.
    const answerLoki = lokiHandler(options.loki, shared.limits.clock, async (grant) =>
      (await nodes.ids(grant)).map((id) => ({
        node: id,
        get context() {
          return homes.context(id, grant)
        },
      })),
    )
    routing.add('/loki/*', 'logs', answerLoki)
  }
  routing.addService(observed)

  const appOf = nodeApps(common, { nodes, homes, shared })
  const toNode = (c: Context): Response | Promise<Response> => {
    const [, above = '', part = '', rest = ''] = /^(.*?\/nodes\/)([^/]+)(.*)$/.exec(c.req.path) ?? []
    const id = decoded(part)
    if (isNodeId(id)) return appOf(id, above + part).fetch(c.req.raw, c.env)
    const noNode = () => {
      throw unknownNode()
    }
    const needs = /^\/(api|loki)\//.test(rest) ? 'token' : 'nothing'
    return routing.guarded('other', needs, noNode)(c.req.raw, c.env)
  }
  routing.app.all('/nodes/:id', toNode)
  routing.app.all('/nodes/:id/*', toNode)
  routing.addUnknown('There is nothing at this path; see /api/v1/nodes and /nodes/ID/api/v1/log/list.')
  return routing.app
}

/** The same page as a node's, marked so that it shows the nodes and asks for no configuration and no logs. */
function rootPage(page: RoutingOptions['page']): NonNullable<RoutingOptions['page']> {
  if (!page) return false
  return async () => {
    const { html, etag, ...rest } = typeof page === 'function' ? await page() : page
    const marked = html.replace('<div id="page">', '<div id="page" data-fleet>')
    return { ...rest, html: marked, etag: etag.replace(/"$/, '-fleet"') }
  }
}

/** The apps of nodes, each made for the first request to it, at the path where it is mounted. */
function nodeApps(
  common: Omit<AppOptions, 'logs' | 'config' | 'versions' | 'node'>,
  { nodes, homes, shared }: { nodes: FleetNodes; homes: FleetHomes; shared: ReturnType<typeof sharedOf> },
): (id: string, mount: string) => Hono {
  const apps = new BoundedMap<string, Hono>(KEPT_HOMES)
  return (id, mount) =>
    apps.use(mount, () => {
      // Only clients with a token learn whether a node exists.
      const access = async (headers: Headers, bindings: unknown) => {
        const grant = await shared.access(headers, bindings)
        await nodes.require(id, grant)
        return { ...grant, nodes: null }
      }
      const { node: inFile, ...home } = homes.home(id)
      // As in the list: a shipper may describe a node whose home has no node.json.
      const node = () =>
        inFile().catch(async (error) => {
          const isMissing = error instanceof HomeError && error.code === 'missing-object'
          const known = isMissing && (await nodes.state(id, () => {}))?.node
          if (known) return known
          throw error
        })
      const facts = { ...common.facts, hostName: id }
      const app = createApp({ ...common, ...home, node, facts }, { limits: shared.limits, access })
      return newHono().route(mount, app)
    })
}

/** `GET /api/v1/nodes`: the nodes by id, a page at a time. */
function listNodes(
  request: Request,
  { nodes, next }: Awaited<ReturnType<FleetNodes['page']>>,
  limit: number | undefined,
): Response {
  const kept = limit === undefined ? '' : `limit=${limit}&`
  const link = next !== null && { Link: `<?${kept}after=${encodeURIComponent(next)}>; rel="next"` }
  return jsonResponse(request, JSON.stringify(nodes), null, { ...link })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
