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

const IN_VALUE = { inComment: false }

interface Edit extends Span {
  readonly text: string
}

function redactOnce(toml: string): string {
  const { values, comments } = new Scanner(toml).all()
  const repeated = new RepeatedSecrets()
  const edits: Edit[] = []
  const plain: Value[] = []
  const readList = listReader(toml)
  const named = namedByOthers(values)
  for (const value of values) {
    const { option, isSecret } = readList(value)
    const password = passwordInUser(option, value.text)
    if (password !== null && !value.secret && maskArgument(toml, value, password, edits)) {
      noteSpan(value.text, { start: password, end: value.text.length }, repeated, false)
      continue
    }
    if (value.secret || isSecret || named.has(value) || (value.quote !== '' && isSecretText(value.text))) {
      if (value.text === '' || value.text === MASK) continue
      edits.push(maskValue(value))
      noteValue(toml, value, repeated, false)
    } else if (value.quote !== '' && value.text !== '') {
      plain.push(value)
      for (const span of findTraces(value.text, IN_VALUE)) noteSpan(value.text, span, repeated, false)
    }
  }
  const { spans, read } = findInComments(toml, comments, repeated)
  for (const value of plain) editPlain(toml, value, repeated, edits)
  for (const { start: from, end, place } of comments) {
    const text = toml.slice(from, end)
    for (const span of [
      ...findTraces(text, { inComment: true, table: place.key }),
      ...repeated.find(text, true),
    ]) {
      const start = from + span.start
      if (!(span.list && covers(read, start))) spans.push({ start, end: from + span.end })
    }
  }
  spans.push(...findPemInComments(toml, comments))
  for (const span of unite(spans)) edits.push({ ...span, text: MASK })
  return apply(toml, edits)
}

/** Masks the end of a string, from a place in its text; false where escapes put that place elsewhere, or it is masked. */
function maskArgument(toml: string, value: Value, from: number, edits: Edit[]): boolean {
  const start = value.start + value.quote.length
  const end = value.end - value.quote.length
  if (toml.slice(start, end) !== value.text || value.text.slice(from) === MASK) return false
  edits.push({ start: start + from, end, text: MASK })
  return true
}

/** Between its quotes, so that the literal stays what it was; a number becomes a string. */
function maskValue({ start, end, quote }: Value): Edit {
  if (quote === '') return { start, end, text: `"${MASK}"` }
  return { start: start + quote.length, end: end - quote.length, text: MASK }
}

function noteValue(toml: string, value: Value, repeated: RepeatedSecrets, fromComment: boolean): void {
  repeated.add(value.text, fromComment)
  const raw = toml.slice(value.start + value.quote.length, value.end - value.quote.length)
  if (raw !== value.text) repeated.add(raw, fromComment)
  const encoded = encode(value.text)
  if (encoded !== value.text) repeated.add(encoded, fromComment)
}

function noteSpan(text: string, span: Span, repeated: RepeatedSecrets, fromComment: boolean): void {
  const secret = text.slice(span.start, span.end)
  repeated.add(secret, fromComment)
  const decoded = decode(secret)
  if (decoded !== secret) repeated.add(decoded, fromComment)
}

function editPlain(toml: string, value: Value, repeated: RepeatedSecrets, edits: Edit[]): void {
  const { quote } = value
  const start = value.start + quote.length
  const end = value.end - quote.length
  const raw = toml.slice(start, end)
  if (!(quote[0] === '"' && raw.includes('\\'))) {
    const spans = unite([...findTraces(raw, IN_VALUE), ...repeated.find(raw, false)])
    for (const span of spans) edits.push({ start: start + span.start, end: start + span.end, text: MASK })
    return
  }
  // Escapes may hide the shape of a URL: the decoded text is searched, and rewritten if anything is found.
  const spans = unite([...findTraces(value.text, IN_VALUE), ...repeated.find(value.text, false)])
  if (spans.length === 0) return
  const masked = apply(
    value.text,
    spans.map((span) => ({ ...span, text: MASK })),
  )
  edits.push({ start, end, text: JSON.stringify(masked).slice(1, -1).replaceAll('\x7f', '\\u007f') })
}

/** Parses commented-out text as TOML, in the table around it, as far as it is TOML. */
function findInComments(
  toml: string,
  comments: Comment[],
  repeated: RepeatedSecrets,
): { spans: Span[]; read: Span[] } {
  const spans: Span[] = []
  const read: Span[] = []
  for (const { start, end, place } of comments) {
    const text = toml.slice(start, end)
    for (const span of findTraces(text, { inComment: true, table: place.key }))
      if (!span.list) noteSpan(text, span, repeated, true)
  }
  for (let first = 0; first < comments.length; ) {
    let last = first
    if (isWholeLine(toml, comments[first]!.start)) {
      while (last + 1 < comments.length && isNextLine(toml, comments[last]!, comments[last + 1]!)) last++
    }
    const block = uncomment(toml, comments, first, last)
    const found = readBlock(block.text, comments[first]!.place)
    const named = namedByOthers(found.values)
    for (const value of found.values) {
      if (!(value.secret || named.has(value) || (value.quote !== '' && isSecretText(value.text)))) continue
      if (value.text === '' || value.text === MASK) continue
      const quote = value.quote.length
      spans.push({ start: block.place(value.start + quote), end: block.place(value.end - quote) })
      noteValue(block.text, value, repeated, true)
    }
    for (const { start, end } of found.read) read.push({ start: block.place(start), end: block.place(end) })
    for (let i = first; i <= last; i++) if (isElement(comments[i]!)) findQuoted(toml, comments[i]!, spans)
    first = last + 1
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
function uncomment(toml: string, comments: Comment[], first: number, last: number) {
  const lines: string[] = []
  const ours: number[] = []
  const theirs: number[] = []
  let length = 0
  for (let i = first; i <= last; i++) {
    const { start, end } = comments[i]!
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
    if (start === eol) {
      start++
      continue
    }
    scanner.pos = start
    scanner.end = budget > 0 ? text.length : eol
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
  for (const edit of edits.sort((a, b) => a.start - b.start)) {
    parts.push(text.slice(done, edit.start), edit.text)
    done = edit.end
  }
  parts.push(text.slice(done))
  return parts.join('')
}

function encode(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return text
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
