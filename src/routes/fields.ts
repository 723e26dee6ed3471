import { COMMON_HEADERS, noneMatchNames, notModified, textTag } from '../http/conditional.ts'
import { fieldsOf } from '../log/fields/fields.ts'
import type { Query } from './parameters/read.ts'
import { type QueryRoute, readRequest } from './request.ts'

/** `GET /api/v1/log/fields`: the fields of the newest records with their values, and the patterns of their messages. */
export async function showFields(request: Request, query: Query, route: QueryRoute): Promise<Response> {
  const { asked, clock } = await readRequest(query, route, true)
  const headers: Record<string, string> = { 'Content-Type': 'application/json', ...COMMON_HEADERS }
  if (request.method === 'HEAD') {
    await route.files.stat(asked.file, request.signal)
    return new Response(null, { headers })
  }
  let etag = ''
  const isKnown = (state: string) => {
    etag = textTag(`${state}\n${request.url.slice(request.url.indexOf('?'))}`)
    return !clock && noneMatchNames(request.headers.get('If-None-Match'), etag)
  }
  const found = await fieldsOf(route, asked, isKnown, request.signal)
  if (found === null) return notModified(etag)
  const { fields, notes } = found
  if (notes.length > 0) headers['X-Nodestate-Note'] = notes.join(', ')
  if (!clock && !notes.includes('scan-budget')) headers.ETag = etag
  return new Response(JSON.stringify(fields), { headers })
}
