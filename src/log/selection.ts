import { LEVELS } from './format/detect.ts'
import type { Matcher } from './pattern/pattern.ts'

/** What a record must have to be selected. */
interface Conditions {
  /** Ms since the epoch: at or after, before. Null is no limit. */
  since: number | null
  until: number | null
  /** One bit for each wanted level; null for every record, with a level or without. */
  levels: number | null
  matcher: Matcher | null
}

/**
 * Which records of a log a request wants, whatever the log. All questions about it are asked here, so a new filter is
 * a condition here, a row of the parameters, and a test in `search/filter.ts`; one that is a `Matcher` needs only the
 * row.
 */
export class Selection implements Conditions {
  readonly since: number | null
  readonly until: number | null
  readonly levels: number | null
  readonly matcher: Matcher | null
  /** The lowest wanted level, an index into LEVELS; null for every record. */
  readonly leastLevel: number | null

  constructor({ since = null, until = null, levels = null, matcher = null }: Partial<Conditions> = {}) {
    this.since = since
    this.until = until
    this.levels = levels
    this.matcher = matcher
    this.leastLevel = levels === null ? null : 31 - Math.clz32(levels & -levels)
  }

  /** The same with some conditions replaced. */
  with(conditions: Partial<Conditions>): Selection {
    return new Selection({ ...this, ...conditions })
  }

  /** Whether records are selected by what they hold: much may be read for few of them. */
  get isSearch(): boolean {
    return this.levels !== null || this.matcher !== null
  }

  /** Whether records are selected by their time. */
  get isPeriod(): boolean {
    return this.since !== null || this.until !== null
  }

  /** Whether every record is selected. */
  get isAll(): boolean {
    return !this.isSearch && !this.isPeriod
  }
}

export const EVERY_RECORD = new Selection()

/** The levels from one on, as bits. */
export function levelsFrom(least: number): number {
  return (1 << LEVELS.length) - (1 << least)
}

/** Exactly these levels, as bits. */
export function levelsIn(levels: Iterable<number>): number {
  let bits = 0
  for (const level of levels) bits |= 1 << level
  return bits
}
