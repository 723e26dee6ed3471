import { type Entry, StoreError, type StoreRead } from '../store.ts'

/** Throws unless a value is what the contract says. Properties that are undefined count as absent. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  if (!isSame(actual, expected)) throw new Error(`${what}: ${shown(actual)} instead of ${shown(expected)}`)
}

export function check(condition: boolean, what: string): void {
  if (!condition) throw new Error(what)
}

/** Throws unless two pieces have the same bytes. */
export function equalBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  equal(actual.length, expected.length, `the length of ${what}`)
  const at = actual.findIndex((byte, i) => byte !== expected[i])
  check(at < 0, `${what} differs at byte ${at}`)
}

/** The code of the StoreError that a promise is rejected with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const outcome = await promise.then(
    (value) => `no error, but ${shown(value)}`,
    (error: unknown) => error,
  )
  return outcome instanceof StoreError ? outcome.code : String(outcome)
}

export async function all(entries: AsyncIterable<Entry>): Promise<Entry[]> {
  const list: Entry[] = []
  for await (const entry of entries) list.push(entry)
  return list
}

/** The bytes of a read, which must be as many as it says. */
export async function bytesOf(read: StoreRead | null): Promise<Uint8Array> {
  if (read === null) throw new Error('the file is not there')
  const bytes =
    read.body instanceof Uint8Array ? read.body : new Uint8Array(await new Response(read.body).arrayBuffer())
  equal(bytes.length, read.length, 'the number of bytes')
  return bytes
}

export async function textOf(read: StoreRead | null): Promise<string> {
  return new TextDecoder().decode(await bytesOf(read))
}

/** Bytes that differ everywhere, so that a shifted or mixed part shows. */
export function pattern(length: number, seed: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(length / 4))
  let state = seed * 2654435761
  for (let i = 0; i < words.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    words[i] = state
  }
  return new Uint8Array(words.buffer, 0, length)
}

/** A value as text; JSON has no infinity. */
export function shown(value: unknown): string {
  return (
    JSON.stringify(value, (_, each) => (each === Number.POSITIVE_INFINITY ? 'Infinity' : each)) ?? 'undefined'
  )
}

function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => isSame(left[key], right[key]))
}
