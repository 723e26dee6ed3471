import type { CommandLine } from '../../kit/usage.ts'
import { flagHelp, HELP, readFlags } from './flags.ts'
import * as is from './kinds.ts'
import { NODE_SETTINGS } from './node.ts'
import { readEnvironment, resolve } from './read.ts'
import { type Row, SettingsError, type SettingsOf, shown } from './row.ts'

/** A duration such as `10s`, in milliseconds. */
const duration: is.Kind<number> = {
  allowed: 'a duration of at least 100ms, such as 500ms, 10s, 5m or 1h',
  value: 'TIME',
  parse(value) {
    const found = /^(\d{1,9})(ms|s|m|h)$/.exec(value)
    if (!found) return null
    const ms =
      Number(found[1]) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[found[2] as 'ms' | 's' | 'm' | 'h']
    return ms >= 100 && ms <= 7 * 24 * 3_600_000 ? ms : null
  },
}

const MIB = 1024 * 1024
const segmentBytes: is.Kind<number> = {
  ...is.bytes,
  allowed: 'a number of bytes from 1MiB to 16MiB, such as 8388608 or 8MiB',
  parse(value) {
    const bytes = is.bytes.parse(value)
    return bytes !== null && bytes >= MIB && bytes <= 16 * MIB ? bytes : null
  },
}

const listener: is.Kind<{ host: string; port: number }> = {
  allowed: 'HOST:PORT, such as 127.0.0.1:9101',
  value: 'HOST:PORT',
  parse(value) {
    const found = /^(\[[\da-f:.]+\]|[^\s:/]+):(\d{1,5})$/i.exec(value)
    const port = Number(found?.[2])
    return found && port <= 65_535 ? { host: found[1]!.replace(/^\[(.*)\]$/, '$1'), port } : null
  },
}

export const SHIP_SETTINGS = [
  { name: 'home', kind: is.path, value: 'DIR', help: 'A directory with node.json, config.toml and logs/.' },
  { name: 'logs', kind: is.path, value: 'DIR', otherwise: './logs', help: 'The log directory.' },
  {
    name: 'config',
    kind: is.path,
    otherwise: 'none is shipped',
    help: "The node's configuration, a TOML file.",
  },
  {
    name: 'include',
    kind: is.text,
    value: 'GLOB',
    list: true,
    otherwise: 'every file',
    help: 'Files in the log directory to ship.',
  },
  {
    name: 'segment-bytes',
    kind: segmentBytes,
    default: 8 * MIB,
    otherwise: '8MiB',
    help: 'Close a segment at this much text, from 1MiB to 16MiB.',
  },
  {
    name: 'flush',
    kind: duration,
    default: 10_000,
    otherwise: '10s',
    help: 'Ship a line at most this long after it was written.',
  },
  {
    name: 'hold',
    kind: duration,
    default: 3_600_000,
    otherwise: '1h',
    help: 'Keep a removed file open this long while it waits to be shipped.',
  },
  { name: 'once', kind: is.boolean, default: false, help: 'Ship everything there is, then exit.' },
  {
    name: 'verify',
    kind: is.boolean,
    default: false,
    help: 'Compare the log directory with the destination, print each file that is not there, then exit.',
  },
  { name: 'metrics-listen', kind: listener, otherwise: 'off', help: 'Serve Prometheus metrics at /metrics.' },
  ...NODE_SETTINGS,
] as const satisfies readonly Row[]

export type ShipSettings = SettingsOf<(typeof SHIP_SETTINGS)[number]> & {
  /** `s3://bucket/prefix`, or a directory. */
  target: string
}

/** Where logs can be shipped to; more schemes can be read. */
const TARGET = is.locationIn(['s3'])

/** The settings from a command line and the environment. Throws a SettingsError. */
export function loadShipSettings(
  line: CommandLine,
  env: Readonly<Record<string, string | undefined>>,
): ShipSettings {
  const targets = line.positional
  const layers = [readFlags(SHIP_SETTINGS, line), readEnvironment(SHIP_SETTINGS, env, [])]
  const { settings } = resolve(SHIP_SETTINGS, layers)
  if (targets.length !== 1)
    throw new SettingsError(
      'usage',
      targets.length === 0
        ? 'Name the destination, such as s3://bucket/prefix/db-4; nodestate ship --help shows the flags.'
        : `Cannot ship to ${shown(targets[0]!)} and ${shown(targets[1]!)}: name one destination.`,
    )
  const target = TARGET.parse(targets[0]!)
  if (target === null)
    throw new SettingsError('usage', `Cannot ship to ${shown(targets[0]!)}: it must be ${TARGET.allowed}.`)
  if (settings.home !== null && settings.logs !== null)
    throw new SettingsError('usage', 'Cannot use --home and --logs together: name one of them.')
  return { ...settings, target }
}

export function shipHelp(): string {
  return `Usage: nodestate ship [--home DIR | --logs DIR --config FILE] [flags] s3://bucket/prefix/NODE

Ships a node's logs to a bucket as they grow, without losing or repeating a byte. The destination may also be a directory.
Log text is not masked; the configuration is.

${flagHelp(SHIP_SETTINGS, [HELP])}

Each flag is also a variable (--segment-bytes: NODESTATE_SEGMENT_BYTES). Credentials, region and endpoint come from the
standard AWS_* variables. Exit codes: 0 when stopped, when --once has shipped everything or --verify found everything;
1 when files are left or missing, or when it cannot start; 2 for a wrong command line; 3 when another shipper on this
host has taken over.
`
}
