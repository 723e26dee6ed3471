import type { Kind } from './kinds.ts'

/** One setting. Its name gives the flag `--host-ip`, the variable `NODESTATE_HOST_IP` and the TOML key `host-ip`. */
export interface Row {
  name: string
  kind: Kind<unknown>
  /** One sentence for `--help` and docs/settings.md. */
  help: string
  /** The placeholder for the value in `--help`. @default that of its kind */
  value?: string
  /** @default none, or an empty list */
  default?: unknown
  /** The default in words, where the value alone does not explain it. */
  otherwise?: string
  /** Repeatable as a flag, comma-separated in the environment, an array in TOML. */
  list?: true
  /** A secret has no flag: every user of a machine can read its command lines. */
  flag?: false
  /** Without it something is open: an empty variable, as templates leave them, is then refused instead of ignored. */
  protects?: true
  /** A table in TOML, whose keys and values are the parts of `KEY=VALUE` elsewhere; its flag is named in the singular. */
  table?: true
  /** False for `settings`, which cannot appear in the file that it names. */
  toml?: false
}

/** The flag, the variable or the key of a setting; null if it has none. */
export function namesOf(row: Row): { flag: string | null; env: string; toml: string | null; key: string } {
  return {
    flag: row.flag === false ? null : `--${row.default === true ? 'no-' : ''}${flagName(row)}`,
    env: `NODESTATE_${row.name.toUpperCase().replaceAll('-', '_')}`,
    toml: row.toml === false ? null : row.name,
    key: row.name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
  }
}

/** What the flag of a setting is called, without its dashes. */
export function flagName({ name, table }: Pick<Row, 'name' | 'table'>): string {
  return table ? name.replace(/s$/, '') : name
}

type Camel<N extends string> = N extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : N
type Value<R extends Row> =
  R['kind'] extends Kind<infer T>
    ? R extends { list: true }
      ? readonly T[]
      : R extends { default: unknown }
        ? T
        : T | null
    : never

/** The resolved settings of a table: without a value or a default, a setting is null, or an empty list. */
export type SettingsOf<R extends Row> = { [S in R as Camel<S['name']>]: Value<S> }

export type Source = 'flag' | 'environment' | 'file' | 'default'

/** Reads a text file, or throws what the system says. */
export type ReadFile = (path: string) => string | Promise<string>

/** A value with the name under which a person gave it. */
export interface Given {
  value: unknown
  from: string
  source: Source
}

/** What one source gave, by the name of the setting. */
export type Layer = Map<string, Given>

/** Why the service cannot start, in one line: wrong usage, or a file that cannot be read. */
export class SettingsError extends Error {
  readonly reason: 'usage' | 'file'

  constructor(reason: 'usage' | 'file', message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'SettingsError'
    this.reason = reason
  }
}

/** A value for one line of terminal output: quoted, without control characters, truncated. */
export function shown(value: string): string {
  const cut = value.length > 80 ? `${value.slice(0, 80)}…` : value
  return JSON.stringify(cut).replace(/[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (letter) => {
    return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
