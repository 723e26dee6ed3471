/** Thrown when the bytes are not what RFC 1951 allows. */
export class InflateError extends Error {}

const WINDOW = 32_768
const PIECE = 262_144
// No symbol adds more than 258 bytes.
const ROOM = 258
const FULL = WINDOW + PIECE
const PADDING = 8

/**
 * Raw deflate as a stream, in bounded memory, that says where it ends: a gzip file may hold many members, and
 * the bytes after one decide what follows, which DecompressionStream does not tell.
 */
export interface Inflator {
  /** Takes more input and gives the text it makes, in pieces of at most 256 KiB; each is the caller's to keep. */
  push(chunk: Uint8Array): Generator<Uint8Array<ArrayBuffer>, void>
  /** Whether the last block has ended; `rest` then holds what was handed in beyond it. */
  readonly done: boolean
  readonly rest: Uint8Array
}

/** Begins a stream of raw deflate. */
export function inflator(): Inflator {
  // Input not yet used, with zeros behind it, so that a look ahead never leaves the buffer.
  let input = new Uint8Array(PADDING)
  let end = 0
  let bit = 0
  const out = new Uint8Array(FULL + ROOM)
  let at = 0
  let sent = 0
  let final = false
  let done = false
  let stored = 0
  let inBlock = false
  let lengths: Table | null = null
  let distances: Table | null = null

  const peek = (place: number): number => {
    const byte = place >>> 3
    return (input[byte]! | (input[byte + 1]! << 8) | (input[byte + 2]! << 16)) >>> (place & 7)
  }

  const take = (): Uint8Array<ArrayBuffer> => {
    const piece = out.slice(sent, at)
    if (at > WINDOW) {
      out.copyWithin(0, at - WINDOW, at)
      at = WINDOW
    }
    sent = at
    return piece
  }

  /** Reads a block's head; false when the input ends inside it, and then nothing is used up. */
  const head = (): boolean => {
    if (bit + 3 > end * 8) return false
    const bits = peek(bit)
    const type = (bits >>> 1) & 3
    if (type === 3) throw new InflateError('invalid block type')
    if (type === 0) {
      const byte = (bit + 3 + 7) >>> 3
      if (byte + 4 > end) return false
      const length = input[byte]! | (input[byte + 1]! << 8)
      if ((length ^ 0xffff) !== (input[byte + 2]! | (input[byte + 3]! << 8)))
        throw new InflateError('invalid stored block')
      stored = length
      bit = (byte + 4) * 8
      lengths = null
      distances = null
    } else if (type === 1) {
      lengths = FIXED.lengths
      distances = FIXED.distances
      bit += 3
    } else {
      const tables = readTables(bit + 3, end * 8, peek)
      if (!tables) return false
      lengths = tables.lengths
      distances = tables.distances
      bit = tables.bit
    }
    final = (bits & 1) === 1
    inBlock = true
    return true
  }

  /** Copies or decodes until the block ends, the input ends or the piece is full; true when the block has ended. */
  const body = (): boolean => {
    if (!lengths || !distances) {
      const byte = bit >>> 3
      const count = Math.min(stored, end - byte, FULL - at)
      out.set(input.subarray(byte, byte + count), at)
      at += count
      bit += count * 8
      stored -= count
      return stored === 0
    }
    return symbols(lengths, distances)
  }

  const symbols = (near: Table, far: Table): boolean => {
    // Locals, all of them: variables of the closure made this loop three times slower.
    const { table, mask } = near
    const { table: farTable, mask: farMask } = far
    const source = input
    const text = out
    const limit = end * 8
    let bits = bit
    let place = at
    let ended = false
    let complaint = ''
    while (place < FULL) {
      let byte = bits >>> 3
      const entry =
        table[((source[byte]! | (source[byte + 1]! << 8) | (source[byte + 2]! << 16)) >>> (bits & 7)) & mask]!
      let next = bits + (entry & 15)
      if (entry === 0) {
        // Zeros behind the input may look like a code that does not exist.
        if (bits + 15 <= limit) complaint = 'invalid code'
        break
      }
      if (next > limit) break
      const symbol = entry >>> 4
      if (symbol < 256) {
        text[place++] = symbol
        bits = next
        continue
      }
      if (symbol === 256) {
        bits = next
        ended = true
        break
      }
      if (symbol > 285) {
        complaint = 'invalid length'
        break
      }
      const extra = LENGTH_BITS[symbol - 257]!
      byte = next >>> 3
      const length =
        LENGTH_BASE[symbol - 257]! +
        (((source[byte]! | (source[byte + 1]! << 8)) >>> (next & 7)) & ((1 << extra) - 1))
      next += extra
      byte = next >>> 3
      const distant =
        farTable[
          ((source[byte]! | (source[byte + 1]! << 8) | (source[byte + 2]! << 16)) >>> (next & 7)) & farMask
        ]!
      if (distant === 0) {
        if (next + 15 <= limit) complaint = 'invalid distance code'
        break
      }
      next += distant & 15
      const code = distant >>> 4
      if (code > 29) {
        complaint = 'invalid distance code'
        break
      }
      const more = DISTANCE_BITS[code]!
      byte = next >>> 3
      const distance =
        DISTANCE_BASE[code]! +
        (((source[byte]! | (source[byte + 1]! << 8) | (source[byte + 2]! << 16)) >>> (next & 7)) &
          ((1 << more) - 1))
      next += more
      if (next > limit) break
      if (distance > place) {
        complaint = 'invalid distance'
        break
      }
      bits = next
      const stop = place + length
      if (distance >= length && length > 64) {
        text.copyWithin(place, place - distance, stop - distance)
        place = stop
      } else for (let from = place - distance; place < stop; ) text[place++] = text[from++]!
    }
    bit = bits
    at = place
    if (complaint !== '') throw new InflateError(complaint)
    return ended
  }

  return {
    get done() {
      return done
    },
    get rest() {
      return input.subarray((bit + 7) >>> 3, end)
    },
    *push(chunk) {
      const used = bit >>> 3
      const joined = new Uint8Array(end - used + chunk.length + PADDING)
      joined.set(input.subarray(used, end))
      joined.set(chunk, end - used)
      input = joined
      end = joined.length - PADDING
      bit &= 7
      try {
        for (;;) {
          if (done || (!inBlock && !head())) break
          const before = bit
          if (body()) {
            inBlock = false
            done = final
          }
          if (at >= FULL) yield take()
          else if (inBlock && bit === before) break
        }
      } finally {
        // Also before a failure is told: what was readable comes first.
        if (at > sent) yield take()
      }
    },
  }
}

interface Table {
  /** Symbol and length of the code that these bits begin with; 0 where there is none. */
  table: Uint16Array
  mask: number
}

const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
const LENGTH_BITS = Uint8Array.of(
  0,
  0,
  0,
  0,
  0,
  0,
  0,
  0,
  1,
  1,
  1,
  1,
  2,
  2,
  2,
  2,
  3,
  3,
  3,
  3,
  4,
  4,
  4,
  4,
  5,
  5,
  5,
  5,
  0,
)
const DISTANCE_BITS = Uint8Array.from({ length: 30 }, (_, i) => Math.max(0, (i >> 1) - 1))
const LENGTH_BASE = bases(LENGTH_BITS, 3)
LENGTH_BASE[28] = 258
const DISTANCE_BASE = bases(DISTANCE_BITS, 1)
const FIXED = {
  lengths: tableOf(
    Uint8Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8)),
    'invalid code',
  ),
  distances: tableOf(new Uint8Array(32).fill(5), 'invalid distance code'),
}

function bases(bits: Uint8Array, first: number): Uint16Array {
  const out = new Uint16Array(bits.length)
  for (let i = 0, next = first; i < bits.length; next += 1 << bits[i++]!) out[i] = next
  return out
}

/** The code tables of a dynamic block, or null when the input ends inside them. RFC 1951, 3.2.7. */
function readTables(start: number, limit: number, peek: (place: number) => number) {
  if (start + 14 > limit) return null
  const bits = peek(start)
  const literals = (bits & 31) + 257
  const far = ((bits >>> 5) & 31) + 1
  const count = ((bits >>> 10) & 15) + 4
  if (literals > 286 || far > 30) throw new InflateError('too many codes')
  let bit = start + 14
  if (bit + count * 3 > limit) return null
  const sizes = new Uint8Array(19)
  for (let i = 0; i < count; i++, bit += 3) sizes[ORDER[i]!] = peek(bit) & 7
  const codes = tableOf(sizes, 'invalid code lengths', true)
  const all = new Uint8Array(literals + far)
  for (let i = 0; i < all.length; ) {
    const entry = codes.table[peek(bit) & codes.mask]!
    if (entry === 0 && bit + 7 <= limit) throw new InflateError('invalid code lengths')
    bit += entry & 15
    if (bit > limit || entry === 0) return null
    const symbol = entry >>> 4
    if (symbol < 16) {
      all[i++] = symbol
      continue
    }
    const [base, width] = symbol === 16 ? [3, 2] : symbol === 17 ? [3, 3] : [11, 7]
    let times = base! + (peek(bit) & ((1 << width!) - 1))
    bit += width!
    if (bit > limit) return null
    if ((symbol === 16 && i === 0) || i + times > all.length) throw new InflateError('invalid code lengths')
    const value = symbol === 16 ? all[i - 1]! : 0
    while (times-- > 0) all[i++] = value
  }
  if (all[256] === 0) throw new InflateError('a block without an end')
  return {
    bit,
    lengths: tableOf(all.subarray(0, literals), 'invalid code'),
    distances: tableOf(all.subarray(literals), 'invalid distance code'),
  }
}

/** A table from the next bits to a symbol, for codes of these lengths. */
function tableOf(sizes: Uint8Array, complaint: string, strict = false): Table {
  const counts = new Uint16Array(16)
  let longest = 0
  for (const size of sizes) {
    counts[size]!++
    if (size > longest) longest = size
  }
  let left = 1
  for (let size = 1; size <= 15; size++) {
    left = left * 2 - counts[size]!
    if (left < 0) throw new InflateError(complaint)
  }
  // zlib allows an incomplete set only for a single code of one bit, or for no code at all.
  if (left > 0 && longest > 0 && (strict || longest !== 1)) throw new InflateError(complaint)
  const width = Math.max(longest, 1)
  const table = new Uint16Array(1 << width)
  const next = new Uint16Array(16)
  for (let size = 1, code = 0; size <= 15; size++) {
    code = (code + (size > 1 ? counts[size - 1]! : 0)) << 1
    next[size] = code
  }
  for (let symbol = 0; symbol < sizes.length; symbol++) {
    const size = sizes[symbol]!
    if (size === 0) continue
    // Codes are packed from their highest bit, the stream from its lowest.
    let code = next[size]!++
    let reversed = 0
    for (let i = 0; i < size; i++, code >>>= 1) reversed = (reversed << 1) | (code & 1)
    for (let place = reversed; place < table.length; place += 1 << size) table[place] = (symbol << 4) | size
  }
  return { table, mask: table.length - 1 }
}
