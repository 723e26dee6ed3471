import { ProblemError, UnreachableError } from '../client.ts'
import { COMMANDS } from './commands.ts'
import { type Given, readArguments, UsageError } from './flags.ts'
import { commandHelp } from './help.ts'
import { complain } from './output/notes.ts'
import { paintFor, wantsColor } from './output/paint.ts'
import type { Style } from './output/records.ts'
import { FOUND, INTERRUPTED, TROUBLE, type World } from './output/world.ts'

export type { Output, World } from './output/world.ts'

type Run = (given: Given, style: Style, world: World) => Promise<number>

/**
 * Runs a terminal command and returns its exit code: 0, 1 when nothing was found, 2 on errors. `others` are the
 * program's other commands, for the completions.
 */
export async function runTerminal(
  name: string,
  argv: readonly string[],
  world: World,
  others: readonly string[] = [],
): Promise<number> {
  const command = COMMANDS.find((each) => each.name === name)!
  try {
    if (argv.some((argument) => argument === '--help' || argument === '-h')) {
      await world.stdout.write(commandHelp(command))
      return FOUND
    }
    const given = readArguments(command.flags, argv)
    return await (await load(name, others))(given, styleOf(given, world), world)
  } catch (error) {
    if (world.signal.aborted) return INTERRUPTED
    await complain(world, sentenceOf(error, name))
    return TROUBLE
  }
}

/** Each command is loaded when it is used. */
async function load(name: string, others: readonly string[]): Promise<Run> {
  switch (name) {
    case 'tail':
      return (await import('./tail.ts')).tail
    case 'grep':
      return (await import('./grep.ts')).grep
    case 'ls':
      return (await import('./ls.ts')).ls
    case 'config':
      return (await import('./config.ts')).config
    default: {
      const { completion } = await import('./completion.ts')
      return (given, _style, world) => completion(given, others, world)
    }
  }
}

function styleOf(given: Given, world: World): Style {
  const { isTTY } = world.stdout
  return {
    paint: paintFor(wantsColor(given.flags.get('color')?.[0], world.env, isTTY)),
    json: given.flags.has('json'),
    zone: (given.flags.get('time')?.[0] ?? 'log') as Style['zone'],
    terminal: isTTY,
    needles: given.flags.get('grep') ?? [],
  }
}

function sentenceOf(error: unknown, name: string): string {
  if (error instanceof UsageError) return `${error.message} nodestate help ${name} shows how it is used.`
  if (error instanceof ProblemError && error.status === 401)
    return 'The node wants a token: set NODESTATE_TOKEN or use --token-file.'
  if (error instanceof ProblemError || error instanceof UnreachableError) return error.message
  return `Cannot go on: ${error instanceof Error ? error.message : String(error)}`
}
