import type { Runtime } from './runtime.ts'

/** At the edge, code runs on no machine in particular. */
export const runtime: Runtime = { name: 'unknown', host: () => ({}), process: () => null }
