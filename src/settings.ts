import type { Kind } from './settings/kinds.ts'
import * as is from './settings/kinds.ts'
import { readEnvironment, unknownVariables } from './settings/read.ts'
import {
  type Given,
  type Layer,
  namesOf,
  type ReadFile,
  type Row,
  SettingsError,
  type Source,
  shown,
} from './settings/row.ts'
import { suggestion } from './suggestion.ts'

export { isLoopback } from './settings/kinds.ts'
export { SettingsError, type Source } from './settings/row.ts'

/** Every setting. Parsing, errors, `--help`, the table in docs/settings.md and the effective settings come from here. */
export const SETTINGS = [
  {
    name: 'logs',
    kind: is.location,
    value: 'DIR',
    default: './logs',
    help: 'Log directory, or s3://bucket/prefix.',
  },
  {
    name: 'home',
    kind: is.location,
    value: 'DIR',
    otherwise: 'none',
    help: 'Location of node.json, config.toml and logs/; --logs and --config override it.',
  },
  {
    name: 'fleet',
    kind: is.location,
    value: 'DIR',
    otherwise: 'none',
    help: 'Location with a home for each node; serves all of them.',
  },
  {
    name: 'config',
    kind: is.path,
    value: 'FILE',
    otherwise: "nodestate's own effective settings, as TOML",
    help: "The node's configuration, a TOML file.",
  },
  { name: 'host', kind: is.text, value: 'HOST', default: '127.0.0.1', help: 'Address to listen on.' },
  {
    name: 'port',
    kind: is.port,
    value: 'PORT',
    default: 9000,
    help: 'Port to listen on; 0 picks a free one.',
  },
  {
    name: 'host-ip',
    kind: is.address,
    value: 'ADDRESS',
    otherwise: 'derived',
    help: "The node's hostIp.",
  },
  { name: 'host-name', kind: is.text, value: 'NAME', otherwise: 'derived', help: "The node's hostName." },
  { name: 'grpc-port', kind: is.port, value: 'PORT', otherwise: 'derived', help: "The node's grpcPort." },
  { name: 'http-port', kind: is.port, value: 'PORT', otherwise: 'derived', help: "The node's httpPort." },
  { name: 'node-version', kind: is.text, value: 'TEXT', otherwise: 'derived', help: "The node's version." },
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
  {
    name: 'join',
    kind: is.boolean,
    default: false,
    help: 'Show each folder of dated objects as one log.',
  },
  {
    name: 'max-size',
    kind: is.bytes,
    value: 'BYTES',
    otherwise: 'none',
    help: 'Largest tail to return; below 1 MiB also the default size.',
  },
  {
    name: 'timezone',
    kind: is.timezone,
    value: 'ZONE',
    otherwise: "the system's; UTC at the edge",
    help: 'Time zone of log times that do not name one.',
  },
  {
    name: 'scan-bytes',
    kind: is.bytes,
    value: 'BYTES',
    otherwise: '1 GiB; 64 MiB at the edge',
    help: 'How much of a log one search may read.',
  },
  {
    name: 'scan-seconds',
    kind: is.count,
    value: 'N',
    otherwise: '10',
    help: 'How long one search may take.',
  },
  {
    name: 'scans',
    kind: is.count,
    value: 'COUNT',
    otherwise: '4; fewer below 296 MiB of memory',
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
    value: 'BYTES',
    otherwise: "the container's or the machine's",
    help: 'Memory limit for searches and unsent responses.',
  },
  {
    name: 'followers',
    kind: is.whole,
    value: 'COUNT',
    otherwise: '2000',
    help: 'Maximum number of clients following logs.',
  },
  {
    name: 'stall-seconds',
    kind: is.count,
    value: 'N',
    otherwise: '60',
    help: 'Abort a response when its client has not read from it for this long.',
  },
  {
    name: 'token',
    kind: is.token,
    flag: false,
    otherwise: 'none',
    protects: true,
    help: 'Token that requests under /api/ must send as `Authorization: Bearer …`.',
  },
  {
    name: 'token-file',
    kind: is.path,
    value: 'FILE',
    otherwise: 'none',
    protects: true,
    help: 'File with the token that requests under /api/ must send.',
  },
  {
    name: 'tokens',
    kind: is.path,
    value: 'FILE',
    otherwise: 'none',
    protects: true,
    help: 'TOML file with several tokens; at the edge, its text.',
  },
  {
    name: 'tls-cert',
    kind: is.path,
    value: 'FILE',
    otherwise: 'plain HTTP',
    protects: true,
    help: 'Certificate chain, PEM.',
  },
  {
    name: 'tls-key',
    kind: is.path,
    value: 'FILE',
    otherwise: 'plain HTTP',
    protects: true,
    help: 'Private key of the certificate, PEM.',
  },
  {
    name: 'allow-host',
    kind: is.hostHeader,
    value: 'NAME',
    list: true,
    otherwise: 'any; on loopback without a token, local names',
    protects: true,
    help: 'Host header to accept.',
  },
  {
    name: 'cors-origin',
    kind: is.origin,
    value: 'ORIGIN',
    list: true,
    otherwise: 'none',
    help: 'Origin whose pages may read the responses.',
  },
  { name: 'page', kind: is.boolean, default: true, help: 'Web page at /; --no-page turns it off.' },
  {
    name: 'loki',
    kind: is.boolean,
    default: false,
    help: "Serve Loki's read API under /loki/, for Grafana and logcli.",
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
  {
    name: 'metrics-open',
    kind: is.boolean,
    default: false,
    help: 'Show /metrics without a token.',
  },
  {
    name: 'log-level',
    kind: is.oneOf('debug', 'info', 'warn', 'error', 'off'),
    value: 'LEVEL',
    default: 'info',
    help: "Level of nodestate's own log: debug, info (includes requests), warn, error, off.",
  },
  {
    name: 'log-format',
    kind: is.oneOf('text', 'json'),
    value: 'FORMAT',
    default: 'text',
    help: "Format of nodestate's own log: text or json.",
  },
  {
    name: 'settings',
    kind: is.path,
    value: 'FILE',
    toml: false,
    otherwise: 'nodestate.toml, if present',
    help: 'TOML file with settings.',
  },
] as const satisfies readonly Row[]

type Rows = (typeof SETTINGS)[number]
type Camel<N extends string> = N extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : N
type Value<R extends Row> =
  R['kind'] extends Kind<infer T>
    ? R extends { list: true }
      ? readonly T[]
      : R extends { default: unknown }
        ? T
        : T | null
    : never

/** The resolved settings: without a value or a default, a setting is null, or an empty list. */
export type Settings = { [R in Rows as Camel<R['name']>]: Value<R> }

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
  const { unknown, known } = unknownVariables(SETTINGS, env)
  for (const name of unknown) {
    warnings.push(`Ignored ${name}: there is no such setting${suggestion(name, known) || '.'}`)
  }
  const file = pick(layers, 'settings')?.value as string | undefined
  // A worker has no files, so it never loads the code for them.
  const files = readFile && { readFile, ...(await import('./settings/file.ts')) }
  if (files) layers.push(await files.readSettingsFile(SETTINGS, file ?? null, files.readFile))
  const { settings, sources } = resolve(layers)
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

/** Throws unless the bind is safe: loopback, a token, or --insecure. */
export function refuseOpenBind(settings: Settings): void {
  const guarded = settings.token !== null || settings.tokens !== null
  if (is.isLoopback(settings.host) || guarded || settings.insecure) return
  throw new SettingsError(
    'usage',
    `Cannot listen on ${shown(settings.host)} without a token: anyone who can reach it could read the logs. ` +
      'Set --token-file FILE (or NODESTATE_TOKEN) or --tokens FILE, or --insecure to allow it.',
  )
}

function resolve(layers: readonly Layer[]): Pick<Loaded, 'settings' | 'sources'> {
  const settings: Record<string, unknown> = {}
  const sources: Record<string, Source> = {}
  for (const row of SETTINGS as readonly Row[]) {
    const { key } = namesOf(row)
    const given = pick(layers, row.name)
    settings[key] = given ? given.value : (row.default ?? (row.list ? [] : null))
    sources[key] = given?.source ?? 'default'
  }
  return { settings: settings as Settings, sources: sources as Loaded['sources'] }
}

function pick(layers: readonly Layer[], name: string): Given | undefined {
  return layers.find((layer) => layer.has(name))?.get(name)
}
