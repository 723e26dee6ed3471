import { MASK } from './mask.ts'
import { namesCount, namesSecret } from './secret.ts'

/** A part of a text, from `start` up to and without `end`. */
export interface Span {
  readonly start: number
  readonly end: number
  /** Set when it is what is inside a list or a table, of which not everything need be secret. */
  readonly list?: boolean
}

/**
 * Finds the secrets that free text carries by its own form: passwords in URLs and data source names, and
 * values that are given a secret name (`?token=x`, `password='x'`, `"secret": "x"`, `token: x`).
 * Linear in the text: every search goes on where the last one ended.
 */
export function findTraces(text: string, inComment: boolean): Span[] {
  const spans: Span[] = []
  if (text.includes('://')) findUrls(text, spans)
  if (text.includes('@')) findSources(text, spans)
  if (text.includes('=') || text.includes(':')) findPairs(text, spans, inComment)
  // In a comment, a word after an option is prose as often as a value.
  if (!inComment && text.includes('-')) findOptions(text, spans)
  findBearers(text, spans)
  return spans.filter(({ start, end }) => end > start && text.slice(start, end) !== MASK)
}

/** Tells whether a text is a secret as a whole, whatever its key is called: a private key, an HTTP credential. */
export function isSecretText(text: string): boolean {
  if (/-----BEGIN [A-Z ]{0,40}PRIVATE KEY/.test(text)) return true
  const [, scheme, value] = /^(basic|bearer|token) ([^\s*]{4,})$/i.exec(text) ?? []
  if (scheme === undefined || value === undefined) return false
  return scheme.toLowerCase() === 'basic' ? isBasic(value) : value.length >= 16
}

/** Tells whether a command's argument is an option whose value, the next argument, is a secret: `--password`. */
export function isSecretOption(text: string): boolean {
  return text.length < 96 && /^--?[a-z][\w.-]*$/i.test(text) && namesSecret(text)
}

/** RFC 7617: user and password, parted by a colon, in Base64. */
function isBasic(value: string): boolean {
  try {
    return atob(value).includes(':')
  } catch {
    return false
  }
}

function findOptions(text: string, spans: Span[]): void {
  for (const match of text.matchAll(/(?<=^|\s)(--?[a-z][\w.-]{1,94})[ \t]{1,8}(?=[^\s-])(\S+)/gi)) {
    if (!isSecretOption(match[1]!)) continue
    const end = match.index + match[0].length
    spans.push({ start: end - match[2]!.length, end })
  }
}

function findBearers(text: string, spans: Span[]): void {
  for (const match of text.matchAll(/\b(?:bearer|basic) {1,4}([\w.~+/=-]{16,})/gi)) {
    const value = match[1]!
    const end = match.index + match[0].length
    if (/\d/.test(value) || isBasic(value)) spans.push({ start: end - value.length, end })
  }
}

const CLOSERS: Record<string, string> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '<': '>',
  '(': ')',
  '{': '}',
  '[': ']',
}

function findUrls(text: string, spans: Span[]): void {
  let mark = text.indexOf('://')
  let done = 0
  while (mark !== -1) {
    let scheme = mark
    while (scheme > done && /[a-z\d+.-]/i.test(text[scheme - 1]!)) scheme--
    const next = text.indexOf('://', mark + 3)
    const from = mark + 3
    const end = endOfUrl(text, from, next, CLOSERS[text[scheme - 1] ?? ''])
    if (scheme < mark) {
      const span = findPassword(text, from, end)
      if (span !== null) spans.push(span)
    }
    done = from
    mark = next
  }
}

/** Where a URL ends: at a blank, at the quote or bracket that embraces it, or where the next one begins. */
function endOfUrl(text: string, from: number, next: number, closer: string | undefined): number {
  let stop = next === -1 ? text.length : next
  if (next !== -1) while (stop > from && /[a-z\d+.-]/i.test(text[stop - 1]!)) stop--
  for (let at = from; at < stop; at++) {
    const char = text[at]!
    if (char === closer || char <= ' ') return at
  }
  return stop
}

/** RFC 3986 ends the authority at `/`, `?` or `#`; people put these into passwords all the same. */
function findPassword(text: string, from: number, end: number): Span | null {
  const url = text.slice(from, end)
  const colon = url.indexOf(':')
  const slash = url.search(/[/?#]/)
  const authority = slash === -1 ? url : url.slice(0, slash)
  let at = authority.lastIndexOf('@')
  if (at === -1) {
    // `host:8080/a@b` has a port and no password; `user:a/b@host` has no port there.
    if (colon === -1 || colon > authority.length || authority.startsWith('[')) return null
    if (colon > 0 && /^\d{0,5}$/.test(authority.slice(colon + 1))) return null
    at = url.lastIndexOf('@')
  }
  if (colon === -1 || colon > at) return null
  return { start: from + colon + 1, end: from + at }
}

/** `user:password@tcp(host:3306)/db` as Go's MySQL driver has it, and `jdbc:oracle:thin:user/password@host`. */
function findSources(text: string, spans: Span[]): void {
  for (const match of text.matchAll(/\S+/g)) {
    const token = match[0]
    if (!token.includes('@') || token.includes('://')) continue
    const found =
      /^(jdbc:oracle:[a-z]+:[^/@]*\/)(.+)@/i.exec(token) ??
      /^([^:@/]*:)(.+)@(?:[a-z\d]+\(|\/[\w$-]*(?:\?.*)?$)/.exec(token)
    if (found === null) continue
    const start = match.index + found[1]!.length
    spans.push({ start, end: start + found[2]!.length })
  }
}

/** Words that describe a value rather than being one: `# token: required`. */
const PROSE =
  /^(?:required|optional|none|empty|unset|null|nil|string|text|deprecated|todo|yes|no|true|false)\W*$/i

function findPairs(text: string, spans: Span[], inComment: boolean): void {
  let done = 0
  for (let sign = nextSign(text, 0); sign !== -1; sign = nextSign(text, Math.max(sign + 1, done))) {
    const name = nameBefore(text, sign, done)
    if (name === null || !namesSecret(name.text)) continue
    const span = valueAfter(text, sign, name.leads, inComment)
    if (span === null) continue
    const value = text.slice(span.start, span.end)
    if (/^(?:true|false)$/.test(value) || (namesCount(name.text) && /^[\d_.]+$/.test(value))) continue
    spans.push(span)
    done = Math.max(span.end, sign + 1)
  }
}

function valueAfter(text: string, sign: number, leads: boolean, inComment: boolean): Span | null {
  let from = text.startsWith('=>', sign) ? sign + 2 : sign + 1
  while (text[from] === ' ' || text[from] === '\t') from++
  const first = text[from] ?? ''
  if (first === '"' || first === "'" || first === '`') {
    const quote = text.startsWith(first.repeat(3), from) ? first.repeat(3) : first
    return { start: from + quote.length, end: endOfQuoted(text, from + quote.length, quote) }
  }
  if (first === '[' || (first === '{' && text[sign] === '=')) {
    const end = endOfLine(text, from + 1)
    const close = text.lastIndexOf(CLOSERS[first]!, end)
    return { start: from + 1, end: close > from ? close : end, list: true }
  }
  if (text[sign] === '=') return { start: from, end: endOfPlain(text, from) }
  // `image = "vault/secret:1.2.3"` is no pair: where it is one, a blank follows the colon.
  if (from === sign + 1 && !(inComment && leads)) return null
  // After a colon prose is likelier than a value. Taken for one are what looks like a secret, and a lone word
  // that was named at a line's start.
  PLAUSIBLE.lastIndex = from
  if (looksSecret(PLAUSIBLE.exec(text)?.[0] ?? '')) return { start: from, end: endOfWord(text, from) }
  if (!leads) return null
  const span = { start: from, end: endOfLine(text, from) }
  const value = text.slice(span.start, span.end)
  return PROSE.test(value) || /[\s{]/.test(value) ? null : span
}

// Bounded, or a row of colons would be read to its end from each of them.
const PLAUSIBLE = /[^\s,;"'`]{8,128}/y

function looksSecret(word: string): boolean {
  return (/\d/.test(word) && /[a-z]/i.test(word)) || /[a-z][A-Z].*[a-z][A-Z]/.test(word)
}

function endOfWord(text: string, from: number): number {
  let end = from
  while (end < text.length && !/[\s,;"'`]/.test(text[end]!)) end++
  return end
}

function nextSign(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    if (char === '=' && text[at + 1] !== '=') return at
    if (char === ':' && text[at + 1] !== '/') return at
  }
  return -1
}

/** The name that stands before a sign, and whether nothing but marks of comments and lists is before it. */
function nameBefore(text: string, sign: number, floor: number): { text: string; leads: boolean } | null {
  let end = sign
  const low = Math.max(floor, sign - 128)
  while (end > low && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  const quote = text[end - 1]
  if (quote === '"' || quote === "'" || quote === '`') {
    const start = text.lastIndexOf(quote, end - 2)
    if (start < low) return null
    return { text: text.slice(start + 1, end - 1), leads: leads(text, start) }
  }
  let start = end
  while (start > low && /[\p{L}\p{N}_.-]/u.test(text[start - 1]!)) start--
  return start === end ? null : { text: text.slice(start, end), leads: leads(text, start) }
}

function leads(text: string, start: number): boolean {
  for (let at = start - 1; at >= 0 && start - at < 64; at--) {
    const char = text[at]!
    if (char === '\n') return true
    if (char !== ' ' && char !== '\t' && char !== '#' && char !== '-') return false
  }
  return start < 64
}

function endOfQuoted(text: string, from: number, quote: string): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '\n' || text.startsWith(quote, at)) return at
  }
  return text.length
}

const NEXT_PAIR = /,\s{0,8}["']?[\w.-]{1,64}["']?\s{0,8}[=:]/y
const CLOSING = /["'`](?=[\s,;)\]}]|$)/y

/** A query ends at `&`, a list of settings at `;`, a blank, the quote around it, or a comma before the next one. */
function endOfPlain(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text[at]!
    if (char <= ' ' || char === '&' || char === ';') return at
    const edge = char === ',' ? NEXT_PAIR : CLOSING
    edge.lastIndex = at
    if (edge.test(text)) return at
  }
  return text.length
}

function endOfLine(text: string, from: number): number {
  let end = text.indexOf('\n', from)
  if (end === -1) end = text.length
  while (end > from && (text[end - 1]! <= ' ' || text[end - 1] === ',')) end--
  return end
}
