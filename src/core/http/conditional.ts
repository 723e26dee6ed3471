import { hashBytes } from '../../log/text/cursor.ts'
import { respond } from './sliced.ts'

/** Headers of every answer. A `Last-Modified` without this Cache-Control made a browser show stale logs after reload. */
export const COMMON_HEADERS = {
  'Cache-Control': 'private, no-cache',
  'X-Content-Type-Options': 'nosniff',
} as const

/**
 * Whether `If-None-Match` names the tag, compared weakly (RFC 9110, 13.1.2) because proxies weaken tags. `*` names
 * any.
 */
export function noneMatchNames(header: string | null | undefined, etag: string): boolean {
  if (!header) return false
  if (header === etag || header.trim() === '*') return true
  return tagsOf(header).includes(etag)
}

/** The single tag of an `If-None-Match`, for a store to compare; undefined when there are several, or `*`. */
export function singleTag(header: string | null | undefined): string | undefined {
  if (!header) return undefined
  const tags = tagsOf(header)
  return tags.length === 1 ? tags[0] : undefined
}

function tagsOf(header: string): string[] {
  return header.match(/"[^"]*"/g) ?? []
}

/** 304, with the headers that the 200 would have had (RFC 9110, 15.4.5). */
export function notModified(etag: string, more: Record<string, string> = {}): Response {
  // The tag first: V8 defines what follows a spread property by property, which takes longer than the rest.
  return respond(null, { ETag: etag, ...COMMON_HEADERS, ...more }, 304)
}

/** A JSON answer, or a 304 if its client has it. Without a tag, it depends on the clock or was cut by a budget. */
export function jsonResponse(
  request: Request,
  text: string,
  etag: string | null,
  headers: Record<string, string> = {},
): Response {
  if (etag !== null && noneMatchNames(request.headers.get('If-None-Match'), etag)) return notModified(etag)
  const tag = etag !== null && { ETag: etag }
  return respond(text, { 'Content-Type': 'application/json', ...COMMON_HEADERS, ...headers, ...tag })
}

/** A strong tag for a text, a microsecond per kilobyte. */
export function textTag(text: string): string {
  const bytes = new TextEncoder().encode(text)
  return `"${bytes.length.toString(36)}-${hashBytes(bytes, 0, bytes.length).toString(36)}"`
}
