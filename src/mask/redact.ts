import { listReader, namedByOthers } from './lists.ts'
import { MASK } from './mask.ts'
import { findTraces, isSecretText, passwordInUser, type Span } from './patterns.ts'
import { findPemInComments } from './pem.ts'
import { RepeatedSecrets } from './repeats.ts'
import { type Comment, isNextLine, NOT_TOML, type Place, Scanner, type Value } from './scan.ts'

export { MASK } from './mask.ts'

/**
 * Masks the secrets in TOML text: values of keys that name one, secrets of known form, commented-out settings, and
 * every repetition of these. Everything else stays byte for byte, and each string keeps its quoting.
 * Throws when the text is not valid TOML, because then nothing is safe to show.
 */
export function redact(toml: string): string {
  let text = toml
  // A mask can reveal a shape that was hidden before, so this repeats until nothing changes.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = redactOnce(text)
    if (next === text) return text
    text = next
  }
  throw NOT_TOML
}

const MAX_ROUNDS = 8

interface Edit extends Span {
  /** What is written there. @default the mask */
  readonly text?: string
}

/** A part of the document that is searched for secrets: a comment, or a string that is no secret as a whole. */
interface Passage extends Span {
  readonly text: string
  /** The secrets that it carries by its own form. */
  readonly traces: readonly Span[]
  /** Whether `text` is not what is written in the document, because that has escapes. */
  readonly isEscaped?: boolean
}

function redactOnce(toml: string): string {
  const { values, comments } = new Scanner(toml).all()
  const repeated = new RepeatedSecrets()
  const edits: Edit[] = []
  const plain: Passage[] = []
  const readList = listReader(toml)
  const named = namedByOthers(values)
  for (const value of values) {
    const { option, isSecret } = readList(value)
    const { text, quote } = value
    const inside = insideOf(value)
    const raw = toml.slice(inside.start, inside.end)
    const password = passwordInUser(option, text)
    // Where there are escapes, the password is elsewhere.
    if (password !== null && !value.secret && raw === text && text.slice(password) !== MASK) {
      edits.push({ start: inside.start + password, end: inside.end })
      noteSpan(text, { start: password, end: text.length }, repeated, false)
    } else if (isSecret || isSecretValue(value, named)) {
      if (text === '' || text === MASK) continue
      // A number becomes a string; a string stays in its quotes, so that the literal stays what it was.
      edits.push(quote === '' ? { ...inside, text: `"${MASK}"` } : inside)
      noteValue(raw, text, repeated, false)
    } else if (quote !== '' && text !== '') {
      // Escapes may hide the shape of a URL.
      const isEscaped = quote[0] === '"' && raw.includes('\\')
      const searched = isEscaped ? text : raw
      const traces = findTraces(searched, { inComment: false })
      for (const span of traces) noteSpan(searched, span, repeated, false)
      plain.push({ ...inside, text: searched, traces, isEscaped })
    }
  }
  const passages = comments.map(({ start, end, place }): Passage => {
    const text = toml.slice(start, end)
    const traces = findTraces(text, { inComment: true, table: place.key })
    for (const span of traces) if (!span.list) noteSpan(text, span, repeated, true)
    return { start, end, text, traces }
  })
  const { spans, read } = findInComments(toml, comments, repeated)
  for (const passage of plain) for (const edit of editsIn(passage, repeated)) edits.push(edit)
  for (const { start: from, text, traces } of passages) {
    for (const span of [...traces, ...repeated.find(text, true)]) {
      const start = from + span.start
      if (!(span.list && covers(read, start))) spans.push({ start, end: from + span.end })
    }
  }
  spans.push(...findPemInComments(toml, comments))
  return apply(toml, [...edits, ...unite(spans)])
}

/** What is between the quotes of a string; all of another value. */
function insideOf({ start, end, quote }: Value): Span {
  return { start: start + quote.length, end: end - quote.length }
}

function isSecretValue(value: Value, named: ReadonlySet<Value>): boolean {
  return value.secret || named.has(value) || (value.quote !== '' && isSecretText(value.text))
}

function noteValue(raw: string, text: string, repeated: RepeatedSecrets, fromComment: boolean): void {
  for (const form of [text, raw, converted(text, encodeURIComponent)]) repeated.add(form, fromComment)
}

function noteSpan(text: string, span: Span, repeated: RepeatedSecrets, fromComment: boolean): void {
  const secret = text.slice(span.start, span.end)
  for (const form of [secret, converted(secret, decodeURIComponent)]) repeated.add(form, fromComment)
}

/** A text with or without percent-encoding; as it is if it cannot be converted. */
function converted(text: string, convert: (text: string) => string): string {
  try {
    return convert(text)
  } catch {
    return text
  }
}

function editsIn({ start, end, text, traces, isEscaped }: Passage, repeated: RepeatedSecrets): Edit[] {
  const spans = unite([...traces, ...repeated.find(text, false)])
  if (!isEscaped || spans.length === 0)
    return spans.map((span) => ({ start: start + span.start, end: start + span.end }))
  return [{ start, end, text: JSON.stringify(apply(text, spans)).slice(1, -1).replaceAll('\x7f', '\\u007f') }]
}

/** Parses commented-out text as TOML, in the table around it, as far as it is TOML. */
function findInComments(
  toml: string,
  comments: Comment[],
  repeated: RepeatedSecrets,
): { spans: Span[]; read: Span[] } {
  const spans: Span[] = []
  const read: Span[] = []
  for (let first = 0; first < comments.length; ) {
    let last = first
    if (isWholeLine(toml, comments[first]!.start)) {
      while (last + 1 < comments.length && isNextLine(toml, comments[last]!, comments[last + 1]!)) last++
    }
    const block = uncomment(toml, comments.slice(first, last + 1))
    const found = readBlock(block.text, comments[first]!.place)
    const named = namedByOthers(found.values)
    for (const value of found.values) {
      const { text } = value
      if (!isSecretValue(value, named) || text === '' || text === MASK) continue
      const { start, end } = insideOf(value)
      spans.push({ start: block.place(start), end: block.place(end) })
      noteValue(block.text.slice(start, end), text, repeated, true)
    }
    for (const { start, end } of found.read) read.push({ start: block.place(start), end: block.place(end) })
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

/** A block of comments without its marks, and the way back from a place in it to the source. */
function uncomment(toml: string, comments: readonly Comment[]) {
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

function unite(spans: Span[]): Span[] {
  const sorted = spans.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start)
  const united: { start: number; end: number }[] = []
  for (const { start, end } of sorted) {
    const last = united.at(-1)
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end)
    else united.push({ start, end })
  }
  return united
}

function apply(text: string, edits: Edit[]): string {
  const parts: string[] = []
  let done = 0
  for (const { start, end, text: written = MASK } of edits.sort((a, b) => a.start - b.start)) {
    parts.push(text.slice(done, start), written)
    done = end
  }
  parts.push(text.slice(done))
  return parts.join('')
}
