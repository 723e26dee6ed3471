import { LogError } from '../error.ts'
import { type CodePoints, MAX } from './set.ts'
import type { Node, Repeat } from './syntax.ts'

/** Instructions: a character, a fork, an assertion, the end. */
export const CHAR = 0
export const FORK = 1
export const ASSERT = 2
export const MATCH = 3

/**
 * A pattern as instructions. A character costs one instruction, whatever its class: its bytes are read along a tree
 * that the program holds once per class.
 */
export interface RegexProgram {
  readonly ops: readonly number[]
  /** CHAR: the root of its tree; FORK: where to go first; ASSERT: what must hold. */
  readonly args: readonly number[]
  /** Where to go next; FORK: where to go second. */
  readonly nexts: readonly number[]
  readonly start: number
  /** For each node of the trees, its edges: first byte, last byte, next node. */
  readonly trees: readonly (readonly number[])[]
}

/** The target of an edge that completes a character. Node 0 is none. */
export const WHOLE = 1

// A search takes at most one step per instruction and byte: 50 µs a byte at this size where no cache helps.
const MAX_PROGRAM = 5000
// At 256 columns of two bytes this is 4 MB.
const MAX_NODES = 8000

/** Turns a parsed pattern into instructions that find it anywhere in a text. */
export function compile(node: Node): RegexProgram {
  const ops: number[] = []
  const args: number[] = []
  const nexts: number[] = []
  const trees = new Trees()
  const emit = (op: number, arg: number, next: number): number => {
    if (ops.length >= MAX_PROGRAM || trees.nodes.length > MAX_NODES)
      throw new LogError('bad-pattern', 'The pattern is too large; use smaller counts in its repetitions.')
    args.push(arg)
    nexts.push(next)
    return ops.push(op) - 1
  }
  // Written from end to start, so the next instruction is always known, except in a loop.
  const write = (node: Node, next: number): number => {
    if (node.kind === 'char') return emit(CHAR, trees.root(node.set), next)
    if (node.kind === 'assert') return emit(ASSERT, node.what, next)
    if (node.kind === 'cat') return node.parts.reduceRight((at, part) => write(part, at), next)
    if (node.kind === 'alt')
      return node.parts
        .slice(0, -1)
        .reduceRight((at, part) => emit(FORK, write(part, next), at), write(node.parts.at(-1)!, next))
    return repeat(node as Repeat, next)
  }
  const fork = (lazy: boolean, into: number, past: number) =>
    lazy ? emit(FORK, past, into) : emit(FORK, into, past)
  const repeat = ({ part, min, max, lazy }: Repeat, next: number): number => {
    let at = next
    let left = min
    if (max === Infinity) {
      const loop = fork(lazy, next, next)
      const body = write(part, loop)
      ;(lazy ? nexts : args)[loop] = body
      at = min === 0 ? loop : body
      left = min - 1
    } else for (let i = min; i < max; i++) at = fork(lazy, write(part, at), next)
    for (; left > 0; left--) at = write(part, at)
    return at
  }
  const body = write(node, emit(MATCH, 0, 0))
  // The search for a start moves from character to character; getting stuck is how broken UTF-8 is detected.
  const start = emit(FORK, body, ops.length + 1)
  emit(CHAR, trees.root([0, MAX]), start)
  return { ops, args, nexts, start, trees: trees.nodes }
}

/** Trees of the bytes of characters; equal subtrees are one node. */
class Trees {
  readonly nodes: number[][] = [[], []]
  readonly #known = new Map<string, number>()
  readonly #roots = new Map<CodePoints, number>()

  root(set: CodePoints): number {
    // The copies of a repetition share their set.
    let root = this.#roots.get(set)
    if (root === undefined) {
      root = this.#build(set)
      this.#roots.set(set, root)
    }
    return root
  }

  #build(set: CodePoints): number {
    const edges: number[] = []
    const ascii = within(set, 0, 0x7f)
    for (let i = 0; i < ascii.length; i += 2) edges.push(ascii[i]!, ascii[i + 1]!, WHOLE)
    const two = within(set, 0x80, 0x7ff)
    const three = [...within(set, 0x800, 0xd7ff), ...within(set, 0xe000, 0xffff)]
    const four = within(set, 0x10000, MAX)
    for (let lead = 0xc2; lead < 0xe0; lead++)
      this.#edge(edges, lead, { set: two, base: (lead & 0x1f) << 6, left: 1 })
    for (let lead = 0xe0; lead < 0xf0; lead++)
      this.#edge(edges, lead, { set: three, base: (lead & 15) << 12, left: 2 })
    for (let lead = 0xf0; lead < 0xf5; lead++)
      this.#edge(edges, lead, { set: four, base: (lead & 7) << 18, left: 3 })
    return this.#node(edges)
  }

  /** An edge for the characters with this byte: those from `base` on, as many as `left` more bytes can encode. */
  #edge(edges: number[], byte: number, { set, base, left }: Branch): void {
    const size = 64 ** left
    const inside = within(set, base, base + size - 1)
    if (inside.length === 0) return
    const full = inside[0] === base && inside[1] === base + size - 1
    let next = full ? this.#full(left) : WHOLE
    if (!full && left > 0) {
      const below: number[] = []
      for (let i = 0; i < 64; i++)
        this.#edge(below, 0x80 + i, { set: inside, base: base + (i * size) / 64, left: left - 1 })
      next = this.#node(below)
    }
    const last = edges.length - 1
    if (edges[last] === next && edges[last - 1] === byte - 1) edges[last - 1] = byte
    else edges.push(byte, byte, next)
  }

  /** The node for any character with this many bytes left: without it, `.` would have a million edges. */
  #full(left: number): number {
    return left === 0 ? WHOLE : this.#node([0x80, 0xbf, this.#full(left - 1)])
  }

  #node(edges: number[]): number {
    const key = edges.join()
    let node = this.#known.get(key)
    if (node === undefined) {
      node = this.nodes.push(edges) - 1
      this.#known.set(key, node)
    }
    return node
  }
}

/** The code points of a set from `base` on that `left` more bytes can encode. */
interface Branch {
  set: CodePoints
  base: number
  left: number
}

function within(set: CodePoints, from: number, to: number): number[] {
  const out: number[] = []
  for (let i = 0; i < set.length; i += 2) {
    if (set[i + 1]! < from) continue
    if (set[i]! > to) break
    out.push(Math.max(set[i]!, from), Math.min(set[i + 1]!, to))
  }
  return out
}
