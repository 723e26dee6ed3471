import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { COMMANDS as TERMINAL } from '../../terminal/commands.ts'
import type { World } from '../../terminal/terminal.ts'

/** A command of the program besides `serve`: what it does in one sentence, and how it runs to its exit code. */
export interface Command {
  summary: string
  run(argv: readonly string[]): Promise<number>
}

/** The commands that talk to a node over HTTP. */
const terminal = TERMINAL.map(({ name, summary }): [string, Command] => [
  name,
  {
    summary,
    async run(argv) {
      const { runTerminal } = await import('../../terminal/terminal.ts')
      return runTerminal(name, argv, worldOf(), Object.keys(COMMANDS))
    },
  },
])

/** Every command by its name; each is loaded when it is used. */
export const COMMANDS: Record<string, Command> = {
  ...Object.fromEntries(terminal),
  ship: {
    summary: "Ship a node's logs to a bucket as they grow.",
    run: async (argv) => (await import('../ship/run.ts')).runShip(argv),
  },
  token: { summary: 'Make a token for --tokens FILE.', run: token },
  help: { summary: 'Show this, or how a command is used: nodestate help tail.', run: help },
}

/** `nodestate token`: the token, and on the next line what a tokens file needs of it. */
async function token(argv: readonly string[]): Promise<number> {
  const help = argv.some((arg) => arg === '-h' || arg === '--help')
  if (argv.length > 0 && !help) {
    process.stderr.write('nodestate: token takes no arguments. nodestate help token shows more.\n')
    return 2
  }
  if (help) {
    process.stdout.write(TOKEN_HELP)
    return 0
  }
  const { makeToken } = await import('../../access/make.ts')
  const { token, digest } = await makeToken()
  process.stdout.write(`${token}\n${digest}\n`)
  if (process.stderr.isTTY)
    process.stderr.write(
      'Give the first line to the client, and put the second into the tokens file: token = "sha256:…"\n',
    )
  return 0
}

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

/** `nodestate help [COMMAND]`. */
async function help([name]: readonly string[]): Promise<number> {
  if (name === 'serve') {
    const { helpText } = await import('../../settings/text.ts')
    process.stdout.write(helpText())
    return 0
  }
  if (name === undefined || name === 'help') {
    process.stdout.write(overview())
    return 0
  }
  if (Object.hasOwn(COMMANDS, name)) return COMMANDS[name]!.run(['--help'])
  process.stderr.write(`nodestate: There is no command "${name}". nodestate help shows them all.\n`)
  return 2
}

function overview(): string {
  const rows = [
    ['serve', "Serve a node's configuration and logs over HTTP (the default)."],
    ...Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary]),
  ]
  const width = Math.max(...rows.map(([name]) => name!.length))
  return `Usage: nodestate [COMMAND] [arguments]

Shows a database node's configuration and logs.

${rows.map(([name, summary]) => `  ${name!.padEnd(width)}  ${summary}`).join('\n')}

nodestate help COMMAND shows how a command is used.
`
}

/** What a terminal command needs of this process. */
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
    signal: controller.signal,
  }
}
