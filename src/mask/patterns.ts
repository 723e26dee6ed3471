import { findKnown, type Span } from './known.ts'
import { MASK } from './mask.ts'
import { isKeyAlone, namesCount, namesSecret, namesSecretIn } from './secret.ts'
import { CLOSERS, findSources, findUrls } from './urls.ts'
import { isHarmless, looksRandom } from './value.ts'

export type { Span } from './known.ts'

export interface Setting {
  /** Comments hold prose as often as settings. */
  readonly inComment: boolean
  /** The table around it, which gives a lone `key` its meaning. */
  readonly table?: string
}

/**
 * Finds the secrets that free text carries by its own form: private keys and tokens of known form, passwords in URLs,
 * data source names and commands, and values that are given a secret name (`?token=x`, `password='x'`, `token: x`).
 * Linear in the text: every search continues where the last one ended.
 */
export function findTraces(text: string, setting: Setting): Span[] {
  const spans: Span[] = []
  findKnown(text, spans)
  if (text.includes('://')) findUrls(text, spans)
  if (text.includes('@')) findSources(text, spans)
  if (text.includes('=') || text.includes(':')) findPairs(text, spans, setting)
  if (text.includes('-')) findOptions(text, spans, setting.inComment)
  if (text.includes('-') && /\b(?:curl|mysql|mariadb|redis-cli|sshpass)/.test(text))
    for (const command of COMMANDS) findEnds(text, command, spans, ([, value]) => !isHarmless(value!))
  findEnds(text, BEARERS, spans, ([, value]) => /\d/.test(value!) || isBasic(value!))
  if (text.includes('</'))
    findEnds(
      text,
      ELEMENTS,
      spans,
      ([, name, value]) => namesSecret(name!) && !isHarmless(value!) && value!.trim() !== '',
    )
  if (/cookie/i.test(text)) findEnds(text, COOKIES, spans, ([, value]) => !isHarmless(value!))
  if (setting.inComment) findTold(text, spans)
  return spans.filter(({ start, end }) => end > start && text.slice(start, end) !== MASK)
}

/** Reports whether a text is a secret as a whole, whatever its key is called: a private key, an HTTP credential. */
export function isSecretText(text: string): boolean {
  if (/-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY/.test(text)) return true
  const [, scheme, value] = /^(basic|bearer|token) ([^\s*]{4,})$/i.exec(text) ?? []
  if (scheme === undefined || value === undefined || isHarmless(value)) return false
  return scheme.toLowerCase() === 'basic' ? isBasic(value) : value.length >= 16
}

/** Reports whether a command's argument is an option whose value, the next argument, is a secret: `--password`. */
export function isSecretOption(text: string): boolean {
  return text.length < 96 && /^--?[a-z][\w.-]*$/i.test(text) && namesSecret(text)
}

/** Where the password begins in the argument after curl's `-u`: `user:password`. `1000:1000` is a user and a group. */
export function passwordInUser(option: string, value: string): number | null {
  if (!/^(?:-u|-U|--user|--proxy-user)$/.test(option) || /^\d+:\d+$/.test(value)) return null
  const colon = value.indexOf(':')
  return colon > 0 && colon < value.length - 1 ? colon + 1 : null
}

/** RFC 7617: user and password, separated by a colon, in Base64. */
function isBasic(value: string): boolean {
  try {
    return atob(value).includes(':')
  } catch {
    return false
  }
}

/** Adds what a pattern ends with, its last group, wherever that is a secret. */
function findEnds(
  text: string,
  pattern: RegExp,
  spans: Span[],
  isSecret: (match: string[]) => boolean,
): void {
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length
    if (isSecret(match)) spans.push({ start: end - match.at(-1)!.length, end })
  }
}

function findOptions(text: string, spans: Span[], inComment: boolean): void {
  const options = /(?<=^|[\s"'`])(--?[a-z][\w.-]{1,94})[ \t]{1,8}(?=[^\s-])(\S+)/gi
  findEnds(text, options, spans, ([, option, value]) => {
    // In a comment, the word after an option is prose (`--token is required`) unless it looks like a value.
    const isProse = inComment && /^[A-Za-z]?[a-z]*\W?$/.test(value!)
    return isSecretOption(option!) && !isHarmless(value!) && !isProse
  })
}

/** Programs that take a password in a short option: what comes before it, and the password. */
const COMMANDS: readonly RegExp[] = [
  /\bcurl\b[^\n|;]{0,512}?\s(?:-[uU]\s{0,4}|--(?:proxy-)?user(?:=|\s{1,4}))["']?[^\s:"']{1,128}:([^\s"']+)/g,
  /\b(?:mysql\w{0,8}|mariadb[\w-]{0,8})\b[^\n|;]{0,512}?\s-p["']?([^\s"']+)/g,
  /\bredis-cli\b[^\n|;]{0,512}?\s-a\s{1,4}["']?([^\s"']+)/g,
  /\bsshpass\b[^\n|;]{0,64}?\s-p\s{0,4}["']?([^\s"']+)/g,
]

/** The cookies of a header: `Cookie: session=x; b=y`. */
const COOKIES = /\b(?:set-)?cookie2?: {0,4}([\w.-]{1,64}=[^\r\n"'`]{4,4096})/gi

const BEARERS = /\b(?:bearer|basic|token|apikey) {1,4}([\w.~+/=-]{16,})/gi

/** `<password>x</password>`. */
const ELEMENTS = /<([\w:.-]{1,64})(?: [^<>]{0,256})?>([^<>]{1,512})(?=<\/\1>)/g

/** What prose tells: `# the password was hunter2`. A plain word may be anything (`was changed`), so it stays. */
function findTold(text: string, spans: Span[]): void {
  const told = /(?<![\w-])([\w-]{2,64}) (?:was|is|used to be|is now|were) (["'`]?)([^\s"'`]{1,256})\2/gi
  for (const match of text.matchAll(told)) {
    const [, name, quote, word] = match as unknown as [string, string, string, string]
    const value = word.replace(/[.,;:!?)]+$/, '')
    if (!namesSecret(name) || isHarmless(value) || value === '') continue
    if (
      quote === '' &&
      (/^[a-z]+$/i.test(value) || !/[\d\p{S}\p{P}]/u.test(value) || /^[a-z]+-[a-z-]+$/i.test(value))
    )
      continue
    const end = match.index + match[0].length - (word.length - value.length) - quote.length
    spans.push({ start: end - value.length, end })
  }
}

/** Words that describe a value rather than being one: `# token: required`. */
const PROSE =
  /^(?:required|optional|none|empty|unset|null|nil|string|text|deprecated|todo|yes|no|true|false)\W*$/i

function findPairs(text: string, spans: Span[], setting: Setting): void {
  let done = 0
  for (let sign = nextSign(text, 0); sign !== -1; sign = nextSign(text, Math.max(sign + 1, done))) {
    const name = nameBefore(text, sign, done)
    if (name === null) continue
    const named = namesSecret(name.text) || (name.leads && namesSecretIn(setting.table ?? '', name.text))
    if (!named && !(text[sign] === '=' && mayBeSecret(text, name))) continue
    const span = valueAfter(text, sign, name.leads, setting.inComment)
    if (span === null) continue
    const value = text.slice(span.start, span.end)
    if (named ? isShown(name.text, value, span) : !isSigned(name.text, value)) continue
    spans.push(span)
    done = Math.max(span.end, sign + 1)
  }
}

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

function valueAfter(text: string, sign: number, leads: boolean, inComment: boolean): Span | null {
  let from = text.startsWith('=>', sign) ? sign + 2 : sign + 1
  while (text[from] === ' ' || text[from] === '\t') from++
  const first = text[from] ?? ''
  if (first === '"' || first === "'" || first === '`') {
    const quote = text.startsWith(first.repeat(3), from) ? first.repeat(3) : first
    return { start: from + quote.length, end: endOfQuoted(text, from + quote.length, quote) }
  }
  PLACE.lastIndex = from
  if (text[sign] === '=' && PLACE.test(text)) return { start: from, end: endOfPlain(text, from) }
  if (first === '[' || (first === '{' && text[sign] === '=')) {
    const end = endOfLine(text, from + 1)
    const close = text.lastIndexOf(CLOSERS[first]!, end)
    return { start: from + 1, end: close > from ? close : end, list: true }
  }
  if (text[sign] === '=') return { start: from, end: endOfPlain(text, from) }
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

/** A place for a value in a format string, such as `{token}`. */
const PLACE = /\{[\w.$:-]{0,64}\}/y

// Bounded; otherwise a run of colons would be scanned to its end from each of them.
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

interface Name {
  readonly text: string
  readonly start: number
  readonly leads: boolean
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
    return { text: text.slice(start + 1, end - 1), start, leads: leads(text, start) }
  }
  let start = end
  while (start > low && /[\p{L}\p{N}_.-]/u.test(text[start - 1]!)) start--
  return start === end ? null : { text: text.slice(start, end), start, leads: leads(text, start) }
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

/** A plain value ends at `&`, `;`, a blank, the quote around it, or a comma before the next pair. */
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
