import type { TokenSource } from '../../core/access/guard.ts'
import type { Capability } from '../../core/capability.ts'
import type { AppOptions } from '../../core/options.ts'
import { metrics } from '../../doors/metrics.ts'
import { samplePage } from '../../doors/page.ts'
import { full } from '../../full.ts'
import type { Settings } from '../settings.ts'

/** The capabilities of a service: all but those whose setting, of the same name, is off. */
export function served(
  settings: Settings,
  { runtime, isSample = false }: { runtime?: string; isSample?: boolean } = {},
): Capability[] {
  const isOn = ({ name }: Capability) => (settings as { readonly [name: string]: unknown })[name] !== false
  const own = (one: Capability) =>
    one.watch ? metrics({ open: settings.metricsOpen, ...(runtime && { runtime }) }) : one
  const shown = (one: Capability) => (isSample && one.name === 'page' ? samplePage() : one)
  return full().filter(isOn).map(own).map(shown)
}

/** Who may ask, by the settings. */
export function authOf(
  { token, tlsClientCa }: Pick<Settings, 'token' | 'tlsClientCa'>,
  tokens: TokenSource | null,
  certificate: ((bindings: unknown) => string | null) | null = null,
): Pick<AppOptions, 'auth'> {
  const auth = {
    ...(token !== null && { token }),
    ...(tokens && { tokens }),
    ...(tlsClientCa !== null &&
      certificate && { identify: (_: Request, { env }: { env: unknown }) => certificate(env) }),
  }
  return Object.keys(auth).length > 0 ? { auth } : {}
}
