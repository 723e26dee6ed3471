import type { MessagePattern } from '../../kit/answers.ts'
import { ANY, wordsOf } from '../pattern/message.ts'

export interface Group {
  words: string[]
  count: number
  level: string | null
  first: string | null
  last: string | null
  example: string
  origin: PatternOrigin | null
}

/** The log, and on a fleet the node, that all messages of a pattern are from. */
export interface PatternOrigin {
  file?: string | undefined
  node?: string | undefined
}

/** Characters of an example: two thousand of them are kept. */
const LONGEST_EXAMPLE = 300
/** Groups that are kept; messages beyond them are not grouped. */
const MAX_GROUPS = 2000
/** The share of equal words that makes two messages similar. */
const ALIKE = 0.5

/**
 * Groups messages by their constant words, as the Drain parser does: a tree by level, number of words and first word,
 * and below it groups in which at least half of the words agree.
 */
export class Patterns {
  readonly #leaves = new Map<string, Group[]>()
  #groups = 0

  /** Takes a message, and returns its group; null if there are too many. Messages come in order of time, either way. */
  add(
    message: string,
    level: string | null,
    time: string | null,
    origin: PatternOrigin | null = null,
  ): Group | null {
    const words = wordsOf(message)
    const leaf = `${level} ${words.length} ${words[0] ?? ''}`
    let groups = this.#leaves.get(leaf)
    if (!groups) {
      groups = []
      this.#leaves.set(leaf, groups)
    }
    const group = nearest(groups, words)
    if (group) join(group, words, { time, origin })
    if (group || this.#groups >= MAX_GROUPS) return group
    this.#groups++
    const example = message.split('\n', 1)[0]!.slice(0, LONGEST_EXAMPLE)
    const made = { words, count: 1, level, first: time, last: time, example, origin: origin && { ...origin } }
    groups.push(made)
    return made
  }

  top(most: number, overTime?: (group: Group) => number[]): MessagePattern[] {
    return [...this.#leaves.values()]
      .flat()
      .sort((a, b) => b.count - a.count)
      .slice(0, most)
      .map((group) => ({ ...group, over: overTime?.(group) }))
      .map(({ words, count, level, first, last, example, origin, over }) => ({
        pattern: words.join(' '),
        count,
        level,
        first,
        last,
        example,
        over,
        ...(origin?.file !== undefined && { file: origin.file }),
        ...(origin?.node !== undefined && { node: origin.node }),
      }))
  }
}

function nearest(groups: readonly Group[], words: readonly string[]): Group | null {
  let best: Group | null = null
  let most = -1
  for (const group of groups) {
    let same = 0
    for (let i = 0; i < words.length; i++) if (words[i] === group.words[i]) same++
    if (same > most) {
      most = same
      best = group
    }
  }
  return most >= words.length * ALIKE ? best : null
}

function join(
  group: Group,
  words: readonly string[],
  { time, origin }: { time: string | null; origin: PatternOrigin | null },
): void {
  group.count++
  if (group.origin?.file !== origin?.file) delete group.origin?.file
  if (group.origin?.node !== origin?.node) delete group.origin?.node
  for (let i = 0; i < words.length; i++) if (group.words[i] !== words[i]) group.words[i] = ANY
  if (time === null) return
  const at = Date.parse(time)
  if (group.first === null || at < Date.parse(group.first)) group.first = time
  if (group.last === null || at > Date.parse(group.last)) group.last = time
}
