import { charactersEnd } from '../../format/read/words.ts'

const HIGH = 0x80808080 | 0

/** A text that is written eight bytes at a time; what comes next overwrites the end of the last eight. */
export interface Template {
  /** UTF-8 never has the bits of a NaN, which could change when stored in a number. */
  eights: Float64Array
  length: number
}

/** Makes a template of a text. */
export function template(text: string): Template {
  const bytes = new TextEncoder().encode(text)
  const padded = new Uint8Array((bytes.length + 7) & ~7)
  padded.set(bytes)
  const view = viewOf(padded)
  const eights = Float64Array.from({ length: padded.length / 8 }, (_, i) => view.getFloat64(i * 8, true))
  return { eights, length: bytes.length }
}

/** Writes a template; returns the offset after it. Overwrites up to seven bytes more. */
export function putTemplate({ eights, length }: Template, out: DataView, at: number): number {
  for (let i = 0; i < eights.length; i++) out.setFloat64(at + 8 * i, eights[i]!, true)
  return at + length
}

/** Where words are copied from, and where to. */
export interface Copy {
  view: DataView
  out: DataView
}

/**
 * Copies the part of a JSON string that needs no escaping and returns where it ends: at a control character, a quote, a
 * backslash, broken UTF-8, or `to`. Overwrites up to seven bytes more.
 */
export function copyPlain({ view, out }: Copy, from: number, to: number, at: number): number {
  const shift = at - from
  let i = from
  for (;;) {
    // Two words per iteration: the loop itself costs as much as a word.
    for (; i + 8 <= to; i += 8) {
      const four = view.getInt32(i, true)
      const more = view.getInt32(i + 4, true)
      const special = specialIn(four)
      const later = specialIn(more)
      if ((special | later) !== 0) {
        out.setInt32(i + shift, four, true)
        out.setInt32(i + shift + 4, more, true)
        i += special !== 0 ? firstOf(special) : 4 + firstOf(later)
        break
      }
      out.setFloat64(i + shift, view.getFloat64(i, true), true)
    }
    for (; i < to; i++) {
      const byte = view.getUint8(i)
      if (byte < 0x20 || byte === 0x22 || byte === 0x5c) return i
      if (byte >= 0x80) break
      out.setUint8(i + shift, byte)
    }
    const end = charactersEnd(view, i, to)
    if (end === i) return i
    for (; i < end; i++) out.setUint8(i + shift, view.getUint8(i))
  }
}

/** Where the part of a JSON string without special characters ends, as in `copyPlain`. */
export function plainEnd(view: DataView, from: number, to: number): number {
  let i = from
  for (;;) {
    for (; i + 4 <= to; i += 4) {
      const special = specialIn(view.getInt32(i, true))
      if (special === 0) continue
      i += firstOf(special)
      break
    }
    for (; i < to; i++) {
      const byte = view.getUint8(i)
      if (byte < 0x20 || byte === 0x22 || byte === 0x5c) return i
      if (byte >= 0x80) break
    }
    const end = charactersEnd(view, i, to)
    if (end === i) return i
    i = end
  }
}

/** A line, as `scanLine` finds it. One object is reused. */
export interface ScannedLine {
  /** Where it ends, with its CR; without it, or -1 if it is not plain: UTF-8, and no control but tabs. */
  lf: number
  end: number
  /** Its first byte beyond ASCII, or `lf`. */
  wide: number
  /** Its first equals sign, or `lf`. */
  equals: number
}

/** Finds the end of the line at `from`, and what it holds, in one pass. */
export function scanLine(view: DataView, from: number, to: number, line: ScannedLine): void {
  let isPlain = true
  let equals = -1
  let wide = -1
  let i = from
  for (;;) {
    while (i + 8 <= to && (unusualIn(view.getInt32(i, true)) | unusualIn(view.getInt32(i + 4, true))) === 0)
      i += 8
    if (i + 4 <= to && unusualIn(view.getInt32(i, true)) === 0) i += 4
    const stop = Math.min(i + 4, to)
    for (; i < stop; i++) {
      const byte = view.getUint8(i)
      if (byte === 0x0a) break
      if (byte === 0x3d && equals < 0) equals = i
      else if (byte >= 0x80) {
        if (wide < 0) wide = i
        const end = charactersEnd(view, i, to)
        isPlain &&= end > i
        if (end > i) i = end - 1
      } else if (byte < 0x20 && byte !== 0x09) isPlain &&= byte === 0x0d && isEnd(view, i + 1, to)
    }
    if (i < stop || i >= to) break
  }
  line.lf = i
  line.equals = equals < 0 ? i : equals
  line.wide = wide < 0 ? i : wide
  line.end = !isPlain ? -1 : i > from && view.getUint8(i - 1) === 0x0d ? i - 1 : i
}

/** Whether all bytes are ASCII. */
export function isAscii(view: DataView, from: number, to: number): boolean {
  let i = from
  for (; i + 8 <= to; i += 8)
    if (((view.getInt32(i, true) | view.getInt32(i + 4, true)) & HIGH) !== 0) return false
  for (; i < to; i++) if (view.getUint8(i) >= 0x80) return false
  return true
}

/** The first place of an ASCII byte in plain text, or `to`. */
export function find(view: DataView, byte: number, from: number, to: number): number {
  const four = byte * 0x01010101
  let i = from
  while (i + 4 <= to && (((view.getInt32(i, true) ^ four) - 0x01010101) & HIGH) === 0) i += 4
  while (i < to && view.getUint8(i) !== byte) i++
  return i
}

const isEnd = (view: DataView, at: number, to: number) => at === to || view.getUint8(at) === 0x0a

/** The high bit of each byte that is a control, an equals sign or not ASCII; perhaps more bits above the first one. */
function unusualIn(four: number): number {
  return ((four - 0x20202020) | ((four ^ 0x3d3d3d3d) - 0x01010101) | four) & HIGH
}

/** Where the decimal digits from `from` on end; at `to` at the latest. */
export function digitsEnd(view: DataView, from: number, to: number): number {
  let i = from
  for (; i + 4 <= to; i += 4) {
    const others = othersThanDigits(view.getInt32(i, true))
    if (others !== 0) return i + firstOf(others)
  }
  for (; i < to; i++) {
    const byte = view.getUint8(i)
    if (byte < 0x30 || byte > 0x39) return i
  }
  return i
}

/** How many of the four bytes before `to` are decimal digits with nothing else after them. */
export function lastDigits(view: DataView, to: number): number {
  return Math.clz32(othersThanDigits(view.getInt32(to - 4, true))) >> 3
}

/**
 * Copies a name and returns where it ends: as `copyPlain` does, and also at a closing bracket. It reads only whole
 * words, and may end up to three bytes before `to`.
 */
export function copyName({ view, out }: Copy, from: number, to: number, at: number): number {
  const shift = at - from
  let i = from
  for (; i + 4 <= to; i += 4) {
    const four = view.getInt32(i, true)
    out.setInt32(i + shift, four, true)
    const special = specialIn(four) | (((four ^ 0x5d5d5d5d) - 0x01010101) & HIGH)
    if (special !== 0) return i + firstOf(special)
  }
  return i
}

/** Copies UTF-8 unchanged, without overwriting more. */
export function copyText({ view, out }: Copy, from: number, to: number, at: number): void {
  const shift = at - from
  let i = from
  for (; i + 8 <= to; i += 8) out.setFloat64(i + shift, view.getFloat64(i, true), true)
  if (i === to) return
  // The last eight once more, or too few of them.
  if (to - from >= 8) out.setFloat64(to - 8 + shift, view.getFloat64(to - 8, true), true)
  else for (; i < to; i++) out.setUint8(i + shift, view.getUint8(i))
}

/** The same bytes, as words. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * The high bit of each byte that is a control, a quote, a backslash or not ASCII. Above the first such byte, borrows
 * may set more bits.
 */
function specialIn(four: number): number {
  return (
    ((four - 0x20202020) | ((four ^ 0x22222222) - 0x01010101) | ((four ^ 0x5c5c5c5c) - 0x01010101) | four) &
    HIGH
  )
}

/** The high bit of each byte that is not a decimal digit. */
function othersThanDigits(four: number): number {
  const low = four ^ 0x30303030
  return (((low & 0x7f7f7f7f) + 0x76767676) | low) & HIGH
}

/** Which of four bytes is the first whose high bit is set. */
function firstOf(special: number): number {
  return (31 - Math.clz32(special & -special)) >> 3
}
