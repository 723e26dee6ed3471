import type { Hono } from 'hono'
import { appOf as nodeApp, type sharedOf } from '../core/app.ts'
import { HomeError } from '../core/node/home.ts'
import type { AppOptions, SharedOptions } from '../core/options.ts'
import { type Access, type Around, type ForwardToPeer, newHono } from '../core/routing.ts'
import { BoundedMap } from '../kit/limits/bounded-map.ts'
import { type Store, StoreError } from '../store/store.ts'
import { type FleetHome, type FleetHomes, KEPT_HOMES } from './homes.ts'
import type { FleetNodes } from './nodes.ts'
import type { SelfOptions } from './options.ts'

interface NodeAppsOptions {
  nodes: FleetNodes
  homes: FleetHomes
  shared: ReturnType<typeof sharedOf>
  own: SelfOptions | undefined
  /** How a peer answers about its own logs; undefined if they are read here. */
  forwardToPeer(id: string): ForwardToPeer | undefined
  /** Whether a peer just failed. */
  isLeftAlone(id: string): boolean
}

/** An app of a node, at the path where it is mounted. */
interface NodeApp {
  id: string
  mount: string
  /** What it reads: with another one, it is another app. */
  home: FleetHome | null
  /** Tells the apps of one path apart. @default the copy in the bucket, or the node itself */
  kind?: string
  /** Answers where its logs are. @default its store is read */
  forwardToPeer?: () => ForwardToPeer | undefined
}

type Answer = (id: string, mount: string, request: Request, env: unknown) => Response | Promise<Response>

/** Answers as the nodes. Their apps are made for the first request to each, at the path where it is mounted. */
export function nodeApps(common: SharedOptions, options: NodeAppsOptions): Answer {
  const { nodes, homes, shared, own, forwardToPeer, isLeftAlone } = options
  const apps = new BoundedMap<string, { home: FleetHome | null; app: Hono }>(KEPT_HOMES)
  // Only clients with a token learn whether a node exists.
  const grantOf = async (id: string, request: Request, around: Around) => {
    const grant = await shared.access(request, around)
    await nodes.require(id, grant)
    return { ...grant, nodes: null }
  }
  const appOf = (
    { id, mount, home, kind = '', forwardToPeer: make }: NodeApp,
    options: () => AppOptions,
  ): Hono => {
    const key = `${kind} ${mount}`
    const known = apps.get(key)
    if (known && known.home === home) return known.app
    const access: Access = (request, around) => grantOf(id, request, around)
    const app = newHono().route(
      mount,
      nodeApp(options(), { limits: shared.limits, access, forwardToPeer: make?.() }),
    )
    apps.set(key, { home, app })
    return app
  }
  const copyOf = (id: string, mount: string) => {
    const home = homes.home(id)
    return appOf({ id, mount, home }, () => {
      // As in the list: a shipper may describe a node whose home has no node.json.
      const node = () =>
        home.node().catch(async (error) => {
          const isMissing = error instanceof HomeError && error.code === 'missing-object'
          const known = isMissing && (await nodes.state(id, () => {}))?.node
          if (known) return known
          throw error
        })
      return { ...common, ...home, node, facts: { ...common.facts, hostName: id } }
    })
  }
  const liveOf = (id: string, mount: string, home: FleetHome, zone: string | null) =>
    appOf({ id, mount, home, kind: `live ${zone}`, forwardToPeer: () => forwardToPeer(id) }, () => ({
      ...common,
      logs: home.logs,
      config: () => home.config(),
      node: () => home.node(),
      versions: home.versions,
      facts: { ...common.facts, hostName: id },
      join: false,
      ...(zone !== null && { timezone: zone }),
    }))
  const deadOf = (id: string, mount: string) =>
    appOf({ id, mount, home: homes.live(id) ?? null, kind: 'dead' }, () => {
      const noPeer = () => noPeerAt(homes.live(id))
      const config = () => Promise.reject(noPeer())
      return { ...common, logs: noStore(noPeer), config, facts: { ...common.facts, hostName: id } }
    })
  const ofPeer: Answer = async (id, mount, request, env) => {
    const home = homes.live(id)!
    // A peer is asked nothing for a page, nor for a client that may not see it.
    const isApi = /^\/(api|loki)\/|^\/mcp$/.test(new URL(request.url).pathname.slice(mount.length))
    const grant = isApi ? await grantOf(id, request, { env, var: {} }).catch(() => null) : null
    const zone = grant ? await homes.zone(id).catch(() => undefined) : undefined
    const app = zone === undefined ? deadOf(id, mount) : liveOf(id, mount, home, zone)
    const answer = await app.fetch(request, env)
    const isDown = zone === undefined || isLeftAlone(id)
    if (answer.status !== 503 || !grant || !isDown || !(await nodes.hasHome(id))) return answer
    await answer.body?.cancel()
    const { settled } = await nodes.states([id], grant, new Set([id]))
    const copy = await copyOf(id, mount).fetch(request, env)
    copy.headers.append('X-Nodestate-Note', 'copy')
    if (settled !== null) copy.headers.set('X-Nodestate-Settled', settled)
    return copy
  }
  return (id, mount, request, env) => {
    const home = homes.live(id)
    if (home === undefined)
      return (homes.hasStore ? copyOf(id, mount) : deadOf(id, mount)).fetch(request, env)
    if (own?.id !== id) return ofPeer(id, mount, request, env)
    const { id: _, ...node } = own
    return appOf({ id, mount, home }, () => ({ ...common, ...node })).fetch(request, env)
  }
}

function noPeerAt(home: FleetHome | undefined): StoreError {
  const error = new StoreError('unavailable', 'The peer does not answer')
  error.who = home?.who
  return error
}

/** A store without files, or one that fails. */
export function noStore(failure?: () => StoreError): Store {
  return {
    // biome-ignore lint/correctness/useYield: there is nothing to list
    async *list() {
      if (failure) throw failure()
    },
    async stat() {
      if (failure) throw failure()
      return null
    },
    async read() {
      if (failure) throw failure()
      return null
    },
  }
}
