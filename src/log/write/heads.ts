import { isDigit } from '../format/read/stamp.ts'
import { bytesIn } from './bytes/words.ts'

/** Stands for whatever may follow the beginning of a line. */
const ANY = '\uffff'
const LF = 0x0a
const DIGIT = 0x30
/** Up to `LONGEST_RUN` digits. */
const RUN = 0x100
const LONGEST_RUN = 9
/** How many nodes are kept; when they are used up, all is learnt again. */
const NODES = 4096
/** Longer beginnings are not learnt. */
const DEEPEST = 300
/** Learning takes as long as writing this many lines. It is paid for by lines that are known, and a little by others. */
const PRICE = 1024
const EARNED = 32
const SAVED = 64 * PRICE

/**
 * The beginnings of lines that occurred, in a tree: lines that differ only in digits share one. A beginning decides what
 * the line is (see `decide`).
 */
export class KnownHeads<T> {
  /** For each node, its symbol, its first child and the next child of its parent; the first node is the root. */
  readonly #symbols = new Uint16Array(NODES)
  readonly #children = new Uint16Array(NODES)
  readonly #siblings = new Uint16Array(NODES)
  /** Which value a node has, counted from 1. */
  readonly #owners = new Uint16Array(NODES)
  #values: T[] = []
  #size = 1
  #saved = SAVED
  /** Where each symbol of the line that was found last begins. */
  readonly places = new Int32Array(DEEPEST + 2)

  /** What the line at bytes[from, to) begins with; undefined if that is not known. */
  find(bytes: Uint8Array, from: number, to: number): T | undefined {
    const { places } = this
    let node = 0
    for (let at = from, depth = 0; ; depth++) {
      places[depth] = at
      const value = this.#owners[node]!
      if (value > 0) {
        this.#saved = Math.min(this.#saved + EARNED, SAVED)
        return this.#values[value - 1]
      }
      const byte = at < to ? bytes[at]! : LF
      const isNumber = isDigit(byte)
      const run = isNumber && (at === from || !isDigit(bytes[at - 1]!)) ? this.#child(node, RUN) : 0
      if (run > 0) {
        const start = at
        while (at < to && isDigit(bytes[at]!)) at++
        node = at - start <= LONGEST_RUN ? run : 0
      } else {
        node = this.#child(node, isNumber ? DIGIT : byte)
        at++
      }
      if (node === 0) break
    }
    this.#saved++
    return undefined
  }

  /** Whether a line that was not found may be learnt now. */
  mayLearn(): boolean {
    if (this.#saved < PRICE) return false
    this.#saved -= PRICE
    return true
  }

  /** Keeps what lines are that begin as the one at bytes[from]. */
  learn(bytes: Uint8Array, from: number, { text, by, isEnd }: Beginning, value: T): void {
    const to = from + bytesIn(text, text.length)
    if (to - from > DEEPEST) return
    if (this.#size + to - from + 1 > NODES) {
      this.#children.fill(0)
      this.#owners.fill(0)
      this.#values = []
      this.#size = 1
    }
    let node = 0
    for (let at = from; at < to; at++) {
      const isNumber = isDigit(bytes[at]!)
      if (isNumber && by === 'runs') while (at + 1 < to && isDigit(bytes[at + 1]!)) at++
      node = this.#add(node, isNumber ? (by === 'runs' ? RUN : DIGIT) : bytes[at]!)
    }
    this.#owners[isEnd ? this.#add(node, LF) : node] = this.#values.push(value)
  }

  #child(parent: number, symbol: number): number {
    let node = this.#children[parent]!
    while (node > 0 && this.#symbols[node] !== symbol) node = this.#siblings[node]!
    return node
  }

  #add(parent: number, symbol: number): number {
    const known = this.#child(parent, symbol)
    if (known > 0) return known
    const node = this.#size++
    this.#symbols[node] = symbol
    this.#children[node] = 0
    this.#siblings[node] = this.#children[parent]!
    this.#children[parent] = node
    return node
  }
}

/** How much of a line decides what it is. */
export interface Beginning {
  text: string
  /** Whether digits may be replaced only by as many, or runs of them by any others. */
  by: 'digits' | 'runs'
  /** Whether the line ends there. */
  isEnd: boolean
}

/** How much of a line is tried, behind its head. */
const MORE = [1, 2, 4, 8, 16, 24]

/** The shortest beginnings of a line that may decide, those with runs of digits first. */
export function* beginnings(text: string, head: number): Generator<Beginning> {
  for (const by of ['runs', 'digits'] as const) {
    for (const more of MORE)
      if (head + more < text.length) yield { text: text.slice(0, head + more), by, isEnd: false }
    yield { text, by, isEnd: true }
  }
}

/** The extremes of a beginning: what holds for the shortest and the longest runs of digits holds for all. */
export function variantsOf({ text, by, isEnd }: Beginning): string[] {
  const rest = isEnd ? '' : ANY
  if (by === 'digits') return [text + rest]
  return [1, LONGEST_RUN].map((length) => text.replace(/\d+/g, '7'.repeat(length)) + rest)
}

/** Where a place of a variant is in the shortest one; -1 within digits. */
export function placeOf(variant: string, at: number, by: Beginning['by']): number {
  if (by === 'digits' || at < 0) return at
  if (/\d\d/.test(variant.slice(Math.max(0, at - 1), at + 1))) return -1
  return variant.slice(0, at).replace(/\d+/g, '7').length
}

/** A pattern of lines, and the same for those that may go on in any way. */
export interface HeadPattern {
  pattern: RegExp
  open: RegExp
  /** Whether lines end in a certain way, too; `open` does not say that. */
  hasTail?: boolean
}

/** What lines with a beginning are, whatever follows it. */
export interface Decision {
  /** The shortest of them, and the places of the pattern's groups there. */
  text: string
  groups: readonly (readonly [from: number, to: number] | null)[]
  /** Whether one with a tail may be of an earlier pattern. */
  isUntailed: boolean
}

/** Decides that lines with a beginning are of one pattern and of none before it, or of none at all; null if that is not sure. */
export function decide(
  candidates: readonly HeadPattern[],
  index: number,
  beginning: Beginning,
): Decision | null {
  const own = candidates[index]
  if (own?.hasTail || beginning.text.includes(ANY)) return null
  let decision: Decision | null = null
  let isUntailed = false
  for (const text of variantsOf(beginning)) {
    for (let i = 0; i < index; i++) {
      if (!candidates[i]!.open.test(text)) continue
      if (!candidates[i]!.hasTail) return null
      isUntailed = true
    }
    const groups = own ? groupsIn(own, text, beginning) : []
    // With runs of another length, everything is in the same place.
    if (!groups || (decision && String(decision.groups) !== String(groups))) return null
    decision ??= { text, groups, isUntailed }
  }
  return decision && { ...decision, isUntailed }
}

function groupsIn(
  { pattern, open }: HeadPattern,
  text: string,
  { by, isEnd }: Beginning,
): Decision['groups'] | null {
  const found = open.exec(text)
  const same = pattern.exec(text)
  // What ends where the beginning does may go on behind it.
  const isOpen = !isEnd && found?.[0].length === text.length - 1
  if (!found || !same || isOpen || found.some((group, i) => group !== same[i])) return null
  const groups = found.indices!.map(
    (place) => place && ([placeOf(text, place[0], by), placeOf(text, place[1], by)] as const),
  )
  return groups.every((place) => !place || (place[0] >= 0 && place[1] >= 0))
    ? groups.map((g) => g ?? null)
    : null
}

const TOKEN = /\\u[\da-f]{4}|\\.|\[(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|:)|\{\d+(?:,\d*)?\}|[()|?*+^$]|./gs

/** A pattern that also fits where a line may go on in a way in which it fits. It may not have names and negations. */
export function open(source: string): RegExp {
  const tokens = source.replace(TOKEN, (token) => {
    if ('()|?*+^'.includes(token[0]!) || (token[0] === '{' && token.length > 1)) return token
    if (token === '.') return `(?:[^\n${ANY}]|${END})`
    if (token === '\\S') return `(?:[^\\s${ANY}]|${END})`
    return `(?:${token.startsWith('[^') ? `[^${ANY}${token.slice(2)}` : token}|${END})`
  })
  return new RegExp(tokens, 'd')
}

const END = `(?=${ANY})`
