import { suggestion } from '../../kit/suggestion.ts'
import * as is from './kinds.ts'
import { badValue, parse } from './read.ts'
import { codeOf, reasonOf } from './reason.ts'
import { type Given, type Layer, type ReadFile, type Row, SettingsError, shown } from './row.ts'

/** The settings file: the named one, or `nodestate.toml` if it exists. */
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
    throw unreadable(`settings file ${shown(name)}`, error)
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
    const value = row.table
      ? parseTable(row, raw, from)
      : row.list
        ? (Array.isArray(raw) ? raw : [raw]).map((item) => parseTomlValue(row, item, from))
        : parseTomlValue(row, raw, from)
    given.set(row.name, { value, from, source: 'file' })
  }
  return given
}

/** Reports only the line and column: the parser's message quotes the source, which may contain the token. */
async function readToml(source: string, name: string): Promise<Record<string, unknown>> {
  // Loaded only if there is such a file: a worker has none.
  const toml = await import('smol-toml')
  try {
    return toml.parse(source)
  } catch (error) {
    const where = error instanceof toml.TomlError ? ` at line ${error.line}, column ${error.column}` : ''
    throw new SettingsError('usage', `Cannot use ${shown(name)}: it is not valid TOML${where}.`)
  }
}

/** The token in a file, without the newline that editors leave. */
export async function readToken({ value, from }: Given, readFile: ReadFile): Promise<string> {
  const what = `token file ${shown(value as string)} (${from})`
  let content: string
  try {
    content = await readFile(value as string)
  } catch (error) {
    throw unreadable(what, error)
  }
  const found = is.token.parse(content.replace(/\r?\n$/, ''))
  if (found !== null) return found
  throw new SettingsError('file', `Cannot use the ${what}: the token must be ${is.token.allowed}.`)
}

/** A table as the list of its keys and values. */
function parseTable(row: Row, raw: unknown, from: string): unknown[] {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw) || raw instanceof Date)
    throw new SettingsError(
      'usage',
      `Cannot use ${from}: it must be a table [${row.name}] with a line for each.`,
    )
  return Object.entries(raw).map(([key, value]) =>
    parseTomlValue(row, `${key}=${value}`, `${key} in ${from}`),
  )
}

function unreadable(what: string, error: unknown): SettingsError {
  return new SettingsError('file', `Cannot read the ${what}: ${reasonOf(error)}.`, { cause: error })
}

function parseTomlValue(row: Row, value: unknown, from: string): unknown {
  if (typeof value === 'string') return parse(row, value, from)
  if (row.kind.toml && typeof value === row.kind.toml) return parse(row, String(value), from)
  throw badValue(row, JSON.stringify(value) ?? String(value), from)
}
