import type { Client, Level } from '../../../client.ts'
import type { Look, Term } from '../../url.ts'
import { isFiltered, queryOf } from '../find/query.ts'
import { patternTerm } from '../find/terms.ts'
import { fits } from '../record/fields.ts'
import { type Matcher, matcher } from '../record/match.ts'
import { type Item, levelOf, parse } from '../record/record.ts'
import type { LogWindow } from './window.ts'

type Condition = { term: Term; matcher: Matcher | null }

/** What the look searches for: which records are hits, and what to mark in them. */
export class Hits {
  /** What is marked in them. */
  marks: Matcher[] = []
  readonly #look: Look
  readonly #client: Client
  #conditions: Condition[] = []

  constructor(client: Client, look: Look) {
    this.#client = client
    this.#look = look
  }

  /** Compiles the patterns; they run in the server's engine, which is loaded when first needed. */
  async prepare(): Promise<void> {
    this.#conditions = await Promise.all(
      this.#look.terms.map(async (term) => {
        const { kind, value } = term.kind === 'pattern' ? patternTerm(term.value) : term
        return { term, matcher: kind === 'where' ? null : await matcher(value, kind.endsWith('regex')) }
      }),
    )
    // Of messages that are all alike, there is nothing to mark.
    this.marks = this.#conditions.flatMap(({ term, matcher }) =>
      matcher === null || /^not|^pattern/.test(term.kind) ? [] : [matcher],
    )
  }

  isHit(item: Item): boolean {
    if (typeof item !== 'string') return false
    if (!isFiltered(this.#look)) return isError(item)
    return !this.#look.all || fits(parse(item), this.#look, this.#conditions)
  }

  /** The nearest hit beyond what is loaded, found by the node, with a cursor before it. */
  async beyond(
    window: LogWindow,
    direction: 1 | -1,
    signal: AbortSignal,
  ): Promise<{ line: string; cursor: string | null } | null> {
    const level = isFiltered(this.#look) ? this.#look.level : 'error'
    const query = queryOf({ ...this.#look, level, all: false })
    let cursor = direction > 0 ? window.newer : window.older
    while (cursor !== null && !signal.aborted) {
      const edge: object = direction > 0 ? { after: cursor } : { before: cursor }
      const page = await this.#client.lines({ ...query, ...edge, lines: 1, size: 64 * 1024 * 1024 })
      const line = direction > 0 ? page.content[0] : page.content.at(-1)
      if (line !== undefined) return { line, cursor: direction > 0 ? cursor : page.prev }
      if (direction > 0 && (page.complete || page.next === cursor)) return null
      cursor = direction > 0 ? page.next : page.prev
    }
    return null
  }
}

/** Whether a record is an error or worse; its text is looked at before it is parsed. */
function isError(item: string): boolean {
  const word = /"level":"([^"]+)"/.exec(item)?.[1] ?? ''
  const { level } = isSevere(levelOf(word)) ? parse(item) : { level: null }
  return isSevere(level)
}

function isSevere(level: Level | null): boolean {
  return level === 'error' || level === 'fatal'
}
