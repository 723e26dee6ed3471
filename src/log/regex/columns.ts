import { ASSERT, type RegexProgram } from './program.ts'
import { NEWLINE, OTHER, WORD } from './threads.ts'

/** Bytes that a program never distinguishes share a column of its tables. */
export interface Columns {
  readonly count: number
  readonly of: Uint8Array
  /** For each column, what assertions see in its bytes. */
  readonly kinds: Uint8Array
  /** For each node of the trees and each column, the next node; 0 is none. */
  readonly edges: Uint16Array
}

/** Finds the columns of a program and writes its trees as a table over them. */
export function columnsOf({ ops, trees }: RegexProgram): Columns {
  const starts = new Uint8Array(257)
  const cut = (first: number, last: number) => {
    starts[first] = 1
    starts[last + 1] = 1
  }
  for (const edges of trees) for (let i = 0; i < edges.length; i += 3) cut(edges[i]!, edges[i + 1]!)
  if (ops.includes(ASSERT)) for (const [first, last] of [[10, 10], ...WORDS] as const) cut(first, last)
  const of = new Uint8Array(256)
  let count = 1
  for (let byte = 1; byte < 256; byte++) of[byte] = starts[byte] === 1 ? count++ : count - 1
  const kinds = new Uint8Array(count).fill(OTHER)
  kinds[of[10]!] = NEWLINE
  for (const [first, last] of WORDS) for (let byte = first; byte <= last; byte++) kinds[of[byte]!] = WORD
  const edges = new Uint16Array(trees.length * count)
  trees.forEach((list, node) => {
    for (let i = 0; i < list.length; i += 3)
      edges.fill(list[i + 2]!, node * count + of[list[i]!]!, node * count + of[list[i + 1]!]! + 1)
  })
  return { count, of, kinds, edges }
}

const WORDS = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
] as const
