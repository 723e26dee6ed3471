import type { LogLevel, LogRecord } from '@logtape/logtape'

/** Where in the source a line is logged, and its component tags; made once per place, never per line. */
export interface CallSite {
  tags: readonly string[]
  /** `entry/node.js:88`. */
  source: string
}

/** The place that calls this function. A stack costs some 5 µs: keep the result in a constant. */
export function callSite(...tags: string[]): CallSite {
  const caller = new Error().stack?.split('\n')[2] ?? ''
  const match = /([^/\\(\s]+[/\\])?([^/\\(\s]+):(\d+):\d+\)?$/.exec(caller)
  return { tags, source: match ? `${match[1] ?? ''}${match[2]}:${match[3]}` : 'nodestate:0' }
}

/** What the own log puts into a record's properties. */
export interface LineProperties {
  site: CallSite
  message: string
  context: Record<string, unknown> | null
}

/** A record as one line of the node state API's log format: time, level, source, `[tags]: message`, JSON context. */
export function formatLine(record: LogRecord): string {
  const { site, message, context } = record.properties as unknown as LineProperties
  const tags = site.tags.map((tag) => `[${tag}]`).join(' ')
  const line = `${timestamp(record.timestamp)}\t${WORDS[record.level]}\t${site.source}\t${tags}: ${neutral(message)}`
  return context ? `${line}\t${neutral(JSON.stringify(context))}\n` : `${line}\n`
}

/**
 * Text that can neither start a line or a field of its own nor steer a terminal: control characters, line separators
 * and direction marks become `\uXXXX`, as JSON writes them.
 */
export function neutral(text: string): string {
  return UNSAFE.test(text) ? text.replace(UNSAFE_ALL, escaped) : text
}

const WORDS: Record<LogLevel, string> = {
  trace: 'DEBUG',
  debug: 'DEBUG',
  info: 'INFO',
  warning: 'WARN',
  error: 'ERROR',
  fatal: 'FATAL',
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const UNSAFE = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/
const UNSAFE_ALL = new RegExp(UNSAFE.source, 'g')

function escaped(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
}

let second = Number.NaN
let secondText = ''

/** The system's own zone, as databases write it: the format has no place for a zone. */
function timestamp(milliseconds: number): string {
  const now = Math.floor(milliseconds / 1000)
  if (now !== second) {
    second = now
    const at = new Date(milliseconds)
    const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
    secondText = `${date} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
  }
  return `${secondText}.${String(milliseconds - now * 1000).padStart(3, '0')}`
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}
