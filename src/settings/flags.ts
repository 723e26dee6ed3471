import type { CommandLine, Flag } from '../usage.ts'
import * as is from './kinds.ts'
import { parse } from './read.ts'
import type { Layer, Row } from './row.ts'

/** The flags of settings: a switch may have a value (`--page=off`), and `--no-page` turns it off. */
export function flagsOf(rows: readonly Row[]): Flag[] {
  return rows
    .filter((row) => row.flag !== false)
    .flatMap(({ name, kind, value, list, help }): Flag[] =>
      kind === is.boolean
        ? [
            { name, value: 'BOOLEAN', bare: 'true', help },
            { name: `no-${name}`, negates: name, help },
          ]
        : [{ name, value: value ?? 'VALUE', list, help, expects: `it must be ${kind.allowed}` }],
    )
}

/** The settings that a command line gives. Throws a SettingsError. */
export function readFlags(rows: readonly Row[], { flags }: CommandLine): Layer {
  const given: Layer = new Map()
  for (const row of rows) {
    const from = `--${row.name}`
    const values = flags.get(row.name)?.map((value) => parse(row, value, from))
    if (values) given.set(row.name, { value: row.list ? values : values[0], from, source: 'flag' })
  }
  return given
}
