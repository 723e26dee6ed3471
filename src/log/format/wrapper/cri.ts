import { readStamp, stampEnd } from '../read/stamp.ts'
import type { Piece } from '../shape.ts'
import type { Wrapped, Wrapper } from './wrapped.ts'

const line: Wrapped = { bytes: new Uint8Array(0), from: 0, to: 0, partial: false, timeFrom: 0, timeTo: 0 }

/** Pieces behind which the rest of a line does not matter. */
const ENDS = new Set<Piece['as']>(['same', 'text', 'word', 'severity'])

/** Kubernetes' container logs: `2026-11-15T02:10:00.123456789Z stdout F …`, `P` for a part of a line. */
export const cri: Wrapper = {
  name: 'cri',
  read(bytes, from, to) {
    // `YYYY-MM-DDT` and the stream decide nearly every line before the time is read.
    if (to - from < 28 || bytes[from + 10] !== 0x54) return null
    const at = stampEnd(bytes, from, to)
    if (at < 0) return null
    if (bytes[at] !== 0x20 || !isStream(bytes, at + 1) || bytes[at + 7] !== 0x20) return null
    const tag = bytes[at + 8]
    if (at + 9 > to || (tag !== 0x46 && tag !== 0x50)) return null
    if (at + 9 < to && bytes[at + 9] !== 0x20 && bytes[at + 9] !== 0x3a) return null
    let start = at + 9
    // More tags may follow after colons.
    while (start < to && bytes[start] !== 0x20) start++
    line.bytes = bytes
    line.from = Math.min(start + 1, to)
    line.to = to
    line.partial = tag === 0x50
    line.timeFrom = from
    line.timeTo = at
    return line
  },
  isPartial: (bytes, from, to) => cri.read(bytes, from, to)?.partial === true,
  shape({ from, to, timeTo, partial }, inner) {
    const pieces: Piece[] = [{ as: 'digits', to: timeTo }, { as: 'same', to: from }, ...inner]
    if (!partial) return pieces
    // Time and level of a part are those of the whole if they end before it does.
    const { as, to: end } = inner.at(-1)!
    return end < to && ENDS.has(as) ? [...pieces, { as: 'parted', to }] : null
  },
  isVerbatim: true,
  // A line in parts may hold a text in no part of it. Four bytes that other lines do not have: the scanner stops there.
  marks: (inner) => [
    ...inner.map(({ source, flags }) => new RegExp(source.replace(/^\\n/, '[FP] '), flags)),
    /[ur][tr] P/,
    /[tr] F:/,
  ],
  time: (bytes, from, to, zone) => readStamp(bytes, from, to, zone)?.epoch ?? Number.NaN,
}

/** `stdout` or `stderr`. */
function isStream(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== 0x73 || bytes[at + 1] !== 0x74 || bytes[at + 2] !== 0x64) return false
  return bytes[at + 3] === 0x6f
    ? bytes[at + 4] === 0x75 && bytes[at + 5] === 0x74
    : bytes[at + 3] === 0x65 && bytes[at + 4] === 0x72 && bytes[at + 5] === 0x72
}
