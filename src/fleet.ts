export { createFleet } from './fleet/fleet.ts'
export type { FleetOptions, SelfOptions } from './fleet/options.ts'
export type { FleetNode } from './kit/answers.ts'
