import { type ChildProcess, spawn } from 'node:child_process'

/** A program that runs until it is stopped. */
export interface Running {
  /** The first line of stdout that `isReady` took. */
  line: string
  /** All that it wrote so far, stdout and stderr. */
  output(): string
  process: ChildProcess
  /** Ends it and waits until it is gone. */
  stop(): Promise<void>
}

/** Starts a program and waits for the line that says that it is ready. */
export function start(
  command: string,
  args: string[],
  options: {
    env?: NodeJS.ProcessEnv
    cwd?: string
    isReady?: (line: string) => boolean
    /** Whether closing stdin ends it, which lets it put its own children away. */
    byStdin?: boolean
    timeout?: number
  } = {},
): Promise<Running> {
  const child = spawn(command, args, {
    env: options.env ?? process.env,
    cwd: options.cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let output = ''
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      if (options.byStdin) child.stdin.end()
      else child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 30_000)
      await gone
      clearTimeout(timer)
    }
  }
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(new Error(`${command} ${reason}:\n${output}`))
    }
    const timer = setTimeout(() => fail('was not ready in time'), options.timeout ?? 110_000)
    let rest = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (options.isReady && !options.isReady(line)) continue
        clearTimeout(timer)
        resolve({ line, output: () => output, process: child, stop })
      }
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.once('error', (error) => fail(`could not start (${error.message})`))
    child.once('close', (code, signal) => fail(`ended with ${signal ?? code}`))
  })
}
