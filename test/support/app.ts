import type { TokenSource } from '../../src/core/access/guard.ts'
import { createApp as bareApp, appOf as bareAppOf, sharedOf as bareShared } from '../../src/core/app.ts'
import type { Capability } from '../../src/core/capability.ts'
import type { AppOptions as BareOptions, Identity } from '../../src/core/options.ts'
import type { Service } from '../../src/core/routing.ts'
import { pageOf } from '../../src/doors/page.ts'
import { createFleet as bareFleet } from '../../src/fleet/fleet.ts'
import type { FleetOptions as BareFleetOptions } from '../../src/fleet/options.ts'
import { full } from '../../src/full.ts'
import type { Metrics } from '../../src/kit/observe/metrics.ts'
import type { Page } from '../../src/routes/page.ts'

/** What many tests say about an app, in short. */
interface Short {
  token?: string
  tokens?: TokenSource
  identify?: (bindings: unknown) => Identity | null
  loki?: (() => Capability) | false | undefined
  mcp?: (() => Capability) | false | undefined
  page?: (() => Capability) | Page | false | undefined
  metrics?: Metrics | undefined
  metricsOpen?: boolean | undefined
}
export type AppOptions = BareOptions & Short
export type FleetOptions = BareFleetOptions & Short

/** Everything but what a service must be asked for: the page, metrics, Loki's API and MCP. */
const USUAL = ['search', 'follow', 'timeline', 'insight', 'openapi']

function inFull<O extends Short & { with?: readonly Capability[] | undefined }>(given: O) {
  const { token, tokens, identify, loki, mcp, page, metrics, metricsOpen, ...options } = given
  const auth = {
    ...('token' in given && { token }),
    ...('tokens' in given && { tokens }),
    ...(identify && { identify: (_: Request, { env }: { env: unknown }) => identify(env) }),
  }
  const more = [
    ...[loki, mcp].flatMap((make) => (make ? [make()] : [])),
    ...(page ? [typeof page === 'function' ? page() : pageOf(async () => page)] : []),
    ...(metrics ? [counted(metrics, metricsOpen)] : []),
    ...(options.with ?? []),
  ]
  const usual = full().filter(({ name }) => USUAL.includes(name) && more.every((one) => one.name !== name))
  return { ...options, ...(Object.keys(auth).length > 0 && { auth }), with: [...usual, ...more] }
}

function counted(watch: Metrics, open = false): Capability {
  return {
    name: 'metrics',
    watch,
    add: ({ routing }) =>
      routing.add('/metrics', open ? 'nothing' : 'metrics', (request) => watch.show(request)),
  }
}

/** An app with the usual capabilities. */
export const createApp = (options: AppOptions): Service => bareApp(inFull(options) as BareOptions)

/** What several apps share. */
export const sharedOf = (options: AppOptions) => bareShared(inFull(options) as BareOptions)

/** The same with what several apps share. */
export const appOf = (options: AppOptions, shared: ReturnType<typeof sharedOf>): Service =>
  bareAppOf(inFull(options) as BareOptions, shared)

/** A fleet with the usual capabilities. */
export const createFleet = (options: FleetOptions): Service => bareFleet(inFull(options) as BareFleetOptions)
