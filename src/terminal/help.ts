import type { CommandInfo } from './commands.ts'
import type { Flag } from './flags.ts'

/** The help of one command. */
export function commandHelp({ usage, summary, flags, examples }: CommandInfo): string {
  const rows = flags.map((flag) => [flagText(flag), flag.help + (flag.list ? ' Repeatable.' : '')])
  const width = Math.max(0, ...rows.map(([flag]) => flag!.length))
  const shown = rows.map(([flag, help]) => `  ${flag!.padEnd(width)}  ${help}`).join('\n')
  return [
    `Usage: ${usage}`,
    summary,
    ...(shown ? [shown] : []),
    `Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`,
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n')
}

function flagText({ name, short, value, optional }: Flag): string {
  const long = `--${name}${value ? (optional ? `[=${value}]` : ` ${value}`) : ''}`
  return short ? `-${short}, ${long}` : `    ${long}`
}
