export type Compression = 'gzip' | 'zstd' | 'zip' | 'bzip2' | 'xz'

/** The longest signature below: how many leading bytes `compressionOf` needs. */
export const SIGNATURE_BYTES = 10

/** The first bytes of each compression. For bzip2, with a signature of three letters, also the head of the first block. */
const SIGNATURES: [Compression, RegExp][] = [
  ['gzip', /^1f8b08/],
  ['zstd', /^(28b52ffd|5.2a4d18)/],
  ['zip', /^504b(0304|0506)/],
  ['bzip2', /^425a683[1-9](314159265359|177245385090)/],
  ['xz', /^fd377a585a00/],
]

/** How a file is compressed, judged by its first bytes; null for everything else, whatever its name. */
export function compressionOf(head: Uint8Array): Compression | null {
  const hex = Array.from(head.subarray(0, SIGNATURE_BYTES), (byte) => byte.toString(16).padStart(2, '0'))
  return SIGNATURES.find(([, pattern]) => pattern.test(hex.join('')))?.[0] ?? null
}

export const COMPRESSED_NAME = /\.(gz|tgz|zstd?|zip|bz2|xz)$/i

export function compressionByName(name: string): Compression | null {
  const ending = COMPRESSED_NAME.exec(name)?.[1]?.toLowerCase()
  if (ending === undefined) return null
  return ending.endsWith('gz') ? 'gzip' : ending.startsWith('zst') ? 'zstd' : (OTHERS[ending] ?? null)
}

const OTHERS: Record<string, Compression> = { bz2: 'bzip2', zip: 'zip', xz: 'xz' }

/** Whether a file's name is a reason to check its first bytes. */
export function soundsCompressed(name: string): boolean {
  return compressionByName(name) !== null
}

/**
 * Whether bytes from anywhere in a file are a reason to check its first bytes: log text is UTF-8, archives are not.
 * A character may be cut at either end.
 */
export function looksCompressed(bytes: Uint8Array): boolean {
  let at = 0
  while (at < 3 && (bytes[at]! & 0xc0) === 0x80) at++
  while (at < bytes.length) {
    const byte = bytes[at++]!
    if (byte < 0x80) continue
    const more = byte < 0xc2 ? -1 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : byte < 0xf5 ? 3 : -1
    if (more < 0) return true
    for (let i = 0; i < more && at < bytes.length; i++) if ((bytes[at++]! & 0xc0) !== 0x80) return true
  }
  return false
}

/** How many bytes at the end of a gzip file `claimedLength` needs. */
export const TRAILER_BYTES = 4

/** How long the text of a gzip file is by its last bytes: true for one member of less than 4 GiB that is not damaged. */
export function claimedLength(trailer: Uint8Array): number {
  return new DataView(trailer.buffer, trailer.byteOffset, TRAILER_BYTES).getUint32(0, true)
}
