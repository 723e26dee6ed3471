import type { Capability } from '../core/capability.ts'
import { refusePeerRequest } from '../core/http/caller.ts'

/** Loki's read API below `/loki/`, for Grafana and logcli. Built on search. */
export function loki(): Capability {
  const load = () => import('./loki/api.ts')
  return {
    name: 'loki',
    add({ routing, isFleet, clock, sources }) {
      routing.add('/loki/*', 'logs', async (request, grant) => {
        if (isFleet) refusePeerRequest(request)
        return (await load()).answer(request, await sources(grant), clock)
      })
    },
    preload: load,
  }
}
