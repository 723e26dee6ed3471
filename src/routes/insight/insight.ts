import type { Capability, Site } from '../../core/capability.ts'
import { once } from '../../kit/limits/once.ts'
import type { QueryRoutes } from '../query-routes.ts'

/** What changed and what is different: versions of the configuration, comparisons, blame, and incidents. Built on search. */
export function insight(): Capability {
  return {
    name: 'insight',
    parameters: async () => {
      const { rowsOfCapability } = await import('../parameters/table.ts')
      return [...rowsOfCapability('search'), ...rowsOfCapability('insight')]
    },
    add(site) {
      const { routing, node } = site
      if (node !== null) addToNode(site)
      const rows = site.isFleet
        ? async () => [...(await import('../parameters/fleet-table.ts')).FLEET_PARAMETERS]
        : async () => []
      const inside = (bindings: unknown) => (asked: Request) => routing.app.fetch(asked, bindings as object)
      const { isFleet, clock, timezone } = site
      const hasPage = site.capabilities.some(({ name }) => name === 'page')
      routing.addQuery(
        '/api/v1/log/incident',
        'logs',
        async (request, query, _, bindings) => {
          const { showIncident } = await import('./incident/incident.ts')
          return showIncident(request, query, { isFleet, timezone, clock, hasPage, inside: inside(bindings) })
        },
        { resource: 'difference', rows },
      )
      routing.addQuery(
        '/api/v1/config/blame',
        'config',
        async (request, query, _, bindings) => {
          const { showBlame } = await import('./blame/blame.ts')
          return showBlame(request, query, { isFleet, clock, inside: inside(bindings) })
        },
        { rows },
      )
    },
    preload: () => import('./config-history.ts'),
  }
}

function addToNode({ routing, node }: Site): void {
  const history = once(async () => {
    const [{ configHistory }, { reader, versions, context }] = await Promise.all([
      import('./config-history.ts'),
      node!.config(),
    ])
    return configHistory(versions, reader, context)
  })
  node!.history = history
  routing.addQuery('/api/v1/config/history', 'config', async (request, query) =>
    (await history()).show(request, query),
  )
  node!.addLog(
    'compare',
    async (request, query, { queries }, grant) => {
      const { compare } = (await queries()) as QueryRoutes
      if (!grant.scopes.has('config')) return compare(request, query, null)
      const { changedKeys } = await import('../compare/config.ts')
      return compare(request, query, async (periods, signal) =>
        changedKeys((await history()).between, periods, null, signal),
      )
    },
    { resource: 'difference' },
  )
}
