import type { Span } from './known.ts'
import { quotedAt } from './quoted.ts'
import { holdsKeys, isKeyAlone, namesCount, namesHeader, namesSecret, namesSecretIn } from './secret.ts'
import { CLOSERS } from './urls.ts'
import { isHarmless, looksRandom } from './value.ts'

export interface Setting {
  /** Comments hold prose as often as settings. */
  readonly inComment: boolean
  /** The table around it, which gives a lone `key` its meaning. */
  readonly table?: string
}

/** Words that describe a value rather than being one: `# token: required`. */
const PROSE =
  /^(?:required|optional|none|empty|unset|null|nil|string|text|deprecated|todo|yes|no|true|false)\W*$/i

/** A value whose end is remembered, because many may begin inside of it. */
const LONG = 1024
/** Values of queries that end at the same place; beyond these, mask in case of doubt. */
const MOST_ENDS = 64

/** Finds values that are given a secret name. */
export function findPairs(text: string, spans: Span[], setting: Setting): void {
  let done = 0
  let ends = { at: -1, count: 0 }
  const back = { left: MOST_BACK * (text.length + FAR_BACK) }
  for (let sign = nextSign(text, 0); sign !== -1; sign = nextSign(text, Math.max(sign + 1, done))) {
    const name = nameBefore(text, sign, done)
    if (name === null) continue
    const isHeader = namesHeader(name.text)
    const named =
      isHeader ||
      namesSecret(name.text) ||
      (name.leads && namesSecretIn(setting.table ?? '', name.text)) ||
      (isKeyAlone(name.text) && isInKeyed(text, name, back))
    if (!named && !(text.charCodeAt(sign) === EQUALS && mayBeSecret(text, name))) continue
    const span = isHeader ? headerAfter(text, sign, name) : valueAfter(text, sign, name, setting.inComment)
    if (span === null) continue
    const value = text.slice(span.start, span.end)
    if (named ? isShown(name.text, value, span) : !isSigned(name.text, value)) {
      ends = { at: span.end, count: span.end === ends.at ? ends.count + 1 : 0 }
      if (named || ends.count < MOST_ENDS) continue
    }
    spans.push(span)
    done = Math.max(span.end, sign + 1)
  }
  plain = NO_PLAIN
}

const EQUALS = 61
const COLON = 58

/** What a pair may show although its name is a secret's: a boolean, a count, and what can't be a secret. */
function isShown(name: string, value: string, { list = false }: Span): boolean {
  if (/^(?:true|false)$/.test(value) || (namesCount(name, list) && /^[\d_.]+$/.test(value))) return true
  return !list && isHarmless(value)
}

/** Names that carry a secret in a query (`?sig=…`, `&X-Amz-Signature=…`, `?key=…`) and mean little elsewhere. */
const QUERY_NAME = /^(?:sig|signature|hmac|key|auth|code|jwt|session|sid)$/i

function mayBeSecret(text: string, name: { text: string; start: number }): boolean {
  if (/^x-[a-z]{1,16}-signature$/i.test(name.text) || isKeyAlone(name.text)) return true
  const before = text[name.start - 1]
  return (before === '?' || before === '&') && QUERY_NAME.test(name.text)
}

/** A signature always is one; `?key=name` and `?code=404` are none until the value looks like key material. */
function isSigned(name: string, value: string): boolean {
  return /(?:sig|signature|hmac)$/i.test(name) ? !isHarmless(value) : looksRandom(value)
}

/**
 * The objects around a lone `key`: `"encryption":{"key":"x"}`. It looks back a bounded way, at few of them; once that has
 * cost more than `budget`, it masks in case of doubt.
 */
function isInKeyed(text: string, { start, text: key }: Name, budget: { left: number }): boolean {
  let depth = 0
  let levels = 0
  const stop = Math.max(0, start - FAR_BACK)
  for (let at = start - 1; at >= stop && levels < MOST_LEVELS; at--) {
    if (--budget.left < 0) return true
    const char = text[at]
    if (char === '}') depth++
    if (char !== '{' || --depth >= 0) continue
    depth = 0
    levels++
    let sign = at - 1
    while (text[sign] === ' ' || text[sign] === '\t') sign--
    if (text[sign] !== ':' && text[sign] !== '=') continue
    const outer = nameBefore(text, sign, 0)
    if (outer !== null && (holdsKeys(outer.text) || namesSecretIn(outer.text, key))) return true
  }
  return false
}

const FAR_BACK = 1024
const MOST_LEVELS = 3
/** Characters that may be looked back at for each one that is searched. */
const MOST_BACK = 16

/** What follows the name of a header that carries a credential, `Authorization: x`; prose follows such a word, too. */
function headerAfter(text: string, sign: number, { isQuoted }: Name): Span | null {
  const from = startOfValue(text, sign)
  const quoted = quotedAt(text, from)
  if (quoted !== null) return quoted
  if (text[from] === '[' || text[from] === '{') return { ...insideOf(text, from), list: true }
  if (isQuoted) return null
  HEADER_REST.lastIndex = from
  if (HEADER_REST.test(text)) return { start: from, end: HEADER_REST.lastIndex }
  const end = endOfWord(text, from)
  const value = text.slice(from, end)
  if (looksSecret(value)) return { start: from, end }
  const isLast = /^[ \t]*(?:[\r\n"'`)\]}]|$)/.test(text.slice(end, end + 32))
  return isLast && value.length >= 4 && !PROSE.test(value) && !OUTCOME.test(value)
    ? { start: from, end }
    : null
}

/** A scheme and its credentials, or cookies: to the end of the line. */
const HEADER_REST =
  /(?:(?:basic|bearer|digest|negotiate|ntlm|token|apikey|hawk|key|aws4-hmac-sha256)[ \t]+[^\s"'`][^\r\n`]*|[\w.-]{1,64}=[^\s"'`]{4}[^\r\n"'`]*)/iy
const OUTCOME =
  /^(?:granted|denied|failed|failure|succeeded|success|successful|ok|error|enabled|disabled|allowed|missing|invalid|expired|unknown|unauthorized|forbidden|lax|strict|secure)\W*$/i

function startOfValue(text: string, sign: number): number {
  let from = text.startsWith('=>', sign) ? sign + 2 : sign + 1
  while (text[from] === ' ' || text[from] === '\t') from++
  return from
}

/** What is between a bracket and the one that closes it, on the same line. */
function insideOf(text: string, from: number): Span {
  const open = text[from]!
  const close = CLOSERS[open]!
  let depth = 0
  for (let at = from; at < text.length && text[at] !== '\n'; at++) {
    if (text[at] === open) depth++
    else if (text[at] === close && --depth === 0) return { start: from + 1, end: at }
  }
  return { start: from + 1, end: endOfLine(text, from + 1) }
}

function valueAfter(text: string, sign: number, name: Name, inComment: boolean): Span | null {
  const { leads } = name
  const from = startOfValue(text, sign)
  const first = text[from] ?? ''
  const quoted = quotedAt(text, from)
  if (quoted !== null) return quoted
  PLACE.lastIndex = from
  if (text[sign] === '=' && PLACE.test(text)) return { start: from, end: endOfPlain(text, from) }
  if (first === '[' || (first === '{' && text[sign] === '=')) {
    const end = endOfLine(text, from + 1)
    const close = text.lastIndexOf(CLOSERS[first]!, end)
    return { start: from + 1, end: close > from ? close : end, list: true }
  }
  if (text[sign] === '=') return { start: from, end: endOfPlain(text, from) }
  if (first === '{' && name.isQuoted) return { ...insideOf(text, from), list: true }
  // JSON's numbers, and Go's structs and maps: `{Password:x Port:1}`.
  if (name.isQuoted || (from === sign + 1 && isInBraces(text, name.start))) {
    BARE.lastIndex = from
    const end = BARE.test(text) ? BARE.lastIndex : from
    return /^(?:null|nil|none|undefined|<nil>)?$/i.test(text.slice(from, end)) ? null : { start: from, end }
  }
  // `image = "vault/secret:1.2.3"` is not a pair: in a pair, a blank follows the colon.
  if (from === sign + 1 && !(inComment && leads)) return null
  // After a colon, prose is likelier than a value. A value is what looks like a secret, or a lone word after a name at
  // the start of a line.
  PLAUSIBLE.lastIndex = from
  if (looksSecret(PLAUSIBLE.exec(text)?.[0] ?? '')) return { start: from, end: endOfWord(text, from) }
  if (!leads) return null
  const span = { start: from, end: endOfLine(text, from) }
  const value = text.slice(span.start, span.end)
  return PROSE.test(value) || /[\s{]/.test(value) ? null : span
}

const BARE = /[^\s,;"'`{}[\]]+/y

function isInBraces(text: string, start: number): boolean {
  return /(?:\{|map\[)[^{}[\]\n]*$/.test(text.slice(Math.max(0, start - 256), start))
}

/** A place for a value in a format string, such as `{token}`. */
const PLACE = /\{[\w.$:-]{0,64}\}/y

// Bounded; otherwise a run of colons would be scanned to its end from each of them.
const PLAUSIBLE = /[^\s,;"'`]{8,128}/y

function looksSecret(word: string): boolean {
  return (/\d/.test(word) && /[a-z]/i.test(word)) || /[a-z][A-Z].*[a-z][A-Z]/.test(word)
}

const WORD = /[^\s,;"'`]+/y

function endOfWord(text: string, from: number): number {
  WORD.lastIndex = from
  return WORD.test(text) ? WORD.lastIndex : from
}

function nextSign(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === EQUALS && text.charCodeAt(at + 1) !== EQUALS) return at
    if (code === COLON && text.charCodeAt(at + 1) !== SLASH) return at
  }
  return -1
}

const SLASH = 47

interface Name {
  readonly text: string
  readonly start: number
  readonly leads: boolean
  readonly isQuoted: boolean
}

/** The name before a sign, and whether only comment and list markers precede it. */
function nameBefore(text: string, sign: number, floor: number): Name | null {
  let end = sign
  const low = Math.max(floor, sign - 128)
  while (end > low && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  const quote = text[end - 1]
  if (quote === '"' || quote === "'" || quote === '`') {
    const start = text.lastIndexOf(quote, end - 2)
    if (start < low) return null
    const escaped = text.slice(start + 1, end - 1).replace(/\\+$/, '')
    return { text: escaped, start, leads: leads(text, start), isQuoted: true }
  }
  let start = end
  while (start > low && isNameChar(text, start - 1)) start--
  if (start === end) return null
  return { text: text.slice(start, end), start, leads: leads(text, start), isQuoted: false }
}

function isNameChar(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code >= 128) return /[\p{L}\p{N}]/u.test(text[at]!)
  const letter = code | 32
  if ((letter >= 97 && letter <= 122) || (code >= 48 && code <= 57)) return true
  return code === 95 || code === 46 || code === 45
}

function leads(text: string, start: number): boolean {
  for (let at = start - 1; at >= 0 && start - at < 64; at--) {
    const char = text[at]!
    if (char === '\n') return true
    if (char !== ' ' && char !== '\t' && char !== '#' && char !== '-') return false
  }
  return start < 64
}

const NEXT_PAIR = /,\s{0,8}["']?[\w.-]{1,64}["']?\s{0,8}[=:]/y
const CLOSING = /["'`](?=[\s,;)\]}]|$)/y

/** What a plain value goes on with, whatever follows. A loop over characters takes ten times as long. */
const PLAIN = /[^\0- &;,"'`]*/y

/** The last plain value, from a place up to its end: one that begins inside of it has the same end. */
let plain = { text: '', from: 0, end: 0 }
const NO_PLAIN = plain

/** A plain value ends at `&`, `;`, a blank, the quote around it, or a comma before the next pair. */
function endOfPlain(text: string, from: number): number {
  if (plain.text === text && from >= plain.from && from <= plain.end) return plain.end
  const end = findEndOfPlain(text, from)
  plain = end - from > LONG ? { text, from, end } : NO_PLAIN
  return end
}

function findEndOfPlain(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    PLAIN.lastIndex = at
    PLAIN.test(text)
    at = PLAIN.lastIndex
    const char = text[at]
    if (char !== ',' && char !== '"' && char !== "'" && char !== '`') return at
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
