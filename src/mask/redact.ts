import { Echoes } from './echoes.ts'
import { listReader, namedByOthers } from './lists.ts'
import { apply, type Edit, MASK, unite } from './mask.ts'
import type { Setting } from './pairs.ts'
import { findTraces, findTracesInTurns, isSecretText, passwordInUser, type Span } from './patterns.ts'
import { findPemInComments } from './pem.ts'
import { type Comment, isNextLine, NOT_TOML, type Place, Scanner, type Value } from './scan.ts'

export { MASK } from './mask.ts'

/** A mask can reveal a form that was hidden before, so a text is searched again until nothing is found. */
const MAX_ROUNDS = 8
/** Values or comments that are looked at in one go. */
const STRETCH = 64
/** Characters of a text that is searched in turns, or of a block of comments that is read in one go. */
const LONG = 4096

/**
 * Masks the secrets in TOML text: values of keys that name one, secrets of known form, commented-out settings, and what
 * repeats these. Everything else stays byte for byte, and each string keeps its quoting. Throws when the text is not
 * valid TOML, because then nothing is safe to show. It goes through the text once, is linear in it, whatever it holds,
 * and yields now and then, so that a service can do it in turns.
 */
export function* redacting(toml: string): Generator<void, string> {
  const { values, comments } = yield* new Scanner(toml).all()
  yield
  const document = new Masked(toml)
  yield* document.values(values)
  yield* document.comments(comments)
  return yield* document.text()
}

/** The same in one go. */
export function redact(toml: string): string {
  return inOneGo(redacting(toml))
}

function inOneGo<T>(steps: Generator<void, T>): T {
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
  let masked = text
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = [...findTraces(masked, IN_VALUE), ...findTraces(masked, IN_COMMENT)]
    if (found.length === 0) break
    for (const { start, end } of found) secrets?.add(masked.slice(start, end))
    masked = inOneGo(apply(masked, unite(found)))
  }
  return masked
}

const IN_VALUE: Setting = { inComment: false }
const IN_COMMENT: Setting = { inComment: true }

/** A string or a comment that is no secret as a whole. */
interface Passage extends Span {
  /** What is searched, and its text without what was found so far. */
  readonly text: string
  masked: string
  readonly inComment: boolean
  /** Whether `text` is not what is written in the document, because that has escapes. */
  readonly isEscaped: boolean
}

/** A document whose secrets are replaced. */
class Masked {
  readonly #toml: string
  readonly #edits: Edit[] = []
  readonly #passages: Passage[] = []
  /** What extends over several comments, what else is in these, and which they are. */
  readonly #wide: Span[] = []
  readonly #shared: Comment[] = []
  readonly #echoes = new Echoes()

  constructor(toml: string) {
    this.#toml = toml
  }

  *values(values: readonly Value[]): Generator<void> {
    const named = namedByOthers(values)
    const readList = listReader(this.#toml)
    for (const [i, value] of values.entries()) {
      if (i % STRETCH === 0) yield
      const { option, isSecret } = readList(value)
      const passage = this.#value(value, { option, isSecret: isSecret || isSecretValue(value, named) })
      if (passage === null) continue
      if (isClean(passage.text, IN_VALUE)) this.#passages.push(passage)
      else yield* this.#search(passage, IN_VALUE)
    }
  }

  /** Masks a value if it is a secret as a whole; otherwise returns what must be searched. */
  #value(value: Value, { option, isSecret }: { option: string; isSecret: boolean }): Passage | null {
    const { text, quote } = value
    const { start, end } = insideOf(value)
    if (text === '' || (isSecret && text === MASK)) return null
    const raw = this.#toml.slice(start, end)
    const password = passwordInUser(option, text)
    // Where there are escapes, the password is elsewhere.
    if (password !== null && !isSecret && raw === text) {
      this.#edits.push({ start: start + password, end })
      this.#noteTrace(text.slice(password), false)
      return null
    }
    if (isSecret) {
      // A number becomes a string; a string stays in its quotes, so that the literal stays what it was.
      this.#edits.push({ start, end, text: quote === '' ? `"${MASK}"` : MASK })
      this.#noteValue(raw, text, false)
      return null
    }
    if (quote === '') return null
    // Escapes may hide the form of a secret.
    const isEscaped = quote[0] === '"' && raw !== text && raw.includes('\\')
    const searched = isEscaped ? text : raw
    return { start, end, text: searched, masked: searched, inComment: false, isEscaped }
  }

  *comments(comments: readonly Comment[]): Generator<void> {
    /** What extends over several comments becomes one mask. */
    const wide: Span[] = findPemInComments(this.#toml, comments)
    const blocks: { comment: Comment; settings: readonly Span[]; read: readonly Span[] }[] = []
    for (let first = 0, next = STRETCH; first < comments.length; ) {
      if (first > next) {
        next = first + STRETCH
        yield
      }
      let last = first
      if (isWholeLine(this.#toml, comments[first]!.start))
        while (last + 1 < comments.length && isNextLine(this.#toml, comments[last]!, comments[last + 1]!))
          last++
      const block = comments.slice(first, last + 1)
      const { spans, read } = block.some(({ start, end }) => this.#toml.slice(start, end).includes('='))
        ? yield* this.#settingsIn(block)
        : NONE_READ
      for (const comment of block) {
        const settings: Span[] = []
        for (const span of overlapping(spans, comment)) (span.end > comment.end ? wide : settings).push(span)
        if (isElement(comment)) findQuoted(this.#toml, comment, settings)
        blocks.push({ comment, settings, read })
      }
      first = last + 1
    }
    const united = unite(wide)
    for (const span of united) this.#wide.push(span)
    for (const [i, { comment, settings, read }] of blocks.entries()) {
      if (i % STRETCH === 0) yield
      const { start, end } = comment
      const own = overlapping(united, comment)
      const text = this.#toml.slice(start, end)
      if (settings.length > 0 || own.length > 0 || !isClean(text, settingOf(comment)))
        yield* this.#comment(comment, { settings, read, wide: own })
      else this.#passages.push({ start, end, text, masked: text, inComment: true, isEscaped: false })
    }
  }

  /** Searches a comment in which settings were found, and where something wide begins or ends. */
  *#comment(
    comment: Comment,
    { settings, read, wide }: Record<'settings' | 'read' | 'wide', readonly Span[]>,
  ): Generator<void> {
    const { start, end } = comment
    const text = this.#toml.slice(start, end)
    const setting = settingOf(comment)
    const found = settings.map((span) => ({ start: span.start - start, end: span.end - start }))
    for (const span of yield* tracesOf(text, setting)) {
      if (span.list && covers(read, start + span.start)) continue
      if (!span.list) this.#noteTrace(text.slice(span.start, span.end), true)
      found.push(span)
    }
    const spans = unite(found)
    if (wide.length > 0) {
      for (const span of spans) this.#wide.push({ start: start + span.start, end: start + span.end })
      this.#shared.push(comment)
      return
    }
    const masked = spans.length === 0 ? text : yield* apply(text, spans)
    const passage = { start, end, text, masked, inComment: true, isEscaped: false }
    if (spans.length > 0) yield* this.#search(passage, setting)
    else this.#passages.push(passage)
  }

  /** Masks what a passage carries by its own form. */
  *#search(passage: Passage, setting: Setting): Generator<void> {
    this.#passages.push(passage)
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { masked, inComment } = passage
      const found = (yield* tracesOf(masked, setting)).filter(({ list }) => !(list && inComment))
      if (found.length === 0) return
      for (const { start, end } of found) this.#noteTrace(masked.slice(start, end), inComment)
      passage.masked = yield* apply(masked, unite(found))
    }
  }

  /** The document with its masks, those of repeated secrets included. */
  *text(): Generator<void, string> {
    for (const [i, passage] of this.#passages.entries()) {
      if (i % STRETCH === 0) yield
      const { start, end, text, isEscaped, inComment } = passage
      const repeated = this.#echoes.find(passage.masked, inComment)
      const masked = repeated.length === 0 ? passage.masked : yield* apply(passage.masked, repeated)
      if (masked === text) continue
      const written = isEscaped ? JSON.stringify(masked).slice(1, -1).replaceAll('\x7f', '\\u007f') : masked
      this.#edits.push({ start, end, text: written })
    }
    for (const { start, end } of this.#shared)
      for (const span of this.#echoes.find(this.#toml.slice(start, end), true))
        this.#wide.push({ start: start + span.start, end: start + span.end })
    for (const span of unite(this.#wide)) this.#edits.push(span)
    return yield* apply(this.#toml, this.#edits)
  }

  /** Parses commented-out text as TOML, in the table around it, as far as it is TOML: its secrets, and what was read. */
  *#settingsIn(comments: readonly Comment[]): Generator<void, { spans: Span[]; read: Span[] }> {
    const block = uncomment(this.#toml, comments)
    const found = yield* readBlock(block.text, comments[0]!.place)
    const named = namedByOthers(found.values)
    const spans: Span[] = []
    for (const value of found.values) {
      const { text } = value
      if (!isSecretValue(value, named) || text === '' || text === MASK) continue
      const { start, end } = insideOf(value)
      spans.push({ start: block.place(start), end: block.place(end) })
      this.#noteValue(block.text.slice(start, end), text, true)
    }
    const read = found.read.map(({ start, end }) => ({ start: block.place(start), end: block.place(end) }))
    return { spans, read }
  }

  #noteValue(raw: string, text: string, fromComment: boolean): void {
    this.#echoes.add(text, fromComment)
    if (raw !== text) this.#echoes.add(raw, fromComment)
    if (!/^[\w.~-]*$/.test(text)) this.#echoes.add(converted(text, encodeURIComponent), fromComment)
  }

  #noteTrace(secret: string, fromComment: boolean): void {
    this.#echoes.add(secret, fromComment)
    if (secret.includes('%')) this.#echoes.add(converted(secret, decodeURIComponent), fromComment)
  }
}

const NONE: readonly Span[] = []
const NONE_READ = { spans: NONE, read: NONE }

function settingOf({ place }: Comment): Setting {
  return place.key === '' ? IN_COMMENT : { inComment: true, table: place.key }
}

/** Whether a short text has no secret of known form: nearly none has, and a generator for each would take a third of the time. */
const isClean = (text: string, setting: Setting) =>
  text.length <= LONG && findTraces(text, setting).length === 0

function* tracesOf(text: string, setting: Setting): Generator<void, readonly Span[]> {
  return text.length > LONG ? yield* findTracesInTurns(text, setting) : findTraces(text, setting)
}

/** What is between the quotes of a string; all of another value. */
function insideOf({ start, end, quote }: Value): Span {
  return { start: start + quote.length, end: end - quote.length }
}

function isSecretValue(value: Value, named: ReadonlySet<Value>): boolean {
  return value.secret || named.has(value) || (value.quote !== '' && isSecretText(value.text))
}

/** A text with or without percent-encoding; as it is if it cannot be converted. */
function converted(text: string, convert: (text: string) => string): string {
  try {
    return convert(text)
  } catch {
    return text
  }
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

function findQuoted(toml: string, { start, end }: Comment, spans: Span[]): void {
  for (const match of toml.slice(start, end).matchAll(/"((?:[^"\\]|\\.)+)"|'([^']+)'/g)) {
    const inside = match[1] ?? match[2]!
    if (inside === MASK) continue
    spans.push({ start: start + match.index + 1, end: start + match.index + 1 + inside.length })
  }
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

function* readBlock(text: string, table: Place): Generator<void, { values: Value[]; read: Span[] }> {
  const read: Span[] = []
  const scanner = new Scanner(text)
  scanner.table = table
  // Unfinished values are read again from each line; once that gets expensive, values may no longer span lines.
  let budget = 2 * text.length
  for (let start = 0, next = LONG; start < text.length; ) {
    if (start > next) {
      next = start + LONG
      yield
    }
    let eol = text.indexOf('\n', start)
    if (eol === -1) eol = text.length
    const known = scanner.values.length
    const notes = scanner.comments.length
    while (start < eol && (text[start] === ' ' || text[start] === '\t')) start++
    scanner.pos = start
    scanner.text = budget > 0 ? text : text.slice(0, eol)
    try {
      const rest = scanner.expression()
      if (rest !== null) yield* rest
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
