import { readNamed } from '../format/read/named.ts'
import { isDigit } from '../format/read/stamp.ts'
import { levelOfStatus } from '../format/read/vocabulary.ts'
import { digitsEnd, find } from './bytes/words.ts'
import type { RecordOut } from './record.ts'

/** `15/Nov/2026:03:10:00 +0100] "GET / HTTP/1.1" 200 1234`: where its parts are, from the bracket before it. */
const REQUEST = 29
const SPACE = 0x20
const QUOTE = 0x22
const EQUALS = 0x3d

/**
 * Writes a line of a common or combined access log as its row reads it: client, identity, user, time, request, status and
 * size, and perhaps referrer and agent, but nothing else. `time` is where its bracket opens.
 */
export function writeAccess(record: RecordOut, from: number, time: number): boolean {
  const { bytes } = record
  const to = record.line.end
  const ident = nextWord(bytes, from, 260)
  const user = ident < 0 ? -1 : nextWord(bytes, ident, 100)
  if (user < 0 || nextWord(bytes, user, 200) !== time) return false
  if (time + REQUEST > from + REACH || !isTime(bytes, time)) return false
  const epoch = readNamed(bytes, time + 1, to, record.zone)?.epoch ?? Number.NaN
  const request = time + REQUEST
  let requestEnd = request + 1
  while (requestEnd < to && bytes[requestEnd] !== QUOTE && bytes[requestEnd] !== 0x5c) requestEnd++
  const status = statusAt(bytes, requestEnd, to)
  const size = requestEnd + 6
  const sizeEnd = bytes[size] === 0x2d ? size + 1 : digitsEnd(record.copy.view, size, to)
  if (status === 0 || !isSize(bytes, size, sizeEnd)) return false
  // The referrer and the agent, or neither.
  const referrer = sizeEnd + 2
  const referrerEnd = sizeEnd === to ? to : textEnd(bytes, sizeEnd, to)
  const agentEnd = sizeEnd === to ? to : textEnd(bytes, referrerEnd + 1, to)
  if (agentEnd < 0 || (sizeEnd < to && agentEnd + 1 !== to) || !record.time(epoch)) return false

  record.level(levelOfStatus(status))
  record.message(request, to)
  if (isHost(bytes, from, ident - 1)) record.textField('client', from, ident - 1)
  else record.group('client', record.text(from, ident - 1))
  if (isValue(bytes, ident, user - 1)) record.group('ident', record.text(ident, user - 1))
  if (isValue(bytes, user, time - 1)) record.group('user', record.text(user, time - 1))
  writeRequest(record, request + 1, requestEnd)
  record.name('status')
  record.raw(requestEnd + 2, requestEnd + 5)
  if (bytes[size] !== 0x2d) {
    record.name('bytes')
    record.raw(size, sizeEnd)
  }
  if (sizeEnd < to) {
    if (isValue(bytes, referrer, referrerEnd)) record.textField('referrer', referrer, referrerEnd)
    if (isValue(bytes, referrerEnd + 3, agentEnd)) record.textField('agent', referrerEnd + 3, agentEnd)
  }
  if (hasDuration(record, request, to)) return false
  return record.endWithPairs(request, to)
}

const isValue = (bytes: Uint8Array, from: number, to: number) =>
  to > from && !(to === from + 1 && bytes[from] === 0x2d)

/** How much of a line is its head. */
const REACH = 300

/** Whether a message may have ` rt=` or ` request_time=` in it. */
function hasDuration({ bytes, line, copy }: RecordOut, from: number, to: number): boolean {
  for (let at = Math.max(from, line.equals); at < to; at++) {
    at = find(copy.view, EQUALS, at, to)
    const end = at < to ? bytes[at - 1] : 0
    if ((end === 0x74 && bytes[at - 2] === 0x72) || (end === 0x65 && bytes[at - 2] === 0x6d)) return true
  }
  return false
}

/** Whether an address has no port: letters, digits, dots and dashes. */
function isHost(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isWordByte(bytes[at]!) || bytes[at] === 0x3d) return false
  return isValue(bytes, from, to)
}

/** Where the word after the one at `from` begins, if one space separates them; -1 if not, or if the word is too long. */
function nextWord(bytes: Uint8Array, from: number, longest: number): number {
  let end = from
  while (bytes[end]! > SPACE) end++
  return end > from && end - from <= longest && bytes[end] === SPACE ? end + 1 : -1
}

/** `[15/Nov/2026:03:10:00 +0100] "`, where the slashes, colons and brackets are known. */
function isTime(bytes: Uint8Array, at: number): boolean {
  for (const offset of TIME_DIGITS) if (!isDigit(bytes[at + offset]!)) return false
  const sign = bytes[at + 22]
  return (
    bytes[at + 15] === 0x3a &&
    bytes[at + 18] === 0x3a &&
    (sign === 0x2b || sign === 0x2d) &&
    isBetween(bytes[at + 4]!, 0x41, 0x5a) &&
    isBetween(bytes[at + 5]!, 0x61, 0x7a) &&
    isBetween(bytes[at + 6]!, 0x61, 0x7a)
  )
}

const TIME_DIGITS = [1, 2, 8, 9, 10, 11, 13, 14, 16, 17, 19, 20, 23, 24, 25, 26]
const isBetween = (byte: number, least: number, most: number) => byte >= least && byte <= most

/** The status behind the quote that ends the request, and a space after it; 0 if it is none. */
function statusAt(bytes: Uint8Array, quote: number, to: number): number {
  if (quote + 7 > to || bytes[quote] !== QUOTE || bytes[quote + 1] !== SPACE || bytes[quote + 5] !== SPACE)
    return 0
  let status = 0
  for (let at = quote + 2; at < quote + 5; at++) {
    if (!isDigit(bytes[at]!)) return 0
    status = status * 10 + bytes[at]! - 0x30
  }
  return status < 100 ? 0 : status
}

/** Digits as JSON writes them, or a dash. */
function isSize(bytes: Uint8Array, from: number, to: number): boolean {
  return to > from && to - from <= 15 && (to - from === 1 || bytes[from] !== 0x30)
}

/**
 * Where the text in ` "…"` ends, without escapes; -1 if it is anything else, or something that the row's other patterns
 * may read: a duration or an address.
 */
function textEnd(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from] !== SPACE || bytes[from + 1] !== QUOTE) return -1
  const start = from + 2
  let end = start
  while (end < to && bytes[end] !== QUOTE && bytes[end] !== 0x5c) end++
  if (end >= to || bytes[end] === 0x5c) return -1
  if (isDigit(bytes[start]!) || bytes[start]! <= SPACE || bytes[end - 1]! <= SPACE) return -1
  let word = start
  while (isWordByte(bytes[word]!)) word++
  if (bytes[word] === 0x5b) return -1
  // A scheme is no host, but `unix:` is one.
  return bytes[word] === 0x3a && (bytes[word + 1] !== 0x2f || bytes[word - 1] === 0x78) ? -1 : end
}

/** A letter, a digit, or one of `_.-=`. */
function isWordByte(byte: number): boolean {
  const letter = byte | 32
  return (
    isBetween(letter, 0x61, 0x7a) ||
    isDigit(byte) ||
    byte === 0x5f ||
    byte === 0x2e ||
    byte === 0x2d ||
    byte === 0x3d
  )
}

/** `GET /path?query HTTP/1.1` at bytes[from, to); anything else as text. */
function writeRequest(record: RecordOut, from: number, to: number): void {
  const { bytes } = record
  let method = from
  while (method < to && isBetween(bytes[method]!, 0x41, 0x5a)) method++
  let target = method + 1
  while (target < to && bytes[target]! > SPACE && bytes[target] !== 0x3f) target++
  let query = target
  while (query < to && bytes[query]! > SPACE) query++
  const isUsual =
    method - from >= 2 &&
    method - from <= 31 &&
    bytes[method] === SPACE &&
    bytes[method + 1] === 0x2f &&
    query + 9 === to &&
    PROTOCOL.test(record.text(query, to))
  if (!isUsual) {
    record.group('request', record.text(from, to))
    return
  }
  record.textField('method', from, method)
  record.textField('path', method + 1, target)
  if (query > target + 1) record.textField('query', target + 1, query)
  record.textField('protocol', query + 1, to)
}

const PROTOCOL = /^ HTTP\/\d\.\d$/
