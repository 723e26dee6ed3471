import { type CommandLine, UsageError } from '../../kit/usage.ts'
import { COMMANDS } from './commands.ts'
import type { Style } from './output/records.ts'
import { clean } from './output/shown.ts'
import { FOUND, type World } from './output/world.ts'

const SHELLS = { bash, zsh, fish }
const WITH_FLAGS = COMMANDS.filter(({ flags }) => flags.length > 0)

/** `nodestate completion`: a script that completes commands and flags. */
export async function completion(
  { positional: [shell, extra] }: CommandLine,
  style: Style,
  world: World,
  others: readonly string[],
): Promise<number> {
  if (shell === undefined || extra !== undefined || !Object.hasOwn(SHELLS, shell))
    throw new UsageError('Say which shell: nodestate completion bash, zsh or fish.')
  const commands = new Set(['serve', ...COMMANDS.map(({ name }) => name), ...others])
  await world.stdout.write(clean(SHELLS[shell as keyof typeof SHELLS]([...commands]), style))
  return FOUND
}

function flagsOf(name: string): string[] {
  const flags = COMMANDS.find((command) => command.name === name)?.flags ?? []
  return flags.flatMap((flag) => [`--${flag.name}`, ...(flag.short ? [`-${flag.short}`] : [])])
}

function bash(commands: string[]): string {
  const cases = WITH_FLAGS.map(({ name }) => `    ${name}) words='${flagsOf(name).join(' ')}' ;;`).join('\n')
  return `# bash completion for nodestate: source <(nodestate completion bash)
_nodestate() {
  local current=\${COMP_WORDS[COMP_CWORD]} command=\${COMP_WORDS[1]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${commands.join(' ')}' -- "$current"))
    return
  fi
  case $command in
${cases}
    completion) words='bash zsh fish' ;;
    help) words='${commands.join(' ')}' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _nodestate nodestate
`
}

function zsh(commands: string[]): string {
  const cases = WITH_FLAGS.map(({ name }) => `    ${name}) found=(${flagsOf(name).join(' ')}) ;;`).join('\n')
  return `#compdef nodestate
# zsh completion for nodestate: source <(nodestate completion zsh)
_nodestate() {
  local -a found
  if (( CURRENT == 2 )); then
    compadd -- ${commands.join(' ')}
    return
  fi
  case $words[2] in
${cases}
    completion) found=(bash zsh fish) ;;
    help) found=(${commands.join(' ')}) ;;
  esac
  compadd -- $found
}
compdef _nodestate nodestate
`
}

function fish(commands: string[]): string {
  const lines = [
    '# fish completion for nodestate: nodestate completion fish | source',
    `complete -c nodestate -f -n __fish_use_subcommand -a '${commands.join(' ')}'`,
  ]
  for (const { name, flags } of COMMANDS) {
    const here = `complete -c nodestate -n '__fish_seen_subcommand_from ${name}'`
    for (const flag of flags)
      lines.push(
        `${here} -l ${flag.name}${flag.short ? ` -s ${flag.short}` : ''}${flag.value ? ' -r' : ''} -d '${flag.help.replaceAll("'", '’')}'`,
      )
  }
  lines.push("complete -c nodestate -f -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'")
  return `${lines.join('\n')}\n`
}
