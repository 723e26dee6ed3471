import type { Span } from './patterns.ts'
import { namesSecret } from './secret.ts'

/** Where a repeated value is masked: `1` only where a value is expected, `2` as a whole word, `3` anywhere. */
type Weight = 1 | 2 | 3

/**
 * Masked values, and where they occur again. An Aho–Corasick automaton in flat arrays: one pass over each
 * text, however many secrets there are (a loop over them takes minutes for a hostile megabyte).
 */
export class RepeatedSecrets {
  readonly #weights = new Map<string, Weight>()
  #automaton: Automaton | null = null

  /** Remembers a masked value. One from a comment may be an example, so values are not searched for it. */
  add(secret: string, fromComment = false): void {
    const trimmed = secret.trim()
    const lines = trimmed.includes('\n') ? trimmed.split('\n').map((line) => line.trim()) : []
    for (const form of [secret, trimmed, ...lines.filter(({ length }) => length >= 8)]) {
      // A run of one character is a ruler or a mask.
      if (form === '' || (form.length > 1 && form === form[0]!.repeat(form.length))) continue
      const weight = weigh(form, fromComment)
      if (weight > (this.#weights.get(form) ?? 0)) this.#weights.set(form, weight)
    }
  }

  /** Finds masked values in a comment, or in another value: there only those that can't be a plain word. */
  find(text: string, inComment: boolean): Span[] {
    if (this.#weights.size === 0) return []
    this.#automaton ??= new Automaton(this.#weights)
    const spans: Span[] = []
    this.#automaton.run(text, (start, end, weight) => {
      if (weight < 3 && !(inComment && isWord(text, start, end))) return false
      if (weight === 1 && !isExpected(text, start, end)) return false
      spans.push({ start, end })
      return true
    })
    return spans
  }
}

function weigh(secret: string, fromComment: boolean): Weight {
  if (secret.length < 4 || namesSecret(secret)) return 1
  if (fromComment || secret.length < 8) return 2
  return secret.length >= 16 || /\d|[^\w\s./:-]/.test(secret) ? 3 : 2
}

function isWord(text: string, start: number, end: number): boolean {
  return !joins(text, start, -1) && !joins(text, end - 1, 1)
}

/** Reports whether a word continues beyond its edge: directly, or across a dash or a dot. */
function joins(text: string, edge: number, step: 1 | -1): boolean {
  if (!isWordChar(text, edge)) return false
  if (isWordChar(text, edge + step)) return true
  const char = text[edge + step]
  return (char === '-' || char === '.') && isWordChar(text, edge + 2 * step)
}

function isWordChar(text: string, at: number): boolean {
  return /\w/.test(text[at] ?? '')
}

/** Reports whether there is a value here: in quotes, or after a colon or an equals sign. */
function isExpected(text: string, start: number, end: number): boolean {
  const before = text[start - 1]
  if ((before === '"' || before === "'" || before === '`') && text[end] === before) return true
  let at = start - 1
  while (at > start - 8 && (text[at] === ' ' || text[at] === '\t')) at--
  return text[at] === ':' || text[at] === '='
}

/** Hops over shorter secrets that end at the same place; hostile sets of `a`, `aa`, `aaa`, … would make it square. */
const MAX_HOPS = 16

class Automaton {
  readonly #parent: Int32Array
  readonly #char: Uint16Array
  readonly #fail: Int32Array
  /** The length of the secret that ends in a state, or 0. */
  readonly #length: Int32Array
  /** The next state on the way of failures in which a secret ends, or 0. */
  readonly #shorter: Int32Array
  readonly #weight: Uint8Array
  readonly #table: Int32Array
  #states = 1

  constructor(secrets: Map<string, Weight>) {
    let total = 1
    for (const secret of secrets.keys()) total += secret.length
    this.#parent = new Int32Array(total)
    this.#char = new Uint16Array(total)
    this.#fail = new Int32Array(total)
    this.#length = new Int32Array(total)
    this.#shorter = new Int32Array(total)
    this.#weight = new Uint8Array(total)
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(total * 2 + 1)))
    // All secrets letter by letter: the failure of a state is always shallower, so it is known already.
    let open = [...secrets].map(([secret, weight]) => ({ secret, weight, state: 0 }))
    for (let depth = 1; open.length > 0; depth++) {
      for (const one of open) one.state = this.#grow(one.state, one.secret.charCodeAt(depth - 1))
      for (const { secret, weight, state } of open) {
        if (secret.length > depth) continue
        this.#length[state] = depth
        this.#weight[state] = weight
      }
      open = open.filter(({ secret }) => secret.length > depth)
    }
  }

  /** Offers the secrets that end at each place, the longest first, until one is taken. */
  run(text: string, take: (start: number, end: number, weight: Weight) => boolean): void {
    let state = 0
    for (let at = 0; at < text.length; at++) {
      state = this.#step(state, text.charCodeAt(at))
      let found = this.#length[state]! > 0 ? state : this.#shorter[state]!
      for (let hop = 0; found !== 0; hop++) {
        // After too many refusals, mask in case of doubt.
        const weight = hop < MAX_HOPS ? (this.#weight[found] as Weight) : 3
        if (take(at + 1 - this.#length[found]!, at + 1, weight)) break
        found = this.#shorter[found]!
      }
    }
  }

  #step(from: number, char: number): number {
    let state = from
    for (;;) {
      const slot = this.#slot(state, char)
      const child = this.#table[slot]!
      if (child !== 0) return child
      if (state === 0) return 0
      state = this.#fail[state]!
    }
  }

  #grow(state: number, char: number): number {
    const slot = this.#slot(state, char)
    const child = this.#table[slot]!
    if (child !== 0) return child
    const fail = state === 0 ? 0 : this.#step(this.#fail[state]!, char)
    const grown = this.#states++
    this.#parent[grown] = state
    this.#char[grown] = char
    this.#fail[grown] = fail
    this.#shorter[grown] = this.#length[fail]! > 0 ? fail : this.#shorter[fail]!
    this.#table[slot] = grown
    return grown
  }

  /** The slot that holds the child of a state, or the free one where it would be. */
  #slot(state: number, char: number): number {
    const mask = this.#table.length - 1
    let hash = Math.imul(state, 0x9e3779b1) ^ Math.imul(char + 1, 0x85ebca6b)
    hash ^= hash >>> 15
    let slot = Math.imul(hash, 0x2c1b3c6d) >>> 7
    for (slot &= mask; ; slot = (slot + 1) & mask) {
      const child = this.#table[slot]!
      if (child === 0 || (this.#parent[child] === state && this.#char[child] === char)) return slot
    }
  }
}
