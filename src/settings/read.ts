import * as is from './kinds.ts'
import {
  type Command,
  codeOf,
  type Given,
  type Layer,
  namesOf,
  type ReadFile,
  type Row,
  reasonOf,
  SettingsError,
  shown,
} from './row.ts'
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
    // A value that looks like a flag is a forgotten value far more often; `--logs=--odd` still says it.
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

/** The `NODESTATE_` variables. */
export function readEnvironment(
  rows: readonly Row[],
  env: Readonly<Record<string, string | undefined>>,
  warnings: string[],
): Layer {
  const given: Layer = new Map()
  for (const row of rows) {
    const name = namesOf(row).env
    const value = env[name]
    if (value === undefined) continue
    // An empty variable is an unset one, as templates leave it; an empty token would open the door in silence.
    if (value === '' && row.kind !== is.token) continue
    // Kubernetes gives every pod beside a Service called "nodestate" NODESTATE_PORT=tcp://ADDRESS:PORT.
    if (row.kind === is.port && value.startsWith('tcp://')) {
      warnings.push(`Ignored ${name}: it is a Kubernetes service link; set ${namesOf(row).flag} instead.`)
      continue
    }
    const parts = row.list ? splitList(value) : null
    given.set(row.name, {
      value: parts ? parts.map((part) => parse(row, part, name)) : parse(row, value, name),
      from: name,
      source: 'environment',
    })
  }
  const known = new Set(rows.map((row) => namesOf(row).env))
  for (const name of Object.keys(env)) {
    // What other programs put there must not keep this one from starting: only a warning.
    if (!name.startsWith('NODESTATE_') || known.has(name)) continue
    if (/^NODESTATE_(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP))/.test(name)) continue
    warnings.push(`Ignored ${name}: there is no such setting${suggestion(name, [...known]) || '.'}`)
  }
  return given
}

/** The settings file: the named one, or `nodestate.toml` where there is one. */
export async function readSettingsFile(
  rows: readonly Row[],
  file: string | null,
  readFile: ReadFile,
): Promise<Layer> {
  const given: Layer = new Map()
  const name = file ?? 'nodestate.toml'
  let source: string
  try {
    source = await readFile(name)
  } catch (error) {
    if (file === null && codeOf(error) === 'ENOENT') return given
    throw new SettingsError('file', `Cannot read the settings file ${shown(name)}: ${reasonOf(error)}.`, {
      cause: error,
    })
  }
  const table = await readToml(source, name)
  for (const [key, raw] of Object.entries(table)) {
    const row = rows.find((row) => row.toml !== false && row.name === key)
    if (!row) {
      const keys = rows.filter((row) => row.toml !== false).map((row) => row.name)
      const hint = suggestion(key, keys)
      throw new SettingsError(
        'usage',
        `Unknown key ${shown(key)} in ${name}${hint || '; nodestate --help shows the settings.'}`,
      )
    }
    const from = `${key} in ${name}`
    const value = row.list
      ? (Array.isArray(raw) ? raw : [raw]).map((item) => parseTomlValue(row, item, from))
      : parseTomlValue(row, raw, from)
    given.set(row.name, { value, from, source: 'file' })
  }
  return given
}

/** Only line and column of a mistake are told: the parser's message quotes the source, and that may hold the token. */
async function readToml(source: string, name: string): Promise<Record<string, unknown>> {
  // Loaded only where there is such a file: a worker has none.
  const { parse, TomlError } = await import('smol-toml')
  try {
    return parse(source)
  } catch (error) {
    const where = error instanceof TomlError ? ` at line ${error.line}, column ${error.column}` : ''
    throw new SettingsError('usage', `Cannot use ${shown(name)}: it is not valid TOML${where}.`)
  }
}

/** The token in a file, without the newline that editors leave. */
export async function readToken({ value, from }: Given, readFile: ReadFile): Promise<string> {
  const file = value as string
  let content: string
  try {
    content = await readFile(file)
  } catch (error) {
    throw new SettingsError(
      'file',
      `Cannot read the token file ${shown(file)} (${from}): ${reasonOf(error)}.`,
      {
        cause: error,
      },
    )
  }
  const found = is.token.parse(content.replace(/\r?\n$/, ''))
  if (found !== null) return found
  throw new SettingsError(
    'file',
    `Cannot use the token file ${shown(file)} (${from}): the token must be ${is.token.allowed}.`,
  )
}

function parse(row: Row, value: string, from: string): unknown {
  const parsed = row.kind.parse(value)
  if (parsed !== null) return parsed
  throw badValue(row, value, from)
}

function parseTomlValue(row: Row, value: unknown, from: string): unknown {
  if (typeof value === 'string') return parse(row, value, from)
  if (row.kind.toml && typeof value === row.kind.toml) return parse(row, String(value), from)
  throw badValue(row, JSON.stringify(value) ?? String(value), from)
}

function badValue(row: Row, value: string, from: string): SettingsError {
  const what = row.kind.secret ? '' : ` ${shown(value)}`
  return new SettingsError('usage', `Cannot use ${from}${what}: it must be ${row.kind.allowed}.`)
}

/** Splits at commas, but not inside the braces of a pattern such as `*.{log,txt}`. */
function splitList(value: string): string[] {
  const parts = value.match(/(?:\{[^}]*\}|[^,])+/g) ?? []
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

function unknownFlag(rows: readonly Row[], flag: string): string {
  if (flag === '--token') {
    return 'Unknown flag --token: every user of a machine can read its command lines; use --token-file FILE or NODESTATE_TOKEN.'
  }
  const flags = [...rows.flatMap((row) => namesOf(row).flag ?? []), '--help', '--version']
  const hint = suggestion(flag, flags)
  return `Unknown flag ${shown(flag)}${hint || '; nodestate --help shows the flags.'}`
}
