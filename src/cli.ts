#!/usr/bin/env node
import { readFile } from 'node:fs/promises'
import { describe } from './entry/compose.ts'
import { callSite } from './entry/log-line.ts'
import { type Running, startNode } from './entry/node.ts'
import { helpText } from './settings/text.ts'
import { loadSettings, SettingsError } from './settings.ts'
import { VERSION } from './version.ts'

const UNCAUGHT = callSite('Process', 'Error')
/** Signals closer together than this are one wish. */
const SAME_SIGNAL_MS = 250

// A closed pipe (`nodestate | head -1`) must not end the service.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

try {
  await main()
} catch (error) {
  const usage = error instanceof SettingsError && error.reason === 'usage'
  const message = error instanceof SettingsError ? error.message : `Cannot start: ${describe(error)}`
  complain(message.replaceAll('\n', ' '))
  // Not process.exit(): on a pipe it would cut off what was just written.
  process.exitCode = usage ? 2 : 1
}

async function main(): Promise<void> {
  const loaded = await loadSettings({
    argv: process.argv.slice(2),
    env: process.env,
    readFile: (path) => readFile(path, 'utf8'),
  })
  if (loaded.command === 'help') return void process.stdout.write(helpText())
  if (loaded.command === 'version') return void process.stdout.write(`${VERSION}\n`)
  const stderr = { write: (text: string) => void process.stderr.write(text), close() {} }
  const running = await startNode(loaded, stderr)
  for (const warning of running.warnings) complain(warning)
  watchProcess(running)
  process.stdout.write(`${running.welcome}\n`)
}

function complain(line: string): void {
  process.stderr.write(`nodestate: ${line}\n`)
}

function watchProcess({ close, log }: Running): void {
  let stopping: number | null = null
  const stop = (signal: NodeJS.Signals) => {
    // Whoever asks twice does not want to wait; but npm passes on the Ctrl-C that the terminal gave us already.
    if (stopping !== null && performance.now() - stopping < SAME_SIGNAL_MS) return
    if (stopping !== null) process.exit(signal === 'SIGINT' ? 130 : 143)
    stopping = performance.now()
    close().then(() => process.exit(0))
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // The service only reads and keeps nothing that could be left half-written: it goes on.
  const note = (error: unknown) => {
    log.error(UNCAUGHT, describe(error), { stack: error instanceof Error ? error.stack : null })
  }
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
  // @hono/node-server tells the console when the body of an answer breaks off: that belongs into the log.
  console.error = (error: unknown) => log.warn(UNCAUGHT, `An answer was cut: ${describe(error)}`)
  console.info = () => {}
}
