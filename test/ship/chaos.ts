import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { clockEnv } from '../support/faketime.ts'
import { fractions } from '../support/random.mjs'

const CLI = resolve('dist/cli.js')
const HEADER = '2026-11-14 02:10:00.000\tINFO\tmain.go:1\t[Broker] [Start]: log opened\n'

/** A log that is written and rotated in every way, its text remembered. */
export class ChaoticLog {
  readonly #directory: string
  readonly #random: () => number
  readonly #rising: boolean
  #written: string[] = []
  #line = 0

  /** `rising`: rotated files are numbered upward, as Log4j does by default; their records have times that tell. */
  constructor(directory: string, seed: number, rising = false) {
    this.#directory = directory
    this.#rising = rising
    this.#random = fractions(seed)
  }

  /** Everything that was ever written, oldest first. */
  get text(): string {
    return this.#written.join('')
  }

  /** A number from 0 up to `most`. */
  chance(most: number): number {
    return Math.floor(this.#random() * most)
  }

  /** Something happens to the log. */
  step(): void {
    const what = this.chance(10)
    if (what < 6) this.#append()
    else if (what < 8) this.#rename()
    else if (what < 9) this.#copyTruncate()
    else this.#compress()
  }

  #append(): void {
    const path = this.#at('broker.log')
    const isNew = !existsSync(path) || readFileSync(path).length === 0
    // Now and then a lot, so that segments are cut by size.
    const count = this.chance(20) === 0 ? 20_000 : 1 + this.chance(200)
    const lines = Array.from(
      { length: count },
      () => `${this.#time()}\tINFO\ta.go:1\t[A] [B]: line ${this.#line++} ${'x'.repeat(this.chance(80))}\n`,
    )
    const text = (isNew ? HEADER : '') + lines.join('')
    this.#written.push(text)
    appendFileSync(path, text)
  }

  #time(): string {
    const time = Date.UTC(2026, 10, 14, 2, 10) + (this.#rising ? this.#line : 0)
    return new Date(time).toISOString().slice(0, 23).replace('T', ' ')
  }

  #rename(): void {
    const free = this.#shift()
    if (free === null) return
    renameSync(this.#at('broker.log'), this.#at(free))
    if (this.chance(2)) this.#append()
  }

  #copyTruncate(): void {
    const free = this.#shift()
    if (free === null) return
    copyFileSync(this.#at('broker.log'), this.#at(free))
    truncateSync(this.#at('broker.log'))
    if (this.chance(2)) this.#append()
  }

  #compress(): void {
    const plain = readdirSync(this.#directory).filter((name) => /^broker\.log\.\d+$/.test(name))
    const name = plain[this.chance(plain.length)]
    if (!name) return
    const path = this.#at(name)
    // As gzip does it: the archive grows beside the file, which goes when it is whole.
    const packed = gzipSync(readFileSync(path))
    writeFileSync(`${path}.gz`, packed.subarray(0, packed.length >> 1))
    writeFileSync(`${path}.gz`, packed)
    unlinkSync(path)
  }

  /** A free name for a rotated file, for which others may make room; null when there is nothing to rotate. */
  #shift(): string | null {
    const path = this.#at('broker.log')
    if (!existsSync(path) || readFileSync(path).length === 0) return null
    const numbers = readdirSync(this.#directory)
      .map((name) => /^broker\.log\.(\d+)(\.gz)?$/.exec(name))
      .filter((found) => found !== null)
      .sort((a, b) => Number(b[1]) - Number(a[1]))
    if (this.#rising) return `broker.log.${Number(numbers[0]?.[1] ?? 0) + 1}`
    for (const [name, number, packed = ''] of numbers)
      renameSync(this.#at(name), this.#at(`broker.log.${Number(number) + 1}${packed}`))
    return 'broker.log.1'
  }

  #at(name: string): string {
    return join(this.#directory, name)
  }
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
  const command = [CLI, 'ship', '--logs', logs, '--segment-age', '200ms', ...args, target]
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
      log.step()
      await new Promise((resolve) => setTimeout(resolve, log.chance(200)))
    }
    for (const child of running) child.kill('SIGKILL')
    await Promise.all(ended)
    // Down over several rotations.
    for (let steps = log.chance(6); steps > 0; steps--) log.step()
  }
  const code = await shipOnce(command)
  if (code !== 0) throw new Error(`The last shipper exited with ${code}`)
}
