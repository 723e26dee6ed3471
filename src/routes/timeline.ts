import type { Capability } from '../core/capability.ts'

/** Several logs as one, in the order of their times. Built on search. */
export function timeline(): Capability {
  const load = () => import('./merged/routes.ts')
  return {
    name: 'timeline',
    parameters: async () => (await import('./parameters/table.ts')).rowsOfCapability('timeline'),
    add({ node }) {
      if (node) node.timeline = load
    },
    preload: load,
  }
}
