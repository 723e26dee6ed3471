import { type CommandLine, UsageError } from '../../kit/usage.ts'
import { complain, sentenceOf } from './output/notes.ts'
import { paintFor } from './output/paint.ts'
import type { Style } from './output/records.ts'
import { INTERRUPTED, TROUBLE, type World } from './output/world.ts'

export { commandHelp } from './help.ts'
export type { Output, World } from './output/world.ts'

type Run = (given: CommandLine, style: Style, world: World, others: readonly string[]) => Promise<number>

/** Runs a command and returns its exit code. `others` are the program's other commands, for the completions. */
export async function runTerminal(
  name: string,
  line: CommandLine,
  world: World,
  others: readonly string[] = [],
): Promise<number> {
  try {
    const run = await LOAD[name]!()
    const style = styleOf(line, world)
    // On a terminal, records and progress would be on the same screen.
    return await run(line, style, style.json ? { ...world, progress: false } : world, others)
  } catch (error) {
    if (world.signal.aborted) return INTERRUPTED
    await complain(world, sentenceOf(error))
    return TROUBLE
  }
}

/** Each command is loaded when it is used. */
const LOAD: Record<string, () => Promise<Run>> = {
  tail: async () => (await import('./tail.ts')).tail,
  grep: async () => (await import('./grep.ts')).grep,
  ls: async () => (await import('./ls.ts')).ls,
  diff: async () => (await import('./diff.ts')).diff,
  incident: async () => (await import('./incident.ts')).incident,
  config: async () => (await import('./config.ts')).config,
  mcp: async () => (await import('./mcp.ts').catch(explainMissing)).mcp,
  completion: async () => (await import('./completion.ts')).completion,
}

/** The protocol's package is optional. */
function explainMissing(error: unknown): never {
  const { code } = error as { code?: unknown }
  throw code === 'ERR_MODULE_NOT_FOUND'
    ? new UsageError('Install the package of the protocol first: npm i @modelcontextprotocol/server')
    : error
}

function styleOf({ flags }: CommandLine, { stdout: { isTTY }, env }: World): Style {
  const [color] = flags.get('color') ?? ['auto']
  // Any value of NO_COLOR but an empty one (no-color.org).
  const mayColor = isTTY && !env.NO_COLOR && env.TERM !== 'dumb'
  return {
    paint: paintFor(color === 'auto' ? mayColor : color === 'always'),
    json: flags.has('json'),
    zone: (flags.get('time')?.[0] ?? 'log') as Style['zone'],
    terminal: isTTY,
    needles: flags.get('grep') ?? [],
  }
}
