import { findKnown, type Span } from './known.ts'
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
    while (scheme > done && /[a-z\d+.-]/i.test(text[scheme - 1]!)) scheme--
    const next = text.indexOf('://', mark + 3)
    const from = mark + 3
    const end = endOfUrl(text, from, next, CLOSERS[text[scheme - 1] ?? ''])
    if (scheme < mark) {
      const password = findPassword(text, from, end)
      if (password !== null) spans.push(password)
      const user = findUser(text, from, password === null ? end : password.start - 1)
      const web = /^(?:[a-z]+\+)?https?$/i.test(text.slice(scheme, mark))
      if (user !== null && isToken(text.slice(user.start, user.end), web && password === null))
        spans.push(user)
    }
    done = from
    mark = next
  }
}

/** A URL ends at a blank, at the closing quote or bracket around it, or where the next one begins. */
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
function isToken(user: string, alone: boolean): boolean {
  if (user === '' || isFormat(user)) return false
  const known: Span[] = []
  findKnown(user, known)
  return known.length > 0 || (alone ? !looksLikeUser(user) : looksRandom(user) && user.length >= 20)
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
  for (const match of text.matchAll(/\S+/g)) {
    const word = match[0]
    if (!word.includes('@') || word.includes('://')) continue
    const oracle = /^["'`]?jdbc:oracle:[a-z]+:[^/@]*\//i.exec(word)
    const start = oracle === null ? afterUser(word) : oracle[0].length
    const end = start === null ? null : beforeHost(word, start)
    if (start === null || end === null) continue
    if (!isFormat(word.slice(start, end))) spans.push({ start: match.index + start, end: match.index + end })
  }
}

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
