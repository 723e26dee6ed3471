import { isTurnOver, yieldToEventLoop } from '../../kit/limits/yield.ts'
import { LogError } from '../error.ts'
import type { Find, LineFormat } from '../format/format.ts'
import type { Zone } from '../time.ts'
import {
  exactFinder,
  type Finder,
  foldedFinder,
  type Needle,
  nearestOf,
  needleMark,
  unicodeFinder,
} from './literal.ts'

export interface Reader {
  format: LineFormat
  zone: Zone
}

export interface Matcher {
  /** Whether the record bytes[from, to) matches. Conditions on fields need to know how the log is read. */
  test(bytes: Uint8Array, from: number, to: number, reader?: Reader): boolean
  /** The same in steps of some milliseconds, for long records. @default one step */
  inSteps?(bytes: Uint8Array, from: number, to: number, reader?: Reader): Generator<void, boolean>
  /**
   * The next offset in [from, to) where a match may be, or -1: no record that ends at or before it matches.
   * Without it, every record must be tested. A match that crosses `to` is not seen: hand in whole records.
   */
  find?(bytes: Uint8Array, from: number, to: number): number
  /** A text that every match has in one of its lines. */
  needle?: Needle | undefined
  /** Several texts, of which every match has one in one of its lines: marks of the scanner. */
  marks?: readonly RegExp[] | undefined
  /** Texts that no match has in any of its lines. */
  without?: readonly { needle: Needle; find: Find }[] | undefined
  /** Whether a record with the needle is a match, with nothing left to test. */
  sure?: boolean
  /** The fields that every match has. */
  fields?: readonly string[] | undefined
}

/** The longest text or pattern, in characters. */
const MAX_PATTERN = 1000

function checkLength(what: string, { length }: string): void {
  if (length <= MAX_PATTERN) return
  const reason = `The ${what} is ${length} characters long; at most ${MAX_PATTERN} are allowed.`
  throw new LogError('bad-pattern', reason)
}

/** Matches records that contain the text, ignoring case unless the text has a capital. */
export function textMatcher(text: string): Matcher {
  checkLength('text', text)
  const bytes = new TextEncoder().encode(text)
  const find = /[\p{Lu}\p{Lt}]/u.test(text)
    ? exactFinder(bytes)
    : bytes.length === text.length
      ? foldedFinder(bytes)
      : unicodeFinder(text)
  const test: Matcher['test'] = (record, from, to) => find(record, from, to) >= 0
  // A text with a line break is never within one line.
  return { find, test, needle: text.includes('\n') ? undefined : find.needle, sure: true }
}

/**
 * Matches records by a regular expression in RE2's syntax, in linear time; `^` and `$` match at each line of a
 * record, ignoring a CR before its LF. A literal that every match must contain is searched for first: that runs at
 * 1 GB/s, the engine at about 300 MB/s. The engine is loaded with the first pattern.
 */
export async function regexMatcher(source: string): Promise<Matcher> {
  checkLength('pattern', source)
  const { Dfa } = await import('../regex/dfa.ts')
  // Classes of Unicode take up to 0.1 s each; a request may have many, and they share turns with everyone else.
  if (isTurnOver()) await yieldToEventLoop()
  const compiled = new Dfa(source)
  const find = anyOf(compiled.literals)
  if (!find) return compiled
  const test: Matcher['test'] = (bytes, from, to) =>
    find(bytes, from, to) >= 0 && compiled.test(bytes, from, to)
  const inSteps: Matcher['inSteps'] = function* (bytes, from, to) {
    if (find(bytes, from, to) < 0) return false
    yield
    return yield* compiled.inSteps(bytes, from, to)
  }
  return { find, test, inSteps, needle: find.needle, marks: find.marks }
}

/** Tests a record in steps, between which others can have their turn. */
export function* testInSteps(
  matcher: Matcher,
  ...record: Parameters<Matcher['test']>
): Generator<void, boolean> {
  if (matcher.inSteps) return yield* matcher.inSteps(...record)
  const found = matcher.test(...record)
  yield
  return found
}

/** Records that all of `wanted` match and none of `unwanted`. If one of them can be searched fast, that serves all. */
export function combined(wanted: readonly Matcher[], unwanted: readonly Matcher[]): Matcher | null {
  if (wanted.length === 1 && unwanted.length === 0) return wanted[0]!
  if (wanted.length + unwanted.length === 0) return null
  const test: Matcher['test'] = (bytes, from, to, reader) => {
    for (const one of wanted) if (!one.test(bytes, from, to, reader)) return false
    for (const one of unwanted) if (one.test(bytes, from, to, reader)) return false
    return true
  }
  const inSteps: Matcher['inSteps'] = function* (...record) {
    for (const one of wanted) if (!(yield* testInSteps(one, ...record))) return false
    for (const one of unwanted) if (yield* testInSteps(one, ...record)) return false
    return true
  }
  // The longest text is the rarest, nearly always: `17` is in every fifth timestamp.
  const length = (one: Matcher) => one.needle?.low.length ?? 0
  const guide = wanted.filter((one) => one.find).toSorted((a, b) => length(b) - length(a))[0]
  const named = wanted.flatMap((one) => one.fields ?? [])
  const fields = named.length > 0 ? named : undefined
  const both = { test, inSteps, fields }
  if (!guide) {
    const without = unwanted.filter((one) => one.sure).filter(isFast)
    return without.length > 0 ? { ...both, without } : both
  }
  return { ...both, find: (...args) => guide.find!(...args), needle: guide.needle, marks: guide.marks }
}

function isFast(one: Matcher): one is Matcher & { needle: Needle; find: Find } {
  return one.needle !== undefined && one.find !== undefined
}

/** The nearest of several literals; null if there are none. */
function anyOf(literals: { text: string; folded: boolean }[] | null): Finder | null {
  if (!literals) return null
  const encoder = new TextEncoder()
  const finders = literals.map(({ text, folded }) =>
    folded ? foldedFinder(encoder.encode(text)) : exactFinder(encoder.encode(text)),
  )
  if (finders.length === 1) return finders[0]!
  const find = nearestOf(finders)
  find.marks = finders.map(({ needle }) => needleMark(needle!))
  return find
}
