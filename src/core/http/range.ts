import type { ByteRange } from '../../store/store.ts'

/**
 * The bytes that a `Range` header requests (RFC 9110, 14.2), or null when it must be ignored and the answer is the
 * whole file: no header, an unknown unit, bad syntax, more than one range. The result is not checked against a size:
 * `isSatisfiable` finds `{ suffix: 0 }` and an offset past the end.
 */
export function parseRange(header: string | null | undefined): ByteRange | null {
  const found = /^bytes=(.*)$/i.exec(header?.trim() ?? '')
  if (!found) return null
  // A list may have empty elements (5.6.1.2). Several ranges may be ignored: they are expensive and rarely needed.
  const specs = found[1]!.split(',').map((spec) => spec.trim())
  const [spec, ...others] = specs.filter((text) => text !== '')
  if (spec === undefined || others.length > 0) return null
  const parts = /^(\d*)-(\d*)$/.exec(spec)
  if (!parts || (parts[1] === '' && parts[2] === '')) return null
  if (parts[1] === '') return { suffix: toNumber(parts[2]!) }
  const offset = toNumber(parts[1]!)
  if (parts[2] === '') return { offset }
  const last = toNumber(parts[2]!)
  // 14.1.2: a last position before the first makes the range invalid, not unsatisfiable.
  return last < offset ? null : { offset, length: last - offset + 1 }
}

/** Whether a range has a byte in a file of this size, or would have one if the file did (14.1.2). */
export function isSatisfiable(range: ByteRange, size: number): boolean {
  return 'suffix' in range ? range.suffix > 0 : range.offset < size
}

/** Beyond 2^53 a position is past the end of every file, which is all that matters. */
function toNumber(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER - 1)
}

/**
 * Whether the range applies despite `If-Range` (13.1.5): no header, or exactly this strong tag. A date never matches:
 * it has whole seconds, and a log changes within one.
 */
export function ifRangeHolds(header: string | null | undefined, etag: string): boolean {
  return !header || header.trim() === etag
}

/** Whether `If-Match` holds, compared strongly (RFC 9110, 13.1.1): a weak tag never does. Absent, it holds. */
export function matchHolds(header: string | null, etag: string): boolean {
  if (header === null || header.trim() === '*') return true
  return header.split(/,(?=\s*(?:W\/)?")/).some((tag) => tag.trim() === etag)
}

/** `Content-Disposition` for a file to be saved: an ASCII name for old clients, the real one in the form of RFC 8187. */
export function attachment(name: string): string {
  // Quotes and backslashes would need escapes, and some clients misread percent signs (RFC 6266, appendix D).
  const ascii = name.replace(/[^\x20-\x7e]|["\\/%]/gu, '_')
  if (ascii === name) return `attachment; filename="${name}"`
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
