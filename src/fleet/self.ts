import type { Hono } from 'hono'
import { runtime } from '#runtime'
import { searchOf } from '../core/http/params.ts'
import type { NodeFacts } from '../core/node/identity.ts'
import { newHono, type Service, sealed } from '../core/routing.ts'
import { BoundedMap } from '../kit/limits/bounded-map.ts'
import { once } from '../kit/limits/once.ts'
import { VERSION } from '../kit/version.ts'
import type { FleetHome } from './homes.ts'
import type { SelfOptions } from './options.ts'
import type { ChartOf } from './peers.ts'

/** The node that the service runs on, as one of the fleet. */
export function selfHome(
  { id, logs, config, versions, node = {} }: SelfOptions,
  given: Partial<NodeFacts> & { onlineTime: number },
): FleetHome & { id: string } {
  const facts = { version: VERSION, ...runtime.host(), ...given }
  const reader = once(async () => (await import('../core/node/config.ts')).createConfigReader(config))
  return {
    id,
    logs,
    versions: versions ?? (() => facts.onlineTime),
    config: async () => (typeof config === 'function' ? config() : config),
    async node() {
      const { describeNode } = await import('../core/node/identity.ts')
      const set = await (typeof node === 'function' ? node() : node)
      const { data } = await (await reader()).read()
      return describeNode(set, facts, data)
    },
  }
}

/** How the node that the service runs on counts its own logs: by an app of it that answers without a token. */
export function chartOfSelf(make: () => Hono): ChartOf {
  const app = once(async () => make())
  return async (query, signal) => {
    const answer = await (await app()).request(`/api/v1/log/histogram?${query}`, { signal })
    if (answer.status !== 200) return null
    return { ...(await answer.json()), missing: answer.headers.get('X-Nodestate-Missing') }
  }
}

/** The fleet where a request is about nodes, otherwise the node itself: an app for both, which can be mounted. */
export function besideOwn(fleet: Hono, own: Hono): Service {
  const app = newHono()
  const mounted = new BoundedMap<string, { fleet: Hono; own: Hono }>(4)
  app.all('*', (c) => {
    const mount = c.req.routePath.slice(0, -2)
    const apps = mounted.use(mount, () =>
      mount === ''
        ? { fleet, own }
        : { fleet: newHono().route(mount, fleet), own: newHono().route(mount, own) },
    )
    const isOfFleet = isAboutNodes(c.req.path.slice(mount.length), c.req.raw.url)
    return (isOfFleet ? apps.fleet : apps.own).fetch(c.req.raw, c.env)
  })
  return sealed(app)
}

const FLEET = /^\/(nodes(\/.*)?|assets\/.*|mcp|api\/v1\/(nodes|config\/compare))?$/
const EITHER =
  /^\/api\/v1\/log\/(list|view|histogram|fields|groups|compare|incident)$|^\/api\/v1\/config\/blame$/

function isAboutNodes(path: string, url: string): boolean {
  return path === '' || FLEET.test(path) || (EITHER.test(path) && searchOf(url).has('node'))
}
