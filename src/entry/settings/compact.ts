import type { CommandLine } from '../../kit/usage.ts'
import { flagHelp, HELP, readFlags } from './flags.ts'
import * as is from './kinds.ts'
import { readEnvironment, resolve } from './read.ts'
import { type Row, SettingsError, type SettingsOf, shown } from './row.ts'

const age: is.Kind<number> = {
  allowed: 'an age of at least one hour, such as 12h or 30d',
  value: 'AGE',
  parse(value) {
    const [, count, unit] = /^(\d{1,5})([hd])$/.exec(value) ?? []
    return Number(count) > 0 ? Number(count) * (unit === 'd' ? 24 : 1) * 3_600_000 : null
  },
}

export const COMPACT_SETTINGS = [
  {
    name: 'expire',
    kind: age,
    otherwise: 'nothing is deleted',
    help: 'Delete segments, and logs of which nothing is left, that were written longer ago than this.',
  },
] as const satisfies readonly Row[]

export type CompactSettings = SettingsOf<(typeof COMPACT_SETTINGS)[number]> & {
  /** `s3://bucket/prefix`, or a directory. */
  target: string
}

const TARGET = is.locationIn(['s3'])

/** The settings from a command line and the environment. Throws a SettingsError. */
export function loadCompactSettings(
  line: CommandLine,
  env: Readonly<Record<string, string | undefined>>,
): CompactSettings {
  const layers = [readFlags(COMPACT_SETTINGS, line), readEnvironment(COMPACT_SETTINGS, env, [])]
  const { settings } = resolve(COMPACT_SETTINGS, layers)
  const [given, other] = line.positional
  if (given === undefined || other !== undefined)
    throw new SettingsError('usage', 'Name one home or folder of homes, such as s3://bucket/prefix.')
  const target = TARGET.parse(given)
  if (target === null)
    throw new SettingsError('usage', `Cannot compact ${shown(given)}: it must be ${TARGET.allowed}.`)
  return { ...settings, target }
}

export function compactHelp(): string {
  return `Usage: nodestate compact [--expire 30d] s3://bucket/prefix

Makes long segments of the short ones that nodestate ship wrote, in a home or in a folder of homes, and deletes old ones.
It may run while logs are shipped and read, and again after it was stopped. It needs rights of its own: to list, read,
write and delete objects.

${flagHelp(COMPACT_SETTINGS, [HELP])}

Credentials, region and endpoint come from the standard AWS_* variables. Exit codes: 0 when done; 1 when the storage
fails or refuses; 2 for a wrong command line.
`
}
