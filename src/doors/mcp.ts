import type { Capability } from '../core/capability.ts'

/** The Model Context Protocol at `POST /mcp`, for assistants. It needs `@modelcontextprotocol/server`. */
export function mcp(): Capability {
  const load = () => import('./mcp/answer.ts')
  return {
    name: 'mcp',
    add({ routing, isFleet, timezone, clock, capabilities }) {
      const { corsOrigins } = routing
      const registry = capabilities.find(({ watch }) => watch)?.watch?.registry
      routing.app.all('/mcp', async ({ req: { raw }, env, var: variables }) =>
        (await load()).answer({
          isFleet,
          timezone,
          clock,
          corsOrigins,
          registry,
          guarded: (handler) => routing.guarded('/mcp', 'token', handler)(raw, env, variables),
          fetch: (request) => routing.app.fetch(request, env),
          onError: (error) => routing.refused(error, raw),
        }),
      )
    },
    preload: async () => {
      await load()
      await (await import('./mcp/protocol.ts')).loadProtocol()
    },
  }
}
