import { type Cursor, encodeCursor } from '../../log/text/cursor.ts'

/** The Link header of a view: relative references that repeat the request, so that a client only has to follow them. */
export function linkHeader(query: string, prev: Cursor | null, next: Cursor): string {
  const after = `<?${query}&after=${encodeCursor(next)}>; rel="next"`
  return prev === null ? after : `<?${query}&before=${encodeCursor(prev)}>; rel="prev", ${after}`
}
