import type { Native } from './disk.ts'
import type { FileText } from './text.ts'

/** A region of a text and its checksum; a text with the same bytes there matches it. */
export interface Claim {
  from: number
  to: number
  crc: number
}

const STEP = 1024 * 1024

export type Beginnings = Awaited<ReturnType<typeof readBeginnings>>

/**
 * The checksums of a text's beginnings, taken in one pass up to the last place, or to its end; places behind the end are
 * ignored. They give the checksum of any region between two of the places: an archive has no random access, and a log
 * may have thousands of lives to compare a file with.
 */
export async function readBeginnings(
  text: FileText,
  places: Iterable<number>,
  { crc32 }: Native,
  toTheEnd: boolean,
) {
  const sorted = [...new Set(places)].sort((a, b) => a - b)
  const sums = new Map([[0, 0]])
  const last = toTheEnd ? Number.POSITIVE_INFINITY : (sorted.at(-1) ?? 0)
  let at = 0
  let crc = 0
  let next = 0
  while (at < last) {
    const to = Math.min(at + STEP, last)
    const bytes = await text.read(at, to)
    let from = 0
    for (; next < sorted.length && sorted[next]! <= at + bytes.length; next++) {
      crc = crc32(bytes.subarray(from, sorted[next]! - at), crc)
      from = sorted[next]! - at
      sums.set(sorted[next]!, crc)
    }
    crc = crc32(bytes.subarray(from), crc)
    at += bytes.length
    if (at < to) break
  }
  sums.set(at, crc)
  /** The checksum of the first bytes; null where it was not taken. */
  const sum = (to: number): number | null => sums.get(to) ?? null
  return {
    /** The bytes that were read: the whole text, unless the pass ended at the last place. */
    size: at,
    sum,
    /** Whether the text has the bytes of a claim at its place. False where no checksum was taken. */
    holds({ from, to, crc }: Claim): boolean {
      const [before, whole] = [sum(from), sum(to)]
      return before !== null && whole !== null && (whole ^ shifted(before, to - from)) >>> 0 === crc
    },
  }
}

const POLYNOMIAL = 0xedb88320
/** x^(2^k) modulo the polynomial, as in zlib's crc32_combine. */
const POWERS = [1 << 30]
for (let k = 1; k < 32; k++) POWERS.push(multiply(POWERS[k - 1]!, POWERS[k - 1]!))

/** What a checksum contributes to that of a text which has `length` more bytes. */
function shifted(crc: number, length: number): number {
  let power = 1 << 31
  // Eight bits a byte: the third power of two.
  for (let k = 3, rest = length; rest > 0; k++, rest = Math.floor(rest / 2))
    if (rest % 2 === 1) power = multiply(POWERS[k & 31]!, power)
  return multiply(power, crc)
}

/** The product of two polynomials, modulo the one of CRC-32; the highest bit is the constant term. */
function multiply(a: number, b: number): number {
  let product = 0
  for (let bit = 1 << 31; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= b
    b = b & 1 ? (b >>> 1) ^ POLYNOMIAL : b >>> 1
  }
  return product >>> 0
}
