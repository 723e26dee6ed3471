import { BoundedMap } from '../../kit/limits/bounded-map.ts'

/** How many bytes in a row show a mark, and how many groups of marks the tables tell apart. */
const WINDOW = 4
const GROUPS = 8
/** Two tables of 16 bytes for each byte of the window. */
export const TABLE_BYTES = WINDOW * 32

/** Which bytes may be in one place of a mark: 1 for those that may. */
interface Class {
  fitting: Uint8Array
  halves: Halves
}

interface Mark {
  classes: readonly Class[]
  /** Where the four bytes begin that show it. */
  window: number
  halves: Halves
}

/** Which lower and which upper halves the bytes of a window may have, one bit for each. */
type Halves = Uint16Array

/**
 * Texts of which a record must hold one, all searched for in one pass. They are written as regular expressions of
 * characters below U+0100, which stand for bytes, classes, escapes and `?` behind a single character; nothing else.
 */
export class Marks {
  /** For the scanner: bit g of byte b is set where group g may have that half of a byte. */
  readonly tables = new Uint8Array(TABLE_BYTES)
  readonly #marks: readonly Mark[]
  /** The marks whose windows can begin and end with two bytes, as they were asked for. */
  readonly #lists: (readonly Mark[])[] = []
  readonly #byEnds = new Uint16Array(1 << 16)

  constructor(patterns: readonly RegExp[]) {
    const marks = patterns.flatMap(({ source, ignoreCase }) => spelled(source, ignoreCase)).map(markOf)
    const groups: Halves[] = Array.from({ length: GROUPS }, () => new Uint16Array(2 * WINDOW))
    // What stops the scanner most often comes first, and has a group to itself.
    const windows = new Map(marks.map(({ halves }) => [halves.join(), { halves, cost: costOf(halves) }]))
    const known = groups.map(() => 0)
    for (const { halves } of [...windows.values()].sort((a, b) => b.cost - a.cost)) {
      const costs = groups.map((group) => costOf(both(group, halves)))
      const more = costs.map((cost, i) => cost - known[i]!)
      const best = more.indexOf(Math.min(...more))
      groups[best] = both(groups[best]!, halves)
      known[best] = costs[best]!
    }
    for (const [group, halves] of groups.entries())
      for (let at = 0; at < TABLE_BYTES; at++)
        if ((halves[at >> 4]! >> (at & 15)) & 1) this.tables[at]! |= 1 << group
    this.#marks = marks
  }

  /** Whether a mark shows itself at bytes[at] and is whole in bytes[0, to): where its last byte is, else -1. */
  lastByte(bytes: Uint8Array, at: number, to: number): number {
    const marks = this.#at(bytes[at]!, bytes[at + WINDOW - 1] ?? 0)
    for (let mark = 0; mark < marks.length; mark++) {
      const { classes, window } = marks[mark]!
      const start = at - window
      if (start < 0 || start + classes.length > to) continue
      let i = 0
      while (i < classes.length && classes[i]!.fitting[bytes[start + i]!] === 1) i++
      if (i === classes.length) return start + i - 1
    }
    return -1
  }

  #at(first: number, last: number): readonly Mark[] {
    const ends = (first << 8) | last
    const index = this.#byEnds[ends]!
    if (index > 0) return this.#lists[index - 1]!
    const fits = (own: Class | undefined, byte: number) => (own ?? ANY).fitting[byte] === 1
    const marks = this.#marks.filter(
      ({ classes, window }) => fits(classes[window], first) && fits(classes[window + WINDOW - 1], last),
    )
    this.#byEnds[ends] = this.#lists.push(marks)
    return marks
  }
}

const ANY = asClass(new Uint8Array(256).fill(1))

function asClass(fitting: Uint8Array): Class {
  return { fitting, halves: halvesOf(fitting) }
}

/** How often bytes are in logs, roughly. */
const SHARES = new Float64Array(256).fill(0.0001)
for (const char of '""""::,,    eeettaaooiinnsshhrrddllcumwfgypbvk00112233456789/.-=[]{}()_ETAOINSHR\t\n')
  SHARES[char.charCodeAt(0)]! += 0.012

/** How often text fits by its half bytes: the product of the shares of each place. */
function costOf(halves: Halves): number {
  let product = 1
  for (let i = 0; i < halves.length; i += 2) {
    let share = 0
    for (let byte = 0; byte < 256; byte++)
      if ((halves[i]! >> (byte & 15)) & (halves[i + 1]! >> (byte >> 4)) & 1) share += SHARES[byte]!
    product *= share
  }
  return product
}

function both(one: Halves, other: Halves): Halves {
  return one.map((bits, i) => bits | other[i]!)
}

/** More bytes than this in the first place of a window would stop the scanner too often. */
const FEW = 32

/** A mark with its window: the first four places, without those that most bytes fit into. */
function markOf(classes: readonly Class[]): Mark {
  const first = classes.findIndex(({ fitting }) => fitting.reduce((sum, bit) => sum + bit, 0) <= FEW)
  const window = Math.max(0, first)
  const halves = new Uint16Array(2 * WINDOW)
  for (let i = 0; i < WINDOW; i++) halves.set((classes[window + i] ?? ANY).halves, 2 * i)
  return { classes, window, halves }
}

/** The lower and the upper halves of some bytes. */
function halvesOf(fitting: Uint8Array): Halves {
  const halves = new Uint16Array(2)
  for (let byte = 0; byte < 256; byte++) {
    if (fitting[byte] === 0) continue
    halves[0]! |= 1 << (byte & 15)
    halves[1]! |= 1 << (byte >> 4)
  }
  return halves
}

const ITEM = /\[(?:[^\]\\]|\\.)+\]|\\x[\da-f]{2}|\\?[\s\S]/giy

/** The spellings of a pattern: one, and two for each character that may be left out. */
function spelled(source: string, folded: boolean): Class[][] {
  let all: Class[][] = [[]]
  ITEM.lastIndex = 0
  for (let at = 0; at < source.length; at = ITEM.lastIndex) {
    const [item] = ITEM.exec(source)!
    const longer = all.map((classes) => [...classes, classOf(item, folded)])
    const isOptional = source[ITEM.lastIndex] === '?'
    if (isOptional) ITEM.lastIndex++
    all = isOptional ? [...all, ...longer] : longer
  }
  return all
}

/** Classes that were made; there are few, apart from those of single bytes. */
const known = new BoundedMap<string, Class>(1000)

function classOf(item: string, folded: boolean): Class {
  return known.use(`${item} ${folded}`, () => {
    const pattern = new RegExp(`^${item}$`, folded ? 'is' : 's')
    const fits = (_: unknown, byte: number) => Number(pattern.test(String.fromCharCode(byte)))
    return asClass(Uint8Array.from({ length: 256 }, fits))
  })
}
