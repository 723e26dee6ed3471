import { stringify } from 'smol-toml'
import { SETTINGS, type Settings } from '../settings.ts'
import { flagHelp, HELP } from './flags.ts'
import { namesOf, type Row } from './row.ts'

const ROWS: readonly Row[] = SETTINGS

/** How the service is used; `commands` are the lines about the commands of the program, which come first. */
export function helpText(commands = ''): string {
  const list =
    commands &&
    `Commands (nodestate help COMMAND shows how each is used):\n\n${commands}\n\nFlags of serve:\n\n`
  return `Usage: nodestate [serve] [flags]${commands && '\n       nodestate COMMAND [arguments]'}

Shows a database node's configuration and logs over HTTP.

${list}${flagHelp(ROWS, [HELP, ['-V, --version', 'Show the version.']])}

Every flag is also a variable (--host-ip: NODESTATE_HOST_IP; lists are separated by commas) and a key of
nodestate.toml (host-ip = "192.0.2.7"). Precedence, highest first: flag, variable, nodestate.toml, default.
The token itself can be given as NODESTATE_TOKEN. nodestate writes its own log to standard error.
`
}

/** The settings as TOML that `--settings` accepts; unset ones are left out and secrets are masked. */
export function effectiveToml(settings: Settings): string {
  const lines = ['# The settings that this service runs with.']
  const tables: string[] = []
  for (const row of ROWS) {
    const { key, toml } = namesOf(row)
    const value = settings[key as keyof Settings] as unknown
    if (toml === null || value === null || (Array.isArray(value) && value.length === 0)) continue
    if (!row.table) lines.push(stringify({ [toml]: row.kind.secret ? '******' : value }).trimEnd())
    else tables.push(stringify({ [toml]: Object.fromEntries(value as [string, string][]) }).trimEnd())
  }
  // What follows the head of a table belongs to it.
  lines.push(...tables)
  return `${lines.join('\n')}\n`
}
