import type { CodePoints } from './set.ts'
import type { Node } from './syntax.ts'

/** A text that a match must contain, in any case or exactly. */
export interface Literal {
  text: string
  folded: boolean
}

// One letter is in nearly every line: searching for it costs more than it saves.
const SHORTEST = 2
const MOST = 8

/** Texts of which every match contains at least one, or null if there are none, or too many. */
export function requiredLiterals(node: Node): Literal[] | null {
  const found = literalsOf(node)
  return found && found.length <= MOST ? found : null
}

function literalsOf(node: Node): Literal[] | null {
  if (node.kind === 'repeat') return node.min > 0 ? literalsOf(node.part) : null
  if (node.kind !== 'alt') return inSequence(node.kind === 'cat' ? node.parts : [node])
  const branches = node.parts.map(literalsOf)
  return branches.every((branch) => branch !== null) ? branches.flat() : null
}

/** The longest run of single characters, or what one of the parts must contain. */
function inSequence(parts: readonly Node[]): Literal[] | null {
  let best: Literal[] | null = null
  let run: Literal = { text: '', folded: false }
  const offer = (literals: Literal[] | null) => {
    if (shortestOf(literals) >= SHORTEST && shortestOf(literals) > shortestOf(best)) best = literals
  }
  const end = () => {
    offer([run])
    run = { text: '', folded: false }
  }
  for (const part of parts) {
    // `ab+c` contains "ab" and, because the last b comes before c, "bc"; only the first is used.
    const isRepeated = part.kind === 'repeat' && part.min > 0
    const one = isRepeated ? part.part : part
    const letter = one.kind === 'char' ? letterOf(one.set) : null
    const folded = run.folded || letter?.folded === true
    // Beyond ASCII, a text is searched for exactly.
    if (letter === null || (folded && /[^\0-\x7f]/.test(run.text + letter.text))) end()
    if (letter) run = { text: run.text + letter.text, folded: run.folded || letter.folded }
    if (letter === null || isRepeated) end()
    if (one.kind === 'cat' || one.kind === 'alt' || one.kind === 'repeat') offer(literalsOf(part))
  }
  end()
  return best
}

/** The character that a set is, perhaps in both cases; null for any other set. */
function letterOf(set: CodePoints): Literal | null {
  const [one, , two] = set
  if (set.length === 0 || set.some((code, i) => code !== set[i - (i % 2)])) return null
  const text = String.fromCodePoint(two ?? one!)
  if (set.length === 4 && two === one! + 32 && /[a-z]/.test(text)) return { text, folded: true }
  // A lone surrogate has no bytes to search for, and line ends come in two kinds.
  return set.length === 2 && !/[\p{Cs}\r\n]/u.test(text) ? { text, folded: false } : null
}

function shortestOf(literals: Literal[] | null): number {
  return literals ? Math.min(...literals.map(({ text }) => text.length)) : 0
}
