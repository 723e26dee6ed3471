import { slicesOf } from '../../store/fast.ts'
import { StoreError, type StoreRead } from '../../store/store.ts'

const LF = 10

/** All bytes of a read, in the caller's memory if it is given and they arrive in pieces. */
export async function collect({ body, length }: StoreRead, buffer?: Uint8Array<ArrayBuffer>) {
  if (body instanceof Uint8Array) return body
  const slices = slicesOf(body)
  const all = buffer && buffer.length >= length ? buffer.subarray(0, length) : new Uint8Array(length)
  let at = 0
  const take = (slice: Uint8Array) => {
    if (at + slice.length <= length) all.set(slice, at)
    at += slice.length
  }
  if (slices.each) await slices.each(take)
  else
    for (let slice = await slices.next(); slice !== null; slice = await slices.next()) {
      take(slice)
      slices.release(slice)
    }
  if (at !== length)
    throw new StoreError('unavailable', `The storage ended a body of ${length} bytes after ${at}`)
  return all
}

/** Where the tail starts in `bytes`, whose first byte is before the window. */
export function startInWindow(bytes: Uint8Array): number {
  const newline = bytes.indexOf(LF)
  if (newline >= 0 && newline + 1 < bytes.length) return newline + 1
  const start = characterStart(bytes, 1)
  // The end of one character is better than nothing.
  return start < bytes.length ? start : 1
}

/** The first character start at or after `at`. More than three continuation bytes are not UTF-8 and stay as they are. */
export function characterStart(bytes: Uint8Array, at: number): number {
  let i = at
  while (i < bytes.length && i - at < 4 && (bytes[i]! & 0xc0) === 0x80) i++
  return i - at === 4 ? at : i
}

/**
 * Whether bytes are only NULs: a hole, as in a file that was truncated under a writer that does not append.
 * Four bytes at a time: 1 MiB takes a fifth of a millisecond.
 */
export function isHole(bytes: Uint8Array): boolean {
  const ahead = (4 - (bytes.byteOffset % 4)) % 4
  if (bytes.length < ahead) return bytes.every((byte) => byte === 0)
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + ahead, (bytes.length - ahead) >> 2)
  for (let i = 0; i < words.length; i++) if (words[i] !== 0) return false
  for (let i = 0; i < ahead; i++) if (bytes[i] !== 0) return false
  for (let i = ahead + 4 * words.length; i < bytes.length; i++) if (bytes[i] !== 0) return false
  return true
}

export function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
