import { listReader, namedByOthers } from './lists.ts'
import { apply, type Edit, MASK, unite } from './mask.ts'
import type { Setting } from './pairs.ts'
import { findTraces, findTracesInTurns, isSecretText, passwordInUser, type Span } from './patterns.ts'
import { findPemInComments } from './pem.ts'
import { RepeatedSecrets } from './repeats.ts'
import { type Comment, isNextLine, NOT_TOML, type Place, Scanner, type Value } from './scan.ts'

export { MASK } from './mask.ts'

/**
 * Masks the secrets in TOML text: values of keys that name one, secrets of known form, commented-out settings, and
 * every repetition of these. Everything else stays byte for byte, and each string keeps its quoting.
 * Throws when the text is not valid TOML, because then nothing is safe to show. Linear in the text, whatever it holds;
 * yields now and then, so that a service can do it in turns.
 */
export function* redacting(toml: string): Generator<void, string> {
  let text = toml
  const clean: Clean = { strings: new Set(), comments: new Map() }
  // A mask can reveal a shape that was hidden before, so this repeats until nothing changes.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { next, isFinal } = yield* redactOnce(text, clean)
    if (isFinal || next === text) return next
    text = next
  }
  throw NOT_TOML
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

const MAX_ROUNDS = 8
/** Characters of a block of comments that are read in one go. */
const FAR = 4096
/** Values or comments that are looked at in one go. */
const STRETCH = 32
/** Values or lines of comments that are looked at in one go. */
const MANY = 2048
/** Characters of a text that is searched in turns. */
const LONG = 4096

/** Texts that were searched without a find, so that the next round need not search them again. */
interface Clean {
  readonly strings: Set<string>
  /** By the table they are in. */
  readonly comments: Map<string, Set<string>>
}

/** A part of the document that is searched for secrets: a comment, or a string that is no secret as a whole. */
interface Passage extends Span {
  readonly text: string
  readonly setting: Setting
  /** Whether `text` is not what is written in the document, because that has escapes. */
  readonly isEscaped: boolean
  /** The secrets that it carries by its own form. */
  traces: readonly Span[]
}

function* redactOnce(toml: string, clean: Clean): Generator<void, { next: string; isFinal: boolean }> {
  const { values, comments } = yield* new Scanner(toml).all()
  yield
  const round = new Round(toml, values)
  const passages: Passage[] = []
  for (let i = 0; i < values.length + comments.length; i++) {
    if (i % STRETCH === 0) yield
    const passage = i < values.length ? round.value(values[i]!) : round.comment(comments[i - values.length]!)
    if (passage === null) continue
    passages.push(passage)
    const known = cleanFor(passage.setting, clean)
    if (known.has(passage.text)) continue
    const { text, setting } = passage
    passage.traces = text.length > LONG ? yield* findTracesInTurns(text, setting) : findTraces(text, setting)
    if (passage.traces.length === 0) known.add(text)
    else round.noteTraces(passage)
  }
  const { spans, read } = yield* findInComments(toml, comments, round.repeated)
  yield* round.repeated.prepare()
  for (let i = 0; i < passages.length; i++) {
    if (i % STRETCH === 0) yield
    const repetitions: Span[] = []
    for (let at = round.repeated.isEmpty ? -1 : 0; at !== -1; ) {
      at = round.repeated.find(passages[i]!, at, repetitions)
      if (at !== -1) yield
    }
    const edited = yield* round.mask(passages[i]!, repetitions, { spans, read })
    if (edited === null || !round.isFinal) continue
    const left =
      edited.length > LONG ? yield* findTracesInTurns(edited, IN_VALUE) : findTraces(edited, IN_VALUE)
    round.isFinal = left.length === 0
  }
  for (const span of findPemInComments(toml, comments)) spans.push(span)
  yield
  for (const span of unite(spans)) round.edits.push(span)
  yield
  return { next: yield* apply(toml, round.edits), isFinal: round.isFinal && spans.length === 0 }
}

function cleanFor({ inComment, table = '' }: Setting, clean: Clean): Set<string> {
  if (!inComment) return clean.strings
  const known = clean.comments.get(table) ?? new Set()
  clean.comments.set(table, known)
  return known
}

/** What one pass over a document finds out. */
class Round {
  readonly edits: Edit[] = []
  /** Whether another pass would find nothing: only strings have changed, and what is left of them holds no secret. */
  isFinal = true
  readonly repeated = new RepeatedSecrets()
  readonly #toml: string
  readonly #named: ReadonlySet<Value>
  readonly #readList: ReturnType<typeof listReader>

  constructor(toml: string, values: readonly Value[]) {
    this.#toml = toml
    this.#named = namedByOthers(values)
    this.#readList = listReader(toml)
  }

  /** Masks a value if it is a secret as a whole; otherwise returns what must be searched. */
  value(value: Value): Passage | null {
    const { option, isSecret } = this.#readList(value)
    const { text, quote } = value
    const start = value.start + quote.length
    const end = value.end - quote.length
    const raw = this.#toml.slice(start, end)
    const password = passwordInUser(option, text)
    // Where there are escapes, the password is elsewhere.
    if (password !== null && !value.secret && raw === text && text.slice(password) !== MASK) {
      this.isFinal = false
      this.edits.push({ start: start + password, end })
      noteSpan(text, { start: password, end: text.length }, this.repeated, false)
      return null
    }
    if (isSecret || isSecretValue(value, this.#named)) {
      if (text === '' || text === MASK) return null
      // A number becomes a string; a string stays in its quotes, so that the literal stays what it was.
      this.edits.push({ start, end, text: quote === '' ? `"${MASK}"` : MASK })
      noteValue(raw, text, this.repeated, false)
      return null
    }
    if (quote === '' || text === '') return null
    // Escapes may hide the shape of a URL.
    const isEscaped = quote[0] === '"' && raw !== text && raw.includes('\\')
    return { start, end, text: isEscaped ? text : raw, setting: IN_VALUE, isEscaped, traces: NOTHING }
  }

  comment({ start, end, place }: Comment): Passage {
    const setting = place.key === '' ? IN_COMMENT : { inComment: true, table: place.key }
    return { start, end, text: this.#toml.slice(start, end), setting, isEscaped: false, traces: NOTHING }
  }

  noteTraces({ text, traces, setting: { inComment } }: Passage): void {
    for (const span of traces) if (!(inComment && span.list)) noteSpan(text, span, this.repeated, inComment)
  }

  /**
   * Masks what was found in a passage; in comments, together with what else is found there. Returns what becomes of a
   * string; null if it stays as it is.
   */
  *mask(
    passage: Passage,
    repetitions: Span[],
    comments: { spans: Span[]; read: Span[] },
  ): Generator<void, string | null> {
    const { start, traces, setting } = passage
    if (traces.length === 0 && repetitions.length === 0) return null
    const found = traces.length === 0 ? repetitions : traces.concat(repetitions)
    if (!setting.inComment) {
      const spans = unite(found)
      const masked = yield* apply(passage.text, spans)
      for (const edit of editsIn(passage, spans, masked)) this.edits.push(edit)
      return masked
    }
    for (const span of found) {
      if (span.list && covers(comments.read, start + span.start)) continue
      comments.spans.push({ start: start + span.start, end: start + span.end })
    }
    return null
  }
}

const IN_VALUE: Setting = { inComment: false }
const IN_COMMENT: Setting = { inComment: true }
const NOTHING: readonly Span[] = []

/** What is between the quotes of a string; all of another value. */
function insideOf({ start, end, quote }: Value): Span {
  return { start: start + quote.length, end: end - quote.length }
}

function isSecretValue(value: Value, named: ReadonlySet<Value>): boolean {
  return value.secret || named.has(value) || (value.quote !== '' && isSecretText(value.text))
}

function noteValue(raw: string, text: string, repeated: RepeatedSecrets, fromComment: boolean): void {
  repeated.add(text, fromComment)
  if (raw !== text) repeated.add(raw, fromComment)
  if (!/^[\w.~-]*$/.test(text)) repeated.add(converted(text, encodeURIComponent), fromComment)
}

function noteSpan(text: string, span: Span, repeated: RepeatedSecrets, fromComment: boolean): void {
  const secret = text.slice(span.start, span.end)
  repeated.add(secret, fromComment)
  if (secret.includes('%')) repeated.add(converted(secret, decodeURIComponent), fromComment)
}

/** A text with or without percent-encoding; as it is if it cannot be converted. */
function converted(text: string, convert: (text: string) => string): string {
  try {
    return convert(text)
  } catch {
    return text
  }
}

function editsIn({ start, end, isEscaped }: Passage, spans: readonly Span[], masked: string): Edit[] {
  if (!isEscaped) return spans.map((span) => ({ start: start + span.start, end: start + span.end }))
  if (spans.length === 0) return []
  return [{ start, end, text: JSON.stringify(masked).slice(1, -1).replaceAll('\x7f', '\\u007f') }]
}

/** Parses commented-out text as TOML, in the table around it, as far as it is TOML. */
function* findInComments(
  toml: string,
  comments: Comment[],
  repeated: RepeatedSecrets,
): Generator<void, { spans: Span[]; read: Span[] }> {
  const spans: Span[] = []
  const read: Span[] = []
  for (let first = 0; first < comments.length; ) {
    if (first % STRETCH === 0) yield
    let last = first
    if (isWholeLine(toml, comments[first]!.start)) {
      while (last + 1 < comments.length && isNextLine(toml, comments[last]!, comments[last + 1]!))
        if (++last % MANY === 0) yield
    }
    const block = yield* uncomment(toml, comments.slice(first, last + 1))
    const found = yield* readBlock(block.text, comments[first]!.place)
    const named = namedByOthers(found.values)
    for (const [i, value] of found.values.entries()) {
      if (i % MANY === MANY - 1) yield
      const { text } = value
      if (!isSecretValue(value, named) || text === '' || text === MASK) continue
      const { start, end } = insideOf(value)
      spans.push({ start: block.place(start), end: block.place(end) })
      noteValue(block.text.slice(start, end), text, repeated, true)
    }
    for (const [i, { start, end }] of found.read.entries()) {
      if (i % MANY === MANY - 1) yield
      read.push({ start: block.place(start), end: block.place(end) })
    }
    for (; first <= last; first++) if (isElement(comments[first]!)) findQuoted(toml, comments[first]!, spans)
  }
  return { spans, read }
}

/** Reports whether one of the sorted spans holds a place. */
function covers(spans: Span[], at: number): boolean {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (spans[middle]!.end <= at) low = middle + 1
    else high = middle
  }
  return low < spans.length && spans[low]!.start <= at
}

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
function* uncomment(toml: string, comments: readonly Comment[]): Generator<void, Uncommented> {
  const lines: string[] = []
  const ours: number[] = []
  const theirs: number[] = []
  let length = 0
  for (const { start, end } of comments) {
    if (ours.length % MANY === MANY - 1) yield
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
  for (let start = 0, next = FAR; start < text.length; ) {
    if (start > next) {
      next = start + FAR
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
