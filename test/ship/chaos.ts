import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { clockEnv } from '../support/faketime.ts'
import { fractions } from '../support/random.mjs'

const CLI = resolve('dist/entry/cli.js')
/** What every file begins with. */
const BANNER = Array.from(
  { length: 24 },
  (_, i) => `2026-11-14 02:00:00.000\tINFO\tmain.go:${i}\t[Broker] [Start]: option ${i} is its default\n`,
).join('')

/** A log that is written and rotated in every way, the text of each file remembered. */
export class ChaoticLog {
  readonly #directory: string
  readonly #random: () => number
  readonly #files: string[] = ['']
  #line = 0
  /** A writer that has not noticed a rotation yet. */
  #late: { fd: number; file: number } | null = null

  constructor(directory: string, seed: number) {
    this.#directory = directory
    this.#random = fractions(seed)
  }

  /** The text of every file that was ever written, oldest first. */
  get files(): string[] {
    return this.#files.filter((text) => text !== '')
  }

  /** A number from 0 up to `most`. */
  chance(most: number): number {
    return Math.floor(this.#random() * most)
  }

  /** Something happens to the log. */
  async step(): Promise<void> {
    const what = this.chance(12)
    if (what < 6) this.#append()
    else if (what < 8) this.#rename()
    else if (what < 9) await this.#copyTruncate()
    else if (what < 10) this.#writeLate()
    else await this.#compress()
  }

  /** Lets the last writer notice that its file was rotated. */
  end(): void {
    this.#writeLate()
  }

  #append(): void {
    const isNew = this.#files.at(-1) === ''
    // Now and then a lot, so that segments are cut by size.
    const count = this.chance(20) === 0 ? 20_000 : 1 + this.chance(200)
    const lines = Array.from({ length: count }, () => this.#lineOf('x'.repeat(this.chance(80))))
    const text = (isNew ? BANNER : '') + lines.join('')
    this.#files[this.#files.length - 1] += text
    appendFileSync(this.#at('broker.log'), text)
  }

  #lineOf(text: string): string {
    // All have the same time: only names tell their order.
    return `2026-11-14 02:10:00.000\tINFO\ta.go:1\t[A] [B]: line ${this.#line++} ${text}\n`
  }

  #writeLate(): void {
    if (!this.#late) return
    const { fd, file } = this.#late
    const text = this.#lineOf('late')
    writeSync(fd, text)
    closeSync(fd)
    this.#files[file] += text
    this.#late = null
  }

  #rename(): void {
    const free = this.#shift()
    if (free === null) return
    this.#writeLate()
    if (this.chance(3) === 0)
      this.#late = { fd: openSync(this.#at('broker.log'), 'a'), file: this.#files.length - 1 }
    renameSync(this.#at('broker.log'), this.#at(free))
    this.#files.push('')
    if (this.chance(2)) this.#append()
  }

  /** As logrotate does it: the copy grows beside the file, which is truncated when it is whole. */
  async #copyTruncate(): Promise<void> {
    const free = this.#shift()
    if (free === null) return
    this.#writeLate()
    await this.#writeInHalves(this.#at(free), readFileSync(this.#at('broker.log')))
    truncateSync(this.#at('broker.log'))
    this.#files.push('')
    if (this.chance(2)) this.#append()
  }

  /** As gzip does it: the archive grows beside the file, which goes when it is whole. */
  async #compress(): Promise<void> {
    const plain = readdirSync(this.#directory).filter((name) => /^broker\.log\.\d+$/.test(name))
    const name = plain[this.chance(plain.length)]
    if (!name) return
    this.#writeLate()
    await this.#writeInHalves(this.#at(`${name}.gz`), gzipSync(readFileSync(this.#at(name))))
    unlinkSync(this.#at(name))
  }

  async #writeInHalves(path: string, bytes: Uint8Array): Promise<void> {
    const half = this.chance(bytes.length)
    writeFileSync(path, bytes.subarray(0, half))
    await pause(this.chance(100))
    appendFileSync(path, bytes.subarray(half))
  }

  /** A free name for a rotated file, for which others may make room; null when there is nothing to rotate. */
  #shift(): string | null {
    if (this.#files.at(-1) === '') return null
    const numbers = readdirSync(this.#directory)
      .map((name) => /^broker\.log\.(\d+)(\.gz)?$/.exec(name))
      .filter((found) => found !== null)
      .sort((a, b) => Number(b[1]) - Number(a[1]))
    for (const [name, number, packed = ''] of numbers)
      renameSync(this.#at(name), this.#at(`broker.log.${Number(number) + 1}${packed}`))
    return 'broker.log.1'
  }

  #at(name: string): string {
    return join(this.#directory, name)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** How to start a shipper. */
export interface ShipCommand {
  logs: string
  target: string
  env: Record<string, string>
  args?: string[]
  /** Whether its clock is a year behind. */
  clock?: boolean
}

/** Starts a shipper as a separate process. */
export function startShipper({ logs, target, env, args = [], clock = false }: ShipCommand): ChildProcess {
  const command = [CLI, 'ship', '--logs', logs, '--flush', '200ms', ...args, target]
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('NODESTATE_')),
  )
  const odd = clock ? clockEnv('-365d') : {}
  return spawn(process.execPath, command, { env: { ...clean, ...env, ...odd }, stdio: 'ignore' })
}

/** Ships everything that is left. */
export async function shipOnce(command: ShipCommand): Promise<number | null> {
  const [code] = await once(startShipper({ ...command, args: ['--once'] }), 'close')
  return code as number | null
}

/** Compares the directory with the destination; 0 if every file is there. */
export async function verifyShipped(command: ShipCommand): Promise<number | null> {
  const [code] = await once(startShipper({ ...command, args: ['--verify'] }), 'close')
  return code as number | null
}

/** Writes, rotates, ships and kills; then ships the rest. */
export async function chaos(
  log: ChaoticLog,
  command: ShipCommand,
  { kills, shippers }: { kills: number; shippers: number },
): Promise<void> {
  for (let round = 0; round < kills; round++) {
    const running = Array.from({ length: shippers }, () => startShipper(command))
    const ended = running.map((child) => once(child, 'close'))
    for (let steps = log.chance(12); steps >= 0; steps--) {
      await log.step()
      await pause(log.chance(200))
    }
    for (const child of running) child.kill('SIGKILL')
    await Promise.all(ended)
    // Down over several rotations.
    for (let steps = log.chance(8); steps > 0; steps--) await log.step()
  }
  log.end()
  const code = await shipOnce(command)
  if (code !== 0) throw new Error(`The last shipper exited with ${code}`)
}
