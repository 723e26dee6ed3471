import { type Columns, columnsOf } from './columns.ts'
import { compile, type RegexProgram, WHOLE } from './program.ts'
import { parse } from './syntax.ts'
import { EDGE, Threads } from './threads.ts'

/** How many bytes may be read for one text: a pattern may read everything that follows for each match. */
const MAX_STEPS = 4_000_000

/**
 * Finds where a pattern matches in a text, the way Perl prefers: the leftmost, and of these the first alternative.
 * It tracks the start of each thread, so it is far slower than a yes or no, and is meant for lines on a screen.
 */
export class Spans {
  readonly #program: RegexProgram
  readonly #columns: Columns
  #now: Threads
  #then: Threads
  /** Where the thread of each instruction began. */
  #starts: Int32Array
  #nextStarts: Int32Array
  #steps = 0

  constructor(source: string) {
    this.#program = compile(parse(source))
    this.#columns = columnsOf(this.#program)
    this.#now = new Threads(this.#program)
    this.#then = new Threads(this.#program)
    this.#starts = new Int32Array(this.#program.ops.length)
    this.#nextStarts = this.#starts.slice()
  }

  /** The first matches that are not empty, as offsets in the text. */
  find(text: string, most: number): [number, number][] {
    const bytes = new TextEncoder().encode(text)
    const found: [number, number][] = []
    let byte = 0
    let unit = 0
    const unitAt = (goal: number) => {
      // A character of four bytes is two units, any other is one.
      for (; byte < goal; byte++) if ((bytes[byte]! & 0xc0) !== 0x80) unit += bytes[byte]! < 0xf0 ? 1 : 2
      return unit
    }
    this.#steps = 0
    for (let at = 0; at <= bytes.length && found.length < most; ) {
      const span = this.#first(bytes, at)
      if (!span) break
      const [from, to] = span
      at = to
      if (to > from) found.push([unitAt(from), unitAt(to)])
      else
        do at++
        while (at < bytes.length && (bytes[at]! & 0xc0) === 0x80)
    }
    return found
  }

  /** Whether the pattern matches anywhere, be it an empty stretch. Unlike `find`, it reads the text to its end. */
  test(text: string): boolean {
    this.#steps = Number.NEGATIVE_INFINITY
    return this.#first(new TextEncoder().encode(text), 0) !== null
  }

  #first(bytes: Uint8Array, from: number): [number, number] | null {
    const { nexts, start, ops } = this.#program
    const { count, of, edges, kinds } = this.#columns
    const kind = (at: number) => (at >= 0 && at < bytes.length ? kinds[of[bytes[at]!]!]! : EDGE)
    const search = ops.length - 1
    let best: [number, number] | null = null
    this.#then.clear()
    this.#reach(start, from, kind(from - 1), kind(from))
    if (this.#then.matched) best = [from, from]
    for (let at = from; at < bytes.length && this.#turn() > 0; at++) {
      if (++this.#steps > MAX_STEPS) return best
      const now = this.#now
      const then = this.#then
      const cell = of[bytes[at]!]!
      for (let i = 0; i < now.size && !then.matched; i++) {
        const pc = now.pcs[i]!
        const begun = pc === search ? at + 1 : this.#starts[pc]!
        const node = edges[now.nodes[pc]! * count + cell]!
        if (node === WHOLE) {
          this.#reach(nexts[pc]!, begun, kinds[cell]!, kind(at + 1))
          if (then.matched) best = [begun, at + 1]
        } else if (node > 0) {
          then.put(pc, node)
          this.#nextStarts[pc] = begun
        }
      }
    }
    return best
  }

  /** Makes the next threads the current ones; returns how many there are. */
  #turn(): number {
    ;[this.#now, this.#then] = [this.#then, this.#now]
    ;[this.#starts, this.#nextStarts] = [this.#nextStarts, this.#starts]
    this.#then.clear()
    return this.#now.size
  }

  #reach(pc: number, begun: number, before: number, after: number): void {
    const then = this.#then
    const known = then.size
    then.reach(pc, before, after)
    // Threads less preferred than a match are dropped.
    if (then.matched) then.size = then.preferred
    for (let i = known; i < then.size; i++) this.#nextStarts[then.pcs[i]!] = begun
  }
}
