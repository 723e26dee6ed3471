import { type Cursor, encodeCursor } from '../log/text/cursor.ts'

/** The Link header of a view: relative references that keep what was asked, so that a client just follows them. */
export function linkHeader(query: string, prev: Cursor | null, next: Cursor): string {
  const after = `<?${query}&after=${encodeCursor(next)}>; rel="next"`
  return prev === null ? after : `<?${query}&before=${encodeCursor(prev)}>; rel="prev", ${after}`
}

/** Parameters as a query string that is safe in a header: given ones only, in this order. */
export function queryOf(params: Record<string, string | number | undefined>): string {
  let query = ''
  for (const name in params) {
    const value = params[name]
    if (value !== undefined) query += `${query && '&'}${name}=${encodeURIComponent(value)}`
  }
  return query
}
