import type { Answer } from '../ask.ts'
import type { Line, Log } from '../logs.ts'
import type { World } from '../world.ts'

/** Statuses that a question about a log may get while its files are exchanged, or while there is trouble. */
const EXCUSED = new Set([404, 410, 502, 503, 504])

/** Whether an answer is one: a problem needs an excuse. `what` is for the message. */
export function isAnswered(world: World, log: Log, answer: Answer, what: string): boolean {
  const { status, from, to, cut } = answer
  // A list may be a second old, and a version that was seen is trusted for as long.
  const isRotated = log.rotatedIn(from - 1_500, to)
  const isMissing = isAbsent(world, log, from - 1_500) || isUnwritten(log, from)
  const isExcused = isRotated || world.troubledIn(from - 1_500, to) || isMissing
  if (status === 400 && /no-(level|time)/.test(answer.text) && isFormless(world, log, answer)) return false
  if (status === 200 && (cut === null || isExcused)) return cut === null
  if (status === 200) world.break('an answer is whole', `${what} was cut: ${cut}`)
  else if (!(EXCUSED.has(status) && isExcused))
    world.break('what is incomplete says why', `${what} is ${status} without a reason: ${answer.text}`)
  return false
}

/** Whether its file is not there, or was not at a moment: one that was renamed is made again by the next line. */
function isAbsent({ disk, kernel }: World, { name }: Log, at: number): boolean {
  const born = disk.inodeOf(name)?.born
  return born === undefined || born >= kernel.now() - kernel.elapsed() + at
}

/** Whether its file had no whole line when it was asked for: before that, it has no format. */
function isFormless(world: World, log: Log, { from, to }: Answer): boolean {
  const isOther = log.formed?.inode !== world.disk.inodeOf(log.name)
  return isOther || log.formed!.at >= from || log.rotatedIn(from, to)
}

/** Whether the log had no line yet. */
function isUnwritten(log: Log, at: number): boolean {
  const first = log.lines[0]?.written
  return first === undefined || first === null || first >= at
}

export interface Expected {
  /** For the message. */
  what: string
  /** Whether every line of the log must be there, between the first and the last one of the answer. */
  isContiguous: boolean
  /** Whether the last line may be unfinished. */
  isOpen: boolean
}

/** Rule 1: every line was written, none is cut, doubled or out of place. Returns the lines, in order. */
export function checkLines(world: World, log: Log, text: string, expected: Expected): Line[] | null {
  const pieces = text.split('\n')
  const last = pieces.pop()!
  const lines: Line[] = []
  const fail = (why: string) => {
    world.break('only what was written', `${expected.what}: ${why}`)
    return null
  }
  for (const [i, piece] of pieces.entries()) {
    const line = log.lineOf(piece)
    if (!line && log.isHeader(piece)) continue
    if (!line) return fail(`line ${i + 1} of ${pieces.length} was never written: ${shown(piece)}`)
    const before = lines.at(-1)
    if (before && line.place <= before.place)
      return fail(`${shown(piece)} comes after ${shown(before.text)}, which was written later`)
    const skipped = before && expected.isContiguous ? missingBetween(log, before, line) : null
    if (skipped) return fail(`${shown(skipped.text)} is missing before ${shown(piece)}`)
    lines.push(line)
  }
  if (last === '') return lines
  if (!expected.isOpen) return fail(`the last line has no end: ${shown(last)}`)
  // It may end inside a character.
  const begun = last.replace(/\uFFFD$/, '')
  if (!log.texts.some((text) => `${text}\r`.startsWith(begun)))
    return fail(`no line begins so: ${shown(last)}`)
  return lines
}

/** A line between two that should be there; null when there is none. */
export function missingBetween(log: Log, before: Line, after: Line): Line | null {
  for (let place = before.place + 1; place < after.place; place++) {
    const line = log.lines[place]!
    if (!line.record.lost) return line
  }
  return null
}

/** The newest line that was complete at a moment, and is kept. */
export function newestAt(log: Log, moment: number): Line | null {
  for (let place = log.lines.length - 1; place >= 0; place--) {
    const line = log.lines[place]!
    if (line.written !== null && line.written < moment && !line.record.lost) return line
  }
  return null
}

function shown(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text)
}
