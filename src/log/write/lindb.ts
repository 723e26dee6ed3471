import { TAGS, tagNames } from '../format/lindb/lindb.ts'
import { levelAt } from '../format/read/level.ts'
import { isDigit } from '../format/read/stamp.ts'
import { jsonEnd } from './bytes/json-value.ts'
import { copyName, copyText, find, lastDigits, template } from './bytes/words.ts'
import { LINE, type RecordOut, SOURCE } from './record.ts'

const TAB = 0x09
const LF = 0x0a
const EQUALS = 0x3d
const TAGS_START = template('},"tags":[')
const MESSAGE_AFTER_SOURCE = template('},"message":"')
const MESSAGE_AFTER_TAGS = template('],"message":"')
const CONTEXT = template('","context":')

/**
 * Writes a LinDB line from bytes to bytes, four or eight at a time, and copies its context as it is. False for
 * any other line.
 */
export function writeLindb(record: RecordOut, from: number, to: number): boolean {
  if (!record.exactTime(from, to)) return false
  const { bytes } = record
  const level = levelAt(bytes, from + 24, to)
  let word = from + 24
  while (word < to && isLetter(bytes[word]!)) word++
  if (level < 0 || bytes[word] !== TAB) return false
  record.level(level)
  const tags = writeSource(record, word + 1, to)
  return tags >= 0 && writeMessage(record, writeTags(record, tags, to), to)
}

const isLetter = (byte: number) => (byte | 32) >= 0x61 && (byte | 32) <= 0x7a

/** `path/file.go:123` and a tab, up to the closing brace; returns the offset after the tab, or -1. */
function writeSource(record: RecordOut, from: number, to: number): number {
  const { bytes, copy, out } = record
  record.put(SOURCE)
  const stop = record.escapedTo(from, to)
  if (stop < 0 || stop + 4 > to || bytes[stop] !== TAB) return -1
  let digits = lastDigits(copy.view, stop)
  if (digits === 4) while (digits < stop - from - 1 && isDigit(bytes[stop - digits - 1]!)) digits++
  const colon = stop - digits - 1
  if (colon <= from || bytes[colon] !== 0x3a || bytes[colon - 1] === 0x3a || bytes[from] === 0x20) return -1
  // A number in JSON has no leading zero.
  if (digits < 1 || digits > 9 || (digits > 1 && bytes[colon + 1] === 0x30)) return -1
  // The number is already written and now goes after its name.
  record.at -= digits + 1
  record.put(LINE)
  const { at } = record
  copy.out.setInt32(at, copy.view.getInt32(colon + 1, true), true)
  for (let i = 4; i < digits; i++) out[at + i] = bytes[colon + 1 + i]!
  record.at = at + digits
  return stop + 1
}

/** The end of the source, the tags if there are any, and the beginning of the message; returns where that is, or -1. */
function writeTags(record: RecordOut, from: number, to: number): number {
  const { bytes, out, copy, at: start } = record
  if (from >= to || (bytes[from] !== 0x5b && bytes[from] !== 0x20)) {
    record.put(MESSAGE_AFTER_SOURCE)
    return from
  }
  record.put(TAGS_START)
  let { at } = record
  for (let i = from; i < to && bytes[i] === 0x5b; i++) {
    out[at++] = 0x22
    const name = i + 1
    i = copyName(copy, name, to, at)
    // Anything but a plain name takes longer.
    if (i === name || i + 1 >= to || bytes[i] !== 0x5d || bytes[name] === 0x20 || bytes[i - 1] === 0x20) break
    at += i - name
    out[at++] = 0x22
    if (bytes[++i] === 0x3a) {
      i++
      record.at = at
      record.put(MESSAGE_AFTER_TAGS)
      return i < to && bytes[i] === 0x20 ? i + 1 : i
    }
    out[at++] = 0x2c
    if (bytes[i] !== 0x20) i--
  }
  record.at = start
  return writeAnyTags(record, from, to)
}

/** Tags with spaces around their names, or brackets that are none: `fields` takes four to eight times as long. */
function writeAnyTags(record: RecordOut, from: number, to: number): number {
  const end = record.scan(from, to)
  if (end !== record.line.lf) return -1
  const tags = TAGS.exec(record.text(from, end))
  if (!tags) {
    record.put(MESSAGE_AFTER_SOURCE)
    return from
  }
  record.json(`},"tags":${JSON.stringify(tagNames(tags[1]!)).slice(0, -1)}`)
  record.put(MESSAGE_AFTER_TAGS)
  return record.after(tags[0], tags[0].length, from)
}

/** The message, and the context if there is one. */
function writeMessage(record: RecordOut, from: number, to: number): boolean {
  const { bytes, out } = record
  if (from < 0) return false
  for (let i = from; ; ) {
    const stop = record.escapedTo(i, to)
    if (stop < 0) return false
    if (stop >= to || bytes[stop] === LF) return endMessage(record, from, stop)
    if (stop + 1 < to && bytes[stop + 1] === 0x7b) return writeContext(record, from, stop, to)
    out[record.at++] = 0x5c
    out[record.at++] = 0x74
    i = stop + 1
  }
}

function endMessage(record: RecordOut, from: number, to: number): boolean {
  record.out[record.at++] = 0x22
  record.line.lf = to
  record.line.equals = find(record.copy.view, EQUALS, from, to)
  return record.endWithPairs(from, to)
}

/** The context behind the tab at `tab`. What is not JSON, or also has fields in the message, is left to `fields`. */
function writeContext(record: RecordOut, from: number, tab: number, to: number): boolean {
  const { bytes, copy, out } = record
  const end = jsonEnd(copy.view, tab + 1, to)
  if (end < 0 || (end < to && bytes[end] !== LF) || find(copy.view, EQUALS, from, tab) < tab) return false
  record.put(CONTEXT)
  copyText(copy, tab + 1, end, record.at)
  record.at += end - tab - 1
  record.line.lf = end
  out[record.at++] = 0x7d
  return true
}
