import { suggestion } from '../../kit/suggestion.ts'
import * as is from './kinds.ts'
import {
  type Given,
  type Layer,
  namesOf,
  type Row,
  SettingsError,
  type SettingsOf,
  type Source,
  shown,
} from './row.ts'

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
    // An empty variable counts as unset, because templates leave them; but not where that would open something.
    if (value === '' && !row.protects) continue
    // Kubernetes gives every pod beside a Service called "nodestate" NODESTATE_PORT=tcp://ADDRESS:PORT.
    if (row.kind === is.port && value.startsWith('tcp://')) {
      warnings.push(`Ignored ${name}: it is a Kubernetes service link; set ${namesOf(row).flag} instead.`)
      continue
    }
    const parts = row.list ? splitList(value) : null
    if (parts?.length === 0 && row.protects) throw badValue(row, value, name)
    given.set(row.name, {
      value: parts ? parts.map((part) => parse(row, part, name)) : parse(row, value, name),
      from: name,
      source: 'environment',
    })
  }
  return given
}

/** Warnings about unknown `NODESTATE_` variables. No errors: another program's must not keep this one from starting. */
export function unknownVariables(
  rows: readonly Row[],
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  // The last is for the commands in a terminal.
  const known = [...rows.map((row) => namesOf(row).env), 'NODESTATE_URL']
  const unknown = Object.keys(env).filter(
    (name) =>
      name.startsWith('NODESTATE_') &&
      !known.includes(name) &&
      !/^NODESTATE_(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP))/.test(name),
  )
  return unknown.map((name) => `Ignored ${name}: there is no such setting${suggestion(name, known) || '.'}`)
}

/** The settings of a table from layers, the one with the highest precedence first, and where each came from. */
export function resolve<R extends Row>(
  rows: readonly R[],
  layers: readonly Layer[],
): { settings: SettingsOf<R>; sources: Record<keyof SettingsOf<R>, Source> } {
  const settings: Record<string, unknown> = {}
  const sources: Record<string, Source> = {}
  for (const row of rows) {
    const { key } = namesOf(row)
    const given = pick(layers, row.name)
    settings[key] = given ? given.value : (row.default ?? (row.list ? [] : null))
    sources[key] = given?.source ?? 'default'
  }
  return { settings: settings as SettingsOf<R>, sources: sources as Record<keyof SettingsOf<R>, Source> }
}

export function pick(layers: readonly Layer[], name: string): Given | undefined {
  return layers.find((layer) => layer.has(name))?.get(name)
}

export function parse(row: Row, value: string, from: string): unknown {
  const parsed = row.kind.parse(value)
  if (parsed !== null) return parsed
  throw badValue(row, value, from)
}

export function badValue(row: Row, value: string, from: string): SettingsError {
  const what = row.kind.secret ? '' : ` ${shown(value)}`
  return new SettingsError('usage', `Cannot use ${from}${what}: it must be ${row.kind.allowed}.`)
}

/** Splits at commas, but not inside the braces of a pattern such as `*.{log,txt}`. */
function splitList(value: string): string[] {
  const parts = value.match(/(?:\{[^}]*\}|[^,])+/g) ?? []
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}
