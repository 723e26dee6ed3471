import { ASSERT, CHAR, FORK, type RegexProgram } from './program.ts'
import {
  type Assertion,
  LINE_END,
  LINE_START,
  NO_WORD_BORDER,
  TEXT_END,
  TEXT_START,
  WORD_BORDER,
} from './syntax.ts'

/** What is on one side of a position between two characters, as far as assertions care. */
export const EDGE = 0
export const NEWLINE = 1
export const WORD = 2
export const OTHER = 3
/** The next character is not known yet: assertions wait. */
export const UNKNOWN = -1

/**
 * The current positions of a search in a program: each instruction at most once. All are at the same byte of a
 * character, so an instruction has one node of its tree.
 */
export class Threads {
  readonly pcs: Int32Array
  /** For each instruction in the set: the node of its tree. */
  readonly nodes: Int32Array
  size = 0
  matched = false
  /** How many threads come before the match: those after it are less preferred. */
  preferred = 0
  asserts = false
  /** How many instructions were visited so far: the cost of the search. */
  visits = 0
  readonly #program: RegexProgram
  readonly #stack: number[] = []
  readonly #seen: Int32Array
  #turn = 0

  constructor(program: RegexProgram) {
    const length = program.ops.length
    this.#program = program
    this.pcs = new Int32Array(length)
    this.nodes = new Int32Array(length)
    this.#seen = new Int32Array(length)
  }

  clear(): void {
    this.#turn++
    this.size = 0
    this.matched = false
    this.asserts = false
  }

  /** Adds one instruction without following it. */
  put(pc: number, node: number): void {
    this.#seen[pc] = this.#turn
    this.nodes[pc] = node
    this.pcs[this.size++] = pc
  }

  /** Adds everything reachable from here without a character, preferred first. */
  reach(from: number, before: number, after: number): void {
    const { ops, args, nexts } = this.#program
    if (ops[from] === CHAR) {
      if (this.#seen[from] !== this.#turn) this.put(from, args[from]!)
      return
    }
    const stack = this.#stack
    stack.push(from)
    while (stack.length > 0) {
      const pc = stack.pop()!
      this.visits++
      if (this.#seen[pc] === this.#turn) continue
      const op = ops[pc]!
      if (op === CHAR) this.put(pc, args[pc]!)
      else if (op === FORK) {
        this.#seen[pc] = this.#turn
        stack.push(nexts[pc]!, args[pc]!)
      } else if (op !== ASSERT) {
        this.#seen[pc] = this.#turn
        this.matched = true
        this.preferred = this.size
      } else if (after === UNKNOWN) {
        this.put(pc, 0)
        this.asserts = true
      } else {
        this.#seen[pc] = this.#turn
        if (holds(args[pc] as Assertion, before, after)) stack.push(nexts[pc]!)
      }
    }
  }
}

/** Continues from the assertions among the threads, now that the next character is known. */
export function resolveAssertions(
  { ops, args, nexts }: RegexProgram,
  threads: Threads,
  before: number,
  after: number,
): void {
  if (!threads.asserts) return
  // Threads added on the way are not processed again: `size` is the current one.
  for (let i = 0, { size } = threads; i < size; i++) {
    const pc = threads.pcs[i]!
    if (ops[pc] === ASSERT && holds(args[pc] as Assertion, before, after))
      threads.reach(nexts[pc]!, before, after)
  }
}

function holds(what: Assertion, before: number, after: number): boolean {
  if (what === TEXT_START) return before === EDGE
  if (what === TEXT_END) return after === EDGE
  if (what === LINE_START) return before <= NEWLINE
  if (what === LINE_END) return after <= NEWLINE
  const border = (before === WORD) !== (after === WORD)
  return what === WORD_BORDER ? border : what === NO_WORD_BORDER && !border
}
