export type Sign = '<' | '<=' | '>' | '>='

/** `FIELD SIGN NUMBER`: a comparison has no colon or tilde before its sign. */
export const COMPARISON = /^([^:~<>]+)(<=|>=|<|>)([^:]+)$/

/** A number, or a length of time in ms, or a size in bytes. */
export interface Quantity {
  kind: 'number' | 'duration' | 'size'
  amount: number
}

/** Milliseconds in a unit. */
export const DURATIONS: Record<string, number> = {
  ns: 0.000001,
  us: 0.001,
  µs: 0.001,
  μs: 0.001,
  ms: 1,
  s: 1000,
  sec: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
/** Bytes in a unit, in small letters. */
const SIZES: Record<string, number> = { b: 1, byte: 1, bytes: 1 }
for (const [power, letter] of [...'kmgtp'].entries()) {
  SIZES[`${letter}b`] = 1000 ** (power + 1)
  SIZES[`${letter}ib`] = 1024 ** (power + 1)
}

const NUMBER = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)\s?([A-Za-zµμ]*)$/
/** Go's durations: `1m30.5s`. */
const PARTS = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|s|m|h|d))+$/

/** A text as a quantity, or null. Units of time are written in small letters: `5m` is five minutes. */
export function quantityOf(text: string): Quantity | null {
  if (areDigits(text)) return { kind: 'number', amount: Number(text) }
  const [, digits, unit = ''] = NUMBER.exec(text.trim()) ?? []
  if (digits === undefined) return PARTS.test(text) ? { kind: 'duration', amount: sumOf(text) } : null
  const number = Number(digits)
  if (unit === '') return { kind: 'number', amount: number }
  if (Object.hasOwn(DURATIONS, unit)) return { kind: 'duration', amount: number * DURATIONS[unit]! }
  const size = unit.toLowerCase()
  return Object.hasOwn(SIZES, size) ? { kind: 'size', amount: number * SIZES[size]! } : null
}

/** Whether a text is a number of up to 15 digits: most are, and a pattern takes three times as long to tell. */
function areDigits(text: string): boolean {
  if (text.length === 0 || text.length > 15) return false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x30 || code > 0x39) return false
  }
  return true
}

function sumOf(text: string): number {
  let sum = 0
  for (const [, digits, unit] of text.matchAll(/([\d.]+)([a-zµμ]+)/g))
    sum += Number(digits) * DURATIONS[unit!]!
  return sum
}

/** The unit that a field's name gives to numbers without one, as ms or as bytes. */
const UNITS: readonly [name: RegExp, kind: 'duration' | 'size', amount: number][] = [
  [/^duration$|(?:_ms|_msecs?|_?millis|_milliseconds|Ms|Millis)$/, 'duration', 1],
  [/^(?:query_time|lock_time)$|(?:_s|_secs?|_?seconds|Seconds)$/, 'duration', 1000],
  [/(?:_us|_?micros|_microseconds|Micros)$/, 'duration', 0.001],
  [/(?:_ns|_?nanos|_nanoseconds|Nanos)$/, 'duration', 0.000001],
  [/^(?:size|bytes|length)$|(?:_bytes|_size|Bytes|Size)$/, 'size', 1],
]

/** Reads values of a field as quantities. A number without a unit has that of the field's name, if it gives one. */
export function quantityIn(field: string): (value: string) => Quantity | null {
  const [, kind, unit] = UNITS.find(([name]) => name.test(field)) ?? []
  return (value) => {
    const own = quantityOf(value)
    if (own?.kind !== 'number' || kind === undefined) return own
    return { kind, amount: own.amount * unit! }
  }
}

/** Whether a field's value meets `SIGN QUANTITY`. Values of another kind do not, whichever way they are compared. */
export function compares(field: string, value: string, sign: Sign, limit: Quantity): boolean {
  const own = quantityOf(value)
  if (own === null) return false
  if (own.kind === limit.kind) return isMet(own.amount, sign, limit.amount)
  const [, kind, unit] = UNITS.find(([name]) => name.test(field)) ?? []
  // A size without a unit is in bytes; how long `5` is, only the name of a field can tell.
  if (own.kind === 'number' && limit.kind === 'size') return isMet(own.amount, sign, limit.amount)
  if (own.kind === 'number') return kind === limit.kind && isMet(own.amount * unit!, sign, limit.amount)
  return limit.kind === 'number' && kind === own.kind && isMet(own.amount, sign, limit.amount * unit!)
}

function isMet(own: number, sign: Sign, limit: number): boolean {
  if (sign === '<') return own < limit
  if (sign === '<=') return own <= limit
  return sign === '>' ? own > limit : own >= limit
}
