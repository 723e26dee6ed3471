import { HOME_LOGS, openHome } from '../../node/home.ts'
import type { NodeInfo } from '../../node/identity.ts'
import type { Loaded, Settings } from '../../settings.ts'
import type { Store } from '../../store/store.ts'

/** Where the answers come from. */
export interface Sources {
  logs: Store
  /** The home's configuration; null without a home. */
  config: (() => Promise<string>) | null
  node: () => Partial<NodeInfo> | Promise<Partial<NodeInfo>>
}

/** Opens the home or the logs that the settings name; `open` knows the stores of the runtime. */
export function openSources(
  { settings, sources }: Pick<Loaded, 'settings' | 'sources'>,
  open: (location: string, below: string) => Store,
): Sources {
  const set = setFields(settings)
  if (settings.home === null) return { logs: open(settings.logs, ''), config: null, node: () => set }
  const home = openHome(open(settings.home, ''))
  return {
    logs: sources.logs === 'default' ? open(settings.home, HOME_LOGS) : open(settings.logs, ''),
    config: home.config,
    node: async () => ({ ...(await home.node()), ...set }),
  }
}

function setFields(settings: Settings): Partial<NodeInfo> {
  return {
    ...(settings.hostIp !== null && { hostIp: settings.hostIp }),
    ...(settings.hostName !== null && { hostName: settings.hostName }),
    ...(settings.grpcPort !== null && { grpcPort: settings.grpcPort }),
    ...(settings.httpPort !== null && { httpPort: settings.httpPort }),
    ...(settings.nodeVersion !== null && { version: settings.nodeVersion }),
  }
}
