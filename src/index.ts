export { SCOPES, type Scope, type Token } from './access/grant.ts'
export type { TokenSource } from './access/guard.ts'
export type { FleetNode, NodeInfo } from './answers.ts'
export { createApp } from './app.ts'
export { createFleet } from './fleet/fleet.ts'
export type { FleetOptions } from './fleet/options.ts'
export type { Clock } from './kit/limits/clock.ts'
export type { Metrics } from './kit/observe/metrics.ts'
export type { Span, Tracer } from './kit/observe/tracer.ts'
export type { FollowOptions, Limits, LogOptions } from './log/options.ts'
export { MASK, redact } from './mask/redact.ts'
export type { NodeFacts } from './node/identity.ts'
export type { AppOptions } from './options.ts'
export type { Page, PageAsset } from './routes/page.ts'
export {
  type ByteRange,
  type Bytes,
  byCodePoint,
  clampRange,
  type Entry,
  type ListOptions,
  type ReadOptions,
  type Store,
  StoreError,
  type StoreErrorCode,
  type StoreRead,
} from './store/store.ts'
