import { parseArgs } from 'node:util'
import { suggestion } from '../../kit/suggestion.ts'
import { type CommandLine, type Flag, UsageError } from '../../kit/usage.ts'
import { flagsOf, readFlags } from '../settings/flags.ts'
import { type Layer, shown } from '../settings/row.ts'
import { SETTINGS } from '../settings.ts'

/** The flags that every command has, and what shows them. */
const HELP = ['-h', '--help']
export const VERSION_FLAGS = ['-V', '--version']

/** Whether a command line has one of these flags; what follows `--` is never a flag. */
export function has(argv: readonly string[], flags: readonly string[] = HELP): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end < 0 ? undefined : end).some((argument) => flags.includes(argument))
}

export interface Usage {
  flags: readonly Flag[]
  /** The most arguments that it takes besides its flags. @default any number */
  most?: number
  /** The command that shows its flags. */
  help: string
}

/**
 * Reads a command line: flags anywhere, `--flag=value`, `-n 50`, `-n50`, `-fn 50`, and `--` before odd names. Throws a
 * UsageError.
 */
export function readArguments({ flags, most, help }: Usage, argv: readonly string[]): CommandLine {
  const line: CommandLine = { positional: [], flags: new Map() }
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(flags.map((flag) => [flag.name, optionOf(flag)])),
    // Its own refusals suggest nothing, and quote what may be a secret.
    strict: false,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind === 'positional') line.positional.push(token.value)
    if (token.kind !== 'option') continue
    const flag = flags.find(
      ({ name, short }) => token.rawName === `--${name}` || token.rawName === `-${short}`,
    )
    if (!flag) throw unknownFlag(flags, token.rawName, help)
    const value = readValue(flag, token)
    const name = flag.negates ?? flag.name
    line.flags.set(name, flag.list ? [...(line.flags.get(name) ?? []), value] : [value])
  }
  const extra = most === undefined ? undefined : line.positional[most]
  if (extra === undefined) return line
  throw new UsageError(
    `Unexpected argument ${shown(extra)}: values follow their flag; ${help} shows the flags.`,
  )
}

/** The settings on the command line of `nodestate serve`. Throws a UsageError or a SettingsError. */
export function serveFlags(argv: readonly string[]): Layer {
  return readFlags(
    SETTINGS,
    readArguments({ flags: flagsOf(SETTINGS), most: 0, help: 'nodestate --help' }, argv),
  )
}

export function unknownCommand(name: string, commands: readonly string[]): UsageError {
  return new UsageError(
    `Unknown command ${shown(name)}${suggestion(name, commands) || ': nodestate help shows the commands.'}`,
  )
}

function optionOf({ value, bare, short }: Flag) {
  const type = value !== undefined && bare === undefined ? 'string' : 'boolean'
  return { type, ...(short && { short }) } as const
}

function readValue(
  { value, bare, negates, choices, expects = value }: Flag,
  {
    rawName,
    value: given,
    inlineValue = false,
  }: { rawName: string; value: string | undefined; inlineValue?: boolean | undefined },
): string {
  if (value === undefined && given !== undefined)
    throw new UsageError(`Cannot use ${shown(`${rawName}=${given}`)}: ${rawName} takes no value.`)
  if (given === undefined && (value === undefined || bare !== undefined))
    return bare ?? String(negates === undefined)
  // A value that looks like a flag usually means that the value was forgotten; `--logs=--odd` still works.
  if (!given || (!inlineValue && given.startsWith('--')))
    throw new UsageError(`${rawName} needs a value: ${expects}.`)
  if (choices && !choices.includes(given))
    throw new UsageError(
      `Cannot use ${rawName} ${shown(given)}: it must be ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}.`,
    )
  return given
}

function unknownFlag(flags: readonly Flag[], flag: string, help: string): UsageError {
  if (flag === '--token')
    return new UsageError(
      'Unknown flag --token: every user of a machine can read its command lines; use --token-file FILE or NODESTATE_TOKEN.',
    )
  const known = [...flags.map(({ name }) => `--${name}`), '--help']
  return new UsageError(
    `Unknown flag ${shown(flag)}${suggestion(flag, known) || `; ${help} shows the flags.`}`,
  )
}
