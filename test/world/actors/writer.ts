import type { Random } from '../kernel/random.ts'
import { bytesOf, LEVELS, type Log, linesOf } from '../logs.ts'
import type { Step } from '../plan.ts'
import type { World } from '../world.ts'
import type { Actor } from './actor.ts'
import { append, openLog } from './append.ts'

/** `count` records, each in so many `pieces`, with a stack trace of `trace` lines where `traced` says so. */
interface Write extends Step {
  count: number
  pieces: number
  trace: number
  longest: number
}

/** The clock of the program is set forward or back. */
interface Stepping extends Step {
  ms: number
}

/** A second, a minute, an hour and a year. */
const STEPS = [1_000, 60_000, 3_600_000, 31_536_000_000]

/** The share of logs with a record of up to 200 KiB. */
const LONG = 0.01
/** A longer record has this length. */
const MOST_DRAWN = 256 * 1024

const WORDS = [
  'slow query',
  'timeout',
  'flushed',
  'retry shard',
  'Überlauf',
  'merge',
  'compaction of 12 files',
  '📦',
]

const BROKEN_WORDS = [...WORDS, 'M\uFFFDller']

/** A program that writes a log: one for each log. */
export const writer: Actor = {
  changes: true,
  plan({ random, settings, add, moment }) {
    for (const { name, rising, longest } of settings.logs) {
      const own = random.split(name)
      for (let i = own.small(2, 25); i > 0; i--)
        add(name, 'write', moment(own), {
          count: own.small(1, 16) * settings.size,
          pieces: own.small(1, 4),
          trace: own.chance(0.3) ? own.small(1, 5) : 0,
          longest: own.chance(0.03) ? 2_000 : 60,
        })
      const long = random.split(`${name} long`)
      if (long.chance(LONG))
        add(name, 'write', moment(long), {
          count: 1,
          pieces: 1,
          trace: 0,
          longest: long.between(64, 200) * 1024,
        })
      if (longest !== undefined) add(name, 'write', moment(long), { count: 1, pieces: 1, trace: 0, longest })
      // Rising numbers and a clock that steps back look like falling numbers, and only the times of change disagree.
      if (rising) continue
      const clock = random.split(`${name} clock`)
      for (let i = clock.chance(0.3) ? clock.small(1, 4) : 0; i > 0; i--)
        add(name, 'step', moment(clock), { ms: clock.pick(STEPS) * (clock.chance(0.75) ? -1 : 1) })
    }
  },
  async act(world, step) {
    const log = world.logOf(step)
    if (step.does === 'step') return stepClock(world, log, step as Stepping)
    const { count, pieces, trace, longest } = step as Write
    const random = world.randomOf(step)
    for (let i = 0; i < count; i++) {
      const words = wordsOf(random, longest, log.settings.broken ? BROKEN_WORDS : WORDS)
      const level = random.pick(LEVELS)
      const time = world.kernel.now() + log.shift
      const { format, crlf } = log.settings
      const lines = random.chance(0.5) ? trace : 0
      const record = log.add(time, level, (id) => linesOf(format, { id, time, level, words, trace: lines }))
      const end = crlf ? '\r\n' : '\n'
      for (const line of record.lines) {
        await writeLine(world, log, { text: line.text + end, pieces: random.between(1, pieces) }, random)
        line.written = world.kernel.elapsed()
      }
      while (log.isAwaited) await world.kernel.sleep(1)
      if (random.chance(0.2)) await world.kernel.sleep(random.small(0, 50))
    }
    world.note(`${log.name}: ${count} records up to <${log.index}-${log.records.length}>`)
  },
}

/** Not in the tick in which the file was written: nothing could tell that file from the next one of the same tick. */
async function stepClock(world: World, log: Log, { ms }: Stepping): Promise<void> {
  const { kernel, plan } = world
  const { tick } = plan.settings
  while (log.handle && kernel.now() < log.handle.inode.modified + tick) await kernel.sleep(tick)
  log.shift += ms
  if (ms < 0) log.hasStepped = true
  world.note(`${log.name}: its clock steps by ${ms} ms`)
}

interface Pieces {
  text: string
  pieces: number
}

/** A rotator may rename the file between two pieces: the line then ends in the renamed one. */
async function writeLine(world: World, log: Log, { text, pieces }: Pieces, random: Random): Promise<void> {
  log.handle ??= openLog(world, log, log.name)
  const { handle } = log
  const bytes = bytesOf(text)
  log.isMidLine = true
  for (let at = 0, left = pieces; at < bytes.length; left--) {
    const length = left <= 1 ? bytes.length - at : random.between(1, bytes.length - at)
    await append(world, handle, bytes.subarray(at, at + length))
    at += length
    if (at < bytes.length) await world.kernel.sleep(random.small(0, 400))
  }
  log.isMidLine = false
  if (log.formed?.inode !== handle.inode) log.formed = { inode: handle.inode, at: world.kernel.elapsed() }
}

function wordsOf(random: Random, longest: number, from: readonly string[]): string {
  let words = random.pick(from)
  const length = longest > MOST_DRAWN ? longest : random.small(5, longest)
  while (words.length < Math.min(length, MOST_DRAWN)) words += ` ${random.pick(from)}`
  // To draw all words of some MiB would take longer than the rest of the world.
  if (words.length < length) words = `${words} `.repeat(Math.ceil(length / words.length))
  return words
}
