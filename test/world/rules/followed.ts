import { LEVELS, type Line, type Log } from '../logs.ts'
import { newestAt } from './answers.ts'

interface FollowedOptions {
  /** The lowest level that is wanted. */
  least: number
  broken(what: string): void
}

/** Rule 3: every line of a log exactly once and in order, or an event before it that says that something was lost. */
export class FollowedLog {
  readonly #log: Log
  readonly #least: number
  readonly #break: (what: string) => void
  #last: Line | null = null
  /** How many lines there were when it began: it may begin with the newest of them, and must get all others. */
  #known = 0
  /** Whether an event said that something was lost. */
  #isGapped = false
  /** The beginning of a line, which may stand only before an event that says that the rest is lost. */
  #fragment: string | null = null

  constructor(log: Log, { least, broken }: FollowedOptions) {
    this.#log = log
    this.#least = least
    this.#break = broken
  }

  /** The follower begins with what there is. */
  begin(): void {
    this.#last = null
    this.#known = this.#log.lines.length
  }

  /** An event without lines: of a rotation, or of something that was lost. */
  event(isRotation: boolean): void {
    if (isRotation) return
    this.#isGapped = true
    // The rest of a line that was being written may be lost, if the next event says so.
    this.#fragment = null
  }

  line(text: string): void {
    const fragment = this.#fragment
    this.#fragment = null
    if (fragment !== null) this.#break(`got ${JSON.stringify(fragment)}, which was never written`)
    if (this.#log.isHeader(text)) return
    const line = this.#log.lineOf(text)
    if (!line) {
      // A place among lines that other files begin with, too, is lost with the identity of its file.
      const isEnded = ({ lost, gone }: Line['record']) => lost || gone !== null || this.#log.settings.header
      // It may end inside a character.
      const begun = text.replace(/\uFFFD$/, '')
      const isBegun = this.#log.lines.some((one) => isEnded(one.record) && one.text.startsWith(begun))
      if (isBegun) this.#fragment = text
      else this.#break(`got ${JSON.stringify(text)}, which was never written`)
      return
    }
    const before = this.#last
    if (before && line.place <= before.place) this.#break(`got ${text} after ${before.text}`)
    else if (!this.#isGapped) {
      const skipped = this.#log.lines.slice(this.#next, line.place).find((one) => this.#isWanted(one))
      if (skipped) this.#break(`got ${text} without ${skipped.text}`)
    }
    this.#last = line
    this.#isGapped = false
  }

  /** The place of the first line that it must get now. */
  get #next(): number {
    return this.#last ? this.#last.place + 1 : this.#known
  }

  /** A log may lose its first lines before a follower of a timeline knows it. */
  #isWanted({ record }: Line): boolean {
    if (this.#last === null && record.gone !== null) return false
    return !record.lost && LEVELS.indexOf(record.level) >= this.#least
  }

  /** Once all is calm: it has the newest line. */
  checkEnd(): void {
    const newest = newestAt(this.#log, Number.POSITIVE_INFINITY)
    const missing = this.#log.lines.slice(this.#next).find((line) => this.#isWanted(line))
    if (newest && missing && !this.#isGapped) this.#break(`never got ${missing.text}`)
  }
}
