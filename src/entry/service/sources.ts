import { HOME_LOGS, openHome } from '../../core/node/home.ts'
import { once } from '../../kit/limits/once.ts'
import type { SegmentsOptions } from '../../store/segments.ts'
import type { Store } from '../../store/store.ts'
import { nodeFields } from '../settings/node.ts'
import { type Loaded, SettingsError } from '../settings.ts'
import { parseBucket } from './location.ts'

/** Opens a path below a location, including its subfolders if `nested`. Only the runtime knows its stores. */
export type OpenStore = (location: string, below: string, nested?: boolean) => Store

export type HomeOptions = Pick<SegmentsOptions, 'memory' | 'shared'>

/** The logs of a node; of a home also its configuration, with earlier versions, and its description. */
export function openSources(
  { settings }: Pick<Loaded, 'settings'>,
  open: OpenStore,
  options: HomeOptions = {},
) {
  const set = nodeFields(settings)
  const logs = settings.logs === null ? null : open(settings.logs, '')
  if (settings.home === null) return { logs, config: null, versions: null, node: () => set }
  const home = openHome(open(settings.home, ''), open(settings.home, '', true))
  return {
    logs: logs ?? openHomeLogs(settings.home, open, options),
    config: home.config,
    versions: home.versions,
    node: async () => ({ ...(await home.node()), ...set }),
  }
}

/** The logs of a home: what a shipper wrote, and the mirrors in `logs/`. */
function openHomeLogs(home: string, open: OpenStore, options: HomeOptions): Store {
  const mirror = open(home, HOME_LOGS)
  // A separate chunk, so that a worker's core stays small.
  const logs = once(async () => {
    const [{ segmentStore }, { stemOf }] = await Promise.all([
      import('../../store/segments.ts'),
      import('../../log/rotated/names.ts'),
    ])
    return segmentStore(open(home, '', true), mirror, {
      ...options,
      stemOf,
      optionalMirror: !parseBucket(home),
    })
  })
  return {
    nested: mirror.nested,
    async *list(...asked) {
      yield* (await logs()).list(...asked)
    },
    stat: async (...asked) => (await logs()).stat(...asked),
    read: async (...asked) => (await logs()).read(...asked),
    ...(mirror.watch && { watch: mirror.watch.bind(mirror) }),
  }
}

/** A fleet has its nodes' logs and configurations. Throws a SettingsError when others are named beside it. */
export function refuseMixed({ settings, sources }: Pick<Loaded, 'settings' | 'sources'>): void {
  const hasPeers = settings.peers.length > 0 || settings.peersFrom !== null
  if (settings.peerSelf !== null || (settings.fleet === null && !hasPeers)) return
  const other = sources.home !== 'default' ? 'home' : sources.logs !== 'default' ? 'logs' : 'config'
  if (sources[other] === 'default') return
  const fleet = settings.fleet !== null ? '--fleet' : settings.peersFrom === null ? '--peer' : '--peers-from'
  const hint = hasPeers ? ', or --peer-self ID if this is one of the nodes' : ''
  throw new SettingsError('usage', `Cannot use ${fleet} and --${other} together: set one of them${hint}.`)
}
