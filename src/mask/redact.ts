import { MASK } from './mask.ts'
import { findTraces, isSecretOption, isSecretText, type Span } from './patterns.ts'
import { Echoes } from './repeats.ts'
import { type Comment, NOT_TOML, type Place, Scanner, type Value } from './scan.ts'

export { MASK } from './mask.ts'

/**
 * Masks the secrets in TOML text: values of keys that name one, passwords in URLs, commented-out settings, and
 * the echoes of all these. Everything else stays byte for byte, and so does the kind of each string.
 * Throws when the text can't be read as TOML, for then nothing is safe to show.
 */
export function redact(toml: string): string {
  let text = toml
  // A mask can bring forth a shape that was hidden before, so it goes on until nothing changes.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = redactOnce(text)
    if (next === text) return text
    text = next
  }
  throw NOT_TOML
}

const MAX_ROUNDS = 8

interface Edit extends Span {
  readonly text: string
}

function redactOnce(toml: string): string {
  const { values, comments } = new Scanner(toml).all()
  const echoes = new Echoes()
  const edits: Edit[] = []
  const plain: Value[] = []
  let previous: Value | null = null
  for (const value of values) {
    const argument = previous !== null && isArgument(toml, previous, value)
    previous = value
    if (value.secret || argument || (value.quote !== '' && isSecretText(value.text))) {
      if (value.text === '' || value.text === MASK) continue
      edits.push(maskValue(value))
      noteValue(toml, value, echoes, false)
    } else if (value.quote !== '' && value.text !== '') {
      plain.push(value)
      for (const span of findTraces(value.text, false)) noteSpan(value.text, span, echoes, false)
    }
  }
  const { spans, read } = findInComments(toml, comments, echoes)
  for (const value of plain) editPlain(toml, value, echoes, edits)
  for (const comment of comments) {
    const text = toml.slice(comment.start, comment.end)
    for (const span of [...findTraces(text, true), ...echoes.find(text, true)]) {
      const start = comment.start + span.start
      if (!(span.list && covers(read, start))) spans.push({ start, end: comment.start + span.end })
    }
  }
  for (const span of unite(spans)) edits.push({ ...span, text: MASK })
  return apply(toml, edits)
}

/** `["--password", "x"]`: nothing but a comma parts the elements of a list, a key stands between other values. */
function isArgument(toml: string, one: Value, two: Value): boolean {
  if (one.quote === '' || two.quote === '' || !isSecretOption(one.text) || two.text.startsWith('-'))
    return false
  return /^\s*,\s*$/.test(toml.slice(one.end, two.start))
}

/** Between its quotes, so that the literal stays what it was; a number becomes a string. */
function maskValue({ start, end, quote }: Value): Edit {
  if (quote === '') return { start, end, text: `"${MASK}"` }
  return { start: start + quote.length, end: end - quote.length, text: MASK }
}

function noteValue(toml: string, value: Value, echoes: Echoes, fromComment: boolean): void {
  echoes.add(value.text, fromComment)
  const raw = toml.slice(value.start + value.quote.length, value.end - value.quote.length)
  if (raw !== value.text) echoes.add(raw, fromComment)
  const encoded = encode(value.text)
  if (encoded !== value.text) echoes.add(encoded, fromComment)
}

function noteSpan(text: string, span: Span, echoes: Echoes, fromComment: boolean): void {
  const secret = text.slice(span.start, span.end)
  echoes.add(secret, fromComment)
  const decoded = decode(secret)
  if (decoded !== secret) echoes.add(decoded, fromComment)
}

function editPlain(toml: string, value: Value, echoes: Echoes, edits: Edit[]): void {
  const { quote } = value
  const start = value.start + quote.length
  const end = value.end - quote.length
  const raw = toml.slice(start, end)
  if (!(quote[0] === '"' && raw.includes('\\'))) {
    const spans = unite([...findTraces(raw, false), ...echoes.find(raw, false)])
    for (const span of spans) edits.push({ start: start + span.start, end: start + span.end, text: MASK })
    return
  }
  // Escapes may hide the shape of a URL: what it means is searched, and written anew if there is anything.
  const spans = unite([...findTraces(value.text, false), ...echoes.find(value.text, false)])
  if (spans.length === 0) return
  const masked = apply(
    value.text,
    spans.map((span) => ({ ...span, text: MASK })),
  )
  edits.push({ start, end, text: JSON.stringify(masked).slice(1, -1).replaceAll('\x7f', '\\u007f') })
}

/** Reads what is commented out as TOML, in the table it stands in, as far as it is TOML. */
function findInComments(toml: string, comments: Comment[], echoes: Echoes): { spans: Span[]; read: Span[] } {
  const spans: Span[] = []
  const read: Span[] = []
  for (const { start, end } of comments) {
    const text = toml.slice(start, end)
    for (const span of findTraces(text, true)) if (!span.list) noteSpan(text, span, echoes, true)
  }
  for (let first = 0; first < comments.length; ) {
    let last = first
    if (isWholeLine(toml, comments[first]!.start)) {
      while (last + 1 < comments.length && isNextLine(toml, comments[last]!, comments[last + 1]!)) last++
    }
    const block = uncomment(toml, comments, first, last)
    const found = readBlock(block.text, comments[first]!.place)
    for (const value of found.values) {
      if (!(value.secret || (value.quote !== '' && isSecretText(value.text)))) continue
      if (value.text === '' || value.text === MASK) continue
      const quote = value.quote.length
      spans.push({ start: block.place(value.start + quote), end: block.place(value.end - quote) })
      noteValue(block.text, value, echoes, true)
    }
    for (const { start, end } of found.read) read.push({ start: block.place(start), end: block.place(end) })
    for (let i = first; i <= last; i++) if (isElement(comments[i]!)) findQuoted(toml, comments[i]!, spans)
    first = last + 1
  }
  return { spans, read }
}

/** Tells whether one of the sorted spans holds a place. */
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

function isNextLine(toml: string, one: Comment, two: Comment): boolean {
  return /^\r?\n[ \t]*$/.test(toml.slice(one.end, two.start))
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
  // Unfinished values are read again and again, line by line; once that gets costly, none may span lines.
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
