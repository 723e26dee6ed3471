/** How much of a message is searched for pairs, and how many are kept. */
export const PAIRS_REACH = 16 * 1024
export const MOST_PAIRS = 100

/**
 * A key at the start of a word, and its value: quoted, or up to a blank or a comma. `a==b`, `a = b`, URLs and options such
 * as `--a=b` are none.
 */
const PAIR =
  /(?<![^\s,;()[\]{}])([A-Za-z_][\w.@/-]{0,99})=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s,="'][^\s,]*))/g

/** The `key=value` pairs in the first line of a message. */
export function* pairsIn(message: string): Generator<[key: string, value: string]> {
  if (!message.includes('=')) return
  const lf = message.indexOf('\n')
  const line = message.slice(0, Math.min(lf < 0 ? message.length : lf, PAIRS_REACH))
  let left = MOST_PAIRS
  for (const [, key, double, single, bare] of line.matchAll(PAIR)) {
    if (left-- === 0) return
    yield [key!, double?.replace(/\\(.)/g, '$1') ?? single ?? withoutClosing(bare!)]
  }
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
