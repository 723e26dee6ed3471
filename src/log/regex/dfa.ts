import { LogError } from '../error.ts'
import { type Columns, columnsOf } from './columns.ts'
import { CHAR, compile, type RegexProgram, WHOLE } from './program.ts'
import { borderNear, repaired } from './repair.ts'
import { type Literal, requiredLiterals } from './required.ts'
import { parse } from './syntax.ts'
import { EDGE, OTHER, resolveAssertions, Threads, UNKNOWN } from './threads.ts'

/** What a cell of the table may hold instead of the next state. */
const UNBUILT = 0
const MATCHED = -1
const BROKEN = -2
const RETURN = -3
const MISSED = -4
/** The result for a slice that neither matches nor rules a match out: the search goes on with the next slice. */
const GOES_ON = -5

/**
 * A long text is searched in slices, between which a search can be interrupted: at most this many bytes, and fewer if
 * the program is so large that a slice could take more steps than these, which take 20 ms.
 */
const SLICE = 64 * 1024
const SLICE_STEPS = 2e6
const SMALLEST_SLICE = 512

/** 4 MB of cells and threads. Beyond that, all states are dropped and rebuilt as needed. */
const MAX_CELLS = 1 << 20
/** If states serve fewer bytes than this before they are dropped, three times in a row, building them does not pay. */
const WORTH = 10

/**
 * A step of one thread over one byte takes 10 ns. A pattern may take this many in addition to those that its text
 * allows: half a second in all. Only patterns that defeat the table come near it.
 */
const MAX_STEPS = 5e7
const STEPS_PER_BYTE = 20

/**
 * Tests whether a pattern in RE2's syntax matches somewhere in bytes, in linear time; `^` and `$` match at lines. The
 * constructor throws a LogError that says what is wrong with the pattern. States are built during the search, each a set
 * of instructions; a byte then costs two lookups, 1 to 2 ns. Invalid UTF-8 counts as U+FFFD, byte by byte.
 */
export class Dfa {
  readonly literals: Literal[] | null
  readonly #program: RegexProgram
  readonly #columns: Columns
  readonly #column: Uint16Array
  readonly #width: number
  #now: Threads
  #then: Threads
  readonly #always: boolean
  readonly #slice: number
  /** Where the search is between two slices: a state's threads; null at the start of a text. */
  #place: Int32Array | null = null
  #table: Int32Array
  /** For each state: what came before the position, then its threads in order: node × program length + instruction. */
  #states: Int32Array[] = []
  readonly #ids = new Map<number, number[]>()
  #cells = 0
  #begin = 0
  #served = 0
  #cached = true
  #chances = 3
  #steps = 0
  #allowed = MAX_STEPS

  constructor(source: string) {
    const node = parse(source)
    this.literals = requiredLiterals(node)
    this.#program = compile(node)
    this.#columns = columnsOf(this.#program)
    const { count, of } = this.#columns
    // Two extra columns: a CR, which counts or not depending on the next byte, and the end.
    this.#width = count + 2
    this.#column = Uint16Array.from(of)
    this.#column[0x0d] = count
    this.#now = new Threads(this.#program)
    this.#then = new Threads(this.#program)
    this.#table = new Int32Array(0)
    this.#forget()
    this.#always = this.#now.matched
    const most = Math.floor(SLICE_STEPS / this.#program.ops.length)
    this.#slice = Math.max(SMALLEST_SLICE, Math.min(SLICE, most))
  }

  /** How many steps of threads it has taken so far: the measure of its work. */
  get steps(): number {
    return this.#steps
  }

  /** Whether bytes[from, to) holds a match. A CR before an LF or at the end is ignored. */
  test(bytes: Uint8Array, from: number, to: number): boolean {
    if (to - from <= this.#slice) {
      if (this.#always) return true
      this.#allowed += (to - from) * STEPS_PER_BYTE
      this.#place = null
      return this.#search(bytes, from, to, true) === MATCHED
    }
    const search = this.inSteps(bytes, from, to)
    for (;;) {
      const { done, value } = search.next()
      if (done) return value
    }
  }

  /** The same, interrupted after every `SLICE` bytes or `SLICE_STEPS` steps. Other texts may be tested meanwhile. */
  *inSteps(bytes: Uint8Array, from: number, to: number): Generator<void, boolean> {
    if (this.#always) return true
    this.#allowed += (to - from) * STEPS_PER_BYTE
    let place: Int32Array | null = null
    let paused = from
    let steps = this.#steps
    for (let at = from; ; ) {
      const end = to - at <= this.#slice ? to : borderNear(bytes, at + this.#slice)
      this.#place = place
      const outcome = this.#search(bytes, at, end, end === to)
      if (outcome !== GOES_ON) return outcome === MATCHED
      place = this.#place
      at = end
      if (at + this.#slice - paused <= SLICE && this.#steps - steps < SLICE_STEPS) continue
      yield
      paused = at
      steps = this.#steps
    }
  }

  /** Searches a slice that begins at `#place`. */
  #search(bytes: Uint8Array, from: number, to: number, isLast: boolean): number {
    const place = this.#place
    const outcome = this.#run(bytes, from, to, isLast)
    if (outcome !== BROKEN) return outcome
    const whole = repaired(bytes, from, to)
    this.#place = place
    return this.#run(whole, 0, whole.length, isLast)
  }

  /** Runs on the table as far as possible; BROKEN in broken UTF-8. */
  #run(bytes: Uint8Array, from: number, to: number, isLast: boolean): number {
    const place = this.#place
    let state = this.#begin
    if (this.#cached && place !== null) state = this.#stateOf(place)
    if (!this.#cached) return this.#walk(bytes, from, { to, isLast, before: this.#resume(place) })
    const column = this.#column
    let table = this.#table
    let counted = from
    for (let at = from; at < to; at++) {
      let cell = column[bytes[at]!]!
      let next = table[state + cell]!
      if (next === state) {
        // Most bytes leave the state as it is: four at a time are twice as fast.
        while (
          at + 4 < to &&
          table[state + column[bytes[at + 1]!]!] === state &&
          table[state + column[bytes[at + 2]!]!] === state &&
          table[state + column[bytes[at + 3]!]!] === state &&
          table[state + column[bytes[at + 4]!]!] === state
        )
          at += 4
        continue
      }
      if (next > 0) {
        state = next
        // Beyond ASCII, every byte leads to another state: in a loop of their own they take 5 ns instead of 9.
        while (at + 1 < to) {
          next = table[state + column[bytes[at + 1]!]!]!
          if (next <= 0 || next === state) break
          state = next
          at++
        }
        continue
      }
      if (next === RETURN) {
        if (at + 1 === to ? isLast : bytes[at + 1] === 0x0a) continue
        cell = this.#columns.of[0x0d]!
        next = table[state + cell]!
      }
      if (next === UNBUILT) {
        this.#served += at - counted
        counted = at
        const threads = this.#states[state / this.#width]!
        const before = this.#load(threads)
        next = this.#build(state, before, cell)
        if (!this.#cached) {
          this.#load(threads)
          return this.#walk(bytes, at, { to, isLast, before })
        }
        table = this.#table
      }
      if (next === MATCHED || next === BROKEN) return next
      state = next
    }
    this.#served += to - counted
    const threads = this.#states[state / this.#width]!
    if (!isLast) {
      this.#load(threads)
      this.#place = threads
      return this.#isBetweenCharacters() ? GOES_ON : BROKEN
    }
    const end = state + this.#width - 1
    if (table[end] === UNBUILT) table[end] = this.#end(this.#load(threads))
    return table[end]!
  }

  /** Continues from the current threads without a table: slower, but it takes no more memory. */
  #walk(bytes: Uint8Array, from: number, { to, isLast, before }: Walk): number {
    const { of, kinds } = this.#columns
    let last = before
    for (let at = from; at < to; at++) {
      if (bytes[at] === 0x0d && (at + 1 === to ? isLast : bytes[at + 1] === 0x0a)) continue
      const cell = of[bytes[at]!]!
      if (this.#step(last, cell)) return MATCHED
      last = kinds[cell]!
      const { size } = this.#then
      ;[this.#now, this.#then] = [this.#then, this.#now]
      if (size === 0) return BROKEN
    }
    if (isLast) return this.#end(last)
    this.#place = this.#threadsOf(this.#now, last)
    return this.#isBetweenCharacters() ? GOES_ON : BROKEN
  }

  /** Moves the current threads over a byte; returns whether they match before it or with it. */
  #step(before: number, cell: number): boolean {
    const { nexts, ops } = this.#program
    const { count, edges, kinds } = this.#columns
    const now = this.#now
    const then = this.#then
    resolveAssertions(this.#program, now, before, kinds[cell]!)
    then.clear()
    if (now.matched) return true
    this.#steps += now.size
    if (this.#steps + now.visits + then.visits > this.#allowed)
      throw new LogError(
        'bad-pattern',
        'The pattern takes too much work in this log; use smaller counts in its repetitions, or a text that must occur.',
      )
    for (let i = 0; i < now.size; i++) {
      const pc = now.pcs[i]!
      if (ops[pc] !== CHAR) continue
      const node = edges[now.nodes[pc]! * count + cell]!
      if (node === WHOLE) then.reach(nexts[pc]!, OTHER, UNKNOWN)
      else if (node > 0) then.put(pc, node)
    }
    return then.matched
  }

  /** What the end of the text means for the current threads. */
  #end(before: number): number {
    if (!this.#isBetweenCharacters()) return BROKEN
    resolveAssertions(this.#program, this.#now, before, EDGE)
    return this.#now.matched ? MATCHED : MISSED
  }

  /** Between characters, the search for a start is at its root, the only node that knows all lead bytes. */
  #isBetweenCharacters(): boolean {
    const search = this.#program.ops.length - 1
    return this.#now.nodes[search] === this.#program.args[search]
  }

  #start(): void {
    this.#now.clear()
    this.#now.reach(this.#program.start, EDGE, UNKNOWN)
  }

  /** Makes the threads of a place the current ones; returns what comes before them. */
  #resume(place: Int32Array | null): number {
    if (place !== null) return this.#load(place)
    this.#start()
    return EDGE
  }

  /** The state with these threads, which may have been dropped. */
  #stateOf(list: Int32Array): number {
    const before = this.#load(list)
    // If all states are dropped, the current threads are those of the first one.
    ;[this.#now, this.#then] = [this.#then, this.#now]
    return this.#keep(this.#then, before)
  }

  /** Makes the threads of a state the current ones; returns what comes before them. */
  #load(list: Int32Array): number {
    const now = this.#now
    const length = this.#program.ops.length
    now.clear()
    for (let i = 1; i < list.length; i++) now.put(list[i]! % length, Math.floor(list[i]! / length))
    now.asserts = list[0] !== NO_ASSERTS
    return list[0]!
  }

  /** Fills a cell of the table. */
  #build(state: number, before: number, cell: number): number {
    const states = this.#states
    let next = MATCHED
    if (!this.#step(before, cell)) {
      const { size } = this.#then
      next = size === 0 ? BROKEN : this.#keep(this.#then, this.#columns.kinds[cell]!)
    }
    // If the states were dropped, this row now belongs to another state.
    if (states === this.#states) this.#table[state + cell] = next
    return next
  }

  /** The state of these threads: known, or new. */
  #keep(threads: Threads, before: number): number {
    const { size } = threads
    const list = this.#threadsOf(threads, before)
    let hash = list[0]!
    for (let i = 1; i <= size; i++) hash = Math.imul(hash ^ list[i]!, 0x01000193)
    const same = this.#ids.get(hash)
    const known = same?.find((id) => equal(this.#states[id]!, list))
    if (known !== undefined) return known * this.#width
    this.#cells += this.#width + list.length + 32
    if (this.#cells > MAX_CELLS) {
      if (this.#served < WORTH * this.#states.length) this.#chances--
      this.#cached = this.#chances > 0
      if (!this.#cached) return UNBUILT
      this.#forget()
      return this.#keep(threads, before)
    }
    const id = this.#states.push(list) - 1
    if (same) same.push(id)
    else this.#ids.set(hash, [id])
    const row = id * this.#width
    if (row + this.#width > this.#table.length) {
      const larger = new Int32Array(Math.max(2 * row, 16 * this.#width))
      larger.set(this.#table)
      this.#table = larger
    }
    this.#table[row + this.#width - 2] = RETURN
    return row
  }

  /** Threads as a state has them. */
  #threadsOf({ size, pcs, nodes, asserts }: Threads, before: number): Int32Array {
    const { length } = this.#program.ops
    const list = new Int32Array(size + 1)
    // Sorting and comparing them takes longer than stepping.
    this.#steps += 8 * size
    for (let i = 0; i < size; i++) list[i + 1] = nodes[pcs[i]!]! * length + pcs[i]!
    list.sort()
    // All are above 0, so the first slot is still free.
    list[0] = asserts ? before : NO_ASSERTS
    return list
  }

  #forget(): void {
    // Row 0 is unused: a cell of 0 is not built yet.
    this.#states = [new Int32Array(1)]
    this.#ids.clear()
    this.#table = new Int32Array(0)
    this.#cells = 0
    this.#served = 0
    this.#start()
    this.#begin = this.#keep(this.#now, EDGE)
  }
}

/** Used for what comes before a position if no assertion checks it. */
const NO_ASSERTS = UNKNOWN

/** What is left of a slice, and what comes before it. */
interface Walk {
  to: number
  isLast: boolean
  before: number
}

function equal(a: Int32Array, b: Int32Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
