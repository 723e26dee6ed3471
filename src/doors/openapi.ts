import type { Capability } from '../core/capability.ts'

/** The API as a document at `/openapi.json`. */
export function openapi(): Capability {
  const load = () => import('./openapi/route.ts')
  return {
    name: 'openapi',
    add({ routing }) {
      routing.add('/openapi.json', 'nothing', async (request) => (await load()).showOpenApi(request))
    },
    preload: load,
  }
}
