import { type CommandLine, UsageError } from '../../kit/usage.ts'
import { COMMANDS } from './commands.ts'
import { onlyTargetsOf } from './nodes/connect.ts'
import type { Style } from './output/records.ts'
import { clean, cleanName, joined, show } from './output/shown.ts'
import { FOUND, type World } from './output/world.ts'

const SHELLS = { bash, zsh, fish }
const WITH_FLAGS = COMMANDS.filter(({ flags }) => flags.length > 0)
/** Commands whose arguments are log files; their names come from the node in NODESTATE_URL. */
const WITH_FILES = ['tail', 'grep', 'diff', 'incident']

/**
 * `nodestate completion`: a script that completes commands, flags and, with NODESTATE_URL set, log files. The names of
 * files come from the node, so to a shell they are data: it never expands them, and each becomes one quoted argument.
 */
export async function completion(
  given: CommandLine,
  style: Style,
  world: World,
  others: readonly string[],
): Promise<number> {
  const [shell, extra] = given.positional
  if (shell === FILES && extra === undefined) return names(given, style, world)
  if (shell === undefined || extra !== undefined || !Object.hasOwn(SHELLS, shell))
    throw new UsageError('Say which shell: nodestate completion bash, zsh or fish.')
  const commands = new Set(['serve', ...COMMANDS.map(({ name }) => name), ...others])
  await world.stdout.write(clean(SHELLS[shell as keyof typeof SHELLS]([...commands]), style))
  return FOUND
}

/** What the scripts call for the names, one on each line. */
const FILES = 'files'

/** Names that no list of lines can hold, or that look like flags, are left out: control characters, leading dashes. */
const UNFIT = /^-|\p{Cc}/u

async function names(given: CommandLine, style: Style, world: World): Promise<number> {
  for (const { client } of await onlyTargetsOf({ ...given, positional: [] }, world)) {
    const { entries } = await client.list({ signal: world.signal })
    const fit = entries.filter(({ name }) => !UNFIT.test(name))
    await world.stdout.write(joined(fit.map(({ name }) => show`${cleanName(name, style)}\n`)))
  }
  return FOUND
}

function flagsOf(name: string): string[] {
  const flags = COMMANDS.find((command) => command.name === name)?.flags ?? []
  return flags.flatMap((flag) => [`--${flag.name}`, ...(flag.short ? [`-${flag.short}`] : [])])
}

/**
 * What is typed is compared with the quoted names, because it is quoted itself. The word before the cursor is taken from
 * the line: bash splits its own words at colons, too, and then replaces only the part behind them.
 */
function bash(commands: string[]): string {
  const cases = WITH_FLAGS.map(({ name }) => `    ${name}) words='${flagsOf(name).join(' ')}' ;;`).join('\n')
  return `# bash completion for nodestate: source <(nodestate completion bash)
_nodestate() {
  local current=\${COMP_WORDS[COMP_CWORD]} command=\${COMP_WORDS[1]} words='' typed='' name quoted
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
  case $command in
    ${WITH_FILES.join('|')}) [ -n "$NODESTATE_URL" ] || return ;;
    *) return ;;
  esac
  local word='(([^[:space:]\\\\]|\\\\.)*\\\\?)$'
  [[ \${COMP_LINE:0:COMP_POINT} =~ $word ]] && typed=\${BASH_REMATCH[1]}
  while IFS= read -r name; do
    printf -v quoted %q "$name"
    [ "\${quoted:0:\${#typed}}" = "$typed" ] && COMPREPLY+=("\${quoted#"\${typed%"$current"}"}")
  done < <(nodestate completion ${FILES} 2>/dev/null)
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
  case $words[2] in
    ${WITH_FILES.join('|')}) [[ -n $NODESTATE_URL ]] && found+=(\${(f)"$(nodestate completion ${FILES} 2>/dev/null)"}) ;;
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
  lines.push(
    "complete -c nodestate -f -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'",
    `complete -c nodestate -f -n '__fish_seen_subcommand_from ${WITH_FILES.join(' ')}; and set -q NODESTATE_URL' -a '(nodestate completion ${FILES} 2>/dev/null)'`,
  )
  return `${lines.join('\n')}\n`
}
