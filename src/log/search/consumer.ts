import { BudgetError } from '../../kit/limits/budget.ts'
import type { WalkRange } from './range.ts'
import { LogWalk, type WalkPart } from './walk.ts'

/** Where a walk ended. */
export interface Ending {
  at: number
  /** Whether that splits a record, so that its rest belongs to the next answer. @default false */
  splitsRecord?: boolean
  /** Whether it is the end of the range. @default false */
  complete?: boolean
  /** Whether the budget ran out. @default false */
  cut?: boolean
  /** Going back, where the newest archive ends as far as it was read. @default where the range ends */
  end?: number
}

/** Takes the parts of a walk: a page, a chart, or the records around those that were found. */
export interface Consumer {
  /** Takes the next part. Where it has enough, the walk ends; null to go on. */
  take(part: WalkPart): Promise<Ending | null>
  /** How many bytes are likely to be needed after the first `distance` of them. @default all */
  reach?(distance: number): number
  /** Takes the parts of an archive that a walk back meets and has to read from its start. @default it does so itself */
  fromStart?(): PassConsumer
  /** Gives back the memory of what it took, when that is not going to be used. */
  release?(): void
}

/** Takes an archive, oldest record first. */
export interface PassConsumer extends Pick<Consumer, 'take' | 'release'> {
  /** Hands over what was taken; the walk ends there unless it is null. */
  finish(pass: ArchivePass): Ending | null
}

/** An archive that was read from its start. */
export interface ArchivePass {
  /** Where its first record begins, and whether that is the end of the range. */
  from: number
  isLast: boolean
  /** Where the budget ended it; null if it did not. */
  stopped: number | null
}

/** Walks through a part of a log, until the consumer has enough. */
export async function walkThrough(range: WalkRange, consumer: Consumer): Promise<Ending> {
  const walk = new LogWalk(range)
  try {
    for (;;) {
      const part = await walk.next(consumer.reach?.(walk.distance))
      if (part === null) return { at: walk.at, cut: walk.isCut, complete: walk.isComplete }
      const ending = await (part instanceof LogWalk ? passThrough(walk, part, consumer) : consumer.take(part))
      if (ending) return ending
    }
  } catch (error) {
    // The budget ran out inside an archive, which can only be read from its start: what was found before is kept.
    if (error instanceof BudgetError && walk.distance > 0) return { at: walk.at, cut: true }
    consumer.release?.()
    throw error
  } finally {
    await walk.end()
  }
}

/** Goes through an archive that a walk back has met. */
async function passThrough(outer: LogWalk, pass: LogWalk, consumer: Consumer): Promise<Ending | null> {
  const { budget, series, hi } = outer.range
  const { at: from } = pass
  const inside = consumer.fromStart?.()
  try {
    for (let part = await pass.next(); part && !(part instanceof LogWalk); part = await pass.next()) {
      await (inside ?? consumer).take(part)
      // As it goes, so that a chart of a large archive stops where its budget does.
      if (!inside) budget.spend(part.to - part.from)
    }
  } finally {
    inside?.release?.()
    await pass.end()
  }
  // Only the newest file can be answered in part.
  if (pass.isCut && (outer.distance > 0 || hi < series.end)) throw new BudgetError()
  if (!inside) return pass.isCut ? { at: outer.at, cut: true } : null
  const stopped = pass.isCut ? pass.at : null
  const ending = inside.finish({ from, isLast: pass.range.isStart === true, stopped })
  if (ending === null) budget.spend(pass.at - from)
  return ending
}
