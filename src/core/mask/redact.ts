import { listReader, namedByOthers } from './lists.ts'
import { apply, type Edit, MASK, unite } from './mask.ts'
import type { Setting } from './pairs.ts'
import { findTraces, isSecretText, passwordInUser, type Span } from './patterns.ts'
import { findPemInComments } from './pem.ts'
import { type Comment, isNextLine, NOT_TOML, type Place, Scanner, type Value } from './scan.ts'

export { MASK } from './mask.ts'

/** A mask can reveal a form that was hidden before, so a text is searched again until nothing is found. */
const MAX_ROUNDS = 8
/** Values or comments that are looked at in one go. */
const STRETCH = 64

/**
 * Masks the secrets in TOML text: values of keys that name one, secrets of known form, commented-out settings, and long
 * words that repeat one of these. Everything else stays byte for byte, and each string keeps its quoting. Throws when the
 * text is not valid TOML, because then nothing is safe to show. It is linear in the text, whatever that holds, and yields
 * now and then, so that a service can do it in turns.
 */
export function* redacting(toml: string): Generator<void, string> {
  const { values, comments } = new Scanner(toml).all()
  const document = new Masked(toml)
  yield* document.values(values)
  yield* document.comments(comments)
  return document.text()
}

/** The same in one go. */
export function redact(toml: string): string {
  const steps = redacting(toml)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/**
 * Masks the secrets that other text, such as a record of a log, carries by its own form. It is read as a value and as a
 * comment: in doubt, what is handed to others is masked. What was masked is added to `secrets`.
 */
export function redactText(text: string, secrets?: Set<string>): string {
  const find = (masked: string) => [...findTraces(masked, IN_VALUE), ...findTraces(masked, IN_COMMENT)]
  return settled(text, find, (secret) => secrets?.add(secret))
}

/** A text in which nothing is found any more. */
function settled(
  text: string,
  find: (text: string) => readonly Span[],
  note: (secret: string) => void,
): string {
  let masked = text
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = find(masked)
    if (found.length === 0) break
    for (const { start, end } of found) note(masked.slice(start, end))
    masked = apply(masked, unite(found))
  }
  return masked
}

const IN_VALUE: Setting = { inComment: false }
const IN_COMMENT: Setting = { inComment: true }

/** A string or a comment that is no secret as a whole: what was searched, and its text without what was found. */
interface Passage extends Span {
  readonly text: string
  readonly masked: string
  /** Whether `text` is not what is written in the document, because that has escapes. */
  readonly isEscaped: boolean
}

/** Words that are masked wherever they are if they are, or are in, a secret: those with letters and digits name little else. */
const WORD = /\w[\w.~+/=-]{4,}\w/g
const isTelling = (word: string) => /\d/.test(word) && /[A-Za-z]/.test(word)

/** A document whose secrets are replaced. */
class Masked {
  readonly #toml: string
  readonly #edits: Edit[] = []
  readonly #passages: Passage[] = []
  readonly #secrets = new Set<string>()
  readonly #note = (secret: string): void => {
    for (const word of secret.match(WORD) ?? []) if (isTelling(word)) this.#secrets.add(word)
  }

  constructor(toml: string) {
    this.#toml = toml
  }

  *values(values: readonly Value[]): Generator<void> {
    const named = namedByOthers(values)
    const readList = listReader(this.#toml)
    for (const [i, value] of values.entries()) {
      if (i % STRETCH === 0) yield
      const { option, isSecret } = readList(value)
      this.#value(value, option, isSecret || isSecretValue(value, named))
    }
  }

  #value(value: Value, option: string, isSecret: boolean): void {
    const { text, quote } = value
    const { start, end } = insideOf(value)
    if (text === '' || (isSecret && text === MASK)) return
    const raw = this.#toml.slice(start, end)
    const password = passwordInUser(option, text)
    // Where there are escapes, the password is elsewhere.
    if (password !== null && !isSecret && raw === text) {
      this.#edits.push({ start: start + password, end })
      this.#note(text.slice(password))
    } else if (isSecret) {
      // A number becomes a string; a string stays in its quotes, so that the literal stays what it was.
      this.#edits.push({ start, end, text: quote === '' ? `"${MASK}"` : MASK })
      this.#note(text)
    } else if (quote !== '') {
      // Escapes may hide the form of a secret.
      const isEscaped = quote[0] === '"' && raw !== text && raw.includes('\\')
      const searched = isEscaped ? text : raw
      const masked = settled(searched, (text) => findTraces(text, IN_VALUE), this.#note)
      this.#passages.push({ start, end, text: searched, masked, isEscaped })
    }
  }

  *comments(comments: readonly Comment[]): Generator<void> {
    const keys = findPemInComments(this.#toml, comments)
    for (let first = 0; first < comments.length; ) {
      yield
      let last = first
      if (isWholeLine(this.#toml, comments[first]!.start))
        while (last + 1 < comments.length && isNextLine(this.#toml, comments[last]!, comments[last + 1]!))
          last++
      const block = comments.slice(first, last + 1)
      const hasSettings = block.some(({ start, end }) => this.#toml.slice(start, end).includes('='))
      const { spans, read } = hasSettings ? this.#settingsIn(block) : NONE_READ
      for (const [i, comment] of block.entries()) {
        if (i % STRETCH === STRETCH - 1) yield
        this.#comment(comment, [...overlapping(spans, comment), ...overlapping(keys, comment)], read)
      }
      first = last + 1
    }
  }

  /** Masks settings in a comment, which may extend over several, and what it carries by its own form. */
  #comment(comment: Comment, settings: readonly Span[], read: readonly Span[]): void {
    const { start, end } = comment
    const text = this.#toml.slice(start, end)
    const setting = settingOf(comment)
    // What was read as TOML is no list, and what is masked may look like one.
    const tracesIn = (text: string) => findTraces(text, setting)
    const traces = tracesIn(text).filter((span) => !(span.list && covers(read, start + span.start)))
    for (const span of traces) if (!span.list) this.#note(text.slice(span.start, span.end))
    const inside = start + /^#*/.exec(text)![0].length
    const own = settings.map((span) => ({
      start: Math.max(span.start, inside) - start,
      end: Math.min(span.end, end) - start,
    }))
    if (isElement(comment)) own.push(...quotedIn(text))
    const first = apply(text, unite([...own, ...traces]))
    const masked =
      first === text ? text : settled(first, (text) => tracesIn(text).filter(({ list }) => !list), this.#note)
    this.#passages.push({ start, end, text, masked, isEscaped: false })
  }

  /** The document with its masks, those of repeated secrets included. */
  text(): string {
    for (const { start, end, text, masked, isEscaped } of this.#passages) {
      const all = masked.replace(WORD, (word) => (this.#secrets.has(word) ? MASK : word))
      if (all === text) continue
      const written = isEscaped ? JSON.stringify(all).slice(1, -1).replaceAll('\x7f', '\\u007f') : all
      this.#edits.push({ start, end, text: written })
    }
    return apply(
      this.#toml,
      this.#edits.sort((a, b) => a.start - b.start),
    )
  }

  /** Parses commented-out text as TOML, in the table around it, as far as it is TOML: its secrets, and what was read. */
  #settingsIn(comments: readonly Comment[]): { spans: Span[]; read: Span[] } {
    const block = uncomment(this.#toml, comments)
    const found = readBlock(block.text, comments[0]!.place)
    const named = namedByOthers(found.values)
    const spans: Span[] = []
    for (const value of found.values) {
      const { text } = value
      if (!isSecretValue(value, named) || text === '' || text === MASK) continue
      const { start, end } = insideOf(value)
      spans.push({ start: block.place(start), end: block.place(end) })
      this.#note(text)
    }
    const read = found.read.map(({ start, end }) => ({ start: block.place(start), end: block.place(end) }))
    return { spans, read }
  }
}

const NONE: readonly Span[] = []
const NONE_READ = { spans: NONE, read: NONE }

function settingOf({ place }: Comment): Setting {
  return place.key === '' ? IN_COMMENT : { inComment: true, table: place.key }
}

/** What is between the quotes of a string; all of another value. */
function insideOf({ start, end, quote }: Value): Span {
  return { start: start + quote.length, end: end - quote.length }
}

function isSecretValue(value: Value, named: ReadonlySet<Value>): boolean {
  return value.secret || named.has(value) || (value.quote !== '' && isSecretText(value.text))
}

/** Those of sorted spans that share something with another. */
function overlapping(spans: readonly Span[], { start, end }: Span): readonly Span[] {
  if (spans.length === 0) return NONE
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (spans[middle]!.end <= start) low = middle + 1
    else high = middle
  }
  let past = low
  while (past < spans.length && spans[past]!.start < end) past++
  return spans.slice(low, past)
}

const covers = (spans: readonly Span[], at: number) =>
  overlapping(spans, { start: at, end: at + 1 }).length > 0

/** A comment inside the list of a secret key, where an element may be commented out. */
function isElement({ place, inValue }: Comment): boolean {
  return inValue && (place.direct || place.inherited)
}

function quotedIn(text: string): Span[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)+)"|'([^']+)'/g)]
    .map((match) => ({ start: match.index + 1, end: match.index + match[0].length - 1 }))
    .filter(({ start, end }) => text.slice(start, end) !== MASK)
}

function isWholeLine(toml: string, start: number): boolean {
  let at = start - 1
  while (at >= 0 && (toml[at] === ' ' || toml[at] === '\t')) at--
  return at < 0 || toml[at] === '\n' || toml[at] === '\ufeff'
}

interface Uncommented {
  readonly text: string
  place(at: number): number
}

/** A block of comments without its marks, and the way back from a place in it to the source. */
function uncomment(toml: string, comments: readonly Comment[]): Uncommented {
  const lines: string[] = []
  const ours: number[] = []
  const theirs: number[] = []
  let length = 0
  for (const { start, end } of comments) {
    let from = start
    while (from < end && toml[from] === '#') from++
    ours.push(length)
    theirs.push(from)
    lines.push(toml.slice(from, end))
    length += end - from + 1
  }
  let line = 0
  return {
    text: lines.join('\n'),
    place(at: number): number {
      while (line > 0 && ours[line]! > at) line--
      while (line + 1 < ours.length && ours[line + 1]! <= at) line++
      return theirs[line]! + at - ours[line]!
    },
  }
}

function readBlock(text: string, table: Place): { values: Value[]; read: Span[] } {
  const read: Span[] = []
  const scanner = new Scanner(text)
  scanner.table = table
  // Unfinished values are read again from each line; once that gets expensive, values may no longer span lines.
  let budget = 2 * text.length
  for (let start = 0; start < text.length; ) {
    let eol = text.indexOf('\n', start)
    if (eol === -1) eol = text.length
    const known = scanner.values.length
    const notes = scanner.comments.length
    while (start < eol && (text[start] === ' ' || text[start] === '\t')) start++
    scanner.pos = start
    scanner.text = budget > 0 ? text : text.slice(0, eol)
    try {
      scanner.expression()
      read.push({ start, end: scanner.comments[notes]?.start ?? scanner.pos })
      start = scanner.pos + 1
    } catch (error) {
      if (error !== NOT_TOML) throw error
      budget -= scanner.pos - start
      scanner.values.length = known
      start = eol + 1
    }
  }
  return { values: scanner.values, read }
}
