import { LARGEST_SEGMENT } from './names.ts'

/**
 * What `~` says: which file a life began in, and which of its bytes are young. It is the comment of a gzip file whose
 * text these bytes are, so that one write replaces both, and `zcat` shows the text.
 */
export interface Young {
  /** Device, inode and time of birth of the file that the life began in. */
  file: string
  /** The young bytes, and their checksum. */
  from: number
  to: number
  crc: number
  /** When the first of them were written, in milliseconds since the Unix epoch; 0 without any. */
  since: number
}

/** The comment is within these first bytes of the object. */
export const YOUNG_HEAD_BYTES = 1024
/** A gzip header without anything optional. */
const HEADER = 10
const COMMENT = 0x10

/** The object: the gzipped text with the comment. */
export function writeYoung(young: Young, packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const comment = new TextEncoder().encode(JSON.stringify(young))
  const bytes = new Uint8Array(packed.length + comment.length + 1)
  bytes.set(packed.subarray(0, HEADER))
  bytes[3] = COMMENT
  bytes.set(comment, HEADER)
  bytes.set(packed.subarray(HEADER), HEADER + comment.length + 1)
  return bytes
}

/** Parses the object, or its first bytes; null if it is not ours. */
export function parseYoung(bytes: Uint8Array): Young | null {
  const end = commentEnd(bytes)
  if (end < 0) return null
  try {
    const young: unknown = JSON.parse(new TextDecoder().decode(bytes.subarray(HEADER, end)))
    return isYoung(young) ? young : null
  } catch {
    return null
  }
}

/** The gzipped text without the comment. */
export function youngText(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const end = commentEnd(bytes)
  const packed = new Uint8Array(bytes.length - (end + 1 - HEADER))
  packed.set(bytes.subarray(0, HEADER))
  packed[3] = 0
  packed.set(bytes.subarray(end + 1), HEADER)
  return packed
}

function commentEnd(bytes: Uint8Array): number {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[3] === COMMENT
  return isGzip ? bytes.subarray(0, YOUNG_HEAD_BYTES).indexOf(0, HEADER) : -1
}

function isYoung(value: unknown): value is Young {
  if (typeof value !== 'object' || value === null) return false
  const { file, from, to, crc, since } = value as Young
  if (typeof file !== 'string' || ![from, to, crc, since].every((one) => Number.isSafeInteger(one)))
    return false
  return from >= 0 && to >= from && to - from <= LARGEST_SEGMENT
}
