import type { Assertion, Tree } from './parse.ts'
import { type CodeSet, contains, LAST, setOf } from './set.ts'

/** A compiled pattern. */
export interface Automaton {
  /** How many instructions it has: what one character costs at worst. */
  size: number
  /** Whether the pattern matches anywhere in UTF-8 text; a byte that is no UTF-8 counts as U+FFFD. */
  test(bytes: Uint8Array): boolean
}

/** More would take longer to build than anyone waits; what runs must be smaller by far. */
const MAX_SIZE = 200_000
/** So many states are remembered; then all are forgotten, and time stays linear. */
const MAX_STATES = 2_000
/** Who forgets so often meets no state twice: remembering costs more than it gives, and stops. */
const MAX_FORGOTTEN = 2

type Instruction =
  | { op: 'set'; set: CodeSet; next: number }
  | { op: 'split'; next: number; other: number }
  | { op: 'assert'; what: Assertion; next: number }
  | { op: 'match' }

/** What stands before a place: nothing, the end of a line, a letter, or anything else. */
const START = 0
const LINE_END = 1
const LETTER = 2
const OTHER = 3

interface State {
  places: number[]
  before: number
  /** By class; null is a match. */
  next: (State | null | undefined)[]
}

/** Makes an automaton of a pattern: states are found as text needs them, and kept. */
export function compileTree(tree: Tree): Automaton {
  const program = assemble(tree)
  const asserts = program.some((instruction) => instruction.op === 'assert')
  const bounds = boundsOf(program, asserts)
  const ascii = Uint16Array.from({ length: 128 }, (_, code) => classAt(bounds, code))
  const sides = Array.from(bounds, (code) => (asserts ? sideOf(code) : OTHER))
  const END = bounds.length
  // Flat, because a step goes through thousands of them: which classes an instruction takes, and where it leads.
  const rows = new Map<CodeSet, Uint8Array>()
  const takes = program.map((instruction) => {
    if (instruction.op !== 'set') return null
    const row = rows.get(instruction.set) ?? rowOf(instruction.set, bounds)
    rows.set(instruction.set, row)
    return row
  })
  const nexts = Int32Array.from(program, (instruction) => ('next' in instruction ? instruction.next : -1))
  const others = Int32Array.from(program, (one) => (one.op === 'split' ? one.other : -1))
  // All places at once, and two for each split that is met.
  const stack = new Int32Array(program.length * 3 + 2)
  let states = new Map<string, State>()
  let start: State | null = null
  let forgotten = 0
  const seen = new Uint32Array(program.length)
  const listed = new Uint32Array(program.length)
  let round = 0

  function stateOf(places: number[], before: number): State {
    const key = `${before} ${places.join(' ')}`
    let state = states.get(key)
    if (!state) {
      if (states.size >= MAX_STATES) {
        states = new Map()
        forgotten++
        // It would hold on to all that was forgotten.
        start = null
      }
      state = { places, before, next: [] }
      states.set(key, state)
    }
    return state
  }

  /** The state after one character of a class; null when a match ends before it. */
  function step(state: State, kind: number): State | null {
    const after = kind === END ? START : sides[kind]!
    const places: number[] = []
    let height = 0
    for (const place of state.places) stack[height++] = place
    round++
    while (height > 0) {
      const at = stack[--height]!
      if (seen[at] === round) continue
      seen[at] = round
      const row = takes[at]
      const next = nexts[at]!
      if (row) {
        if (kind === END || row[kind] === 0 || listed[next] === round) continue
        listed[next] = round
        places.push(next)
      } else if (others[at]! >= 0) {
        stack[height++] = others[at]!
        stack[height++] = next
      } else if (next < 0) return null
      else if (stands((program[at] as { what: Assertion }).what, state.before, after)) stack[height++] = next
    }
    // A match may begin at every character.
    if (listed[0] !== round) places.push(0)
    const before = kind === END || !asserts ? OTHER : after
    if (forgotten >= MAX_FORGOTTEN) return { places, before, next: [] }
    places.sort((a, b) => a - b)
    return stateOf(places, before)
  }

  const follow = (state: State, kind: number) => {
    const found = step(state, kind)
    if (forgotten < MAX_FORGOTTEN) state.next[kind] = found
    return found
  }

  return {
    size: program.length,
    test(bytes) {
      start ??= stateOf([0], asserts ? START : OTHER)
      let state: State | null = start
      for (let i = 0; i < bytes.length; ) {
        const byte = bytes[i]!
        let kind: number
        if (byte < 0x80) {
          kind = ascii[byte]!
          i++
        } else {
          const code = codeAt(bytes, i)
          kind = classAt(bounds, code < 0 ? 0xfffd : code)
          i += code < 0 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
        }
        const next: State | null | undefined = state.next[kind]
        state = next === undefined ? follow(state, kind) : next
        if (state === null) return true
      }
      return (state.next[END] === undefined ? follow(state, END) : state.next[END]) === null
    },
  }
}

function assemble(tree: Tree): Instruction[] {
  const program: Instruction[] = []
  const add = (instruction: Instruction): number => {
    if (program.length >= MAX_SIZE) throw new RangeError('The pattern is too large')
    return program.push(instruction) - 1
  }
  /** Writes a tree whose end is where the program goes on. */
  const write = (part: Tree): void => {
    if (part.kind === 'set') add({ op: 'set', set: part.set, next: program.length + 1 })
    else if (part.kind === 'assert') add({ op: 'assert', what: part.what, next: program.length + 1 })
    else if (part.kind === 'all') for (const one of part.parts) write(one)
    else if (part.kind === 'any') writeAny(part.parts)
    else {
      for (let i = 0; i < part.min; i++) write(part.part)
      if (part.max === Number.POSITIVE_INFINITY) {
        const split = add({ op: 'split', next: program.length + 1, other: 0 })
        write(part.part)
        add({ op: 'split', next: split, other: split })
        program[split] = { op: 'split', next: split + 1, other: program.length }
      } else {
        const splits: number[] = []
        for (let i = part.min; i < part.max; i++) {
          splits.push(add({ op: 'split', next: program.length + 1, other: 0 }))
          write(part.part)
        }
        for (const split of splits) program[split] = { op: 'split', next: split + 1, other: program.length }
      }
    }
  }
  const writeAny = (parts: Tree[]): void => {
    const ends: number[] = []
    parts.forEach((part, i) => {
      const isLast = i === parts.length - 1
      const split = isLast ? -1 : add({ op: 'split', next: program.length + 1, other: 0 })
      write(part)
      if (isLast) return
      ends.push(add({ op: 'split', next: 0, other: 0 }))
      program[split] = { op: 'split', next: split + 1, other: program.length }
    })
    for (const end of ends) program[end] = { op: 'split', next: program.length, other: program.length }
  }
  write(tree)
  add({ op: 'match' })
  return program
}

/** Which classes a set holds; both are in order, so one walk tells. */
function rowOf(set: CodeSet, bounds: Uint32Array): Uint8Array {
  const row = new Uint8Array(bounds.length)
  let i = 0
  bounds.forEach((code, kind) => {
    while (i < set.length && set[i + 1]! < code) i += 2
    row[kind] = Number(i < set.length && set[i]! <= code)
  })
  return row
}

/** Where classes begin: code points between two bounds are alike to every instruction. */
function boundsOf(program: Instruction[], asserts: boolean): Uint32Array {
  const bounds = new Set([0])
  const sets = program.flatMap((instruction) => (instruction.op === 'set' ? [instruction.set] : []))
  for (const set of new Set(sets))
    for (let i = 0; i < set.length; i += 2) {
      bounds.add(set[i]!)
      if (set[i + 1]! < LAST) bounds.add(set[i + 1]! + 1)
    }
  if (asserts) for (const code of SIDES) bounds.add(code)
  return Uint32Array.from(bounds).sort()
}

const WORD = setOf([0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a])
const SIDES = [10, 11, 0x30, 0x3a, 0x41, 0x5b, 0x5f, 0x60, 0x61, 0x7b]

function sideOf(code: number): number {
  return code === 10 ? LINE_END : contains(WORD, code) ? LETTER : OTHER
}

function classAt(bounds: Uint32Array, code: number): number {
  let low = 0
  let high = bounds.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (bounds[middle]! <= code) low = middle
    else high = middle
  }
  return low
}

function stands(what: Assertion, before: number, after: number): boolean {
  if (what === 'text-start') return before === START
  if (what === 'text-end') return after === START
  if (what === 'line-start') return before === START || before === LINE_END
  if (what === 'line-end') return after === START || after === LINE_END
  return ((before === LETTER) !== (after === LETTER)) === (what === 'word-edge')
}

/** The code point at a byte of 0x80 or above; -1 when the bytes there are no UTF-8. */
function codeAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!
  const count = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1
  if (lead < 0xc2 || lead > 0xf4 || at + count >= bytes.length) return -1
  let code = lead & (0x3f >> count)
  for (let i = 1; i <= count; i++) {
    const byte = bytes[at + i]!
    if ((byte & 0xc0) !== 0x80) return -1
    code = (code << 6) | (byte & 0x3f)
  }
  if (
    (count === 2 && (code < 0x800 || (code >= 0xd800 && code <= 0xdfff))) ||
    (count === 3 && (code < 0x10000 || code > LAST))
  )
    return -1
  return code
}
