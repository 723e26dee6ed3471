import { LEVELS, type Level, type LogRecord } from '../../../client.ts'
import { withoutEscapes } from './ansi.ts'

/** What happened to the file or the view, shown between records. */
export interface Note {
  kind: 'rotated' | 'truncated' | 'gap'
  text: string
}

/** One row: a record as the server's JSON text (parsed when it is drawn), or a note. */
export type Item = string | Note

/** A record with its columns apart. */
export interface Shown {
  time: string | null
  level: Level | null
  source: string
  tags: string[]
  message: string
  /** Continuation lines, such as a stack trace. */
  rest: string[]
  context: unknown
  raw: string
  /** The log and the node that it is from, where several are read as one. */
  file?: string | undefined
  node?: string | undefined
}

export function parse(line: string): Shown {
  let record: LogRecord
  try {
    record = (ODD_NUMBER.test(line) ? JSON.parse(line, asWritten) : JSON.parse(line)) as LogRecord
  } catch {
    record = { raw: line }
  }
  const body = withoutEscapes(record.message ?? record.raw ?? '')
  const lines = body.split(/\r?\n/)
  while (lines.length > 1 && lines.at(-1) === '') lines.pop()
  const { source } = record
  return {
    time: record.time ?? null,
    level: levelOf(record.level ?? ''),
    source: source ? `${source.file}${source.line == null ? '' : `:${source.line}`}` : '',
    tags: record.tags ?? [],
    message: lines[0]!,
    rest: lines.slice(1),
    context: record.context ?? null,
    raw: (record.raw ?? body).replace(/\r?\n$/, ''),
    file: record.file,
    node: record.node,
  }
}

/** Numbers that JavaScript would write in another way: many digits, exponents, zeros at the end. */
const ODD_NUMBER = /\d{16}|\d[eE][+-]?\d|\.\d*0[,}\]\s]|-0/

/** Keeps a number as the log wrote it, where the browser can: an id of 19 digits must not be rounded. */
function asWritten(_: string, value: unknown, context?: { source?: string }): unknown {
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown }
  const source = context?.source
  if (typeof value !== 'number' || source === undefined || rawJSON === undefined) return value
  return String(value) === source ? value : rawJSON(source)
}

/** The text to copy: the whole record as in the file, or only the message. */
export function textOf(item: Item, columns: boolean): string {
  if (typeof item !== 'string') return columns ? `-- ${item.text}` : ''
  const shown = parse(item)
  return columns ? withoutEscapes(shown.raw) : [shown.message, ...shown.rest].join('\n')
}

/** `2026-01-02T03:04:05.678+01:00` as the log writes it: wall time, to the millisecond. */
export function wall(time: string): string {
  return time.replace('T', ' ').replace(/(Z|[+-]\d\d:?\d\d)$/, '')
}

/** The time of a record's JSON text, without parsing all of it. */
export function timeIn(item: Item | undefined): string | null {
  if (typeof item !== 'string') return null
  return /"time":"([^"]+)"/.exec(item.slice(0, 400))?.[1] ?? null
}

/** Whether a record arrived after others that it precedes. */
export function isLate(item: Item): boolean {
  return (
    typeof item === 'string' && item.includes('"late":true') && (JSON.parse(item) as LogRecord).late === true
  )
}

/** Whether two texts are one record, read alone or together with other logs. */
export function isSame(one: string, other: string): boolean {
  const [a, b] = [parse(one), parse(other)]
  const fits = (own?: string, its?: string) => own === undefined || its === undefined || own === its
  return a.time === b.time && a.raw === b.raw && fits(a.file, b.file) && fits(a.node, b.node)
}

/** The zone at the end of an ISO time, as minutes east of UTC. */
export function zoneOf(time: string): number {
  const found = /([+-])(\d\d):?(\d\d)$/.exec(time)
  if (found === null) return 0
  return (found[1] === '-' ? -1 : 1) * (Number(found[2]) * 60 + Number(found[3]))
}

/** A moment as wall time in a zone, in the form that the API takes back. */
export function wallAt(ms: number, zone: number): string {
  return new Date(ms + zone * 60_000).toISOString().replace('T', ' ').replace('Z', '')
}

export function levelOf(word: string): Level | null {
  const lower = word.toLowerCase()
  if ((LEVELS as readonly string[]).includes(lower)) return lower as Level
  if (lower === 'trace' || lower === 'verbose') return 'debug'
  if (lower === 'notice' || lower === 'information') return 'info'
  if (lower === 'warning') return 'warn'
  if (lower === 'err' || lower === 'severe') return 'error'
  if (['critical', 'crit', 'panic', 'dpanic', 'emerg', 'emergency', 'alert'].includes(lower)) return 'fatal'
  return null
}

/** The worst of some words for levels; null if none of them is one. */
export function worstOf(words: readonly string[]): Level | null {
  const found = words.map(levelOf)
  return LEVELS.findLast((level) => found.includes(level)) ?? null
}

/** The levels that a filter leaves, or null for all, those without a level included. */
export function levelsOf(filter: string): readonly string[] | null {
  if (filter === '') return null
  const named = filter
    .replace(/^=/, '')
    .split(',')
    .map((word) => levelOf(word) ?? 'debug')
  return filter.startsWith('=') ? named : LEVELS.slice(LEVELS.indexOf(named[0]!))
}
