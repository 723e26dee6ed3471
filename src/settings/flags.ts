import * as is from './kinds.ts'
import { parse } from './read.ts'
import { type Command, type Layer, namesOf, type Row, SettingsError, shown } from './row.ts'
import { suggestion } from './suggestion.ts'

/** Flags and the command, in any order of flags. */
export function readFlags(rows: readonly Row[], argv: readonly string[]): { command: Command; given: Layer } {
  const given: Layer = new Map()
  if (argv.some((arg) => arg === '-h' || arg === '--help')) return { command: 'help', given }
  if (argv.some((arg) => arg === '-V' || arg === '--version')) return { command: 'version', given }
  const rest = argv[0] === 'serve' ? argv.slice(1) : [...argv]
  const commandGiven = rest.length < argv.length
  for (let i = 0; i < rest.length; i++) {
    const arg = rest[i]!
    if (!arg.startsWith('-')) {
      throw new SettingsError(
        'usage',
        i === 0 && !commandGiven
          ? `Unknown command ${shown(arg)}: nodestate help shows the commands.`
          : `Unexpected argument ${shown(arg)}: values follow their flag; nodestate --help shows the flags.`,
      )
    }
    const equals = arg.indexOf('=')
    const flag = equals < 0 ? arg : arg.slice(0, equals)
    const inline = equals < 0 ? null : arg.slice(equals + 1)
    const negated = rows.find((row) => row.kind === is.boolean && flag === `--no-${row.name}`)
    const row = negated ?? rows.find((row) => row.flag !== false && flag === `--${row.name}`)
    if (!row) throw new SettingsError('usage', unknownFlag(rows, flag))
    if (row.kind === is.boolean) {
      if (negated && inline !== null) {
        throw new SettingsError('usage', `Cannot use ${shown(arg)}: ${flag} takes no value.`)
      }
      const value = negated ? false : inline === null ? true : parse(row, inline, flag)
      given.set(row.name, { value, from: flag, source: 'flag' })
      continue
    }
    // A value that looks like a flag usually means the value was forgotten; `--logs=--odd` still works.
    const next = inline ?? (rest[i + 1]?.startsWith('--') ? undefined : rest[++i])
    if (next === undefined || next === '') {
      throw new SettingsError('usage', `${flag} needs a value: it must be ${row.kind.allowed}.`)
    }
    const value = parse(row, next, flag)
    const before = given.get(row.name)?.value as unknown[] | undefined
    given.set(row.name, { value: row.list ? [...(before ?? []), value] : value, from: flag, source: 'flag' })
  }
  return { command: 'serve', given }
}

function unknownFlag(rows: readonly Row[], flag: string): string {
  if (flag === '--token') {
    return 'Unknown flag --token: every user of a machine can read its command lines; use --token-file FILE or NODESTATE_TOKEN.'
  }
  const flags = [...rows.flatMap((row) => namesOf(row).flag ?? []), '--help', '--version']
  const hint = suggestion(flag, flags)
  return `Unknown flag ${shown(flag)}${hint || '; nodestate --help shows the flags.'}`
}
