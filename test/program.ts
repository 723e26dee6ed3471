import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const CLI = resolve('dist/entry/cli.js')
const running = new Set<ChildProcess>()
const directories = new Set<string>()

export interface Program {
  child: ChildProcess
  /** Where it listens, from the line it printed. */
  url: string
  stdout(): string
  stderr(): string
  exited: Promise<number | null>
}

/** An empty directory that `cleanUp` removes. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'nodestate-cli-'))
  directories.add(directory)
  return directory
}

/** Runs the program as a user would, in an empty directory, without this machine's settings. */
export function launch(
  args: string[],
  {
    cwd = temporaryDirectory(),
    env = {},
    cli = CLI,
  }: { cwd?: string; env?: Record<string, string>; cli?: string } = {},
): Omit<Program, 'url'> {
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('NODESTATE_')),
  )
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    env: { ...clean, ...env } as NodeJS.ProcessEnv,
  })
  running.add(child)
  let out = ''
  let err = ''
  child.stdout!.on('data', (data) => {
    out += data
  })
  child.stderr!.on('data', (data) => {
    err += data
  })
  const exited = once(child, 'close').then(([code]) => {
    running.delete(child)
    return code as number | null
  })
  return { child, stdout: () => out, stderr: () => err, exited }
}

/** Launches and waits for the line with the address. */
export async function serve(...given: Parameters<typeof launch>): Promise<Program> {
  const program = launch(...given)
  const url = await new Promise<string>((found, failed) => {
    const look = () => {
      const match = /https?:\/\/[^\s"]+/.exec(program.stdout())
      if (match && program.stdout().includes('\n')) found(match[0])
    }
    program.child.stdout!.on('data', look)
    program.exited.then((code) => failed(new Error(`exited with ${code}: ${program.stderr()}`)))
  })
  return { ...program, url }
}

/**
 * A port for a program that ends and comes back. It is below the ephemeral range, or another program could
 * have it meanwhile.
 */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

/** Ends what still runs. */
export async function cleanUp(): Promise<void> {
  const closed = [...running].map((child) => once(child, 'close'))
  for (const child of running) child.kill('SIGKILL')
  await Promise.all(closed)
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
  directories.clear()
}
