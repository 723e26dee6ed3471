import { crc32 } from 'node:zlib'
import { gunzipSync } from 'fflate'
import type { Bucket } from '../bucket/bucket.ts'

/** The text of a life as the plainest reader finds it in a bucket. */
export interface ShippedLife {
  /** Negative for one that was found late. */
  number: number
  text: string
  /** Whether bytes are missing inside, or at its beginning. */
  hasHole: boolean
  beginsLate: boolean
  /** What is wrong with its objects; null if nothing is. */
  fault: string | null
}

const KEY =
  /^segments\/([^/]+)\/(older-)?(\d{8})\/(?:(\d{15})-(\d{8})-([\da-f]{8})(?:_[\w.+-]+)?\.log\.gz|~)$/

/** The lives of a log, oldest first. It uses no code of nodestate: names are read as docs/shipping.md describes them. */
export function livesIn(bucket: Bucket, home: string, log: string): ShippedLife[] {
  const lives = new Map<number, { start: number; bytes: Uint8Array; name: string }[]>()
  const faults = new Map<number, string>()
  for (const [key, { bytes }] of bucket.objects) {
    const found = key.startsWith(`${home}/`) ? KEY.exec(key.slice(home.length + 1)) : null
    if (found?.[1] !== log) continue
    const number = (99_999_999 - Number(found[3])) * (found[2] ? -1 : 1)
    const { start, length, crc } = found[4] === undefined ? youngOf(bytes) : namedBy(found)
    const segments = lives.get(number) ?? []
    if (length > 0) lives.set(number, segments)
    const text = textOf(bytes)
    if (text?.length !== length || crc32(text) !== crc)
      faults.set(number, `${key} does not hold what its name says`)
    if (length > 0) segments.push({ start, bytes: text ?? new Uint8Array(length), name: key })
  }
  return [...lives]
    .sort(([a], [b]) => a - b)
    .map(([number, segments]) => {
      const size = Math.max(...segments.map(({ start, bytes }) => start + bytes.length))
      const begin = Math.min(...segments.map(({ start }) => start))
      const all = new Uint8Array(size)
      const filled = new Uint8Array(size)
      for (const { start, bytes, name } of segments)
        for (const [i, byte] of bytes.entries()) {
          if (filled[start + i] === 1 && all[start + i] !== byte)
            faults.set(number, `${name} has other bytes at ${start + i} than another segment`)
          all[start + i] = byte
          filled[start + i] = 1
        }
      const text = new TextDecoder().decode(all.subarray(begin))
      const hasHole = filled.includes(0, begin)
      return { number, text, hasHole, beginsLate: begin > 0, fault: faults.get(number) ?? null }
    })
}

function namedBy([, , , , start, length, crc]: RegExpExecArray) {
  return {
    start: 999_999_999_999_999 - Number(start),
    length: 99_999_999 - Number(length),
    crc: Number.parseInt(crc!, 16),
  }
}

/** The comment of `~` says which bytes it holds. */
function youngOf(bytes: Uint8Array) {
  const comment = new TextDecoder().decode(bytes.subarray(10, bytes.indexOf(0, 10)))
  const { from, to, crc } = JSON.parse(comment) as { from: number; to: number; crc: number }
  return { start: from, length: to - from, crc }
}

function textOf(bytes: Uint8Array): Uint8Array | null {
  try {
    return gunzipSync(bytes)
  } catch {
    return null
  }
}
