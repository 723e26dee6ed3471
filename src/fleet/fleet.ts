import type { Context } from 'hono'
import { EVERYTHING, type Grant } from '../core/access/grant.ts'
import { addCapabilities, appOf, sharedOf, watchOf } from '../core/app.ts'
import type { Capability } from '../core/capability.ts'
import { outOfScope } from '../core/http/auth.ts'
import { isPeerRequest, refusePeerRequest } from '../core/http/caller.ts'
import { jsonResponse } from '../core/http/conditional.ts'
import { joinedOf } from '../core/options.ts'
import type { Parameter } from '../core/parameter.ts'
import type { Query } from '../core/query.ts'
import { Routing, type Service, sealed } from '../core/routing.ts'
import { once } from '../kit/limits/once.ts'
import { logFiles } from '../log/files/files.ts'
import { viewContext } from '../log/options.ts'
import { follow } from '../routes/follow.ts'
import { search } from '../routes/search.ts'
import { timeline } from '../routes/timeline.ts'
import { countAt, forwardLimits, handOnTo } from './forward.ts'
import { FleetHomes, sourcesOf } from './homes.ts'
import { nodeApps, noStore } from './node-apps.ts'
import { FleetNodes, isNodeId, unknownNode } from './nodes.ts'
import { checkFleetOptions, type FleetOptions } from './options.ts'
import type { Peer } from './peer.ts'
import { FleetPeers, LivingCounts, livingNodes } from './peers.ts'
import { besideOwn, chartOfSelf, selfHome } from './self.ts'

export type { FleetOptions } from './options.ts'

const NODES_PER_PAGE = 200

/**
 * Makes the app of a fleet: the nodes at `/api/v1/nodes` and `/`, each node's whole API and page below `/nodes/:id/`
 * with the same answers as a separate app, and with `loki` Loki's API over all nodes, where the label `node` is the id.
 */
export function createFleet(given: FleetOptions): Service {
  checkFleetOptions(given)
  const options = { ...given, with: withQueries(given.with ?? []) }
  const metrics = watchOf(options)
  const { store = null, peers = [], self: own, nested: _nested, pageNodes, listCalls, ...common } = options
  const { follow = {} } = common
  const shared = sharedOf(common)
  const { clock } = shared.limits
  const routing = new Routing({ ...common, metrics }, shared.access)
  const observed = store && (metrics?.store(store) ?? store)
  const self = own ? selfHome(own, { ...common.facts, onlineTime: clock.now() }) : null
  const living = { peers: new FleetPeers(peers, clock), self }
  if (options.peers) metrics?.peers(() => living.peers.all())
  const handing = { limits: shared.limits, ...forwardLimits(options) }
  const ownChart = chartOfSelf(() => {
    const { id: _, ...node } = own!
    const access = () => EVERYTHING
    // No client sends these requests: they have neither a token nor a host.
    const uncounted = common.with.filter(({ watch }) => !watch)
    const options = { ...common, ...node, with: uncounted, allowHosts: [] }
    return appOf(options, { limits: shared.limits, access })
  })
  const chartOf = (id: string) => {
    if (id === own?.id) return ownChart
    const peer = living.peers.get(id)
    return peer && !peer.wire.isDown ? countAt(peer, handing) : undefined
  }
  const nodes = new FleetNodes(observed, {
    include: options.include,
    atOnce: options.limits?.parallelReads,
    calls: listCalls,
    shared: follow && follow.shared !== false,
    clock,
    living: livingNodes(living, new LivingCounts(chartOf, clock)),
  })
  const { maxSize } = options.limits ?? {}
  // Which files there are, and how much of them is given, is decided here.
  const isNarrowed = (options.include ?? []).length > 0 || maxSize !== undefined
  const atPeer = <T>(make: (peer: Peer) => T) => {
    return (id: string) => {
      const peer = isNarrowed ? undefined : living.peers.get(id)
      return peer && make(peer)
    }
  }
  const isReader = (id: string) => atPeer(() => true)(id) === true
  const homes = new FleetHomes({ ...options, metrics, joined: joinedOf(options) }, shared.limits, {
    ...living,
    isReader,
  })

  routing.addQuery('/api/v1/nodes', 'token', async (request, query, grant) => {
    refusePeerRequest(request)
    if (!grant.scopes.has('logs') && !grant.scopes.has('config')) throw outOfScope('logs')
    const { limit = NODES_PER_PAGE, after = '' } = query
    const page = await nodes.page({ after, limit: Math.min(limit, pageNodes ?? limit) }, grant)
    return listNodes(request, page, query.limit)
  })
  const atOnce = options.limits?.parallelReads
  // All nodes share their limits.
  const context = viewContext(logFiles(noStore()), options, shared.limits)
  const compare = { store: observed, nodes, homes, context, atOnce, calls: listCalls }
  routing.addQuery('/api/v1/config/compare', 'config', async (request, query, grant) => {
    const { compareConfigs } = await import('./compare.ts')
    return compareConfigs(request, query, compare, grant)
  })
  // The code for several logs is loaded with the first request for them.
  const logs = once(async () => {
    const { FleetLogs } = await import('./logs.ts')
    return new FleetLogs({
      nodes,
      homes,
      options,
      limits: shared.limits,
      configs: compare,
      peers: living.peers,
      handing,
      mostListed: pageNodes ?? NODES_PER_PAGE,
    })
  })
  for (const name of ['list', 'view', 'histogram', 'fields', 'groups', 'compare'] as const) {
    const answer = async (request: Request, query: Query, grant: Grant) => {
      refusePeerRequest(request)
      return (await logs()).answer(name, request, query, grant)
    }
    const resource = name === 'compare' ? 'difference' : name
    routing.addQuery(`/api/v1/log/${name}`, 'logs', answer, {
      max: { size: maxSize },
      rows: fleetRows,
      resource,
    })
  }
  addCapabilities(options, {
    routing,
    isFleet: true,
    timezone: options.timezone,
    clock,
    sources: async (grant) => sourcesOf(homes, await nodes.ids(grant), grant),
    node: null,
  })
  // Whether the service is ready does not depend on other nodes.
  routing.addHealth(observed ?? own?.logs ?? noStore())

  const forwardToPeer = atPeer((peer) => handOnTo(peer, handing))
  const isLeftAlone = (id: string) => living.peers.get(id)?.wire.isDown ?? false
  const answerNode = nodeApps(common, { nodes, homes, shared, own, forwardToPeer, isLeftAlone })
  const toNode = (c: Context): Response | Promise<Response> => {
    const [, above = '', part = '', rest = ''] = /^(.*?\/nodes\/)([^/]+)(.*)$/.exec(c.req.path) ?? []
    const id = decoded(part)
    const isLoop = isPeerRequest(c.req.raw) && id !== own?.id
    if (isNodeId(id) && !isLoop) return answerNode(id, above + part, c.req.raw, c.env)
    const noNode = (request: Request) => {
      refusePeerRequest(request)
      throw unknownNode()
    }
    const needs = /^\/(api|loki)\/|^\/mcp$/.test(rest) ? 'token' : 'nothing'
    return routing.guarded('other', needs, noNode)(c.req.raw, c.env, c.var)
  }
  routing.app.all('/nodes/:id', toNode)
  routing.app.all('/nodes/:id/*', toNode)
  routing.addNotIncluded()
  routing.addUnknown('There is nothing at this path; see /api/v1/nodes and /nodes/ID/api/v1/log/list.')
  if (own === undefined) return sealed(routing.app)
  const { id: _, ...node } = own
  return besideOwn(routing.app, appOf({ ...common, ...node }, shared))
}

/** The rows of parameters that only a fleet's own addresses take. */
async function fleetRows(): Promise<readonly Parameter[]> {
  return (await import('../routes/parameters/fleet-table.ts')).FLEET_PARAMETERS
}

/** A fleet searches, follows and merges logs itself, so its nodes do, too. */
function withQueries(given: readonly Capability[]): readonly Capability[] {
  const missing = [search(), follow(), timeline()].filter(({ name }) =>
    given.every((one) => one.name !== name),
  )
  return [...missing, ...given]
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
