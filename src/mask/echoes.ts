import type { Span } from './known.ts'
import { readName } from './secret.ts'

/** By how many of their first characters secrets are looked up; shorter ones are looked for in comments only. */
const ANCHOR = 8
/** Characters that may be compared for each one that is searched: hostile secrets all begin alike. */
const MOST_WORK = 16

/** Masked values, and where they stand again. */
export class Echoes {
  /** Whether each was the value of a setting; otherwise it is from a comment. */
  readonly #secrets = new Map<string, boolean>()
  #index: { long: Map<string, string[]>; lengths: number[]; firsts: Uint8Array } | null = null

  /** Remembers a masked value. One from a comment may be an example, so values are not searched for it. */
  add(secret: string, fromComment: boolean): void {
    this.#remember(secret, fromComment)
    const trimmed = secret.trim()
    if (trimmed !== secret) this.#remember(trimmed, fromComment)
    if (trimmed.includes('\n'))
      for (const line of trimmed.split('\n'))
        if (line.trim().length >= ANCHOR) this.#remember(line.trim(), fromComment)
  }

  #remember(form: string, fromComment: boolean): void {
    // A run of one character is a ruler or a mask.
    if (form === '' || (form.length > 1 && form === form[0]!.repeat(form.length))) return
    if (!fromComment || !this.#secrets.has(form)) this.#secrets.set(form, !fromComment)
  }

  /** Finds masked values in a comment, or in another value: there only those that can't be a plain word. */
  find(text: string, inComment: boolean): Span[] {
    if (this.#secrets.size === 0) return []
    this.#index ??= this.#indexed()
    const { long, lengths, firsts } = this.#index
    const spans: Span[] = []
    let work = MOST_WORK * (text.length + ANCHOR)
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code < 128 && firsts[code] === 0) continue
      const known = text.length - at < ANCHOR ? undefined : long.get(text.slice(at, at + ANCHOR))
      let end = -1
      for (const secret of known ?? []) {
        work -= secret.length
        // After too much work, mask in case of doubt.
        if (work < 0 || (text.startsWith(secret, at) && this.#counts(text, at, { secret, inComment }))) {
          end = Math.min(text.length, at + secret.length)
          break
        }
      }
      if (end === -1 && inComment && !joins(text, at, -1))
        for (const length of lengths) {
          const secret = text.slice(at, at + length)
          if (!this.#secrets.has(secret) || !this.#counts(text, at, { secret, inComment })) continue
          end = at + secret.length
          break
        }
      if (end === -1) continue
      spans.push({ start: at, end })
      at = end - 1
    }
    return spans
  }

  #counts(text: string, at: number, { secret, inComment }: { secret: string; inComment: boolean }): boolean {
    const end = at + secret.length
    const weight = weigh(secret, this.#secrets.get(secret) !== true)
    if (weight === 'anywhere') return true
    if (!inComment || joins(text, at, -1) || joins(text, end - 1, 1)) return false
    return weight === 'as a word' || isExpected(text, at, end)
  }

  #indexed() {
    const long = new Map<string, string[]>()
    const lengths = new Set<number>()
    const firsts = new Uint8Array(128)
    // The longest first: one may be the beginning of another.
    for (const secret of [...this.#secrets.keys()].sort((a, b) => b.length - a.length)) {
      const first = secret.charCodeAt(0)
      if (first < 128) firsts[first] = 1
      if (secret.length < ANCHOR) lengths.add(secret.length)
      else {
        const anchor = secret.slice(0, ANCHOR)
        const known = long.get(anchor)
        if (known === undefined) long.set(anchor, [secret])
        else known.push(secret)
      }
    }
    return { long, lengths: [...lengths], firsts }
  }
}

function weigh(secret: string, fromComment: boolean): 'where a value is expected' | 'as a word' | 'anywhere' {
  if (secret.length < 4 || readName(secret).isSecret) return 'where a value is expected'
  if (fromComment || secret.length < ANCHOR) return 'as a word'
  return secret.length >= 16 || /\d|[^\w\s./:-]/.test(secret) ? 'anywhere' : 'as a word'
}

/** Reports whether a word continues beyond its edge: directly, or across a dash or a dot. */
function joins(text: string, edge: number, step: 1 | -1): boolean {
  const isWord = (at: number) => /\w/.test(text[at] ?? '')
  if (!isWord(edge)) return false
  if (isWord(edge + step)) return true
  const char = text[edge + step]
  return (char === '-' || char === '.') && isWord(edge + 2 * step)
}

/** Reports whether there is a value here: in quotes, or after a colon or an equals sign. */
function isExpected(text: string, start: number, end: number): boolean {
  const before = text[start - 1]
  if ((before === '"' || before === "'" || before === '`') && text[end] === before) return true
  let at = start - 1
  while (at > start - 8 && (text[at] === ' ' || text[at] === '\t')) at--
  return text[at] === ':' || text[at] === '='
}
