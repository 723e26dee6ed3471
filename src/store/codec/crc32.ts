// Four tables: four bytes a step, twice as fast as one.
const TABLE = new Int32Array(1024)
for (let i = 0; i < 256; i++) {
  let value = i
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  TABLE[i] = value
}
for (let i = 256; i < 1024; i++) TABLE[i] = (TABLE[i - 256]! >>> 8) ^ TABLE[TABLE[i - 256]! & 255]!

/** The CRC-32 of gzip and zlib, as an unsigned number. `before` is the checksum of the preceding bytes. @default 0 */
export function crc32(bytes: Uint8Array, before = 0): number {
  let value = ~before
  let i = 0
  for (const last = bytes.length - 3; i < last; i += 4) {
    value ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)
    value =
      TABLE[768 + (value & 255)]! ^
      TABLE[512 + ((value >>> 8) & 255)]! ^
      TABLE[256 + ((value >>> 16) & 255)]! ^
      TABLE[value >>> 24]!
  }
  for (; i < bytes.length; i++) value = (value >>> 8) ^ TABLE[(value ^ bytes[i]!) & 255]!
  return ~value >>> 0
}
