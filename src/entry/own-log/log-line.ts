/** The levels, from the least to the gravest. */
export type Level = 'debug' | 'info' | 'warn' | 'error'

/** Where a line comes from: the component tags and the module that logs it. */
export interface Origin {
  tags: readonly string[]
  /** `entry/own-log/access.ts:1`: line 1 is a placeholder, because the line of a call changes with every edit. */
  source: string
}

/** Names a module, by its path below `src`, as the origin of lines. */
export function origin(module: string, ...tags: string[]): Origin {
  return { tags, source: `${module}:1` }
}

/** An error and its causes in one line. */
export function describe(error: unknown): string {
  const parts: string[] = []
  for (let at = error, depth = 0; at !== undefined && at !== null && depth < 5; depth++) {
    const message = at instanceof Error ? at.message : String(at)
    if (!parts.includes(message)) parts.push(message)
    at = at instanceof Error ? at.cause : null
  }
  return parts.join(': ')
}

export interface LogEntry {
  /** Milliseconds since the Unix epoch. */
  time: number
  level: Level
  origin: Origin
  message: string
  context: Record<string, unknown> | null
}

/** Writes an entry as one line, newline included. */
export type LineFormat = (entry: LogEntry) => string

/** The node state API's log format: time, level, source, `[tags]: message`, JSON context. */
export function textLine({ time, level, origin, message, context }: LogEntry): string {
  const tags = origin.tags.map((tag) => `[${tag}]`).join(' ')
  const line = `${timestamp(time)}\t${level.toUpperCase()}\t${origin.source}\t${tags}: ${neutral(message)}`
  return context ? `${line}\t${neutral(JSON.stringify(context))}\n` : `${line}\n`
}

/** One JSON object; the context's fields are added beside the others and cannot replace them. */
export function jsonLine({ time, level, origin, message, context }: LogEntry): string {
  const fields = { time: new Date(time).toISOString(), level, message, ...origin }
  return `${neutral(JSON.stringify({ ...fields, ...context, ...fields }))}\n`
}

/**
 * Text that can neither start a new line or field nor control a terminal: control characters, line separators
 * and direction marks become `\uXXXX`, as JSON writes them.
 */
export function neutral(text: string): string {
  return text.replace(UNSAFE, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const UNSAFE = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

let second = Number.NaN
let secondText = ''

/** In the system's zone, as databases write it: the format has no place for a zone. A second is written once. */
function timestamp(milliseconds: number): string {
  const now = Math.floor(milliseconds / 1000)
  if (now !== second) {
    second = now
    const minutes = new Date(milliseconds).getTimezoneOffset()
    secondText = new Date(milliseconds - minutes * 60_000).toISOString().slice(0, 19).replace('T', ' ')
  }
  return `${secondText}.${String(milliseconds - now * 1000).padStart(3, '0')}`
}
