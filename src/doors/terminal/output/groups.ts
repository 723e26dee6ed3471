/** A record that may be printed. */
export interface Grouped {
  label: string
  line: string
  isMatch: boolean
  /** Whether records of its log were left out before it, and others printed before them. */
  isApart: boolean
}

interface Waiting extends Grouped {
  /** Null until it is known whether a match is near. */
  isShown: boolean | null
}

interface LogState {
  /** How many records came since the last match. */
  since: number
  /** The last records that are not near a match before them. */
  pending: Waiting[]
  hasGap: boolean
  hasShown: boolean
}

/**
 * The records around matches, in order. They come with one more record of context on either side than is shown: where
 * that is left out, groups do not touch.
 */
export class Groups {
  readonly #count: number
  readonly #logs = new Map<string, LogState>()
  #waiting: Waiting[] = []

  constructor(count: number) {
    this.#count = count
  }

  add(label: string, line: string, isMatch: boolean): void {
    const log = this.#logs.get(label) ?? {
      since: Number.POSITIVE_INFINITY,
      pending: [],
      hasGap: false,
      hasShown: false,
    }
    this.#logs.set(label, log)
    const record: Waiting = { label, line, isMatch, isApart: false, isShown: null }
    this.#waiting.push(record)
    log.since = isMatch ? 0 : log.since + 1
    if (isMatch) {
      const first = log.pending[0] ?? record
      first.isApart = log.hasGap && log.hasShown
      for (const each of [...log.pending, record]) each.isShown = true
      log.pending = []
      log.hasGap = false
      log.hasShown = true
    } else if (log.since <= this.#count) record.isShown = true
    else {
      log.pending.push(record)
      if (log.pending.length <= this.#count) return
      log.pending.shift()!.isShown = false
      log.hasGap = true
    }
  }

  /** What can be printed now; at the end, all that is left. */
  ready(isEnd: boolean): Grouped[] {
    const undecided = isEnd ? -1 : this.#waiting.findIndex(({ isShown }) => isShown === null)
    const decided = undecided < 0 ? this.#waiting : this.#waiting.slice(0, undecided)
    this.#waiting = this.#waiting.slice(decided.length)
    return decided.filter(({ isShown }) => isShown === true)
  }
}
