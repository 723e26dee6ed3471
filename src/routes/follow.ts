import type { Capability } from '../core/capability.ts'

/** Following a log: what is appended is sent as it comes. Built on search. */
export function follow(): Capability {
  const load = () => import('./view/follow.ts')
  return {
    name: 'follow',
    parameters: async () => (await import('./parameters/table.ts')).rowsOfCapability('follow'),
    add({ node }) {
      if (node) node.follow = load
    },
    preload: load,
  }
}
