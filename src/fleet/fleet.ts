import { type Context, Hono } from 'hono'
import { type AppOptions, createApp, lokiHandler, sharedOf } from '../app.ts'
import { hostGuard, outOfScope } from '../http/auth.ts'
import { COMMON_HEADERS } from '../http/conditional.ts'
import { corsFor } from '../http/cors.ts'
import { bad, searchOf, show } from '../http/params.ts'
import { methodNotAllowed, Problem, problemResponse, toProblem } from '../http/problem.ts'
import { textResponse } from '../http/sliced.ts'
import { BoundedMap } from '../limits/bounded-map.ts'
import { observerOf } from '../observe/observer.ts'
import { readiness } from '../observe/ready.ts'
import { type Page, showAsset, showPage } from '../routes/page.ts'
import type { SegmentsOptions } from '../store/segments.ts'
import type { Store } from '../store/store.ts'
import { FleetHomes, KEPT_HOMES } from './homes.ts'
import { FleetNodes, isNodeId } from './nodes.ts'

/** A fleet: a location with a home for each node, and the options that all node apps share. */
export interface FleetOptions extends Omit<AppOptions, 'logs' | 'config' | 'node'> {
  /** Where the homes are, a folder for each node: `db-4/ship.json`, `db-4/segments/…` */
  store: Store
  /** How shipped logs are read. @default as `--home` does on a server */
  segments?: Pick<SegmentsOptions, 'keepBytes' | 'shared'>
}

const PAGE = 200
const LARGEST_PAGE = 1000

type Handler = (request: Request, context: Context) => Response | Promise<Response>

/**
 * Makes the app of a fleet: the nodes at `/api/v1/nodes` and `/`, each node's whole API and page below `/nodes/:id/`
 * with the same answers as a separate app, and with `loki` Loki's API over all nodes, where the label `node` is the id.
 */
export function createFleet(options: FleetOptions): Hono {
  const { store, segments: _, ...common } = options
  const app = new Hono()
  const cors = corsFor(options.corsOrigins ?? [])
  const checkHost = hostGuard(options.allowHosts ?? [])
  const shared = sharedOf(common)
  const { access } = shared
  const onError = options.onError ?? ((error: unknown) => console.error(error))
  const { metrics, observe } = options
  const observed = metrics?.store(store) ?? store
  const nodes = new FleetNodes(observed)
  const homes = new FleetHomes(options, shared.limits)
  const apps = new BoundedMap<string, Hono>(KEPT_HOMES)
  const observer = metrics || observe ? observerOf(metrics, observe) : null

  const guarded = (route: string, handler: Handler, { open = false } = {}) => {
    return async (c: Context): Promise<Response> => {
      const request = c.req.raw
      const finish = observer?.(request, route)
      let response: Response
      try {
        checkHost(request.headers)
        const preflight = open ? null : cors?.preflight(request)
        if (!open && !preflight) {
          const { name } = await access(request.headers)
          if (name !== null) options.onAccess?.(request, name)
        }
        response = preflight ?? (await handler(request, c))
      } catch (error) {
        const problem = toProblem(error)
        if (problem.status >= 500 && !request.signal.aborted) onError(problem.cause ?? problem, request)
        response = problemResponse(problem, request.headers.get('Accept'))
      }
      cors?.apply(request, response)
      return finish ? finish(response) : response
    }
  }

  /** The app of a node, mounted where the fleet is. */
  const appOf = (id: string, mount: string): Hono => {
    return apps.use(mount, () => new Hono().route(mount, createApp({ ...common, ...homes.home(id) }, shared)))
  }

  const resources: Record<string, Handler> = {
    '/api/v1/nodes': (request) => listNodes(request, nodes),
  }
  if (metrics && !options.metricsOpen)
    resources['/metrics'] = async (request) => {
      if (!(await access(request.headers)).scopes.has('metrics')) throw outOfScope('metrics')
      return metrics.show(request)
    }
  if (options.loki) {
    // A node is opened only when a query wants it.
    const answerLoki = lokiHandler(options.loki, async (grant) =>
      (await nodes.ids()).map((id) => ({
        node: id,
        get context() {
          return homes.context(id, grant)
        },
      })),
    )
    resources['/loki/*'] = async (request) => {
      const grant = await access(request.headers)
      if (!grant.scopes.has('logs')) throw outOfScope('logs')
      return answerLoki(request, grant)
    }
  }
  for (const [path, handler] of Object.entries(resources)) {
    app.get(path, guarded(path, handler))
    app.all(path, guarded(path, methodNotAllowed))
  }
  const page = async (): Promise<Page> =>
    typeof options.page === 'function' ? options.page() : options.page || unknownPath()
  const open: Record<string, Handler> = {
    '/healthz': () =>
      textResponse('ok\n', { 'Content-Type': 'text/plain; charset=utf-8', ...COMMON_HEADERS }),
    '/readyz': readiness(observed),
    ...(metrics && options.metricsOpen && { '/metrics': (request: Request) => metrics.show(request) }),
    // The same page as a node's: where there is no configuration, it shows the nodes.
    ...(options.page && {
      '/': async (request: Request) => showPage(request, await page()),
      '/assets/:name': async (request: Request) =>
        showAsset(request, new URL(request.url).pathname.split('/').at(-1)!, await page()),
    }),
  }
  for (const [path, handler] of Object.entries(open)) {
    app.get(path, guarded(path, handler, { open: true }))
    app.all(path, guarded(path, methodNotAllowed, { open: true }))
  }
  const toNode = (c: Context): Response | Promise<Response> => {
    const found = /^(.*?\/nodes\/)([^/]+)(?:\/|$)/.exec(c.req.path)
    const id = found ? decoded(found[2]!) : ''
    if (!found || !isNodeId(id)) return guarded('other', unknownNode, { open: true })(c)
    return appOf(id, found[1]! + found[2]!).fetch(c.req.raw, c.env)
  }
  app.all('/nodes/:id', toNode)
  app.all('/nodes/:id/*', toNode)
  if (options.page) {
    // Under route(), `/` matches only without the trailing slash.
    const show = guarded('/', async (request) => showPage(request, await page()), { open: true })
    app.get('*', (c, next) => (c.req.path === `${c.req.routePath.slice(0, -2)}/` ? show(c) : next()))
  }
  app.all('/api/*', guarded('other', unknownPath))
  app.all('*', guarded('other', unknownPath, { open: true }))
  return app
}

/** `GET /api/v1/nodes`: the nodes by id, a page at a time. */
async function listNodes(request: Request, all: FleetNodes): Promise<Response> {
  const search = searchOf(request.url)
  const limit = limitOf(single(search, 'limit'))
  const after = single(search, 'after') ?? ''
  const { nodes, next } = await all.page({ after, limit: limit ?? PAGE })
  const headers: Record<string, string> = { 'Content-Type': 'application/json', ...COMMON_HEADERS }
  if (next !== null) {
    const kept = limit === undefined ? '' : `limit=${limit}&`
    headers.Link = `<?${kept}after=${encodeURIComponent(next)}>; rel="next"`
  }
  return textResponse(request.method === 'HEAD' ? null : JSON.stringify(nodes), headers)
}

function single(search: URLSearchParams, name: string): string | undefined {
  const values = search.getAll(name)
  if (values.length > 1) throw bad(name, `was given ${values.length} times; give it once`)
  return values[0]
}

function limitOf(value: string | undefined): number | undefined {
  if (value === undefined || value === '') return undefined
  const limit = /^\d{1,9}$/.test(value) ? Number(value) : 0
  if (limit < 1 || limit > LARGEST_PAGE)
    throw bad('limit', `is ${show(value)}; it must be an integer from 1 to ${LARGEST_PAGE}`)
  return limit
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

function unknownPath(): never {
  throw new Problem(
    'unknown-path',
    'There is nothing at this path; see /api/v1/nodes and /nodes/ID/api/v1/log/list.',
  )
}

function unknownNode(): never {
  throw new Problem('unknown-node', 'There is no node with this id; take one from /api/v1/nodes.')
}
