import type { Flag } from '../../kit/usage.ts'
import type { CommandInfo } from './commands.ts'

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

function flagText({ name, short, value, bare }: Flag): string {
  const long = `--${name}${value ? (bare ? `[=${value}]` : ` ${value}`) : ''}`
  return short ? `-${short}, ${long}` : `    ${long}`
}
