import { eachMatch, holdsKnown, type Span } from './known.ts'
import { isFormat, looksLikeUser, looksRandom } from './value.ts'

export const CLOSERS: Record<string, string> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '<': '>',
  '(': ')',
  '{': '}',
  '[': ']',
}

/** Finds passwords in URLs, and tokens used in place of a user (`https://TOKEN@host`). */
export function findUrls(text: string, spans: Span[]): void {
  let mark = text.indexOf('://')
  let done = 0
  while (mark !== -1) {
    let scheme = mark
    while (scheme > done && isSchemeChar(text.charCodeAt(scheme - 1))) scheme--
    const next = text.indexOf('://', mark + 3)
    const from = mark + 3
    if (scheme < mark) {
      const end = endOfUrl(text, from, next, CLOSERS[text[scheme - 1] ?? ''])
      const password = findPassword(text, from, end)
      if (password !== null) spans.push(password)
      const user = findUser(text, from, password === null ? end : password.start - 1)
      if (user !== null && isToken(text.slice(user.start, user.end), text.slice(scheme, mark), password))
        spans.push(user)
    }
    done = from
    mark = next
  }
}

/** `/[a-z\d+.-]/i` */
function isSchemeChar(code: number): boolean {
  const letter = code | 32
  if (letter >= 97 && letter <= 122 && code < 128) return true
  return (code >= 48 && code <= 57) || code === 43 || code === 45 || code === 46
}

/** A URL ends at a blank, at the closing quote or bracket around it, or where the next one begins. */
function endOfUrl(text: string, from: number, next: number, closer: string | undefined): number {
  let stop = next === -1 ? text.length : next
  if (next !== -1) while (stop > from && isSchemeChar(text.charCodeAt(stop - 1))) stop--
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
  return isFormat(url.slice(colon + 1, at)) ? null : { start: from + colon + 1, end: from + at }
}

/** The user of a URL, up to the password or the host. */
function findUser(text: string, from: number, end: number): Span | null {
  const url = text.slice(from, end)
  const slash = url.search(/[/?#]/)
  const authority = slash === -1 ? url : url.slice(0, slash)
  const at = authority.lastIndexOf('@')
  if (at !== -1) return { start: from, end: from + at }
  // What ends where the password begins is all user.
  return text[end] === ':' && slash === -1 ? { start: from, end } : null
}

/** On the web a lone user is a token more often than a name: `https://bob@host` stays, `https://TOKEN@host` doesn't. */
function isToken(user: string, scheme: string, password: Span | null): boolean {
  if (user === '' || isFormat(user)) return false
  if (password === null && /^(?:[a-z]+\+)?https?$/i.test(scheme))
    return !looksLikeUser(user) || holdsKnown(user)
  return user.length >= 15 && (holdsKnown(user) || (looksRandom(user) && user.length >= 20))
}

/** Words before a colon that don't name a user, though a `@` follows: `mailto:bob@example.com`, `npm:react@18`. */
const NOT_A_USER =
  /(?:^|[^a-z])(?:mailto|e-?mail|mail|contact|author|maintainer|owner|support|from|to|cc|by|see|note|todo|sips?|acct|xmpp|im|npm|git|ssh|file|urn|https?)$/i

const HOST =
  /^(?:[a-z\d]+\(|\/[\w$-]*(?:\?|$)|(?:[a-z\d](?:[\w.-]{0,252}[a-z\d])?|\[[\da-f:.]{2,45}\])(?::\d{1,5})?(?:[/?,;"'`)\]}>.]|$))/i

/** `1.2.3` after an `@` is a version, `sha256:…` an image's digest. */
const NOT_A_HOST = /^(?:sha\d+:|[v^~]?\d+(?:\.\d+){0,2}(?:[-+][\w.]*)?$)/

/** Passwords of data source names: `user:password@host/db`, Go's `user:password@tcp(host)/db`, Oracle's `user/password@host`. */
export function findSources(text: string, spans: Span[]): void {
  eachMatch(WORDS, text, ({ index, 0: word }) => {
    if (word.includes('://')) return
    const oracle = /^["'`]?jdbc:oracle:[a-z]+:[^/@]*\//i.exec(word)
    const start = oracle === null ? afterUser(word) : oracle[0].length
    const end = start === null ? null : beforeHost(word, start)
    if (start === null || end === null) return
    if (!isFormat(word.slice(start, end))) spans.push({ start: index + start, end: index + end })
  })
}

/** Words with a `@`. */
const WORDS = /(?<!\S)[^\s@]*@\S*/g

function afterUser(word: string): number | null {
  const colon = word.search(/[:@/]/)
  if (colon === -1 || word[colon] !== ':' || word[colon + 1] === '\\') return null
  return NOT_A_USER.test(word.slice(Math.max(0, colon - 24), colon)) ? null : colon + 1
}

/** The last few `@` are tried, so that a long row of them costs no more. */
function beforeHost(word: string, start: number): number | null {
  let at = word.lastIndexOf('@')
  for (let tries = 0; tries < 4 && at > start; tries++) {
    const host = word.slice(at + 1, at + 1 + 300)
    if (HOST.test(host) && !NOT_A_HOST.test(host)) return at
    at = word.lastIndexOf('@', at - 1)
  }
  return null
}
