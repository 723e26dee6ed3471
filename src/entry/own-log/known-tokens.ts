import { createHash } from 'node:crypto'
import type { Token } from '../../core/access/grant.ts'
import type { TokenSource } from '../../core/access/guard.ts'

/** Shorter tokens are masked as whole values only: inside other words they would be found everywhere. */
const SHORTEST = 6
/** A token of which only the digest is known is looked for among the words of a line, wide and narrow ones. */
const WORDS = [/[\w.~+/=-]{6,}/g, /[\w.~+-]{6,}/g, /[\w-]{6,}/g]

interface Known {
  plain: readonly string[]
  digests: ReadonlySet<string>
}

/** The tokens that are valid here, as far as lines must not show them. A tokens file may hold digests of some only. */
export class KnownTokens {
  readonly #single: string | null
  readonly #source: TokenSource | null
  #last: { tokens: readonly Token[]; known: Known } | null = null

  constructor(single: string | null, source: TokenSource | null) {
    this.#single = single
    this.#source = source
  }

  /** A text without the tokens in it, and without `own`, what the request itself came with. */
  mask(text: string, own?: string): string {
    const { plain, digests } = this.#known()
    let masked = text
    for (const token of own === undefined ? plain : [...plain, own])
      if (token.length >= SHORTEST && masked.includes(token)) masked = masked.replaceAll(token, '***')
    if (digests.size === 0) return masked
    for (const words of WORDS)
      masked = masked.replace(words, (word) => (digests.has(sha256(word)) ? '***' : word))
    return masked
  }

  /** Whether a value is a token as a whole. */
  has(value: string): boolean {
    const { plain, digests } = this.#known()
    return value !== '' && (plain.includes(value) || (digests.size > 0 && digests.has(sha256(value))))
  }

  #known(): Known {
    const tokens = this.#source?.() ?? []
    if (tokens instanceof Promise) return NOTHING
    if (this.#last?.tokens === tokens) return this.#last.known
    const own = this.#single === null ? [] : [this.#single]
    const plain = tokens
      .filter(({ token }) => !DIGEST.test(token))
      .flatMap(({ token }) => [token, inJson(token)])
    const digests = tokens
      .filter(({ token }) => DIGEST.test(token))
      .map(({ token }) => token.slice(7).toLowerCase())
    // The longest first: one may be the beginning of another.
    const sorted = [...new Set([...own, ...own.map(inJson), ...plain])].sort((a, b) => b.length - a.length)
    const known = { plain: sorted, digests: new Set(digests) }
    this.#last = { tokens, known }
    return known
  }
}

const NOTHING: Known = { plain: [], digests: new Set() }
const DIGEST = /^sha256:/i
const inJson = (token: string) => JSON.stringify(token).slice(1, -1)

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
