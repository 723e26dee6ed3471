import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { fsStore } from '../../src/store/fs.ts'
import { createApp } from './app.ts'
import { faultOf, follow, type Got, type IsDone, poll } from './log-clients.ts'
import { lacking } from './parts.ts'

/** How often a rotator must have rotated before a test ends. */
export const ROTATIONS = 5

/** How many lines the writer may be ahead of the slowest client: fewer than the files of the shortest series have. */
const MOST_AHEAD = 200

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A program from Debian, or the reason to skip what needs it. */
export function program(
  name: string,
  from: string,
  folders = ['/usr/bin', '/usr/sbin', '/bin', '/sbin'],
): { path: string; missing: string | null } {
  for (const folder of folders)
    if (existsSync(join(folder, name))) return { path: join(folder, name), missing: null }
  return { path: name, missing: lacking(`${name} is not installed: apt-get install ${from}`) }
}

/** Numbered lines for a log. */
export class Lines {
  count = 0
  /** The last line that each client has seen. */
  readonly seen = [-1, -1, -1]

  /** The text of the next line. */
  text(): string {
    return `number ${this.count++} ${'.'.repeat(this.count % 97)}`
  }

  /** Waits while a client is far behind: one that is slower than the rotator deletes files would lose lines. */
  async pace(): Promise<void> {
    while (this.count - 1 - Math.min(this.count, ...this.seen) > MOST_AHEAD) await sleep(5)
  }

  /** The next line in the node's own format. */
  next(): string {
    const stamp = new Date().toISOString().replace('T', ' ').slice(0, 23)
    return `${stamp}\tINFO\tx.go:1\t[A]: ${this.text()}\n`
  }
}

/** A log that is written and rotated while it is read. */
export interface Rotated {
  folder: string
  /** The file that clients ask for, once there are a few lines. */
  file: () => string
  /** Writes lines until the log has been rotated often enough. */
  write: (lines: Lines) => Promise<void>
}

/** Three clients read a log while it is written and rotated. Each waits for the last line, not for a clock. */
export async function watched({ folder, file, write }: Rotated): Promise<Got[]> {
  const app = createApp({ logs: fsStore(folder), config: '' })
  const lines = new Lines()
  let writing = true
  // Ends what would wait for a line that never comes, so that the failure says which one.
  let deadline = Number.POSITIVE_INFINITY
  const isDoneFor =
    (client: number): IsDone =>
    (numbers) => {
      lines.seen[client] = numbers.at(-1) ?? -1
      return !writing && (numbers.at(-1) === lines.count - 1 || Date.now() > deadline)
    }
  const done = write(lines).finally(() => {
    writing = false
    deadline = Date.now() + 60_000
  })
  while (lines.count < 20) await sleep(5)
  const name = file()
  const clients = [
    follow(app, name, isDoneFor(0), null),
    follow(app, name, isDoneFor(1), 350),
    poll(app, name, isDoneFor(2)),
  ]
  await done
  const results = await Promise.all(clients)
  for (const { who, numbers } of results)
    expect(numbers.at(-1), `${who}: the last line`).toBe(lines.count - 1)
  return results
}

/**
 * For tests with real rotators: a client on a busy machine may come in the very moment of a rotation, and is told that
 * it may have lost lines. That is right, but shows little, so the test begins again. What is lost in silence fails at once.
 */
export const WHEN_TOLD = { count: 3, condition: /was told of a gap/ }

/** Every client got every line once, and the one that stayed saw the rotation. */
export function expectAll(results: Got[]): void {
  const isTold = ({ told }: Got) => told.includes('gap')
  expect(results.map((got) => faultOf(got, isTold(got))).filter(Boolean)).toEqual([])
  const told = results.find(isTold)
  if (told) throw new Error(`The ${told.who} was told of a gap.`)
  expect(results[0]!.told, 'the follower that stays').toContain('rotated')
}
