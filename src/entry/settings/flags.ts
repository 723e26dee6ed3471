import type { CommandLine, Flag } from '../../kit/usage.ts'
import * as is from './kinds.ts'
import { parse } from './read.ts'
import { flagName, type Layer, namesOf, type Row } from './row.ts'

/** The flags of settings: a switch may have a value (`--page=off`), and `--no-page` turns it off. */
export function flagsOf(rows: readonly Row[]): Flag[] {
  return rows
    .filter((row) => row.flag !== false)
    .flatMap(({ kind, value = kind.value, list, help, ...row }): Flag[] => {
      const name = flagName(row)
      return kind === is.boolean
        ? [
            { name, value: 'BOOLEAN', bare: 'true', help },
            { name: `no-${name}`, negates: name, help },
          ]
        : [{ name, value: value!, list, help, expects: `it must be ${kind.allowed}` }]
    })
}

/** The settings that a command line gives. Throws a SettingsError. */
export function readFlags(rows: readonly Row[], { flags }: CommandLine): Layer {
  const given: Layer = new Map()
  for (const row of rows) {
    const name = flagName(row)
    const from = `--${name}`
    const values = flags.get(name)?.map((value) => parse(row, value, from))
    if (values) given.set(row.name, { value: row.list ? values : values[0], from, source: 'flag' })
  }
  return given
}

export const HELP: [flag: string, help: string] = ['-h, --help', 'Show this help.']

/** A line for each flag of a table, and for these others. */
export function flagHelp(rows: readonly Row[], others: readonly [flag: string, help: string][]): string {
  const own = rows.flatMap((row): [string, string][] => {
    const flag = flagOf(row)
    const help = `${row.help}${row.list ? ' Repeatable.' : ''} (default: ${defaultOf(row)})`
    return flag === null ? [] : [[flag, help]]
  })
  const flags = [...own, ...others]
  const width = Math.max(...flags.map(([flag]) => flag.length))
  return flags.map(([flag, help]) => `  ${flag.padEnd(width)}  ${help}`).join('\n')
}

/** The flag of a setting with the placeholder for its value; null if it has none. */
export function flagOf(row: Row): string | null {
  const { flag } = namesOf(row)
  const value = row.value ?? row.kind.value
  return flag && value ? `${flag} ${value}` : flag
}

/** The default of a setting in words; a value of its own is quoted. */
export function defaultOf(row: Row, quote = ''): string {
  if (row.otherwise) return row.otherwise
  if (typeof row.default === 'boolean') return row.default ? 'on' : 'off'
  return row.default === undefined ? 'none' : `${quote}${row.default}${quote}`
}
