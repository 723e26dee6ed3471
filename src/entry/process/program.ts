import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { UsageError } from '../../kit/usage.ts'
import { VERSION } from '../../kit/version.ts'
import { describe, origin } from '../own-log/log-line.ts'
import type { OwnLog } from '../own-log/own-log.ts'
import type { Serve } from '../server/serve.ts'
import type { HostOptions } from '../service/compose.ts'
import { hasSource, type Loaded, loadSettings, SettingsError } from '../settings.ts'
import { has, serveFlags, VERSION_FLAGS } from './arguments.ts'
import { runCommand, showHelp } from './commands.ts'

/** What makes a service listen on one runtime. It is loaded when it is used: the other commands start without it. */
type Load = () => Promise<{ serve: Serve; host?: HostOptions }>

const UNCAUGHT = origin('entry/process/program.ts', 'Process', 'Error')
/** Signals closer together than this count as one. */
const SAME_SIGNAL_MS = 250

/** The program around a service: flags in, one line out, exit codes, signals. The same on Node, Bun and Deno. */
export async function program(load: Load): Promise<void> {
  // A closed pipe (`nodestate | head -1`) must not end the service.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  const [first = '', ...rest] = process.argv.slice(2)
  try {
    if (first === 'serve') await main(load, rest)
    else if (first === 'demo') await main(load, rest, 'always')
    else if (first === '' || first.startsWith('-'))
      await main(load, process.argv.slice(2), 'without a source')
    else process.exitCode = await runCommand(first, rest)
  } catch (error) {
    const isUsage =
      error instanceof UsageError || (error instanceof SettingsError && error.reason === 'usage')
    const isExpected = isUsage || error instanceof SettingsError
    complain((isExpected ? error.message : `Cannot start: ${describe(error)}`).replaceAll('\n', ' '))
    // Not process.exit(): on a pipe it would cut off what was just written.
    process.exitCode = isUsage ? 2 : 1
    // Something that was started before the failure may keep the process alive.
    setTimeout(() => process.exit(), 500).unref()
  }
}

/** Serves what the settings name; or a sample, always or where they name nothing. */
async function main(
  load: Load,
  argv: readonly string[],
  demo: 'never' | 'always' | 'without a source' = 'never',
): Promise<void> {
  if (has(argv)) return showHelp()
  if (has(argv, VERSION_FLAGS)) return void process.stdout.write(`${VERSION}\n`)
  const loaded = await loadSettings({
    flags: serveFlags(argv),
    env: process.env,
    readFile: (path) => readFile(path, 'utf8'),
  })
  const isDemo = demo === 'always' || (demo === 'without a source' && isBare(loaded))
  if (isDemo) prepareDemo(loaded)
  // Made only when it is shown.
  const sample = isDemo ? (await import('../demo/sample.ts')).openSample() : null
  const stderr = { write: (text: string) => void process.stderr.write(text), close() {} }
  const [{ startWith }, { serve, host }] = await Promise.all([import('./start.ts'), load()])
  const running = await startWith(serve, { ...host, sample })(loaded, stderr, process.env)
  for (const warning of running.warnings) complain(warning)
  watchProcess(running)
  process.stdout.write(`${running.welcome}\n`)
}

function isBare(loaded: Loaded): boolean {
  return !hasSource(loaded) && loaded.settings.config === null && loaded.settings.peerSelf === null
}

/** Refuses flags that name something else to show. Variables and files may name it for another time, and are left out. */
function prepareDemo({ settings, sources }: Loaded): void {
  for (const name of ['logs', 'home', 'fleet', 'config'] as const) {
    if (sources[name] === 'flag')
      throw new SettingsError(
        'usage',
        `Cannot use --${name} with demo, which shows a sample; use nodestate serve.`,
      )
    settings[name] = null
  }
  // It is written in the system's zone.
  Object.assign(settings, {
    peers: [],
    peersFrom: null,
    peerSelf: null,
    timezone: null,
    join: false,
    include: [],
  })
  if (sources.logLevel === 'default') settings.logLevel = 'warn'
}

function complain(line: string): void {
  process.stderr.write(`nodestate: ${line}\n`)
}

function watchProcess({ close, log }: { close(): Promise<void>; log: OwnLog }): void {
  let stopping: number | null = null
  const stop = (signal: NodeJS.Signals) => {
    // A second signal means now; but npm passes on the Ctrl-C that the terminal already sent us.
    if (stopping !== null && performance.now() - stopping < SAME_SIGNAL_MS) return
    if (stopping !== null) process.exit(signal === 'SIGINT' ? 130 : 143)
    stopping = performance.now()
    close().then(() => process.exit(0))
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  noteFailures(log)
}

/** The service only reads and keeps nothing that could be left half-written, so an unexpected error does not end it. */
function noteFailures(log: OwnLog): void {
  const note = (error: unknown) => {
    log.error(UNCAUGHT, describe(error), { stack: error instanceof Error ? error.stack : null })
  }
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
}
