import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { COMMANDS as TERMINAL } from '../../doors/terminal/commands.ts'
import type { World } from '../../doors/terminal/terminal.ts'
import type { CommandLine } from '../../kit/usage.ts'
import { has, readArguments, type Usage, unknownCommand } from './arguments.ts'

/** A command of the program besides `serve`. */
export interface Command {
  summary: string
  /** Each command is loaded when it is used. */
  load(): Promise<LoadedCommand>
}

interface LoadedCommand extends Omit<Usage, 'help'> {
  help(): string
  run(line: CommandLine): Promise<number>
}

/** The commands that talk to a node over HTTP. */
const terminal = TERMINAL.map((info): [string, Command] => [
  info.name,
  {
    summary: info.summary,
    async load() {
      const { commandHelp, runTerminal } = await import('../../doors/terminal/terminal.ts')
      return {
        flags: info.flags,
        help: () => commandHelp(info),
        run: (line) => runTerminal(info.name, line, worldOf(), Object.keys(COMMANDS)),
      }
    },
  },
])

export const COMMANDS: Record<string, Command> = {
  ...Object.fromEntries(terminal),
  ship: {
    summary: "Ship a node's logs to a bucket as they grow.",
    async load() {
      const { runShip, SHIP_FLAGS, shipHelp } = await import('../ship/run.ts')
      return { flags: SHIP_FLAGS, help: shipHelp, run: (line) => runShip(line) }
    },
  },
  compact: {
    summary: 'Make long segments of short ones in a bucket, and delete old ones.',
    async load() {
      const { COMPACT_FLAGS, compactHelp, runCompact } = await import('../ship/compact.ts')
      return { flags: COMPACT_FLAGS, help: compactHelp, run: (line) => runCompact(line) }
    },
  },
  token: {
    summary: 'Make a token for --tokens FILE.',
    load: async () => ({ flags: [], most: 0, help: () => TOKEN_HELP, run: token }),
  },
  health: {
    summary: 'Exit with 0 if a service on this machine answers; for containers.',
    load: async () => ({ flags: [], most: 1, help: () => HEALTH_HELP, run: health }),
  },
  help: {
    summary: 'Show this, or how a command is used: nodestate help tail.',
    load: async () => ({ flags: [], most: 1, help: overview, run: help }),
  },
}

/** Runs a command to its exit code. Throws a UsageError when its command line is wrong. */
export async function runCommand(name: string, argv: readonly string[]): Promise<number> {
  if (!Object.hasOwn(COMMANDS, name)) throw unknownCommand(name, ['serve', 'demo', ...Object.keys(COMMANDS)])
  const { help, run, ...usage } = await COMMANDS[name]!.load()
  if (!has(argv)) return run(readArguments({ ...usage, help: `nodestate help ${name}` }, argv))
  process.stdout.write(help())
  return 0
}

/** `nodestate token`: the token, and on the next line what a tokens file needs of it. */
async function token(): Promise<number> {
  const { makeToken } = await import('../../core/access/make.ts')
  const { token, digest } = await makeToken()
  process.stdout.write(`${token}\n${digest}\n`)
  if (process.stderr.isTTY)
    process.stderr.write(
      'Give the first line to the client, and put the second into the tokens file: token = "sha256:…"\n',
    )
  return 0
}

/** `nodestate health`: ends the process, which open sockets would keep. */
async function health({ positional: [port] }: CommandLine): Promise<number> {
  const { isHealthy } = await import('./health.ts')
  return process.exit((await isHealthy(port ?? process.env.NODESTATE_PORT ?? '9000')) ? 0 : 1)
}

const HEALTH_HELP = `Usage: nodestate health [PORT]

Exits with 0 if the service at this port of this machine answers, and with 1 if not: the
health check of a container. The port is that of NODESTATE_PORT, or 9000.
`

const TOKEN_HELP = `Usage: nodestate token

Makes a token and prints two lines: the token itself, for the client, and its SHA-256
digest, for the tokens file, which then holds no secret:

  [[tokens]]
  name = "grafana"
  token = "sha256:…"
  scopes = ["logs"]        # of config, logs, metrics; all when absent
  files = ["broker*.log"]  # shell patterns; every file when absent

nodestate serve --tokens FILE reads the file again when it changes.
`

async function help({ positional: [name = 'help'] }: CommandLine): Promise<number> {
  if (name !== 'serve' && name !== 'demo') return runCommand(name, ['--help'])
  await showHelp()
  return 0
}

/** `nodestate --help`: the commands, then the flags of the service. */
export async function showHelp(): Promise<void> {
  const { helpText } = await import('../settings/text.ts')
  process.stdout.write(helpText(commandList()))
}

function commandList(): string {
  const rows = [
    ['serve', "Serve a node's configuration and logs over HTTP (the default)."],
    ['demo', 'Serve a sample cluster incident, to try it; takes the flags of serve.'],
    ...Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary]),
  ]
  const width = Math.max(...rows.map(([name]) => name!.length))
  return rows.map(([name, summary]) => `  ${name!.padEnd(width)}  ${summary}`).join('\n')
}

function overview(): string {
  return `Usage: nodestate [COMMAND] [arguments]

Shows a database node's configuration and logs.

${commandList()}

nodestate help COMMAND shows how a command is used.
`
}

function worldOf(): World {
  const controller = new AbortController()
  process.on('SIGINT', () => {
    // Pressed twice: do not wait for what is still running.
    if (controller.signal.aborted) process.exit(130)
    controller.abort()
  })
  const output = (stream: NodeJS.WriteStream) => ({
    isTTY: stream.isTTY === true,
    write: (text: string | Uint8Array) =>
      new Promise<boolean>((resolve) => stream.write(text, (error) => resolve(!error))),
  })
  return {
    env: process.env,
    stdout: output(process.stdout),
    stderr: output(process.stderr),
    readFile: (path) => readFile(path, 'utf8'),
    inputEnd: () =>
      new Promise((resolve) => {
        for (const event of ['end', 'close']) process.stdin.once(event, () => resolve())
        controller.signal.addEventListener('abort', () => resolve())
      }),
    signal: controller.signal,
  }
}
