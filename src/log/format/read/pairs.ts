/** How much of a message is searched for pairs, and how many are kept. */
const SEARCHED_BYTES = 16 * 1024
const MOST_PAIRS = 100
const LONGEST_KEY = 100

const isFirst = charactersOf(/[A-Za-z_]/)
const isInKey = charactersOf(/[\w.@/-]/)
/** What may precede a key, and what ends a value without quotes. */
const isBreak = charactersOf(/[\s,;()[\]{}]/)
const isEnd = charactersOf(/[\s,]/)
const QUOTED = /"((?:[^"\\]|\\.)*)"|'([^']*)'/y

/**
 * The `key=value` pairs in the first line of a message: a key at the start of a word, and a value in quotes or up to a
 * blank or a comma. `a==b`, `a = b`, URLs and options such as `--a=b` are none. One pattern for all of that takes three
 * times as long.
 */
export function pairsIn(message: string): [key: string, value: string][] {
  const pairs: [key: string, value: string][] = []
  const lf = message.indexOf('\n')
  const line = message.slice(0, Math.min(lf < 0 ? message.length : lf, SEARCHED_BYTES))
  for (let at = line.indexOf('='), done = 0; at >= 0 && pairs.length < MOST_PAIRS; ) {
    const key = keyBefore(line, at, done)
    const value = key === '' ? null : valueAt(line, at + 1)
    if (value) pairs.push([key, value.text])
    done = value?.end ?? done
    at = line.indexOf('=', Math.max(at + 1, done))
  }
  return pairs
}

/** The key that ends at `to` and begins at `from` or behind it; empty if there is none. */
function keyBefore(line: string, to: number, from: number): string {
  let start = to
  while (start > from && isInKey(line.charCodeAt(start - 1))) start--
  const isKey = start < to && to - start <= LONGEST_KEY && isFirst(line.charCodeAt(start))
  return isKey && (start === 0 || isBreak(line.charCodeAt(start - 1))) ? line.slice(start, to) : ''
}

/** The value at `from`, and where it ends; null if there is none. */
function valueAt(line: string, from: number): { text: string; end: number } | null {
  const first = line[from]
  if (first === '"' || first === "'") {
    QUOTED.lastIndex = from
    const found = QUOTED.exec(line)
    if (!found) return null
    const text = found[1] ?? found[2]!
    const isEscaped = first === '"' && text.includes('\\')
    return { text: isEscaped ? text.replace(/\\(.)/g, '$1') : text, end: QUOTED.lastIndex }
  }
  let end = from
  while (end < line.length && !isEnd(line.charCodeAt(end))) end++
  return end === from || first === '=' ? null : { text: withoutClosing(line.slice(from, end)), end }
}

/** Whether a character, by its code, is one of a pattern's. */
function charactersOf(pattern: RegExp): (code: number) => boolean {
  const ascii = Uint8Array.from({ length: 128 }, (_, code) => Number(pattern.test(String.fromCharCode(code))))
  return (code) => (code < 128 ? ascii[code] === 1 : pattern.test(String.fromCharCode(code)))
}

const OPENING: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/** A bracket that closes one before the key, and a semicolon, belong to the sentence. */
function withoutClosing(value: string): string {
  let end = value.length
  while (end > 1) {
    const last = value[end - 1]!
    const opening = OPENING[last]
    if (last !== ';' && (opening === undefined || value.slice(0, end).includes(opening))) break
    end--
  }
  return value.slice(0, end)
}

/**
 * A record with the pairs in its message, or in a part of it, among its fields; fields that it has otherwise stay as they
 * are.
 */
export function withPairs<Record extends { message: string; context?: unknown }>(
  record: Record,
  message = record.message,
): Record {
  const { context = {} } = record
  if (!message.includes('=') || !isObject(context)) return record
  const more = new Map<string, string>()
  for (const [key, value] of pairsIn(message))
    if (!Object.hasOwn(context, key) && !more.has(key)) more.set(key, value)
  return more.size === 0 ? record : { ...record, context: { ...context, ...Object.fromEntries(more) } }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
