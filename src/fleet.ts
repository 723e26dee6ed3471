export type { FleetNode } from './answers.ts'
export { createFleet } from './fleet/fleet.ts'
export type { FleetOptions, SelfOptions } from './fleet/options.ts'
