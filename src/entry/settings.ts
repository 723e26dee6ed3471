import * as is from './settings/kinds.ts'
import { NODE_SETTINGS } from './settings/node.ts'
import { pick, readEnvironment, resolve, unknownVariables } from './settings/read.ts'
import {
  type Layer,
  type ReadFile,
  type Row,
  SettingsError,
  type SettingsOf,
  type Source,
  shown,
} from './settings/row.ts'

export { isLoopback } from './settings/kinds.ts'
export { SettingsError, type Source } from './settings/row.ts'

/** Every setting. Parsing, errors, `--help`, the table in docs/settings.md and the effective settings come from here. */
export const SETTINGS = [
  { name: 'logs', kind: is.location, help: 'Log directory, or s3://bucket/prefix.' },
  {
    name: 'home',
    kind: is.location,
    help: 'Location of node.json, config.toml and logs/; --logs and --config override it.',
  },
  { name: 'fleet', kind: is.location, help: 'Location with a home for each node; serves all of them.' },
  {
    name: 'peers',
    kind: is.peer,
    list: true,
    table: true,
    help: 'A node that runs nodestate itself; serves it as a node of a fleet.',
  },
  {
    name: 'peers-from',
    kind: is.serviceUrl,
    help: 'Address whose name stands for all peers; looked up every 30 s.',
  },
  {
    name: 'peer-self',
    kind: is.nodeId,
    help: 'Id of the node that this service runs on, among its peers.',
  },
  { name: 'peer-token-file', kind: is.path, help: 'File with the token that the peers want.' },
  {
    name: 'config',
    kind: is.path,
    otherwise: "nodestate's own effective settings, as TOML",
    help: "The node's configuration, a TOML file.",
  },
  { name: 'host', kind: is.text, value: 'HOST', default: '127.0.0.1', help: 'Address to listen on.' },
  { name: 'port', kind: is.port, default: 9000, help: 'Port to listen on; 0 picks a free one.' },
  ...NODE_SETTINGS,
  {
    name: 'include',
    kind: is.text,
    value: 'GLOB',
    list: true,
    otherwise: 'every file',
    protects: true,
    help: 'Files in the log directory to show.',
  },
  {
    name: 'nested',
    kind: is.boolean,
    default: false,
    help: 'Show files in folders too, with slashes in their names.',
  },
  { name: 'join', kind: is.boolean, default: false, help: 'Show each folder of dated objects as one log.' },
  { name: 'max-size', kind: is.bytes, help: 'Largest tail to return; below 1 MiB also the default size.' },
  {
    name: 'timezone',
    kind: is.timezone,
    otherwise: "the system's; UTC at the edge",
    help: 'Time zone of log times that do not name one.',
  },
  {
    name: 'scan-bytes',
    kind: is.bytes,
    otherwise: '1 GiB; 64 MiB at the edge',
    help: 'How much of a log one search may read.',
  },
  { name: 'scan-seconds', kind: is.count, otherwise: '10', help: 'How long one search may take.' },
  {
    name: 'scans',
    kind: is.count,
    value: 'COUNT',
    otherwise: '4; fewer below 336 MiB of memory',
    help: 'Maximum number of concurrent searches.',
  },
  {
    name: 'archive-bytes',
    kind: is.bytes,
    value: 'SIZE',
    otherwise: '512 MiB; 128 MiB at the edge',
    help: 'How much text to decompress from one file.',
  },
  {
    name: 'memory',
    kind: is.bytes,
    otherwise: "the container's or the machine's",
    help: 'Memory limit for searches and unsent responses.',
  },
  { name: 'followers', kind: is.whole, otherwise: '2000', help: 'Maximum number of clients following logs.' },
  {
    name: 'stall-seconds',
    kind: is.count,
    otherwise: '60',
    help: 'Abort a response when its client has not read from it for this long.',
  },
  {
    name: 'token',
    kind: is.token,
    flag: false,
    protects: true,
    help: 'Token that requests under /api/ must send as `Authorization: Bearer …`.',
  },
  {
    name: 'token-file',
    kind: is.path,
    protects: true,
    help: 'File with the token that requests under /api/ must send.',
  },
  {
    name: 'tokens',
    kind: is.path,
    protects: true,
    help: 'TOML file with several tokens; at the edge, its text.',
  },
  {
    name: 'tls-cert',
    kind: is.path,
    otherwise: 'plain HTTP',
    protects: true,
    help: 'Certificate chain, PEM.',
  },
  {
    name: 'tls-key',
    kind: is.path,
    otherwise: 'plain HTTP',
    protects: true,
    help: 'Private key of the certificate, PEM.',
  },
  {
    name: 'tls-client-ca',
    kind: is.path,
    protects: true,
    help: 'Authority whose client certificates need no token, PEM (Node only).',
  },
  {
    name: 'allow-host',
    kind: is.hostHeader,
    list: true,
    otherwise: 'any; on loopback without a token, local names',
    protects: true,
    help: 'Host header to accept.',
  },
  { name: 'cors-origin', kind: is.origin, list: true, help: 'Origin whose pages may read the responses.' },
  { name: 'page', kind: is.boolean, default: true, help: 'Web page at /; --no-page turns it off.' },
  {
    name: 'loki',
    kind: is.boolean,
    default: false,
    help: "Serve Loki's read API under /loki/, for Grafana and logcli.",
  },
  {
    name: 'mcp',
    kind: is.boolean,
    default: false,
    help: 'Serve the Model Context Protocol at /mcp, for assistants.',
  },
  {
    name: 'insecure',
    kind: is.boolean,
    default: false,
    help: 'Allow listening beyond loopback without a token.',
  },
  {
    name: 'metrics',
    kind: is.boolean,
    default: true,
    help: 'Metrics for Prometheus at /metrics; --no-metrics turns them off.',
  },
  { name: 'metrics-open', kind: is.boolean, default: false, help: 'Show /metrics without a token.' },
  {
    name: 'log-level',
    kind: is.oneOf('debug', 'info', 'warn', 'error', 'off'),
    value: 'LEVEL',
    default: 'info',
    help: "Level of nodestate's own log: debug, info (with requests), warn, error, off.",
  },
  {
    name: 'log-format',
    kind: is.oneOf('text', 'json'),
    value: 'FORMAT',
    default: 'text',
    help: "Format of nodestate's own log: text or json.",
  },
  {
    name: 'audit-file',
    kind: is.path,
    protects: true,
    help: 'File for one JSON line per request: who read what; - for standard error.',
  },
  {
    name: 'settings',
    kind: is.path,
    toml: false,
    otherwise: 'nodestate.toml, if present',
    help: 'TOML file with settings.',
  },
] as const satisfies readonly Row[]

export type Settings = SettingsOf<(typeof SETTINGS)[number]>

export interface Loaded {
  settings: Settings
  /** Where each setting came from, by its name in Settings. */
  sources: Record<keyof Settings, Source>
  /** One line each, for stderr; none of them stops the service. */
  warnings: string[]
}

export interface Surroundings {
  /** What the command line gives; see `readFlags`. @default nothing */
  flags?: Layer
  env: Readonly<Record<string, string | undefined>>
  /** Without it, no settings file or token file is read. */
  readFile?: ReadFile
}

/** Precedence, highest first: flag, environment, settings file, default. Throws a SettingsError. */
export async function loadSettings({ flags = new Map(), env, readFile }: Surroundings): Promise<Loaded> {
  const warnings: string[] = []
  const layers = [flags, readEnvironment(SETTINGS, env, warnings)]
  warnings.push(...unknownVariables(SETTINGS, env))
  const file = pick(layers, 'settings')?.value as string | undefined
  // A worker has no files, so it never loads the code for them.
  const files = readFile && { readFile, ...(await import('./settings/file.ts')) }
  if (files) layers.push(await files.readSettingsFile(SETTINGS, file ?? null, files.readFile))
  const { settings, sources } = resolve(SETTINGS, layers)
  const tokenLayer = layers.find((layer) => layer.has('token') || layer.has('token-file'))
  if (tokenLayer?.has('token') && tokenLayer.has('token-file')) {
    const [one, other] = [tokenLayer.get('token')!.from, tokenLayer.get('token-file')!.from]
    throw new SettingsError('usage', `Cannot use ${one} and ${other} together: set one of them.`)
  }
  // Whichever of the two was given with the higher precedence wins: --token-file overrides NODESTATE_TOKEN.
  if (tokenLayer?.has('token')) settings.tokenFile = null
  if (tokenLayer?.has('token-file')) {
    settings.token = files ? await files.readToken(tokenLayer.get('token-file')!, files.readFile) : null
  }
  if ((settings.tlsCert === null) !== (settings.tlsKey === null)) {
    const [set, missing] = settings.tlsCert === null ? ['key', 'cert'] : ['cert', 'key']
    const from = pick(layers, `tls-${set}`)!.from
    throw new SettingsError('usage', `Cannot use ${from} alone: set --tls-${missing} FILE too.`)
  }
  return { settings, sources, warnings }
}

/** Whether the settings name something to show. */
export function hasSource({
  settings: { logs, home, fleet, peers, peersFrom, peerSelf },
}: Pick<Loaded, 'settings'>): boolean {
  if (logs !== null || home !== null) return true
  return peerSelf === null && (fleet !== null || peers.length > 0 || peersFrom !== null)
}

/** Throws unless the bind is safe: loopback, a token, client certificates, or --insecure. */
export function refuseOpenBind(settings: Settings): void {
  const guarded = settings.token !== null || settings.tokens !== null || settings.tlsClientCa !== null
  if (is.isLoopback(settings.host) || guarded || settings.insecure) return
  throw new SettingsError(
    'usage',
    `Cannot listen on ${shown(settings.host)} without a token: anyone who can reach it could read the logs. ` +
      'Set --token-file FILE (or NODESTATE_TOKEN) or --tokens FILE, or --insecure to allow it.',
  )
}
